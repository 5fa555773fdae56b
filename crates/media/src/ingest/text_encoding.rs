//! Converts texts to UTF-8, whatever program wrote them: spreadsheets, editors, annotation tools, and cameras.

use std::io::{self, Cursor, Read};

use encoding_rs::{Decoder, Encoding, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use tessera_files::read_at_most;

/// The number of bytes in which an XML document declares its encoding.
const DECLARATION_BYTES: usize = 256;

/// Converts a text to UTF-8 and removes its byte order mark. The encoding is the one of the byte order mark, or the one
/// that an XML document declares. A text without either is UTF-8, or Shift JIS if it is Japanese, or Windows-1252 if
/// nothing beyond ASCII in it is UTF-8. Damaged bytes of a UTF-8 text, and texts in unknown encodings, stay as they are.
pub(crate) fn to_utf8(mut bytes: Vec<u8>) -> Vec<u8> {
    let (decoder, mark) = wide_decoder(&bytes);
    if let Some(mut decoder) = decoder {
        return decoder.decode(&bytes[mark..], true).into_bytes();
    }
    let encoding = if mark > 0 { UTF_8 } else { guess(&bytes) };
    if encoding == UTF_8 {
        bytes.drain(..mark);
        return bytes;
    }
    encoding.decode_without_bom_handling(&bytes).0.into_owned().into_bytes()
}

/// Reads a text in parts as UTF-8 without its byte order mark. Texts that are not in Unicode stay as they are.
pub(crate) fn utf8_reader(mut file: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut head = read_at_most(&mut file, MARK_BYTES)?;
    let (decoder, mark) = wide_decoder(&head);
    let file = Cursor::new(head.split_off(mark)).chain(file);
    Ok(match decoder {
        Some(decoder) => Box::new(WideText { file, decoder, text: Cursor::default() }),
        None => Box::new(file),
    })
}

/// The length of the longest byte order mark.
const MARK_BYTES: u64 = 4;

/// Returns the decoder of a text in UTF-16 or UTF-32, and the length of the byte order mark of any text. A text in
/// these encodings without a mark begins with an ASCII character, and no other text begins with a zero.
fn wide_decoder(head: &[u8]) -> (Option<WideDecoder>, usize) {
    use WideDecoder::{Utf16, Utf32};
    match head {
        [0xff, 0xfe, 0, 0, ..] => (Some(Utf32(u32::from_le_bytes)), 4),
        [0, 0, 0xfe, 0xff, ..] => (Some(Utf32(u32::from_be_bytes)), 4),
        [1..=0x7f, 0, 0, 0, ..] => (Some(Utf32(u32::from_le_bytes)), 0),
        [0, 0, 0, 1..=0x7f, ..] => (Some(Utf32(u32::from_be_bytes)), 0),
        [0xff, 0xfe, ..] => (Some(Utf16(UTF_16LE.new_decoder_without_bom_handling())), 2),
        [0xfe, 0xff, ..] => (Some(Utf16(UTF_16BE.new_decoder_without_bom_handling())), 2),
        [1..=0x7f, 0, ..] => (Some(Utf16(UTF_16LE.new_decoder_without_bom_handling())), 0),
        [0, 1..=0x7f, ..] => (Some(Utf16(UTF_16BE.new_decoder_without_bom_handling())), 0),
        [0xef, 0xbb, 0xbf, ..] => (None, 3),
        _ => (None, 0),
    }
}

/// Decodes the encodings of Unicode in which every character has several bytes.
enum WideDecoder {
    Utf16(Decoder),
    /// Returns the number of a character.
    Utf32(fn([u8; 4]) -> u32),
}

impl WideDecoder {
    /// Decodes the next part of a text, which ends after a whole character unless it is the last one.
    fn decode(&mut self, bytes: &[u8], is_last: bool) -> String {
        match self {
            Self::Utf16(decoder) => {
                let length = decoder.max_utf8_buffer_length(bytes.len());
                let mut text = String::with_capacity(length.unwrap_or_default());
                let _ = decoder.decode_to_string(bytes, &mut text, is_last);
                text
            }
            Self::Utf32(number) => {
                let number = |character: &[u8]| character.try_into().ok().map(*number);
                let character = |bytes: &[u8]| number(bytes).and_then(char::from_u32);
                let characters = bytes.chunks(4).map(character);
                characters.map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
        }
    }
}

/// The number of bytes that are decoded at once, which is a multiple of all lengths of a character.
const DECODED_BYTES: u64 = 64 << 10;

/// A text that is decoded while it is read.
struct WideText<R> {
    file: R,
    decoder: WideDecoder,
    text: Cursor<Vec<u8>>,
}

impl<R: Read> Read for WideText<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.text.read(out)?;
            if length > 0 || out.is_empty() {
                return Ok(length);
            }
            let bytes = read_at_most(&mut self.file, DECODED_BYTES)?;
            if bytes.is_empty() {
                return Ok(0);
            }
            let is_last = (bytes.len() as u64) < DECODED_BYTES;
            self.text = Cursor::new(self.decoder.decode(&bytes, is_last).into_bytes());
        }
    }
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    match declared_label(bytes).map(|label| encoding_of(&label)) {
        // A text whose declaration can be read as ASCII is not UTF-16, whatever it declares.
        Some(Some(declared)) if declared.is_ascii_compatible() && declared != UTF_8 => declared,
        // A text in an unknown encoding stays as it is, and is reported.
        Some(None) => UTF_8,
        _ if is_japanese(bytes) => SHIFT_JIS,
        _ if is_western(bytes) => WINDOWS_1252,
        _ => UTF_8,
    }
}

/// Returns the encoding of a name, which may be the name of a code page of Windows.
fn encoding_of(label: &str) -> Option<&'static Encoding> {
    let code_page = match label.to_ascii_lowercase().trim_start_matches(['c', 'p', 'm', 's']) {
        // Programs declare ASCII and write UTF-8 or Windows-1252.
        "us-ascii" | "ascii" => "utf-8",
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

/// Decodes a text of unknown encoding as UTF-8 or, if it is not valid UTF-8, as Windows-1252. Zeros at the end are
/// padding.
pub(crate) fn decode_padded_text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let bytes = &bytes[..end];
    str::from_utf8(bytes).map_or_else(|_| western_text(bytes), str::to_owned)
}

fn western_text(bytes: &[u8]) -> String {
    WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned()
}

/// Returns a name in an unknown encoding: UTF-8, Shift JIS, or the one of Western Windows.
pub(crate) fn unmarked_name(raw: &[u8]) -> String {
    let utf_8 = str::from_utf8(raw).map(str::to_owned).ok();
    utf_8.or_else(|| japanese_name(raw)).unwrap_or_else(|| western_text(raw))
}

/// The first of the characters that no Western encoding has.
pub(crate) const FIRST_OF_EAST_ASIA: char = '\u{2e80}';

/// Decodes a name in Shift JIS. Two of its characters in a row take four bytes beyond ASCII or nearly so, which words
/// in Western encodings do not have.
pub(crate) fn japanese_name(raw: &[u8]) -> Option<String> {
    let name = SHIFT_JIS.decode_without_bom_handling_and_without_replacement(raw)?;
    has_pair(&name, |c| c >= FIRST_OF_EAST_ASIA).then(|| name.into_owned())
}

/// Whether a text is Japanese in Shift JIS. A long text of another encoding contains bytes that Shift JIS does not have,
/// or that are letters of half the width, which Japanese texts rarely have.
fn is_japanese(bytes: &[u8]) -> bool {
    let is_usual =
        |c: char| c.is_ascii() || matches!(c, '\u{3000}'..='\u{9fff}' | '\u{ff01}'..='\u{ff5e}');
    str::from_utf8(bytes).is_err()
        && SHIFT_JIS
            .decode_without_bom_handling_and_without_replacement(bytes)
            .is_some_and(|text| text.chars().all(is_usual) && has_pair(&text, |c| !c.is_ascii()))
}

/// Whether two characters of a kind follow each other.
fn has_pair(text: &str, is_of_kind: impl Fn(char) -> bool) -> bool {
    let following = text.chars().skip(1);
    text.chars().zip(following).any(|(one, other)| is_of_kind(one) && is_of_kind(other))
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

    fn utf_32(text: &str, order: fn(u32) -> [u8; 4]) -> Vec<u8> {
        text.chars().flat_map(|c| order(c.into())).collect()
    }

    #[test]
    fn a_byte_order_mark_and_zeros_decide() {
        // The text is longer than what is decoded at once, and the first part ends within a character of UTF-16.
        let text = format!("a{}", "🎉ö".repeat(20_000));
        for text in ["Möbel", &text] {
            let marked = format!("\u{feff}{text}");
            let mut encoded = vec![marked.clone().into_bytes()];
            for text in [text, &marked] {
                encoded.extend([u16::to_le_bytes, u16::to_be_bytes].map(|it| utf_16(text, it)));
                encoded.extend([u32::to_le_bytes, u32::to_be_bytes].map(|it| utf_32(text, it)));
            }
            for bytes in encoded {
                assert!(decoded(&bytes) == text, "{:?}", &bytes[..4]);
                let mut read = String::new();
                utf8_reader(Cursor::new(bytes)).unwrap().read_to_string(&mut read).unwrap();
                assert!(read == text);
            }
        }
        let damaged = [&utf_32("ab", u32::to_le_bytes)[..], &[0, 0xd8, 0, 0, b'c']].concat();
        assert_eq!(decoded(&damaged), "ab\u{fffd}\u{fffd}");
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
        assert_eq!(xml("us-ascii", "Schlüssel".as_bytes()), "Schlüssel");
        assert_eq!(xml("US-ASCII", b"Schl\xFCssel"), "Schlüssel");
    }

    #[test]
    fn names_are_read_in_the_encoding_of_their_system() {
        assert_eq!(unmarked_name("größe/猫.jpg".as_bytes()), "größe/猫.jpg");
        assert_eq!(unmarked_name(b"\x94\x4C\x82\xCC\x8E\xCA\x90\x5E.jpg"), "猫の写真.jpg");
        assert_eq!(unmarked_name(b"M\xF6bel.jpg"), "Möbel.jpg");
        assert_eq!(unmarked_name(b"gr\xF6\xDFe.jpg"), "größe.jpg");
    }

    #[test]
    fn other_texts_are_utf_8_or_in_an_encoding_of_windows() {
        assert_eq!(decoded("Möbel – 家具".as_bytes()), "Möbel – 家具");
        assert_eq!(decoded(b"M\xF6bel \x96 \x80"), "Möbel – €");
        assert_eq!(decoded(b"gr\xF6\xDFte B\xE4nke, \xE9t\xE9"), "größte Bänke, été");
        assert_eq!(decoded(b"\x94\x4C.jpg,\x94\x4C\x82\xCC\x8E\xCA\x90\x5E"), "猫.jpg,猫の写真");
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
