//! Which rows may show the same picture, before their corners are compared.

use super::row_lists::RowLists;

/// The candidates of some rows besides their neighbors.
#[derive(Default)]
pub struct RowCandidates {
    rows: Vec<u32>,
    /// Of each of them, each pair with one of both rows.
    candidates: RowLists<u32>,
}

impl RowCandidates {
    pub fn push(&mut self, row: u32, candidates: impl IntoIterator<Item = u32>) {
        self.rows.push(row);
        self.candidates.push(candidates);
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.rows.iter().copied().zip(self.candidates.iter())
    }
}
