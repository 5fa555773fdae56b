//! Finds rows that may show the same thing: those that share parts of keypoint descriptors.

use std::cmp::Reverse;

use super::Neighbor;
use crate::index::Keypoints;

/// Tables, each of which indexes one part of a descriptor.
const TABLES: usize = 3;
/// Bits of a part; an edited corner keeps some part unchanged more often than not.
const KEY_BITS: u32 = 40;
/// Parts that occur more often are ignored.
const MAX_BUCKET_SIZE: usize = 256;
/// Fewest parts that a candidate shares. One is often shared by chance, and a bucket contains other parts, too.
const MIN_SHARED_PARTS: u16 = 2;
/// Fewest buckets of a table; larger tables have at most two corners per bucket on average.
const MIN_BUCKETS: usize = 1 << 12;

pub struct KeypointIndex {
    tables: [BucketTable; TABLES],
    rows: usize,
}

/// The rows by one part of their descriptors, in buckets.
struct BucketTable {
    /// Where each bucket begins, and where the last one ends.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

/// Reusable counters for the votes of one row.
#[derive(Default)]
pub struct Votes {
    counts: Vec<u16>,
    rows: Vec<u32>,
}

impl KeypointIndex {
    /// Indexes the keypoints of all rows: 12 bytes per corner, and as much again for the buckets.
    pub fn new(keypoints: &[Keypoints]) -> Self {
        let corners: usize = keypoints.iter().map(Keypoints::len).sum();
        let tables = std::array::from_fn(|part| BucketTable::new(keypoints, corners, part));
        Self { tables, rows: keypoints.len() }
    }

    /// Adds to `found` up to `most` rows before `row` that share most parts with it and are not in
    /// it yet, with an unknown distance.
    pub fn add_candidates(
        &self,
        row: u32,
        keypoints: &Keypoints,
        most: usize,
        votes: &mut Votes,
        found: &mut Vec<Neighbor>,
    ) {
        votes.counts.resize(self.rows, 0);
        for keypoint in keypoints.iter() {
            for (part, table) in self.tables.iter().enumerate() {
                let bucket = table.bucket(table_key(keypoint.descriptor, part));
                bucket.iter().take_while(|&&other| other < row).for_each(|&other| votes.add(other));
            }
        }
        for known in found.iter() {
            votes.counts[known.row as usize] = 0;
        }
        found.extend(votes.drain_top(most).map(|row| Neighbor { row, distance: f32::INFINITY }));
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
    fn drain_top(&mut self, most: usize) -> impl Iterator<Item = u32> {
        let counts = &mut self.counts;
        let mut rows: Vec<(Reverse<u16>, u32)> = (self.rows.drain(..))
            .map(|row| (Reverse(std::mem::take(&mut counts[row as usize])), row))
            .filter(|(count, _)| count.0 >= MIN_SHARED_PARTS)
            .collect();
        if rows.len() > most {
            rows.select_nth_unstable(most);
            rows.truncate(most);
        }
        rows.into_iter().map(|(_, row)| row)
    }
}

impl BucketTable {
    /// A counting sort of the rows.
    fn new(keypoints: &[Keypoints], corners: usize, part: usize) -> Self {
        let buckets = (corners / 2).next_power_of_two().max(MIN_BUCKETS);
        let mut table = Self { starts: vec![0; buckets + 1], rows: vec![0; corners] };
        let descriptors = || {
            (0_u32..)
                .zip(keypoints)
                .flat_map(|(row, keypoints)| keypoints.iter().map(move |k| (row, k.descriptor)))
        };
        for (_, word) in descriptors() {
            let bucket = table.bucket_index(table_key(word, part));
            table.starts[bucket + 1] += 1;
        }
        for bucket in 1..table.starts.len() {
            table.starts[bucket] += table.starts[bucket - 1];
        }
        let mut next = table.starts.clone();
        for (row, word) in descriptors() {
            let bucket = table.bucket_index(table_key(word, part));
            table.rows[next[bucket] as usize] = row;
            next[bucket] += 1;
        }
        table
    }

    fn bucket_index(&self, key: u64) -> usize {
        // Fibonacci hashing spreads the keys over the buckets.
        let spread = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (spread >> 32) as usize & (self.starts.len() - 2)
    }

    fn bucket(&self, key: u64) -> &[u32] {
        let bucket = self.bucket_index(key);
        let (first, last) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        if last - first > MAX_BUCKET_SIZE { &[] } else { &self.rows[first..last] }
    }
}

fn table_key(word: u128, part: usize) -> u64 {
    (word >> (part as u32 * KEY_BITS)) as u64 & ((1 << KEY_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keypoints(descriptors: impl IntoIterator<Item = u128>) -> Keypoints {
        let packed = descriptors.into_iter().flat_map(|word| {
            let bytes = word.to_le_bytes();
            [0, 0].into_iter().chain(bytes)
        });
        Keypoints::from_bytes(&packed.collect::<Vec<u8>>())
    }

    fn before(row: u32, rows: &[Keypoints], most: usize, known: &[Neighbor]) -> Vec<u32> {
        let mut found = known.to_vec();
        let (index, own) = (KeypointIndex::new(rows), &rows[row as usize]);
        index.add_candidates(row, own, most, &mut Votes::default(), &mut found);
        found[known.len()..].iter().map(|other| other.row).collect()
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
        assert_eq!(before(3, &rows, 1, &[]), [1]);
        let mut both = before(3, &rows, 5, &[]);
        both.sort_unstable();
        assert_eq!(both, [1, 2]);
        assert_eq!(before(3, &rows, 5, &[Neighbor { row: 1, distance: 0.2 }]), [2]);
        assert!(before(1, &rows, 5, &[]).is_empty());
    }

    #[test]
    fn keypoint_with_changed_bits_is_found_by_its_other_tables() {
        let rows = [
            keypoints([7 << 90 | 5 << 45 | 3, 7 << 90 | 5 << 45 | 8]),
            keypoints([6 << 90 | 4 << 45 | 3, 7 << 90 | 4 << 45 | 9]),
            keypoints([6 << 91 | 4 << 46 | 3]),
        ];
        assert_eq!(before(1, &rows, 5, &[]), [0]);
        assert!(before(2, &rows, 5, &[]).is_empty(), "one part may be equal by chance");
    }

    #[test]
    fn keypoints_shared_by_all_rows_are_ignored() {
        let rows = vec![keypoints([u128::MAX]); MAX_BUCKET_SIZE + 2];
        assert!(before(9, &rows, 5, &[]).is_empty());
        assert!(before(0, &[Keypoints::default()], 5, &[]).is_empty());
    }
}
