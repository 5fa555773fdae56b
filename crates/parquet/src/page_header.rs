//! The size that the header of a Parquet page claims, read before the page is unpacked: the library
//! allocates what the header claims, and panics if the part for the type of the page is missing.
//!
//! Only headers as writers write them are accepted (the Thrift compact protocol, fields in order and
//! of their own types), so that the library cannot read another size than this.

use crate::compact_protocol::{kind, read_byte, read_varint, skip_binary, unsigned};

/// Which struct of the header is read, because each has its own fields.
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
    /// The struct in this field, if it contains one.
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

/// Returns the unpacked size of the page whose header starts here, or `None` for another header.
pub(crate) fn unpacked_page_bytes(mut header: &[u8]) -> Option<u64> {
    let mut found = PageFacts::default();
    read_part(&mut header, HeaderPart::Page, &mut found)?;
    let part = found.page_type.and_then(|page_type| TYPE_PARTS.get(page_type));
    found.unpacked_bytes.filter(|_| part.is_some_and(|part| found.parts.contains(part)))
}

/// The part that belongs to each type of page.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_headers_in_the_usual_form_have_a_size() {
        // Kind 0, 1,000 bytes unpacked, 20 packed; a data page of three values with statistics.
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
        // A negative size, another type, a long or repeated field number, a huge text, an open end.
        for (at, value) in [(3, 0xd1), (2, 0x16), (0, 0x05), (2, 0x05), (20, 100), (29, 0x15)] {
            assert_eq!(changed(at, value), None, "byte {at}");
        }
        // A dictionary or another kind of page, without the part of its kind.
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
}
