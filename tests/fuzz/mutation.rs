//! Generates damaged files from valid ones: bytes are changed, removed, repeated, inserted and
//! exchanged between files.

use proptest::{collection::vec, prelude::*, sample::Index};

/// A valid or damaged file.
#[derive(Clone)]
pub struct Input(pub Vec<u8>);

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

#[derive(Clone, Debug)]
enum Mutation {
    Set(Index, u8),
    FlipBit(Index, u8),
    /// Writes a number that is a typical wrong value for lengths, sizes and offsets.
    SetNumber(Index, usize),
    Insert(Index, Vec<u8>),
    InsertToken(Index, Index),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Truncate(Index),
    /// Continues with the rest of another file.
    Splice(Index, Index, Index),
}

const NUMBERS: [u32; 8] = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF];
/// The maximum size of a damaged file, because repetition must not grow without end.
const MAX_INPUT_BYTES: usize = 64 << 10;

/// Generates files of `corpus` with up to eight mutations. `tokens` are keywords of the format.
pub fn mutated(
    corpus: Vec<Vec<u8>>,
    tokens: &'static [&'static str],
) -> impl Strategy<Value = Input> {
    (any::<Index>(), vec(mutation(), 0..8)).prop_map(move |(file, mutations)| {
        let mut bytes = file.get(&corpus).clone();
        for mutation in mutations {
            apply(mutation, &mut bytes, &corpus, tokens);
            bytes.truncate(MAX_INPUT_BYTES);
        }
        Input(bytes)
    })
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (index(), 0_u8..8).prop_map(|(at, bit)| Mutation::FlipBit(at, bit)),
        (index(), 0..NUMBERS.len()).prop_map(|(at, number)| Mutation::SetNumber(at, number)),
        (index(), vec(any::<u8>(), 1..16)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (index(), index()).prop_map(|(at, token)| Mutation::InsertToken(at, token)),
        (index(), 1_usize..64).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (index(), 1_usize..64, 1_usize..64).prop_map(|(a, b, c)| Mutation::Repeat(a, b, c)),
        index().prop_map(Mutation::Truncate),
        (index(), index(), index()).prop_map(|(a, b, c)| Mutation::Splice(a, b, c)),
    ]
}

fn apply(mutation: Mutation, bytes: &mut Vec<u8>, corpus: &[Vec<u8>], tokens: &[&str]) {
    // There is one position more than bytes, so that the end can also be mutated.
    let positions = bytes.len() + 1;
    let position = |index: Index| index.index(positions);
    match mutation {
        Mutation::Set(at, byte) => {
            if let Some(target) = bytes.get_mut(position(at)) {
                *target = byte;
            }
        }
        Mutation::FlipBit(at, bit) => {
            if let Some(target) = bytes.get_mut(position(at)) {
                *target ^= 1 << bit;
            }
        }
        Mutation::SetNumber(at, number) => {
            let start = position(at);
            for (target, byte) in bytes[start..].iter_mut().zip(NUMBERS[number].to_le_bytes()) {
                *target = byte;
            }
        }
        Mutation::Insert(at, inserted) => {
            let at = position(at);
            bytes.splice(at..at, inserted);
        }
        Mutation::InsertToken(at, token) => {
            if !tokens.is_empty() {
                let at = position(at);
                bytes.splice(at..at, token.get(tokens).bytes());
            }
        }
        Mutation::Remove(at, length) => {
            let start = position(at);
            bytes.drain(start..bytes.len().min(start + length));
        }
        Mutation::Repeat(at, length, times) => {
            let start = position(at);
            let part = bytes[start..bytes.len().min(start + length)].repeat(times);
            bytes.splice(start..start, part);
        }
        Mutation::Truncate(at) => bytes.truncate(position(at)),
        Mutation::Splice(at, other, from) => {
            bytes.truncate(position(at));
            let other = other.get(corpus);
            bytes.extend(&other[from.index(other.len() + 1)..]);
        }
    }
}
