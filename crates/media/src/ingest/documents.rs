//! Parses JSON and XML from outside. JSON is parsed leniently, value by value, so that nothing is allocated for ignored
//! values. XML that declares entities is refused. Everything that costs the parser much
//! time or memory is limited.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Cursor, Read},
};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use roxmltree::{Document, Error, Node, ParsingOptions};
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor, value::MapDeserializer},
};
use serde_json::value::RawValue;

/// Parses an object. Returns `None` if `text` is anything else. If a name occurs twice, its last value is taken, as in
/// Python.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    // Serde would also deserialize a struct from a list, so the first character is checked.
    if !text.trim_start().starts_with('{') {
        return None;
    }
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        // The library has no kind of error for this. Other texts are not read twice.
        Err(cause) if cause.to_string().starts_with("duplicate field") => {
            let values: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            T::deserialize(MapDeserializer::<_, serde_json::Error>::new(values.into_iter())).ok()
        }
        Err(_) => None,
    }
}

/// Parses a text.
pub(crate) fn parse_string(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Parses a name, which may be a number or `true` and `false`. A whole number keeps all of its digits.
pub(crate) fn parse_name(value: &RawValue) -> Option<String> {
    parse_string(value).or_else(|| {
        let is_flag = matches!(value.get(), "true" | "false");
        if let Some(word) = whole_number(value.get()).or(is_flag.then(|| value.get())) {
            return Some(word.to_owned());
        }
        let number: f64 = serde_json::from_str(value.get()).ok()?;
        Some(number.to_string())
    })
}

/// Returns a whole number without its decimal point, which tables with missing values write: `3.0` is `3`.
pub(crate) fn whole_number(text: &str) -> Option<&str> {
    let number = text.strip_suffix(".0").unwrap_or(text);
    let digits = number.strip_prefix('-').unwrap_or(number);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Passes a name, or each name of a list, to `take`. Returns `None` if one of the values is not a name.
pub(crate) fn for_each_name(text: &str, mut take: impl FnMut(&str)) -> Option<()> {
    let mut are_names = true;
    let mut take = |value: &RawValue| match parse_name(value) {
        Some(name) => take(&name),
        None => are_names = false,
    };
    match for_each_element(text, &mut take) {
        Some(()) => {}
        None => take(serde_json::from_str(text).ok()?),
    }
    are_names.then_some(())
}

/// Parses a finite number, which may be in quotes.
pub(crate) fn parse_number(value: &RawValue) -> Option<f64> {
    let text = value.get().trim_matches('"').trim();
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Converts a number that must be whole and not negative.
pub(crate) fn whole(number: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
    (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64)
}

/// Parses a list of numbers. Returns `None` if `value` is anything else.
pub(crate) fn parse_numbers(value: &RawValue) -> Option<Vec<f64>> {
    let numbers: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
    numbers.into_iter().map(parse_number).collect()
}

/// Replaces what Python writes although it is not JSON: the numbers `NaN` and `Infinity` by `null`, and half of a
/// surrogate pair, which remains of a text that was cut in the middle of a character, by U+FFFD.
pub(crate) fn repaired(text: String) -> String {
    let is_python = |part: &&str| text.contains(*part);
    if !["NaN", "Infinity", "\\ud", "\\uD"].iter().any(is_python) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    // Every second part is a string, because the parts are separated by quotes that are not escaped.
    let (mut rest, mut is_string) = (text.as_str(), false);
    while !rest.is_empty() {
        let end = if is_string { end_of_string(rest) } else { rest.find('"') };
        let (part, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        if is_string {
            push_string(part, &mut clean);
        } else {
            let part = part.replace("-Infinity", "null").replace("Infinity", "null");
            clean += &part.replace("NaN", "null");
        }
        (rest, is_string) = (after, !is_string);
    }
    clean
}

/// Writes a string without halves of surrogate pairs.
fn push_string(mut rest: &str, clean: &mut String) {
    while let Some(at) = rest.find('\\') {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let pair = |first: Option<u16>, second: Option<u16>| {
            matches!((first, second), (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)))
        };
        let length = match (escaped_unit(rest), rest.get(6..).and_then(escaped_unit)) {
            (first, second) if pair(first, second) => 12,
            (Some(0xd800..=0xdfff), _) => {
                clean.push('\u{fffd}');
                rest = &rest[6..];
                continue;
            }
            // The character after the backslash must not begin an escape.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        clean.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    clean.push_str(rest);
}

/// Returns the UTF-16 unit in an escape `\uXXXX` at the start of a text.
fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// Returns the position of the quote that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

/// Calls `take` with each element of a list. Returns `None` if `list` is not a list.
pub(crate) fn for_each_element<'a>(list: &'a str, take: impl FnMut(&'a RawValue)) -> Option<()> {
    serde_json::Deserializer::from_str(list).deserialize_seq(ElementVisitor(take)).ok()
}

struct ElementVisitor<F>(F);

impl<'de, F: FnMut(&'de RawValue)> Visitor<'de> for ElementVisitor<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut values: A) -> Result<(), A::Error> {
        while let Some(value) = values.next_element()? {
            (self.0)(value);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct XmlLimits {
    /// Maximum number of attributes of an element. The limit is needed because the parser compares each attribute with
    /// all others.
    pub attributes: usize,
    /// Maximum number of namespaces. The limit is needed because nested namespaces take quadratic memory.
    pub namespaces: usize,
}

/// What may surround a document.
const PADDING: [char; 6] = ['\0', '\u{feff}', ' ', '\n', '\r', '\t'];

/// Parses a document. The error is a reason that is shown to users, without the name of the file.
pub(crate) fn parse_xml(text: &str, limits: XmlLimits) -> Result<Document<'_>, String> {
    let namespaces = text.matches("xmlns").count();
    let attributes = text.split('<').map(|tag| tag.matches('=').count()).max();
    if namespaces > limits.namespaces || attributes.is_some_and(|count| count > limits.attributes) {
        return Err("it has too many attributes or namespaces".to_owned());
    }
    // Programs pad documents with blanks and zeros, and some write blanks before the declaration.
    let document = text.trim_start_matches(PADDING);
    let lines_before = text[..text.len() - document.len()].matches('\n').count();
    let allow_dtd = !text.contains("<!ENTITY");
    let options = ParsingOptions { allow_dtd, ..ParsingOptions::default() };
    let parsed = Document::parse_with_options(document.trim_end_matches(PADDING), options);
    parsed.map_err(|cause| match cause {
        Error::DtdDetected => "it declares entities, which are not supported".to_owned(),
        cause => format!("line {}: invalid XML", lines_before + cause.pos().row as usize),
    })
}

/// Returns the text in an element. Comments and processing instructions divide it into several nodes.
pub(crate) fn text_of(element: Node<'_, '_>) -> Option<String> {
    let texts: Vec<&str> =
        element.children().filter(Node::is_text).filter_map(|it| it.text()).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

// Converts text files to UTF-8, whatever program wrote them: spreadsheets, editors, and annotation tools.

/// The number of bytes in which an XML document declares its encoding.
const DECLARATION_BYTES: usize = 256;

/// Converts a text to UTF-8 and removes its byte order mark. The encoding is the one of the byte order mark, or the one
/// that an XML document declares. A text without either is UTF-8, or Windows-1252 if nothing beyond ASCII in it is
/// UTF-8. Damaged bytes of a UTF-8 text, and texts in unknown encodings, stay as they are.
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
    let mut head = Vec::new();
    file.by_ref().take(MARK_BYTES).read_to_end(&mut head)?;
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
            let mut bytes = Vec::new();
            self.file.by_ref().take(DECODED_BYTES).read_to_end(&mut bytes)?;
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
    fn what_python_writes_beyond_json_is_replaced() {
        for (text, clean) in [
            (r#"{"NaN": NaN, "a": -Infinity}"#, r#"{"NaN": null, "a": null}"#),
            (
                r#"{"k\ud83d": "\ud83d\ude00 \ude00\uD83D"}"#,
                "{\"k\u{fffd}\": \"\\ud83d\\ude00 \u{fffd}\u{fffd}\"}",
            ),
            (r#"["\\ud83d \"\ud83d"]"#, "[\"\\\\ud83d \\\"\u{fffd}\"]"),
            (
                r#"["\ud83dé", "\ud8", "\ud83d\u0041"]"#,
                "[\"\u{fffd}é\", \"\\ud8\", \"\u{fffd}\\u0041\"]",
            ),
        ] {
            assert_eq!(repaired(text.to_owned()), clean, "{text}");
        }
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
