//! Reads bits of the entropy-coded data, most significant first, without the stuffing.

/// Reads zeros past the end, which [`BitReader::is_overrun`] reports.
#[derive(Clone, Copy, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The next bits, from the top.
    buffer: u64,
    count: u32,
    /// Bits appended past the end.
    padding: u64,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, buffer: 0, count: 0, padding: 0 }
    }

    /// Buffers at least 32 bits: enough for the longest code and its value.
    #[inline]
    pub fn refill(&mut self) {
        if self.count < 32 {
            self.fill();
        }
    }

    /// Buffers at least 56 bits, at most 63.
    #[inline]
    fn fill(&mut self) {
        let next = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>);
        match next.map(|eight| u64::from_be_bytes(*eight)) {
            Some(word) if !has_ff(word) => {
                // Bits past the last whole byte are buffered again by the next call, which finds them the same.
                self.buffer |= word >> (self.count & 63);
                let bytes = 63_u32.wrapping_sub(self.count) >> 3;
                self.at += bytes as usize;
                self.count += bytes * 8;
            }
            _ => *self = self.filled_bytewise(),
        }
    }

    /// By value, so that the reader can be in registers where this is not called.
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
                // A marker or the end of the file.
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

    /// The next `count` bits (1 to 32), not consumed.
    #[inline]
    pub fn peek(&self, count: u32) -> usize {
        (self.buffer >> (64_u32.wrapping_sub(count) & 63)) as usize
    }

    #[inline]
    pub fn consume(&mut self, count: u32) {
        // No code and no value has 64 bits.
        self.buffer <<= count & 63;
        self.count = self.count.wrapping_sub(count);
    }

    /// Reads a signed value of `size` bits (0 to 15).
    #[inline]
    pub fn value(&mut self, size: u32) -> i32 {
        if size == 0 {
            return 0;
        }
        let bits = self.peek(size);
        self.consume(size);
        extend(bits, size)
    }

    /// Whether bits past the end were consumed.
    pub fn is_overrun(&self) -> bool {
        self.padding > u64::from(self.count)
    }

    /// Skips to the bits after the next restart marker; `false` without one.
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

/// The signed value of `size` bits (1 to 15): the lower half of the range is negative.
#[inline]
pub fn extend(bits: usize, size: u32) -> i32 {
    // At most 15 bits.
    let bits = bits as i32;
    if bits < 1 << (size - 1) { bits - (1 << size) + 1 } else { bits }
}

fn has_ff(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    (!word).wrapping_sub(ONES) & word & (ONES << 7) != 0
}
