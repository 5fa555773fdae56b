//! Huffman tables with wide lookups: one lookup usually yields a whole coefficient, or skips all
//! coefficients up to the end of a block.

use std::sync::OnceLock;

use super::{
    bit_reader::{BitReader, extend},
    error::JpegError,
};

const LOOKUP_BITS: u32 = 11;
const LOOKUP_SIZE: usize = 1 << LOOKUP_BITS;
/// The run of an end-of-block symbol: past the last coefficient from any position.
pub const END_OF_BLOCK: usize = 64;

#[derive(Clone, Debug)]
pub struct HuffmanTable {
    /// For the next bits: the symbol, and its code length from bit 8 on; 0 for longer codes.
    codes: Box<[u16; LOOKUP_SIZE]>,
    /// For each length: the largest code, and the offset from a code to the index of its symbol.
    last: [i32; 17],
    offset: [i32; 17],
    symbols: Vec<u8>,
    /// Made when they are first used: not every file is decoded, and a table has one purpose.
    dc_lookup: OnceLock<Box<CoefficientLookup>>,
    ac_lookup: OnceLock<Box<CoefficientLookup>>,
    skip_lookup: OnceLock<Box<SkipLookup>>,
}

/// For the next bits: total bits, run from bit 8 on, value from bit 16 on; 0 if they do not fit.
type CoefficientLookup = [u32; LOOKUP_SIZE];

/// For the next bits: total bits, and from bit 8 on skipped coefficients, plus [`ENDS`] if the block ends.
type SkipLookup = [u16; LOOKUP_SIZE];

/// More than any number of coefficients, so that one comparison finds the end of a block.
const ENDS: usize = 128;
const ENDS_OF_NEXT: usize = ENDS + 64;
/// For a code that is too long for an entry: as if it reached past every block.
const LONG_CODE: u16 = 0xFF << 8;

impl HuffmanTable {
    /// Builds a table from the number of codes of each length (1 to 16) and their symbols.
    pub fn new(counts: [u8; 16], symbols: &[u8]) -> Result<Self, JpegError> {
        let mut table = Self {
            codes: Box::new([0; LOOKUP_SIZE]),
            last: [-1; 17],
            offset: [0; 17],
            symbols: symbols.to_vec(),
            dc_lookup: OnceLock::new(),
            ac_lookup: OnceLock::new(),
            skip_lookup: OnceLock::new(),
        };
        let (mut code, mut index) = (0_usize, 0);
        for (length, count) in (1_u32..).zip(counts) {
            let count = usize::from(count);
            if code + count > 1 << length {
                return Err(JpegError::Damaged("overfull Huffman table"));
            }
            if count > 0 {
                // Codes have at most 16 bits.
                table.offset[length as usize] = index as i32 - code as i32;
                table.last[length as usize] = (code + count - 1) as i32;
            }
            if length <= LOOKUP_BITS {
                table.spread(code, index, count, length);
            }
            code = (code + count) << 1;
            index += count;
        }
        Ok(table)
    }

    /// A symbol of this table is a size.
    pub fn dc_reader(&self) -> CoefficientReader<'_> {
        let make = || coefficient_lookup(self, false);
        CoefficientReader { table: self, lookup: self.dc_lookup.get_or_init(make) }
    }

    /// A symbol of this table is a run and a size.
    pub fn ac_reader(&self) -> CoefficientReader<'_> {
        let make = || coefficient_lookup(self, true);
        CoefficientReader { table: self, lookup: self.ac_lookup.get_or_init(make) }
    }

    pub fn skipper(&self) -> CoefficientSkipper<'_> {
        let lookup = self.skip_lookup.get_or_init(|| {
            let mut lookup = Box::new([0; LOOKUP_SIZE]);
            for (next, entry) in lookup.iter_mut().enumerate() {
                *entry = skip_entry(self, next);
            }
            lookup
        });
        CoefficientSkipper { table: self, lookup }
    }

    /// Fills the lookup entries of `count` codes of one length.
    fn spread(&mut self, code: usize, index: usize, count: usize, length: u32) {
        let width = 1 << (LOOKUP_BITS - length);
        let symbols = self.symbols.iter().skip(index).take(count);
        for (code, &symbol) in (code..).zip(symbols) {
            let entry = u16::from(symbol) | (length as u16) << 8;
            self.codes[code * width..(code + 1) * width].fill(entry);
        }
    }

    /// Reads one symbol; the reader must be refilled.
    #[inline]
    fn symbol(&self, bits: &mut BitReader) -> Result<u8, JpegError> {
        let entry = self.codes[bits.peek(LOOKUP_BITS)];
        if entry == 0 {
            return self.long_symbol(bits);
        }
        bits.consume(u32::from(entry >> 8));
        Ok(entry as u8)
    }

    #[cold]
    fn long_symbol(&self, bits: &mut BitReader) -> Result<u8, JpegError> {
        let next = bits.peek(16) as i32;
        for length in 1..=16 {
            let code = next >> (16 - length);
            if code <= self.last[length] {
                bits.consume(length as u32);
                let index = usize::try_from(code + self.offset[length]).ok();
                let symbol = index.and_then(|index| self.symbols.get(index));
                return symbol.copied().ok_or(JpegError::Damaged("bad Huffman code"));
            }
        }
        Err(JpegError::Damaged("bad Huffman code"))
    }

    /// The symbol after the first `used` bits of `next`, with its code length.
    fn lookup(&self, next: usize, used: u32) -> Option<(u8, u32)> {
        let entry = self.codes[(next << used) & (LOOKUP_SIZE - 1)];
        let length = u32::from(entry >> 8);
        (length > 0 && used + length <= LOOKUP_BITS).then_some((entry as u8, length))
    }
}

fn coefficient_lookup(table: &HuffmanTable, ac: bool) -> Box<CoefficientLookup> {
    let mut lookup = Box::new([0; LOOKUP_SIZE]);
    for (next, entry) in lookup.iter_mut().enumerate() {
        let Some((symbol, length)) = table.lookup(next, 0) else {
            continue;
        };
        let size = u32::from(symbol & 15);
        let total = length + size;
        if total > LOOKUP_BITS || (!ac && symbol > 15) {
            continue;
        }
        let value = if size == 0 {
            0
        } else {
            extend(next >> (LOOKUP_BITS - total) & ((1 << size) - 1), size)
        };
        let run = if ac { zero_run(symbol) } else { 0 };
        *entry = (value as u32) << 16 | (run as u32) << 8 | total;
    }
    lookup
}

#[derive(Clone, Copy, Debug)]
pub struct CoefficientReader<'a> {
    table: &'a HuffmanTable,
    lookup: &'a CoefficientLookup,
}

impl CoefficientReader<'_> {
    /// Reads the number of zeros before a coefficient, and its value.
    #[inline]
    pub fn next(&self, bits: &mut BitReader) -> Result<(usize, i32), JpegError> {
        bits.refill();
        let entry = self.lookup[bits.peek(LOOKUP_BITS)];
        if entry == 0 {
            let symbol = self.table.symbol(bits)?;
            return Ok((zero_run(symbol), bits.value(u32::from(symbol & 15))));
        }
        bits.consume(entry & 0xFF);
        Ok(((entry >> 8 & 0xFF) as usize, entry as i32 >> 16))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CoefficientSkipper<'a> {
    table: &'a HuffmanTable,
    lookup: &'a SkipLookup,
}

impl CoefficientSkipper<'_> {
    /// Skips the rest of a block from coefficient `at` (1 to 64).
    #[inline]
    pub fn skip_block(&self, bits: &mut BitReader, mut at: usize) -> Result<(), JpegError> {
        while at < 64 {
            bits.refill();
            at = match self.skip_entry(bits, at) {
                Some(next) => next,
                None => self.skip_symbol(bits, at)?,
            };
        }
        if at == 64 { Ok(()) } else { Err(JpegError::Damaged("too many coefficients")) }
    }

    /// Skips the coefficients of one entry, and returns the next one, 64 at the end of the block; `None` if the
    /// entry includes bits of the next block, or the code is too long for one.
    #[inline]
    fn skip_entry(&self, bits: &mut BitReader, at: usize) -> Option<usize> {
        let entry = self.lookup[bits.peek(LOOKUP_BITS)];
        let reach = at.wrapping_add(usize::from(entry >> 8));
        let next = match reach {
            0..=64 => reach,
            // After the last coefficient, no symbol ends the block.
            ENDS..ENDS_OF_NEXT => 64,
            _ => return None,
        };
        bits.consume(u32::from(entry & 0xFF));
        Some(next)
    }

    #[cold]
    fn skip_symbol(&self, bits: &mut BitReader, at: usize) -> Result<usize, JpegError> {
        let symbol = self.table.symbol(bits)?;
        bits.consume(u32::from(symbol & 15));
        Ok(match zero_run(symbol) {
            END_OF_BLOCK => 64,
            run => at + run + 1,
        })
    }
}

/// The lookup entry for all whole symbols in `next`; the value of the last may extend beyond.
fn skip_entry(table: &HuffmanTable, next: usize) -> u16 {
    let (mut used, mut passed) = (0, 0);
    while let Some((symbol, length)) = table.lookup(next, used) {
        let run = zero_run(symbol);
        if run == END_OF_BLOCK {
            return ((passed + ENDS) as u16) << 8 | (used + length) as u16;
        }
        if passed + run + 1 > 64 {
            break;
        }
        used += length + u32::from(symbol & 15);
        passed += run + 1;
        if used >= LOOKUP_BITS {
            break;
        }
    }
    if used == 0 { LONG_CODE } else { (passed as u16) << 8 | used as u16 }
}

/// The zeros before the coefficient of an AC symbol. A size of 0 ends the block, except after a run
/// of 15.
#[inline]
fn zero_run(symbol: u8) -> usize {
    match symbol {
        0xF0 => 15,
        _ if symbol.trailing_zeros() >= 4 => END_OF_BLOCK,
        _ => usize::from(symbol >> 4),
    }
}
