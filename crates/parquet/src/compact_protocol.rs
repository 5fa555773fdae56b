//! Bytes of the Thrift compact protocol, in which Parquet describes itself.

/// Types of the compact protocol.
pub(crate) mod kind {
    pub(crate) const TRUE: u8 = 1;
    pub(crate) const FALSE: u8 = 2;
    pub(crate) const BYTE: u8 = 3;
    pub(crate) const I16: u8 = 4;
    pub(crate) const I32: u8 = 5;
    pub(crate) const I64: u8 = 6;
    pub(crate) const DOUBLE: u8 = 7;
    pub(crate) const BINARY: u8 = 8;
    pub(crate) const LIST: u8 = 9;
    pub(crate) const STRUCT: u8 = 12;
}

pub(crate) fn read_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

pub(crate) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = read_byte(bytes)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Decodes a signed number. `None` if it is negative, which no size or count is.
pub(crate) fn unsigned(number: u64) -> Option<u64> {
    // Zigzag: odd numbers are negative.
    number.is_multiple_of(2).then_some(number / 2)
}

/// Skips a text or other bytes.
pub(crate) fn skip_binary(bytes: &mut &[u8]) -> Option<()> {
    let length = usize::try_from(read_varint(bytes)?).ok()?;
    *bytes = bytes.get(length..)?;
    Some(())
}
