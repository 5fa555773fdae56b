//! Nearest neighbours by exact scan.

use half::f16;
use rayon::prelude::*;

/// Unit vectors of one dataset, row by row.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    dimension: usize,
    rows: Vec<f16>,
}

/// A row and how far it is away (cosine distance, 0 same to 2 opposite).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Row number.
    pub row: u32,
    /// Cosine distance.
    pub distance: f32,
}

impl Vectors {
    /// Vectors of `dimension` numbers each.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            rows: Vec::new(),
        }
    }

    /// Appends one unit vector.
    pub fn push(&mut self, vector: &[f16]) {
        self.rows.extend_from_slice(vector);
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len() / self.dimension.max(1)
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f16] {
        &self.rows[row * self.dimension..(row + 1) * self.dimension]
    }

    /// The distance of every row to `query`, in row order.
    #[must_use]
    pub fn distances(&self, query: &[f16]) -> Vec<f32> {
        self.rows
            .par_chunks(self.dimension)
            .map(|row| {
                1.0 - row
                    .iter()
                    .zip(query)
                    .map(|(a, b)| a.to_f32() * b.to_f32())
                    .sum::<f32>()
            })
            .collect()
    }
}

/// The `k` nearest other rows of every row, nearest first.
#[must_use]
pub fn graph(vectors: &Vectors, k: usize) -> Vec<Vec<Neighbour>> {
    (0..vectors.len())
        .map(|row| {
            let mut all: Vec<Neighbour> = vectors
                .distances(vectors.row(row))
                .into_iter()
                .enumerate()
                .filter(|&(other, _)| other != row)
                .map(|(other, distance)| Neighbour {
                    row: u32::try_from(other).unwrap_or(u32::MAX),
                    distance,
                })
                .collect();
            all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
            all.truncate(k);
            all
        })
        .collect()
}
