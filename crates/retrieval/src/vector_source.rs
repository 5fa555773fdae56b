//! The vectors of an index, which are in a file, or in memory if no file can be written.

use std::{
    io::{self, Write as _},
    path::Path,
};

use half::f16;
use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_search::similarity::{VectorFile, VectorMemory, Vectors};
use zerocopy::IntoBytes as _;

use crate::checked_file::{CheckedWriter, open_checked};

/// Vectors that not every member has.
pub struct PartialVectors {
    pub vectors: VectorSource,
    /// The members that have a vector, in the order of `vectors`.
    pub members: Vec<u32>,
}

pub enum VectorSource {
    InMemory(Vectors),
    OnDisk(VectorFile),
}

impl VectorSource {
    /// Opens the vectors in a file that [`VectorSink`] wrote.
    pub fn open(
        path: &Path,
        dimension: usize,
        rows: usize,
        memory: &VectorMemory,
    ) -> io::Result<Self> {
        let bytes = rows * dimension * size_of::<f16>();
        let file = open_checked(path, Some(bytes as u64))?;
        Ok(Self::OnDisk(VectorFile::new(file, dimension, rows, memory)))
    }

    pub fn dimension(&self) -> usize {
        match self {
            Self::InMemory(vectors) => vectors.dimension(),
            Self::OnDisk(file) => file.dimension(),
        }
    }

    /// Returns the distance of every vector from `query`, which must have the same dimension.
    pub fn distances(&self, query: &[f16]) -> io::Result<Vec<f32>> {
        match self {
            Self::InMemory(vectors) => Ok(vectors.distances(query)),
            Self::OnDisk(file) => file.distances(query),
        }
    }
}

/// Receives the vectors of members in any order. All of them have the dimension of the first one.
pub struct VectorSink {
    /// The dimension, or 0 before the first vector.
    dimension: usize,
    /// The members that have a vector.
    members: Vec<u32>,
    target: SinkTarget,
}

enum SinkTarget {
    InMemory(Vec<f16>),
    OnDisk(CheckedWriter, VectorMemory),
}

impl VectorSink {
    pub fn in_memory() -> Self {
        Self { dimension: 0, members: Vec::new(), target: SinkTarget::InMemory(Vec::new()) }
    }

    /// Writes to a new file.
    pub fn on_disk(path: &Path, limits: &IndexLimits) -> io::Result<Self> {
        let file = CheckedWriter::create(path, &limits.disk)?;
        let target = SinkTarget::OnDisk(file, limits.memory.clone());
        Ok(Self { dimension: 0, members: Vec::new(), target })
    }

    /// Adds the vector of a member. A vector with a different dimension is ignored, because it belongs to a text space
    /// or a model that is about to be replaced.
    pub fn put(&mut self, member: u32, vector: &[f16]) -> io::Result<()> {
        if self.members.is_empty() {
            self.dimension = vector.len();
        }
        if vector.len() != self.dimension {
            return Ok(());
        }
        self.members.push(member);
        self.target.put(member as usize * self.dimension, vector)
    }

    /// Returns the vectors in the order of their members.
    pub fn finish(mut self) -> io::Result<PartialVectors> {
        let Self { dimension, mut members, .. } = self;
        members.sort_unstable();
        self.target.close_gaps(dimension, &members)?;
        let rows = members.len();
        let vectors = match self.target {
            SinkTarget::InMemory(mut numbers) => {
                numbers.truncate(rows * dimension);
                VectorSource::InMemory(Vectors::from_numbers(dimension, numbers))
            }
            SinkTarget::OnDisk(file, memory) => {
                let bytes = rows * dimension * size_of::<f16>();
                let file = file.finish_at(bytes as u64)?;
                VectorSource::OnDisk(VectorFile::new(file, dimension, rows, &memory))
            }
        };
        Ok(PartialVectors { vectors, members })
    }
}

impl SinkTarget {
    /// Writes a vector whose first number is at position `first`.
    fn put(&mut self, first: usize, vector: &[f16]) -> io::Result<()> {
        match self {
            Self::InMemory(numbers) => {
                let end = first + vector.len();
                numbers.resize(numbers.len().max(end), f16::ZERO);
                numbers[first..end].copy_from_slice(vector);
                Ok(())
            }
            Self::OnDisk(file, _) => file.write_at(vector.as_bytes(), file_position(first)),
        }
    }

    /// Moves the vectors of increasing `members` to the first positions.
    fn close_gaps(&mut self, dimension: usize, members: &[u32]) -> io::Result<()> {
        if let Self::OnDisk(file, _) = self {
            file.flush()?;
        }
        let moved = members.iter().map(|&member| member as usize).enumerate();
        for (to, from) in moved.filter(|(to, from)| to != from) {
            let (from, to) = (from * dimension, to * dimension);
            match self {
                Self::InMemory(numbers) => numbers.copy_within(from..from + dimension, to),
                Self::OnDisk(file, _) => {
                    let bytes = dimension * size_of::<f16>();
                    file.copy(file_position(from), file_position(to), bytes)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the position of a number in a file, in bytes.
fn file_position(number: usize) -> u64 {
    (number * size_of::<f16>()) as u64
}

/// The limits for all indexes of a process together.
pub struct IndexLimits {
    /// The disk space for files.
    pub disk: DiskQuota,
    pub memory: VectorMemory,
}
