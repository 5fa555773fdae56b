//! The vectors of one dataset in memory, and their distances from a query.

use half::f16;
use rayon::prelude::*;

use super::kernel;

/// Rows per task: enough work for another core.
const ROWS_PER_TASK: usize = 1024;

/// Unit vectors, row by row. 100,000 rows of 256 numbers take 49 MiB.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    dimension: usize,
    rows: Vec<f16>,
}

impl Vectors {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, rows: Vec::new() }
    }

    /// Rows of zeros, for [`Self::set`].
    pub fn zeros(dimension: usize, rows: usize) -> Self {
        Self { dimension, rows: vec![f16::ZERO; rows * dimension] }
    }

    /// Rows of unit vectors, one after the other.
    pub fn from_numbers(dimension: usize, numbers: Vec<f16>) -> Self {
        Self { dimension, rows: numbers }
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Appends a unit vector.
    ///
    /// # Panics
    /// The dimension differs.
    pub fn push(&mut self, vector: &[f16]) {
        assert_eq!(vector.len(), self.dimension, "a vector of another dimension");
        self.rows.extend_from_slice(vector);
    }

    /// Replaces a row by a unit vector.
    ///
    /// # Panics
    /// The dimension differs.
    pub fn set(&mut self, row: usize, vector: &[f16]) {
        self.rows[row * self.dimension..][..self.dimension].copy_from_slice(vector);
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.dimension.max(1)
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn row(&self, row: usize) -> &[f16] {
        &self.rows[row * self.dimension..][..self.dimension]
    }

    pub(super) fn block(&self, first: usize, count: usize) -> &[f16] {
        let end = (first + count).min(self.len());
        &self.rows[first * self.dimension..end * self.dimension]
    }

    /// The distance of every row from `query`.
    ///
    /// # Panics
    /// There are rows, and the dimension of the query differs.
    pub fn distances(&self, query: &[f16]) -> Vec<f32> {
        if self.is_empty() {
            return Vec::new();
        }
        assert_eq!(query.len(), self.dimension, "a query of another dimension");
        let mut distances = vec![0.0; self.len()];
        let query = kernel::prescaled(query);
        distances
            .par_chunks_mut(ROWS_PER_TASK)
            .zip(self.rows.par_chunks(ROWS_PER_TASK * self.dimension))
            .for_each(|(out, rows)| kernel::scan(rows, &query, out));
        distances
    }
}
