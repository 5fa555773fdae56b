//! Converts text files to UTF-8, whatever program wrote them: spreadsheets, editors, and annotation tools.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The number of bytes in which an XML document declares its encoding.
const DECLARATION_BYTES: usize = 256;

/// Converts a text to UTF-8 and removes its byte order mark. The encoding is the one of the byte order mark, or the one
/// that an XML document declares. A text without either is UTF-8, or Windows-1252 if nothing beyond ASCII in it is
/// UTF-8. Damaged bytes of a UTF-8 text, and texts in unknown encodings, stay as they are.
pub(crate) fn to_utf8(mut bytes: Vec<u8>) -> Vec<u8> {
    let (encoding, mark) = Encoding::for_bom(&bytes)
        .unwrap_or_else(|| (utf_16_without_mark(&bytes).unwrap_or_else(|| guess(&bytes)), 0));
    if encoding == UTF_8 {
        bytes.drain(..mark);
        return bytes;
    }
    encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned().into_bytes()
}

/// Returns the encoding of a text that begins with an ASCII character in two bytes. No other text begins with a zero.
fn utf_16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [1..=0x7f, 0, ..] => Some(UTF_16LE),
        [0, 1..=0x7f, ..] => Some(UTF_16BE),
        _ => None,
    }
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    match declared_label(bytes).map(|label| encoding_of(&label)) {
        // A text whose declaration can be read as ASCII is not UTF-16, whatever it declares.
        Some(Some(declared)) if declared.is_ascii_compatible() && declared != UTF_8 => declared,
        // A text in an unknown encoding stays as it is, and is reported.
        Some(None) => UTF_8,
        _ if is_western(bytes) => WINDOWS_1252,
        _ => UTF_8,
    }
}

/// Returns the encoding of a name, which may be the name of a code page of Windows.
fn encoding_of(label: &str) -> Option<&'static Encoding> {
    let code_page = match label.to_ascii_lowercase().trim_start_matches(['c', 'p', 'm', 's']) {
        "932" => "shift_jis",
        "936" => "gbk",
        "949" => "euc-kr",
        "950" => "big5",
        _ => label,
    };
    Encoding::for_label(code_page.as_bytes())
}

/// Returns the encoding in the first line of an XML document: `<?xml version="1.0" encoding="ISO-8859-1"?>`.
fn declared_label(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(DECLARATION_BYTES)];
    let declaration = String::from_utf8_lossy(head.trim_ascii_start().strip_prefix(b"<?xml")?);
    let (declaration, _) = declaration.split_once("?>")?;
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next().map(str::to_owned)
}

/// Whether a text is not ASCII, has no character that is encoded in UTF-8, and can be in a Western language. Its
/// accented letters are never four in a row, as the letters of a Russian or Chinese text are.
fn is_western(bytes: &[u8]) -> bool {
    let mut chunks = bytes.utf8_chunks();
    !bytes.is_ascii()
        && chunks.all(|chunk| chunk.valid().is_ascii())
        && !bytes.windows(4).any(|row| row.iter().all(|byte| !byte.is_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> String {
        String::from_utf8(to_utf8(bytes.to_vec())).unwrap()
    }

    fn utf_16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    }

    #[test]
    fn a_byte_order_mark_and_zeros_decide() {
        assert_eq!(decoded("\u{feff}Möbel".as_bytes()), "Möbel");
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(decoded(&utf_16("\u{feff}Möbel", order)), "Möbel");
            assert_eq!(decoded(&utf_16("a;Möbel", order)), "a;Möbel");
        }
        assert_eq!(decoded(b""), "");
        assert_eq!(decoded(b"\xEF\xBB\xBF"), "");
    }

    #[test]
    fn xml_is_read_in_its_declared_encoding() {
        let xml = |label: &str, name: &[u8]| {
            let mut text = format!("<?xml version='1.0' encoding = \"{label}\" ?><a>").into_bytes();
            text.extend(name);
            let text = decoded(&text);
            text.split("<a>").nth(1).unwrap().to_owned()
        };
        assert_eq!(xml("ISO-8859-1", b"Schl\xFCssel"), "Schlüssel");
        assert_eq!(xml("windows-1251", b"\xEA\xEB\xFE\xF7"), "ключ");
        assert_eq!(xml("Shift_JIS", b"\x8C\xAE"), "鍵");
        assert_eq!(xml("GBK", b"\xD4\xBF"), "钥");
        // What is declared does not fit the bytes, or is unknown.
        assert_eq!(xml("utf-16", "Schlüssel".as_bytes()), "Schlüssel");
        assert_eq!(xml("UTF-8", b"Schl\xFCssel"), "Schlüssel");
        assert_eq!(xml("none such", "Schlüssel".as_bytes()), "Schlüssel");
        assert_eq!(xml("cp932", b"\x8C\xAE"), "鍵");
    }

    #[test]
    fn other_texts_are_utf_8_or_windows_1252() {
        assert_eq!(decoded("Möbel – 家具".as_bytes()), "Möbel – 家具");
        assert_eq!(decoded(b"M\xF6bel \x96 \x80"), "Möbel – €");
        // Damaged UTF-8, a word in Windows-1251, and an XML document in an unknown encoding.
        for other in [
            &b"M\xC3\xB6bel \xFF"[..],
            b"\xEA\xEB\xFE\xF7",
            b"<?xml version='1.0' encoding='IBM850'?><a>M\x94bel</a>",
        ] {
            assert_eq!(to_utf8(other.to_vec()), other);
        }
    }
}
