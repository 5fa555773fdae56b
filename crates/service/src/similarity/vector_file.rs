//! Vectors in a file, read piece by piece for each query: only what the operating system caches is in memory.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use half::f16;
use rayon::prelude::*;
use zerocopy::IntoBytes as _;

use super::kernel;

/// Rows read at a time. Those of 256 numbers fit the second-level cache.
const ROWS_PER_READ: usize = 512;

/// Unit vectors, row by row, from the first byte of a file on, in the byte order of the machine.
#[derive(Debug)]
pub struct VectorFile {
    file: File,
    dimension: usize,
    rows: usize,
}

impl VectorFile {
    pub fn new(file: File, dimension: usize, rows: usize) -> Self {
        Self { file, dimension, rows }
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The distance of every row from `query`.
    ///
    /// # Panics
    /// There are rows, and the dimension of the query differs.
    pub fn distances(&self, query: &[f16]) -> io::Result<Vec<f32>> {
        if self.rows == 0 {
            return Ok(Vec::new());
        }
        assert_eq!(query.len(), self.dimension, "a query of another dimension");
        let mut distances = vec![0.0; self.rows];
        let query = kernel::prescaled(query);
        distances.par_chunks_mut(ROWS_PER_READ).enumerate().try_for_each_init(
            || vec![f16::ZERO; ROWS_PER_READ * self.dimension],
            |buffer, (chunk, out)| {
                let rows = &mut buffer[..out.len() * self.dimension];
                let first = chunk * ROWS_PER_READ * self.dimension * size_of::<f16>();
                self.file.read_exact_at(rows.as_mut_bytes(), first as u64)?;
                kernel::scan(rows, &query, out);
                Ok::<_, io::Error>(())
            },
        )?;
        Ok(distances)
    }
}
