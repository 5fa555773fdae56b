//! Keeps one list of values per row in a single allocation, such as the candidates of rows that may show the same
//! picture.

use std::ops::Index;

#[derive(Debug, Default)]
pub struct RowLists<T> {
    values: Vec<T>,
    /// The start of the list of each row in `values`, and its length.
    ranges: Vec<(usize, u32)>,
}

impl<T> RowLists<T> {
    /// Creates empty lists for `rows` rows, with room for `values` values in all lists together.
    pub fn with_capacity(rows: usize, values: usize) -> Self {
        Self { values: Vec::with_capacity(values), ranges: vec![(0, 0); rows] }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Iterates over the lists of all rows.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.len()).map(|row| &self[row])
    }

    /// Sets the list of a row that has no list yet. The rows can be set in any order.
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

    /// Appends the rows of other lists.
    pub fn append(&mut self, other: Self) {
        let first = self.values.len();
        self.values.extend(other.values);
        self.ranges.extend(other.ranges.iter().map(|(start, length)| (first + start, *length)));
    }
}

impl<T> Index<usize> for RowLists<T> {
    type Output = [T];

    fn index(&self, row: usize) -> &[T] {
        let (start, length) = self.ranges[row];
        &self.values[start..][..length as usize]
    }
}

/// Lists of some rows, which are known by their numbers.
#[derive(Default)]
pub struct NumberedLists<T> {
    rows: Vec<u32>,
    lists: RowLists<T>,
}

/// The candidates of some rows, in addition to their neighbors. A pair is listed at only one of its rows.
pub type RowCandidates = NumberedLists<u32>;

impl<T> NumberedLists<T> {
    pub fn push(&mut self, row: u32, list: impl IntoIterator<Item = T>) {
        self.rows.push(row);
        self.lists.push(list);
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &[T])> {
        self.rows.iter().copied().zip(self.lists.iter())
    }
}
