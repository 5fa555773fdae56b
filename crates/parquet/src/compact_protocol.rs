//! Reads what a Parquet file says about itself in the Thrift compact protocol, before the library reads it. The size of
//! a page is checked because the library allocates as much as the header claims, and panics if the part for the type of
//! the page is missing. The depth of the schema is checked as well.
//!
//! Headers are accepted only in the form that writers produce (fields in order and of their expected types), so that
//! the library cannot read a size that differs from the size read here.

/// Types of the compact protocol.
mod kind {
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const STRUCT: u8 = 12;
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

/// Decodes a signed number. Returns `None` if it is negative, because no size or count is.
fn unsigned(number: u64) -> Option<u64> {
    // In zigzag encoding, odd numbers are negative.
    number.is_multiple_of(2).then_some(number / 2)
}

/// Skips a text or other bytes.
fn skip_binary(bytes: &mut &[u8]) -> Option<()> {
    let length = usize::try_from(read_varint(bytes)?).ok()?;
    *bytes = bytes.get(length..)?;
    Some(())
}

/// The struct of the header that is being read. Each struct has its own fields.
#[derive(Clone, Copy, PartialEq)]
enum HeaderPart {
    Page,
    DataPage,
    IndexPage,
    DictionaryPage,
    DataPageV2,
    Statistics,
}

impl HeaderPart {
    /// Returns the struct that this field contains, if it contains one.
    fn nested(self, field: u8) -> Option<Self> {
        match (self, field) {
            (Self::Page, 5) => Some(Self::DataPage),
            (Self::Page, 6) => Some(Self::IndexPage),
            (Self::Page, 7) => Some(Self::DictionaryPage),
            (Self::Page, 8) => Some(Self::DataPageV2),
            (Self::DataPage, 5) | (Self::DataPageV2, 8) => Some(Self::Statistics),
            _ => None,
        }
    }

    fn allows(self, field: u8, kind: u8) -> bool {
        let is_boolean = matches!(kind, kind::TRUE | kind::FALSE);
        match (self, field) {
            _ if self.nested(field).is_some() => kind == kind::STRUCT,
            (Self::Page | Self::DataPage, 1..=4)
            | (Self::DictionaryPage, 1 | 2)
            | (Self::DataPageV2, 1..=6) => kind == kind::I32,
            (Self::DictionaryPage, 3) | (Self::DataPageV2, 7) | (Self::Statistics, 7 | 8) => {
                is_boolean
            }
            (Self::Statistics, 1 | 2 | 5 | 6) => kind == kind::BINARY,
            (Self::Statistics, 3 | 4 | 9) => kind == kind::I64,
            _ => false,
        }
    }
}

/// Returns the unpacked size of the page whose header starts here, or `None` if the header has an unexpected form.
pub(crate) fn unpacked_page_bytes(mut header: &[u8]) -> Option<u64> {
    let mut found = PageFacts::default();
    read_part(&mut header, HeaderPart::Page, &mut found)?;
    let part = found.page_type.and_then(|page_type| TYPE_PARTS.get(page_type));
    found.unpacked_bytes.filter(|_| part.is_some_and(|part| found.parts.contains(part)))
}

/// The part that each type of page must have.
const TYPE_PARTS: [HeaderPart; 4] = [
    HeaderPart::DataPage,
    HeaderPart::IndexPage,
    HeaderPart::DictionaryPage,
    HeaderPart::DataPageV2,
];

#[derive(Default)]
struct PageFacts {
    page_type: Option<usize>,
    unpacked_bytes: Option<u64>,
    parts: Vec<HeaderPart>,
}

fn read_part(bytes: &mut &[u8], part: HeaderPart, found: &mut PageFacts) -> Option<()> {
    let mut field = 0_u8;
    loop {
        let head = read_byte(bytes)?;
        if head == 0 {
            return Some(());
        }
        let (step, kind) = (head >> 4, head & 0x0f);
        field = field.checked_add(step)?;
        if step == 0 || !part.allows(field, kind) {
            return None;
        }
        match (kind, part.nested(field)) {
            (_, Some(nested)) => {
                read_part(bytes, nested, found)?;
                found.parts.push(nested);
            }
            (kind::I32 | kind::I64, _) => {
                let number = unsigned(read_varint(bytes)?);
                match (part, field) {
                    (HeaderPart::Page, 1) => {
                        found.page_type = number.and_then(|it| usize::try_from(it).ok());
                    }
                    (HeaderPart::Page, 2) => found.unpacked_bytes = number,
                    _ => {}
                }
            }
            (kind::BINARY, _) => skip_binary(bytes)?,
            _ => {}
        }
    }
}

/// The maximum depth of a schema. Lists of structs of lists need about ten levels.
const MAX_SCHEMA_DEPTH: usize = 64;
/// The maximum nesting of values that are skipped.
const MAX_SKIPPED_DEPTH: usize = 16;
/// The type that marks the end of a struct.
const STOP: u8 = 0;
/// The field of the footer that contains the schema, which is a list.
const SCHEMA_FIELD: u64 = 2;
/// The field of a schema element that contains the number of its children.
const CHILDREN_FIELD: u64 = 5;

/// Whether the footer at the end of a file has the expected form and a schema of usual depth.
pub(crate) fn has_usual_depth(mut footer: &[u8]) -> bool {
    // All fields are read, because the library would use the last of several schemas.
    let read = for_each_field(&mut footer, |field, kind, bytes| match (field, kind) {
        (SCHEMA_FIELD, kind::LIST) => check_elements(bytes),
        (SCHEMA_FIELD, _) => None,
        _ => skip(bytes, kind, MAX_SKIPPED_DEPTH),
    });
    read.is_some()
}

/// Checks the elements of the schema, which are in depth-first order.
fn check_elements(bytes: &mut &[u8]) -> Option<()> {
    let (elements, kind) = read_list(bytes)?;
    if kind != kind::STRUCT {
        return None;
    }
    // The number of children that still follow, for each open group.
    let mut open: Vec<u64> = Vec::new();
    for _ in 0..elements {
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(missing) = open.last_mut() {
            *missing -= 1;
        }
        let children = read_children(bytes)?;
        if children > 0 {
            open.push(children);
        }
        if open.len() > MAX_SCHEMA_DEPTH {
            return None;
        }
    }
    Some(())
}

/// Reads a schema element and returns the number of its children.
fn read_children(bytes: &mut &[u8]) -> Option<u64> {
    let mut children = 0;
    for_each_field(bytes, |field, kind, bytes| match (field, kind) {
        (CHILDREN_FIELD, kind::I32) => {
            children = unsigned(read_varint(bytes)?)?;
            Some(())
        }
        (CHILDREN_FIELD, _) => None,
        _ => skip(bytes, kind, MAX_SKIPPED_DEPTH),
    })?;
    Some(children)
}

/// Calls `read` with the number and type of each field of a struct, which must read the value. Numbers must increase.
fn for_each_field(
    bytes: &mut &[u8],
    mut read: impl FnMut(u64, u8, &mut &[u8]) -> Option<()>,
) -> Option<()> {
    let mut field = 0;
    loop {
        let head = read_byte(bytes)?;
        field = match (u64::from(head >> 4), head & 0x0f) {
            (_, STOP) => return Some(()),
            (0, _) => unsigned(read_varint(bytes)?).filter(|number| *number > field)?,
            (step, _) => field.checked_add(step)?,
        };
        read(field, head & 0x0f, bytes)?;
    }
}

/// Reads the number and the type of the elements of a list.
fn read_list(bytes: &mut &[u8]) -> Option<(u64, u8)> {
    let head = read_byte(bytes)?;
    let short = u64::from(head >> 4);
    let count = if short == 15 { read_varint(bytes)? } else { short };
    Some((count, head & 0x0f))
}

fn skip(bytes: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match kind {
        kind::TRUE | kind::FALSE => {}
        kind::BYTE => drop(read_byte(bytes)?),
        kind::I16 | kind::I32 | kind::I64 => drop(read_varint(bytes)?),
        kind::DOUBLE => *bytes = bytes.get(8..)?,
        kind::BINARY => skip_binary(bytes)?,
        kind::LIST => {
            let (count, kind) = read_list(bytes)?;
            // A boolean in a list takes a byte of its own.
            let is_boolean = matches!(kind, kind::TRUE | kind::FALSE);
            let kind = if is_boolean { kind::BYTE } else { kind };
            for _ in 0..count {
                skip(bytes, kind, depth)?;
            }
        }
        kind::STRUCT => for_each_field(bytes, |_, kind, bytes| skip(bytes, kind, depth))?,
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_headers_in_the_usual_form_have_a_size() {
        // The header of a data page of type 0: 1,000 bytes unpacked, 20 packed, three values with statistics.
        let usual = [
            0x15, 0, 0x15, 0xd0, 0x0f, 0x15, 40, 0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c,
            0x36, 0, 0x28, 1, b'a', 0x18, 1, b'b', 0x11, 0x12, 0, 0, 0,
        ];
        assert_eq!(unpacked_page_bytes(&usual), Some(1_000));
        let changed = |at: usize, value: u8| {
            let mut header = usual;
            header[at] = value;
            unpacked_page_bytes(&header)
        };
        // A negative size, another type, a long or repeated field number, a huge text, and a missing end.
        for (at, value) in [(3, 0xd1), (2, 0x16), (0, 0x05), (2, 0x05), (20, 100), (29, 0x15)] {
            assert_eq!(changed(at, value), None, "byte {at}");
        }
        // A dictionary page or another page without the part for its type.
        for kind in [4, 6, 2, 8] {
            assert_eq!(changed(1, kind), None, "type {}", kind / 2);
        }
        assert_eq!(unpacked_page_bytes(&[]), None);
        assert_eq!(unpacked_page_bytes(&[0]), None);
        assert_eq!(
            unpacked_page_bytes(&[0x25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]),
            None
        );
    }

    /// Writes a footer with a version, and with groups nested to `depth`.
    fn footer(depth: usize) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0xfc];
        let mut length = depth + 1;
        while length >= 128 {
            bytes.push(u8::try_from(length % 128).unwrap_or(0) | 128);
            length /= 128;
        }
        bytes.push(u8::try_from(length).unwrap_or(0));
        for _ in 0..depth {
            // A group with a name of one letter and one child.
            bytes.extend([0x48, 1, b'a', 0x15, 2, 0]);
        }
        // A column with a type and a name.
        bytes.extend([0x15, 12, 0x38, 1, b'b', 0, 0]);
        bytes
    }

    #[test]
    fn only_schemas_of_usual_depth_are_read() {
        assert!(has_usual_depth(&footer(1)) && has_usual_depth(&footer(64)));
        assert!(!has_usual_depth(&footer(65)) && !has_usual_depth(&footer(500_000)));
        for cut in 0..footer(2).len() {
            assert!(!has_usual_depth(&footer(2)[..cut]), "{cut}");
        }
        assert!(!has_usual_depth(&[0x19; 4_000]));
    }
}
