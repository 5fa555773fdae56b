//! Finds rows that may show the same thing, because they share parts of keypoint descriptors. Keypoints are read from
//! their source several times, because keeping them in memory with the index would double the memory.

use std::{cmp::Reverse, convert::Infallible, ops::Range};

use rayon::prelude::*;

use super::{Neighbor, row_lists::NumberedLists};
use crate::index::{Keypoints, decode_keypoints};

/// Number of tables. Each table indexes one part of a descriptor.
const TABLES: usize = 3;
/// Number of bits of a part. More often than not, an edited corner keeps at least one part unchanged.
const KEY_BITS: u32 = 40;
/// Maximum number of rows in a bucket. Parts that occur more often are ignored.
const MAX_BUCKET_SIZE: u16 = 256;
/// Minimum number of parts that a candidate must share. One part is often shared by chance, and a bucket also contains
/// other parts.
const MIN_SHARED_PARTS: u16 = 2;
/// Minimum number of buckets of a table. Larger tables have at most two corners per bucket on average.
const MIN_BUCKETS: usize = 1 << 12;
/// Number of buckets in a group. Ends of buckets are relative to their group, so that 16 bits suffice.
const GROUP_BUCKETS: usize = 16;
/// Marks a bucket that is ignored.
const IGNORED: u16 = 1 << 15;

pub struct KeypointIndex {
    tables: [BucketTable; TABLES],
    rows: usize,
}

/// The rows by one part of their descriptors, in buckets. The end of a bucket is the start of the next one.
struct BucketTable {
    /// The start of each group of buckets.
    groups: Vec<u32>,
    /// While keypoints are counted, the number of keypoints of each bucket. Afterwards, the end of the rows in each
    /// bucket, relative to its group.
    buckets: Vec<u16>,
    rows: Vec<u32>,
}

/// Reusable counters for the votes of one row.
#[derive(Default)]
pub struct Votes {
    counts: Vec<u16>,
    rows: Vec<u32>,
}

impl KeypointIndex {
    /// Indexes the keypoints of all rows. This takes 12 bytes per corner, and up to 7 more for the buckets.
    pub fn new<S: KeypointSource + ?Sized>(keypoints: &S) -> Result<Self, S::Error> {
        let buckets = (keypoints.corners() / 2).next_power_of_two().max(MIN_BUCKETS);
        let mut tables = std::array::from_fn(|_| BucketTable::new(buckets));
        for_each_block(keypoints, 0..keypoints.rows(), |block| {
            let tables = tables.par_iter_mut().enumerate();
            tables.for_each(|(part, table)| table.count(part, block));
        })?;
        tables.iter_mut().for_each(BucketTable::allocate);
        for_each_block(keypoints, 0..keypoints.rows(), |block| {
            let tables = tables.par_iter_mut().enumerate();
            tables.for_each(|(part, table)| table.place(part, block));
        })?;
        Ok(Self { tables, rows: keypoints.rows() })
    }

    /// Adds up to `limit` rows before `row` to `found`: those that share most parts with its encoded keypoints and are
    /// not among its `known` neighbors.
    pub fn add_candidates(
        &self,
        row: u32,
        keypoints: &[u8],
        limit: usize,
        known: &[Neighbor],
        votes: &mut Votes,
        found: &mut Vec<u32>,
    ) {
        votes.counts.resize(self.rows, 0);
        for keypoint in decode_keypoints(keypoints) {
            for (part, table) in self.tables.iter().enumerate() {
                let bucket = table.bucket(table_key(keypoint.descriptor, part));
                bucket.iter().filter(|&&other| other < row).for_each(|&other| votes.add(other));
            }
        }
        for known in known {
            votes.counts[known.row as usize] = 0;
        }
        found.extend(votes.drain_top(limit));
    }
}

impl Votes {
    fn add(&mut self, row: u32) {
        let count = &mut self.counts[row as usize];
        if *count == 0 {
            self.rows.push(row);
        }
        *count = count.saturating_add(1);
    }

    /// Takes the rows with most votes and resets the counters.
    fn drain_top(&mut self, limit: usize) -> impl Iterator<Item = u32> {
        let counts = &mut self.counts;
        let mut rows: Vec<(Reverse<u16>, u32)> = (self.rows.drain(..))
            .map(|row| (Reverse(std::mem::take(&mut counts[row as usize])), row))
            .filter(|(count, _)| count.0 >= MIN_SHARED_PARTS)
            .collect();
        if rows.len() > limit {
            rows.select_nth_unstable(limit);
            rows.truncate(limit);
        }
        rows.into_iter().map(|(_, row)| row)
    }
}

impl BucketTable {
    fn new(buckets: usize) -> Self {
        let groups = vec![0; buckets / GROUP_BUCKETS];
        Self { groups, buckets: vec![0; buckets], rows: Vec::new() }
    }

    fn count(&mut self, part: usize, block: &NumberedLists<u8>) {
        for keypoint in block.iter().flat_map(|(_, keypoints)| decode_keypoints(keypoints)) {
            let bucket = self.bucket_number(table_key(keypoint.descriptor, part));
            let count = &mut self.buckets[bucket];
            *count = (*count + 1).min(MAX_BUCKET_SIZE + 1);
        }
    }

    /// Makes room for the rows that were counted.
    fn allocate(&mut self) {
        let mut rows = 0;
        let groups = self.groups.iter_mut().zip(self.buckets.chunks_exact_mut(GROUP_BUCKETS));
        for (group, buckets) in groups {
            *group = rows;
            let mut end = 0;
            for bucket in buckets {
                let count = *bucket;
                *bucket = if count > MAX_BUCKET_SIZE { end | IGNORED } else { end };
                end += if count > MAX_BUCKET_SIZE { 0 } else { count };
            }
            rows += u32::from(end);
        }
        self.rows = vec![0; rows as usize];
    }

    fn place(&mut self, part: usize, block: &NumberedLists<u8>) {
        for (row, keypoints) in block.iter() {
            for keypoint in decode_keypoints(keypoints) {
                let bucket = self.bucket_number(table_key(keypoint.descriptor, part));
                let end = &mut self.buckets[bucket];
                if *end & IGNORED == 0 {
                    self.rows[(self.groups[bucket / GROUP_BUCKETS] + u32::from(*end)) as usize] =
                        row;
                    *end += 1;
                }
            }
        }
    }

    fn bucket_number(&self, key: u64) -> usize {
        // Fibonacci hashing spreads the keys over the buckets.
        let spread = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (spread >> 32) as usize & (self.buckets.len() - 1)
    }

    fn bucket(&self, key: u64) -> &[u32] {
        let bucket = self.bucket_number(key);
        let group = self.groups[bucket / GROUP_BUCKETS] as usize;
        let end = |bucket: usize| group + usize::from(self.buckets[bucket] & !IGNORED);
        let start = if bucket.is_multiple_of(GROUP_BUCKETS) { group } else { end(bucket - 1) };
        &self.rows[start..end(bucket)]
    }
}

fn table_key(word: u128, part: usize) -> u64 {
    (word >> (part as u32 * KEY_BITS)) as u64 & ((1 << KEY_BITS) - 1)
}

/// Number of rows in a block.
const BLOCK_ROWS: usize = 4096;

/// The keypoints of all rows.
pub trait KeypointSource {
    type Error;

    /// The number of rows.
    fn rows(&self) -> usize;

    /// The number of keypoints of all rows.
    fn corners(&self) -> usize;

    /// Calls `each` with rows and their encoded keypoints, in the order of the source. `positions` is a range of this
    /// order.
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

/// Reads rows in blocks that are large enough for several threads.
pub fn for_each_block<S: KeypointSource + ?Sized>(
    source: &S,
    positions: Range<usize>,
    mut each: impl FnMut(&NumberedLists<u8>),
) -> Result<(), S::Error> {
    let mut block = NumberedLists::default();
    source.for_each(positions, |row, keypoints| {
        block.push(row, keypoints.iter().copied());
        if block.rows() == BLOCK_ROWS {
            each(&std::mem::take(&mut block));
        }
    })?;
    each(&block);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Keypoints;

    fn keypoints(descriptors: impl IntoIterator<Item = u128>) -> Keypoints {
        let packed = descriptors.into_iter().flat_map(|word| {
            let bytes = word.to_le_bytes();
            [0, 0, 0].into_iter().chain(bytes)
        });
        Keypoints::from_bytes(&packed.collect::<Vec<u8>>())
    }

    fn candidates(row: u32, rows: &[Keypoints], limit: usize, known: &[Neighbor]) -> Vec<u32> {
        let mut found = Vec::new();
        let Ok(index) = KeypointIndex::new(rows);
        let keypoints = rows[row as usize].as_bytes();
        index.add_candidates(row, keypoints, limit, known, &mut Votes::default(), &mut found);
        found
    }

    #[test]
    fn rows_sharing_most_keypoints_are_returned_first() {
        let word = |number: u128| number * 0x0123_4567_89ab_cdef_1357_9bdf_0246_8ace;
        let rows = [
            keypoints((10..20).map(word)),
            keypoints((0..9).map(word)),
            keypoints((8..10).map(word)),
            keypoints((0..10).map(word)),
        ];
        assert_eq!(candidates(3, &rows, 1, &[]), [1]);
        let mut both = candidates(3, &rows, 5, &[]);
        both.sort_unstable();
        assert_eq!(both, [1, 2]);
        assert_eq!(candidates(3, &rows, 5, &[Neighbor { row: 1, distance: 0.2 }]), [2]);
        assert!(candidates(1, &rows, 5, &[]).is_empty());
    }

    #[test]
    fn keypoint_with_changed_bits_is_found_by_its_other_tables() {
        let rows = [
            keypoints([7 << 90 | 5 << 45 | 3, 7 << 90 | 5 << 45 | 8]),
            keypoints([6 << 90 | 4 << 45 | 3, 7 << 90 | 4 << 45 | 9]),
            keypoints([6 << 91 | 4 << 46 | 3]),
        ];
        assert_eq!(candidates(1, &rows, 5, &[]), [0]);
        assert!(candidates(2, &rows, 5, &[]).is_empty(), "one part may be equal by chance");
    }

    #[test]
    fn keypoints_shared_by_all_rows_are_ignored() {
        let rows = vec![keypoints([u128::MAX]); usize::from(MAX_BUCKET_SIZE) + 2];
        assert!(candidates(9, &rows, 5, &[]).is_empty());
        assert!(candidates(0, &[Keypoints::default()], 5, &[]).is_empty());
    }
}
