//! Lists of values, one for each row, in one allocation.

use std::ops::Index;

#[derive(Debug, Default)]
pub struct RowLists<T> {
    values: Vec<T>,
    /// Where the list of each row begins in `values`, and its length.
    ranges: Vec<(usize, u32)>,
}

impl<T> RowLists<T> {
    /// Empty lists of `rows` rows, with room for `values` in all of them.
    pub fn with_capacity(rows: usize, values: usize) -> Self {
        Self { values: Vec::with_capacity(values), ranges: vec![(0, 0); rows] }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The list of each row.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.len()).map(|row| &self[row])
    }

    /// Sets the list of a row that has none. The rows can be in any order.
    pub fn set(&mut self, row: usize, list: impl IntoIterator<Item = T>) {
        let start = self.values.len();
        self.values.extend(list);
        self.ranges[row] = (start, (self.values.len() - start) as u32);
    }

    /// Appends a row.
    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.ranges.push((0, 0));
        self.set(self.len() - 1, list);
    }
}

impl<T> Index<usize> for RowLists<T> {
    type Output = [T];

    fn index(&self, row: usize) -> &[T] {
        let (start, length) = self.ranges[row];
        &self.values[start..][..length as usize]
    }
}
