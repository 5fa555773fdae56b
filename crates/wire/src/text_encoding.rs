//! Decodes text from outside. Programs on Windows write UTF-16 and byte-order marks, and old services send Latin-1,
//! where everything else is UTF-8. A byte-order mark decides, then what the sender declares, then UTF-8.

use std::{
    borrow::Cow,
    fmt, fs,
    io::{self, Read},
    path::Path,
};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Why bytes are not text that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotText {
    /// The bytes are malformed in this encoding.
    Malformed(&'static str),
    /// The text contains NUL characters, as UTF-16 without a byte-order mark does.
    Nul,
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(encoding) => write!(f, "it is not {encoding} text")?,
            Self::Nul => f.write_str("it contains NUL characters, as UTF-16 does")?,
        }
        f.write_str("; save it as UTF-8")
    }
}

/// Decodes the text of a file or of standard input. The byte-order mark is removed. Nothing is replaced.
pub fn decode_text(bytes: &[u8]) -> Result<Cow<'_, str>, NotText> {
    let (text, encoding, is_malformed) = UTF_8.decode(bytes);
    if is_malformed {
        return Err(NotText::Malformed(encoding.name()));
    }
    if text.contains('\0') { Err(NotText::Nul) } else { Ok(text) }
}

/// Reads a text that a user has written with any editor.
///
/// # Errors
/// The file cannot be read, or is not text.
pub fn read_text(path: &Path) -> io::Result<String> {
    to_text(&fs::read(path)?)
}

/// Decodes a text that a user has written with any editor.
///
/// # Errors
/// The bytes are not text.
pub fn to_text(bytes: &[u8]) -> io::Result<String> {
    let text = decode_text(bytes);
    text.map(Cow::into_owned).map_err(|reason| io::Error::other(reason.to_string()))
}

/// Decodes a file if it has the byte-order mark of UTF-8 or UTF-16. Other files stay as they are, because they may
/// contain names of files or comments in any encoding.
pub fn decode_marked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, NotText> {
    let Some((encoding, mark)) = Encoding::for_bom(bytes) else { return Ok(bytes.into()) };
    let names = &bytes[mark..];
    if encoding == UTF_8 {
        return Ok(names.into());
    }
    match encoding.decode_without_bom_handling_and_without_replacement(names) {
        Some(text) => Ok(text.into_owned().into_bytes().into()),
        None => Err(NotText::Malformed(encoding.name())),
    }
}

/// Returns the encoding of a text that begins with ASCII, such as JSON. UTF-16 without a byte-order mark is recognized
/// by its NUL bytes. `declared` is the name that the sender gives.
fn encoding_of(start: &[u8], declared: Option<&str>) -> &'static Encoding {
    match start {
        [0, low, ..] if *low != 0 => UTF_16BE,
        [low, 0, ..] if *low != 0 => UTF_16LE,
        _ => declared.and_then(|name| Encoding::for_label(name.as_bytes())).unwrap_or(UTF_8),
    }
}

/// Decodes a text like [`TextDecoder`].
pub(crate) fn decode_lossy<'a>(bytes: &'a [u8], declared: Option<&str>) -> Cow<'a, str> {
    encoding_of(bytes, declared).decode(bytes).0
}

const BUFFER_BYTES: usize = 16 << 10;

/// Decodes a stream of text whose first character is ASCII to UTF-8. What is malformed becomes U+FFFD.
pub(crate) struct TextDecoder<R> {
    input: R,
    declared: Option<&'static Encoding>,
    decoder: Option<Decoder>,
    raw: Vec<u8>,
    is_malformed: bool,
}

impl<R: Read> TextDecoder<R> {
    pub(crate) fn new(input: R, declared: Option<&str>) -> Self {
        let declared = declared.and_then(|name| Encoding::for_label(name.as_bytes()));
        let raw = vec![0; BUFFER_BYTES];
        Self { input, declared, decoder: None, raw, is_malformed: false }
    }

    /// Whether anything was malformed so far.
    pub(crate) fn is_malformed(&self) -> bool {
        self.is_malformed
    }

    /// Appends decoded text. Returns false at the end of the stream.
    pub(crate) fn read_text(&mut self, out: &mut String) -> std::io::Result<bool> {
        let mut length = self.input.read(&mut self.raw)?;
        if self.decoder.is_none() {
            // A single byte does not show the encoding.
            while length == 1 && self.input.read(&mut self.raw[1..2])? == 1 {
                length = 2;
            }
            let declared = self.declared.map(Encoding::name);
            self.decoder = Some(encoding_of(&self.raw[..length], declared).new_decoder());
        }
        let Some(decoder) = &mut self.decoder else { return Ok(false) };
        let bytes = &self.raw[..length];
        out.reserve(decoder.max_utf8_buffer_length(length).unwrap_or(4 * BUFFER_BYTES));
        let (_, _, has_replaced) = decoder.decode_to_string(bytes, out, length == 0);
        self.is_malformed |= has_replaced;
        Ok(length > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn texts_are_decoded_by_their_mark_and_never_guessed() {
        let text = "café\r\nb.png\n";
        assert_eq!(decode_text(text.as_bytes()).unwrap(), text);
        let marked = format!("\u{feff}{text}");
        assert_eq!(decode_text(marked.as_bytes()).unwrap(), text);
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(decode_text(&utf16(&marked, bytes)).unwrap(), text);
            assert_eq!(decode_marked(&utf16(&marked, bytes)).unwrap().as_ref(), text.as_bytes());
            assert_eq!(decode_text(&utf16("abc", bytes)), Err(NotText::Nul));
        }
        assert_eq!(decode_marked(marked.as_bytes()).unwrap().as_ref(), text.as_bytes());
        assert_eq!(decode_marked(b"caf\xe9\0").unwrap().as_ref(), b"caf\xe9\0");
        assert_eq!(decode_text(b"caf\xe9"), Err(NotText::Malformed("UTF-8")));
        for odd in [&b"\xff\xfea"[..], b"\xff\xfe\x00\xd8"] {
            assert_eq!(decode_text(odd), Err(NotText::Malformed("UTF-16LE")));
            assert_eq!(decode_marked(odd), Err(NotText::Malformed("UTF-16LE")));
        }
    }

    #[test]
    fn streams_are_decoded_in_pieces_of_any_size() {
        struct Pieces<'a>(&'a [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
                let length = self.1.min(self.0.len()).min(out.len());
                out[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        let text = "[\"café 🎉\"]";
        let latin = b"[\"caf\xe9 -\"]".to_vec();
        for (bytes, declared, expected) in [
            (text.as_bytes().to_vec(), None, text),
            (utf16(text, u16::to_le_bytes), None, text),
            (utf16(text, u16::to_be_bytes), Some("utf-8"), text),
            (latin.clone(), Some("ISO-8859-1"), "[\"café -\"]"),
            (latin, None, "[\"caf\u{fffd} -\"]"),
        ] {
            for size in [1, 2, 3, 1000] {
                let mut stream = TextDecoder::new(Pieces(&bytes, size), declared);
                let mut decoded = String::new();
                while stream.read_text(&mut decoded).unwrap() {}
                assert_eq!(decoded, expected);
                assert_eq!(stream.is_malformed(), expected.contains('\u{fffd}'));
            }
        }
    }
}
