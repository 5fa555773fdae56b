//! Encodes the captions that contain a word, and the positions of the word in each caption, as differences in groups of
//! seven bits.
//!
//! An entry begins with the difference from the number of the previous caption, doubled, plus one if the word occurs in
//! the caption more than once. If there are several positions, their number follows. The differences of the positions
//! come last.

const GROUP_BITS: u32 = 7;
/// The bit that marks that another group of the same number follows.
const MORE: u8 = 1 << GROUP_BITS;

/// Adds an entry with the positions of the word, which must be in increasing order. `difference` is the difference from
/// the number of the previous caption.
pub fn write_entry(
    to: &mut Vec<u8>,
    difference: u32,
    positions: impl ExactSizeIterator<Item = u32>,
) {
    let count = positions.len();
    write_number(to, u64::from(difference) << 1 | u64::from(count > 1));
    if count > 1 {
        write_number(to, count as u64);
    }
    let mut last = 0;
    for position in positions {
        write_number(to, (position - last).into());
        last = position;
    }
}

/// Iterates over the captions that contain a word and over the positions of the word in each, in increasing order.
/// Damaged bytes end the iteration.
pub struct Postings<'a> {
    rest: &'a [u8],
    caption: u32,
    position: u32,
    /// The number of positions in the current caption that are still to come.
    remaining: u64,
}

impl<'a> Postings<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, caption: 0, position: 0, remaining: 0 }
    }

    fn next_caption(&mut self) -> Option<()> {
        let first = read_number(&mut self.rest)?;
        self.caption = self.caption.checked_add(u32::try_from(first >> 1).ok()?)?;
        self.position = 0;
        self.remaining = if first & 1 == 1 { read_number(&mut self.rest)? } else { 1 };
        Some(())
    }
}

impl Iterator for Postings<'_> {
    /// A caption and a position.
    type Item = (u32, u32);

    fn next(&mut self) -> Option<Self::Item> {
        while self.remaining == 0 {
            self.next_caption()?;
        }
        self.remaining -= 1;
        let difference = u32::try_from(read_number(&mut self.rest)?).ok()?;
        self.position = self.position.checked_add(difference)?;
        Some((self.caption, self.position))
    }
}

fn write_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= u64::from(MORE) {
        to.push(low_byte(number) | MORE);
        number >>= GROUP_BITS;
    }
    to.push(low_byte(number));
}

#[expect(clippy::cast_possible_truncation, reason = "only the last group is meant")]
fn low_byte(number: u64) -> u8 {
    number as u8
}

fn read_number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(GROUP_BITS as usize) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & !MORE) << shift;
        if byte & MORE == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::{
        collection::{btree_map, btree_set, vec},
        prelude::*,
    };

    use super::*;

    fn captions() -> impl Strategy<Value = BTreeMap<u32, BTreeSet<u32>>> {
        let number = || prop_oneof![0..300_u32, any::<u32>()];
        btree_map(number(), btree_set(number(), 1..5), 0..20)
    }

    proptest! {
        #[test]
        fn postings_are_read_as_they_were_written(captions in captions()) {
            let (mut bytes, mut last) = (Vec::new(), 0);
            for (caption, positions) in &captions {
                write_entry(&mut bytes, caption - last, positions.iter().copied());
                last = *caption;
            }
            let pairs = captions.iter().flat_map(|(caption, positions)| {
                positions.iter().map(|position| (*caption, *position))
            });
            prop_assert_eq!(Postings::new(&bytes).collect::<Vec<_>>(), pairs.collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_read_to_an_end(bytes in vec(any::<u8>(), 0..200)) {
            prop_assert!(Postings::new(&bytes).count() <= bytes.len());
        }
    }
}
