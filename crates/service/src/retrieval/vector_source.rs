//! The vectors of an index: in a file, or in memory where no file can be written.

use std::{io, io::Write as _, path::Path};

use half::f16;
use zerocopy::IntoBytes as _;

use super::{
    checked_file::{self, CheckedWriter},
    index_limits::IndexLimits,
};
use crate::similarity::{VectorFile, VectorMemory, Vectors};

pub enum VectorSource {
    InMemory(Vectors),
    OnDisk(VectorFile),
}

impl VectorSource {
    /// The vectors in a file that [`VectorSink`] wrote.
    pub fn open(
        path: &Path,
        dimension: usize,
        rows: usize,
        memory: &VectorMemory,
    ) -> io::Result<Self> {
        let bytes = rows * dimension * size_of::<f16>();
        let file = checked_file::open(path, Some(bytes as u64))?;
        Ok(Self::OnDisk(VectorFile::new(file, dimension, rows, memory)))
    }

    pub fn dimension(&self) -> usize {
        match self {
            Self::InMemory(vectors) => vectors.dimension(),
            Self::OnDisk(file) => file.dimension(),
        }
    }

    /// The distance of every vector from `query`, which has the same dimension.
    pub fn distances(&self, query: &[f16]) -> io::Result<Vec<f32>> {
        match self {
            Self::InMemory(vectors) => Ok(vectors.distances(query)),
            Self::OnDisk(file) => file.distances(query),
        }
    }
}

/// Takes vectors, all of the dimension of the first one.
pub struct VectorSink {
    /// 0 before the first one.
    dimension: usize,
    rows: usize,
    target: SinkTarget,
}

enum SinkTarget {
    InMemory(Vectors),
    OnDisk(CheckedWriter, VectorMemory),
}

impl VectorSink {
    pub fn in_memory() -> Self {
        Self { dimension: 0, rows: 0, target: SinkTarget::InMemory(Vectors::default()) }
    }

    /// Writes to a new file.
    pub fn on_disk(path: &Path, limits: &IndexLimits) -> io::Result<Self> {
        let file = CheckedWriter::create(path, &limits.disk)?;
        let target = SinkTarget::OnDisk(file, limits.memory.clone());
        Ok(Self { dimension: 0, rows: 0, target })
    }

    /// Whether the dimension of a vector is that of the first one.
    pub fn accepts(&self, vector: &[f16]) -> bool {
        self.rows == 0 || vector.len() == self.dimension
    }

    pub fn push(&mut self, vector: &[f16]) -> io::Result<()> {
        if self.rows == 0 {
            self.dimension = vector.len();
        }
        self.rows += 1;
        match &mut self.target {
            SinkTarget::InMemory(vectors) => {
                if vectors.is_empty() {
                    *vectors = Vectors::new(vector.len());
                }
                vectors.push(vector);
                Ok(())
            }
            SinkTarget::OnDisk(file, _) => file.write_all(vector.as_bytes()),
        }
    }

    pub fn finish(self) -> io::Result<VectorSource> {
        Ok(match self.target {
            SinkTarget::InMemory(vectors) => VectorSource::InMemory(vectors),
            SinkTarget::OnDisk(file, memory) => {
                let file = VectorFile::new(file.finish()?, self.dimension, self.rows, &memory);
                VectorSource::OnDisk(file)
            }
        })
    }
}
