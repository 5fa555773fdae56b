//! Where keypoints are read from: several times, because keeping them beside their index would double the memory.

use std::{convert::Infallible, ops::Range};

use crate::index::Keypoints;

/// Rows of a block.
const BLOCK_ROWS: usize = 4096;

/// The keypoints of all rows.
pub trait KeypointSource {
    type Error;

    /// The number of rows.
    fn rows(&self) -> usize;

    /// The number of keypoints of all rows.
    fn corners(&self) -> usize;

    /// Calls `each` with rows and their encoded keypoints, in an order of its own, in which `positions` are a range.
    fn for_each(
        &self,
        positions: Range<usize>,
        each: impl FnMut(u32, &[u8]),
    ) -> Result<(), Self::Error>;
}

impl KeypointSource for [Keypoints] {
    type Error = Infallible;

    fn rows(&self) -> usize {
        self.len()
    }

    fn corners(&self) -> usize {
        self.iter().map(Keypoints::len).sum()
    }

    fn for_each(
        &self,
        positions: Range<usize>,
        mut each: impl FnMut(u32, &[u8]),
    ) -> Result<(), Infallible> {
        let rows = (0..).zip(self).skip(positions.start).take(positions.len());
        rows.for_each(|(row, keypoints)| each(row, keypoints.as_bytes()));
        Ok(())
    }
}

/// Some rows with their encoded keypoints.
#[derive(Default)]
pub struct KeypointBlock {
    bytes: Vec<u8>,
    /// Each row, and where its keypoints end in `bytes`.
    rows: Vec<(u32, usize)>,
}

impl KeypointBlock {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row at a position, and its keypoints.
    pub fn row(&self, position: usize) -> (u32, &[u8]) {
        let (row, end) = self.rows[position];
        let start = position.checked_sub(1).map_or(0, |previous| self.rows[previous].1);
        (row, &self.bytes[start..end])
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..self.len()).map(|position| self.row(position))
    }

    fn push(&mut self, row: u32, keypoints: &[u8]) {
        self.bytes.extend_from_slice(keypoints);
        self.rows.push((row, self.bytes.len()));
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }
}

/// Reads rows in blocks that are worth several threads.
pub fn for_each_block<S: KeypointSource + ?Sized>(
    source: &S,
    positions: Range<usize>,
    mut each: impl FnMut(&KeypointBlock),
) -> Result<(), S::Error> {
    let mut block = KeypointBlock::default();
    source.for_each(positions, |row, keypoints| {
        block.push(row, keypoints);
        if block.len() == BLOCK_ROWS {
            each(&block);
            block.clear();
        }
    })?;
    each(&block);
    Ok(())
}
