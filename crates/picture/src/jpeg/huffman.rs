//! Decodes Huffman codes in the entropy-coded data. This file has the bit reader, the tables with wide lookups, and the
//! tables of the JPEG standard. One lookup usually yields a whole coefficient, or skips all coefficients up to the end
//! of a block.

#![expect(
    clippy::inline_always,
    reason = "the reader stays in registers only if all that reads bits is inlined into the loop over blocks"
)]

use std::sync::{Arc, LazyLock, OnceLock};

use super::error::JpegError;

/// Reads bits. Past the end, the reader returns zeros, which [`BitReader::is_overrun`] reports.
#[derive(Clone, Copy, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The next bits, starting at the highest bit.
    buffer: u64,
    count: u32,
    /// The number of zero bits that were appended past the end.
    padding: u64,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, buffer: 0, count: 0, padding: 0 }
    }

    /// Buffers at least 32 bits, which is enough for the longest code and its value.
    #[inline(always)]
    pub fn refill(&mut self) {
        if self.count < 32 {
            self.fill();
        }
    }

    /// Buffers 56 to 63 bits.
    #[inline(always)]
    fn fill(&mut self) {
        let next = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>);
        match next.map(|eight| u64::from_be_bytes(*eight)) {
            Some(word) if !has_ff(word) => {
                // Bits past the last whole byte are buffered again, with the same values, by the next call.
                self.buffer |= word >> (self.count & 63);
                let bytes = 63_u32.wrapping_sub(self.count) >> 3;
                self.at += bytes as usize;
                self.count += bytes * 8;
            }
            _ => *self = self.filled_bytewise(),
        }
    }

    /// Takes the reader by value, so that it stays in registers on the path that does not call this function.
    #[cold]
    fn filled_bytewise(mut self) -> Self {
        while self.count < 56 {
            let byte = match self.bytes.get(self.at..) {
                Some([0xFF, 0, ..]) => {
                    self.at += 2;
                    0xFF
                }
                Some([byte, ..]) if *byte != 0xFF => {
                    self.at += 1;
                    *byte
                }
                // A marker or the end of the file has no more bits.
                _ => {
                    self.padding += 8;
                    0
                }
            };
            self.buffer |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
        self
    }

    /// Returns the next `count` bits (1 to 32) without consuming them.
    #[inline]
    pub fn peek(&self, count: u32) -> usize {
        (self.buffer >> (64_u32.wrapping_sub(count) & 63)) as usize
    }

    #[inline]
    pub fn consume(&mut self, count: u32) {
        // `count` is below 64, because no code and no value has 64 bits.
        self.buffer <<= count & 63;
        self.count = self.count.wrapping_sub(count);
    }

    /// Reads a signed value of `size` bits (0 to 15): the lower half of the range is negative. Sizes change from value to
    /// value, so no step depends on a condition, which the processor would often predict wrongly.
    #[inline]
    pub fn value(&mut self, size: u32) -> i32 {
        let size = size & 15;
        // The casts are lossless, because there are at most 15 bits.
        let bits = (self.buffer >> 1 >> (63 - size)) as i32;
        let is_negative = !(self.buffer as i64 >> 63) as i32;
        self.consume(size);
        bits + (is_negative & (1 - (1 << size)))
    }

    /// Whether bits past the end were consumed.
    pub fn is_overrun(&self) -> bool {
        self.padding > u64::from(self.count)
    }

    /// Skips bits, however many they are.
    pub fn skip_bits(&mut self, mut count: u32) {
        while count > 0 {
            self.refill();
            self.consume(count.min(32));
            count -= count.min(32);
        }
    }

    /// Returns the position of the byte with the next bit, and the number of its bits that were consumed.
    pub fn position(&self) -> (usize, u32) {
        let buffered = u64::from(self.count).saturating_sub(self.padding) as u32;
        let at = (0..buffered.div_ceil(8)).fold(self.at, |at, _| {
            // A zero after FF only says that FF does not begin a marker.
            let is_stuffed = self.bytes.get(..at).is_some_and(|read| read.ends_with(&[0xFF, 0]));
            at - if is_stuffed { 2 } else { 1 }
        });
        (at, (8 - buffered % 8) % 8)
    }

    /// Skips to the bits after the next restart marker. Returns `false` if there is no restart marker.
    pub fn restart(&mut self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let marker =
            rest.windows(2).position(|pair| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xFF));
        match marker {
            Some(position) if matches!(rest[position + 1], 0xD0..=0xD7) && !self.is_overrun() => {
                *self = Self::new(self.bytes, self.at + position + 2);
                true
            }
            _ => false,
        }
    }
}

/// Converts `size` bits (1 to 15) to a signed value: the lower half of the range is negative.
#[inline]
pub fn extend(bits: usize, size: u32) -> i32 {
    // The cast is lossless, because there are at most 15 bits.
    let bits = bits as i32;
    if bits < 1 << (size - 1) { bits - (1 << size) + 1 } else { bits }
}

fn has_ff(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    (!word).wrapping_sub(ONES) & word & (ONES << 7) != 0
}

const LOOKUP_BITS: u32 = 11;
const LOOKUP_SIZE: usize = 1 << LOOKUP_BITS;
/// A wider lookup skips more coefficients at once, but takes more time to make and more of the cache.
const SKIP_BITS: u32 = 12;
/// The run of an end-of-block symbol, which leads past the last coefficient from any position.
pub const END_OF_BLOCK: usize = 64;

#[derive(Clone, Debug)]
pub struct HuffmanTable {
    /// Maps the next bits to the symbol and, from bit 8 on, to the length of its code. Longer codes have the entry 0.
    codes: Box<[u16; LOOKUP_SIZE]>,
    /// The largest code of each length, and the offset from a code of that length to the index of its symbol.
    last: [i32; 17],
    offset: [i32; 17],
    symbols: Vec<u8>,
    /// A lookup is made when it is first used, because not every file is decoded and a table needs only some lookups.
    ac_lookup: OnceLock<Box<CoefficientLookup>>,
    skip_lookup: OnceLock<Box<SkipLookup>>,
}

/// Maps the next bits to the total number of bits, the run (from bit 8 on) and the value (from bit 16 on). The entry is
/// 0 if the code and its value do not fit.
type CoefficientLookup = [u32; LOOKUP_SIZE];

/// Maps the next bits to the total number of bits and, from bit 8 on, to the number of skipped coefficients, plus
/// [`ENDS`] if the block ends.
type SkipLookup = [u16; 1 << SKIP_BITS];

/// A number above any number of coefficients, so that one comparison finds the end of a block.
const ENDS: usize = 128;
const ENDS_OF_NEXT: usize = ENDS + 64;
/// The entry of a code that is too long for the lookup. The entry seems to reach past every block.
const LONG_CODE: u16 = 0xFF << 8;

impl HuffmanTable {
    /// Builds a table from the number of codes of each length (1 to 16) and their symbols.
    pub fn new(counts: [u8; 16], symbols: &[u8]) -> Result<Self, JpegError> {
        let mut table = Self {
            codes: Box::new([0; LOOKUP_SIZE]),
            last: [-1; 17],
            offset: [0; 17],
            symbols: symbols.to_vec(),
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

    /// Reads the difference of a DC coefficient, for which a symbol of this table is its size.
    #[inline(always)]
    pub fn dc_difference(&self, bits: &mut BitReader) -> Result<i32, JpegError> {
        bits.refill();
        let size = self.symbol(bits)?;
        Ok(bits.value(size.into()))
    }

    /// Returns a reader of AC coefficients, for which a symbol of this table is a run and a size.
    pub fn ac_reader(&self) -> CoefficientReader<'_> {
        let make = || coefficient_lookup(self);
        CoefficientReader { table: self, lookup: self.ac_lookup.get_or_init(make) }
    }

    pub fn skipper(&self) -> CoefficientSkipper<'_> {
        let lookup = self.skip_lookup.get_or_init(|| {
            let mut lookup = Box::new([0; 1 << SKIP_BITS]);
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

    /// Reads one symbol. The caller must have refilled the reader.
    #[inline(always)]
    pub fn symbol(&self, bits: &mut BitReader) -> Result<u8, JpegError> {
        let entry = self.codes[bits.peek(LOOKUP_BITS)];
        if entry == 0 {
            let (rest, symbol) = self.long_symbol(*bits)?;
            *bits = rest;
            return Ok(symbol);
        }
        bits.consume(u32::from(entry >> 8));
        Ok(entry as u8)
    }

    /// Reads a symbol whose code is too long for the lookup. Like [`BitReader::filled_bytewise`], it takes the reader by
    /// value.
    #[cold]
    fn long_symbol<'a>(&self, mut bits: BitReader<'a>) -> Result<(BitReader<'a>, u8), JpegError> {
        let next = bits.peek(16) as i32;
        for length in 1..=16 {
            let code = next >> (16 - length);
            if code <= self.last[length] {
                bits.consume(length as u32);
                let index = usize::try_from(code + self.offset[length]).ok();
                let symbol = index.and_then(|index| self.symbols.get(index));
                let symbol = symbol.copied().ok_or(JpegError::Damaged("bad Huffman code"))?;
                return Ok((bits, symbol));
            }
        }
        Err(JpegError::Damaged("bad Huffman code"))
    }

    /// Returns the code of a symbol and its length, if the table has the symbol.
    pub fn code(&self, symbol: u8) -> Option<(u32, u32)> {
        let index = self.symbols.iter().position(|&found| found == symbol)? as i32;
        let code = |length: usize| index - self.offset[length];
        let length = (1..=16).find(|&length| (0..=self.last[length]).contains(&code(length)))?;
        Some((code(length) as u32, length as u32))
    }

    /// Returns the symbol after the first `used` of the `WIDTH` bits of `next`, and the length of its code.
    fn lookup<const WIDTH: u32>(&self, next: usize, used: u32) -> Option<(u8, u32)> {
        let entry = self.codes[next << used >> (WIDTH - LOOKUP_BITS) & (LOOKUP_SIZE - 1)];
        let length = u32::from(entry >> 8);
        (length > 0 && used + length <= WIDTH).then_some((entry as u8, length))
    }
}

fn coefficient_lookup(table: &HuffmanTable) -> Box<CoefficientLookup> {
    let mut lookup = Box::new([0; LOOKUP_SIZE]);
    for (next, entry) in lookup.iter_mut().enumerate() {
        let Some((symbol, length)) = table.lookup::<LOOKUP_BITS>(next, 0) else {
            continue;
        };
        let size = u32::from(symbol & 15);
        let total = length + size;
        if total > LOOKUP_BITS {
            continue;
        }
        let value = if size == 0 {
            0
        } else {
            extend(next >> (LOOKUP_BITS - total) & ((1 << size) - 1), size)
        };
        *entry = (value as u32) << 16 | (zero_run(symbol) as u32) << 8 | total;
    }
    lookup
}

#[derive(Clone, Copy, Debug)]
pub struct CoefficientReader<'a> {
    table: &'a HuffmanTable,
    lookup: &'a CoefficientLookup,
}

impl CoefficientReader<'_> {
    /// Reads the number of zeros that precede a coefficient, and the value of the coefficient.
    #[inline(always)]
    pub fn next(&self, bits: &mut BitReader) -> Result<(usize, i32), JpegError> {
        bits.refill();
        let entry = self.lookup[bits.peek(LOOKUP_BITS)];
        if entry == 0 {
            let (rest, run, value) = self.next_symbol(*bits)?;
            *bits = rest;
            return Ok((run, value));
        }
        bits.consume(entry & 0xFF);
        Ok(((entry >> 8 & 0xFF) as usize, entry as i32 >> 16))
    }

    /// Reads a code and a value that do not fit the lookup. Like [`BitReader::filled_bytewise`], it takes the reader by
    /// value.
    #[cold]
    fn next_symbol<'a>(
        &self,
        mut bits: BitReader<'a>,
    ) -> Result<(BitReader<'a>, usize, i32), JpegError> {
        let symbol = self.table.symbol(&mut bits)?;
        let value = bits.value(u32::from(symbol & 15));
        Ok((bits, zero_run(symbol), value))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CoefficientSkipper<'a> {
    table: &'a HuffmanTable,
    lookup: &'a SkipLookup,
}

impl CoefficientSkipper<'_> {
    /// Skips the rest of a block, starting at coefficient `at` (1 to 64).
    #[inline(always)]
    pub fn skip_block(&self, bits: &mut BitReader, mut at: usize) -> Result<(), JpegError> {
        while at < 64 {
            // An entry has at most 12 bits and a value of 15, so this is enough for two. Whether `refill` would have
            // to do something is a condition that the processor often predicts wrongly.
            bits.fill();
            let Some(next) = self.skip_entry(bits, at) else {
                (*bits, at) = self.skip_symbol(*bits, at)?;
                continue;
            };
            at = next;
            if at < 64
                && let Some(next) = self.skip_entry(bits, at)
            {
                at = next;
            }
        }
        if at == 64 { Ok(()) } else { Err(JpegError::Damaged("too many coefficients")) }
    }

    /// Skips the coefficients of one lookup entry. Returns the next coefficient, or 64 at the end of the block. Returns
    /// `None` if the entry includes bits of the next block, or if the code is too long for the lookup.
    #[inline(always)]
    fn skip_entry(&self, bits: &mut BitReader, at: usize) -> Option<usize> {
        let entry = self.lookup[bits.peek(SKIP_BITS)];
        let reach = at.wrapping_add(usize::from(entry >> 8));
        let next = match reach {
            0..=64 => reach,
            // No symbol ends the block after the last coefficient.
            ENDS..ENDS_OF_NEXT => 64,
            _ => return None,
        };
        bits.consume(u32::from(entry & 0xFF));
        Some(next)
    }

    #[cold]
    fn skip_symbol<'a>(
        &self,
        mut bits: BitReader<'a>,
        at: usize,
    ) -> Result<(BitReader<'a>, usize), JpegError> {
        let symbol = self.table.symbol(&mut bits)?;
        bits.consume(u32::from(symbol & 15));
        let next = match zero_run(symbol) {
            END_OF_BLOCK => 64,
            run => at + run + 1,
        };
        Ok((bits, next))
    }
}

/// Returns the lookup entry for all symbols that are complete in `next`. The value of the last symbol may extend beyond
/// `next`.
fn skip_entry(table: &HuffmanTable, next: usize) -> u16 {
    let (mut used, mut passed) = (0, 0);
    while let Some((symbol, length)) = table.lookup::<SKIP_BITS>(next, used) {
        let run = zero_run(symbol);
        if run == END_OF_BLOCK {
            return ((passed + ENDS) as u16) << 8 | (used + length) as u16;
        }
        if passed + run + 1 > 64 {
            break;
        }
        used += length + u32::from(symbol & 15);
        passed += run + 1;
        if used >= SKIP_BITS {
            break;
        }
    }
    if used == 0 { LONG_CODE } else { (passed as u16) << 8 | used as u16 }
}

/// Returns the number of zeros before the coefficient of an AC symbol. A size of 0 ends the block, except after a run
/// of 15.
#[inline]
fn zero_run(symbol: u8) -> usize {
    match symbol {
        0xF0 => 15,
        _ if symbol.trailing_zeros() >= 4 => END_OF_BLOCK,
        _ => usize::from(symbol >> 4),
    }
}

// The Huffman tables of the JPEG standard (Annex K.3), which most cameras and encoders write into their files. The
// lookups of these tables are made once for all pictures, because making them takes as long as decoding a small
// picture.
const DC_LUMA: [u8; 16] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
const DC_CHROMA: [u8; 16] = [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0];
const DC_SYMBOLS: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const AC_LUMA: [u8; 16] = [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125];
const AC_CHROMA: [u8; 16] = [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119];
#[rustfmt::skip]
const AC_LUMA_SYMBOLS: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07,
    0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0,
    0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0A, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2A, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49,
    0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69,
    0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
    0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7,
    0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3, 0xC4, 0xC5,
    0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA, 0xE1, 0xE2,
    0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8,
    0xF9, 0xFA,
];
#[rustfmt::skip]
const AC_CHROMA_SYMBOLS: [u8; 162] = [
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71,
    0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33, 0x52, 0xF0,
    0x15, 0x62, 0x72, 0xD1, 0x0A, 0x16, 0x24, 0x34, 0xE1, 0x25, 0xF1, 0x17, 0x18, 0x19, 0x1A, 0x26,
    0x27, 0x28, 0x29, 0x2A, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
    0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
    0x69, 0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
    0x88, 0x89, 0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5,
    0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3,
    0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA,
    0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8,
    0xF9, 0xFA,
];

const STANDARD_DEFINITIONS: [([u8; 16], &[u8]); 4] = [
    (DC_LUMA, &DC_SYMBOLS),
    (DC_CHROMA, &DC_SYMBOLS),
    (AC_LUMA, &AC_LUMA_SYMBOLS),
    (AC_CHROMA, &AC_CHROMA_SYMBOLS),
];

static STANDARD_TABLES: LazyLock<[Option<Arc<HuffmanTable>>; 4]> = LazyLock::new(|| {
    STANDARD_DEFINITIONS
        .map(|(counts, symbols)| HuffmanTable::new(counts, symbols).ok().map(Arc::new))
});

/// Returns the shared table with these codes, or `None` if the codes are not those of a standard table.
pub fn standard_table(counts: [u8; 16], symbols: &[u8]) -> Option<Arc<HuffmanTable>> {
    let index =
        STANDARD_DEFINITIONS.iter().position(|definition| *definition == (counts, symbols))?;
    STANDARD_TABLES[index].clone()
}

/// Returns the segment that defines the standard tables.
pub fn standard_tables_segment() -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, (counts, symbols)) in [0x00, 0x01, 0x10, 0x11].into_iter().zip(STANDARD_DEFINITIONS)
    {
        body.push(kind);
        body.extend(counts);
        body.extend(symbols);
    }
    let length = u16::try_from(body.len() + 2).unwrap_or(u16::MAX);
    [&[0xFF, 0xC4][..], &length.to_be_bytes(), &body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tables_of_the_standard_are_shared() {
        let [first, second] =
            [(); 2].map(|()| standard_table(DC_LUMA, &DC_SYMBOLS).expect("a table"));
        assert!(Arc::ptr_eq(&first, &second));
        assert!(
            STANDARD_DEFINITIONS
                .iter()
                .all(|(counts, symbols)| standard_table(*counts, symbols).is_some())
        );
        assert!(standard_table(DC_LUMA, &DC_SYMBOLS[1..]).is_none());
        assert!(standard_table(AC_LUMA, &AC_CHROMA_SYMBOLS).is_none());
    }
}
