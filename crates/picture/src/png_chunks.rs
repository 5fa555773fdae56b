//! Reads the chunks of a PNG that surround its pixels: texts and Exif fields, which programs write before or after the
//! pixels, and the end, which a file that was cut off lacks. The crate `png` finds what follows the pixels only after it
//! has decoded them.

use std::{borrow::Cow, io::Read};

use flate2::{Crc, read::ZlibDecoder};

use crate::jpeg::{EXIF_PREFIX, XMP_PREFIX};

const SIGNATURE_LENGTH: usize = 8;
/// The number of bytes for the length, the kind and the checksum of a chunk.
const FRAME_LENGTH: usize = 12;
/// The last chunk: its length, its kind, and its checksum.
const END: [u8; FRAME_LENGTH] = [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82];
const PIXELS: [u8; 4] = *b"IDAT";
/// The transparent color, and the color profile. The name of a chunk that a decoder may ignore starts with a lowercase
/// letter.
const PARTS_OF_PIXELS: [[u8; 4]; 2] = [*b"tRNS", *b"iCCP"];

/// The size above which a text is ignored.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// The longest keyword, by the PNG specification.
const MAX_KEYWORD_BYTES: usize = 79;
/// The maximum number of texts, and the maximum of their total size. Further texts are ignored, because a hostile file
/// can contain millions of texts, and texts can be compressed a thousandfold.
const MAX_TEXTS: usize = 1_000;
const MAX_TEXTS_BYTES: usize = 16 << 20;
/// The start of the keywords of texts in which `ImageMagick` and other programs store blocks of metadata as hexadecimal
/// digits.
const RAW_PROFILE: &str = "Raw profile type ";
/// The keyword of the text that contains XMP.
const XMP_KEYWORD: &str = "XML:com.adobe.xmp";

/// Returns the kind and the body of each complete chunk. Checksums are not compared.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    let mut rest = bytes.get(SIGNATURE_LENGTH..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (&kind, after) = after.split_first_chunk()?;
        let body = after.get(..length)?;
        rest = after.get(length.checked_add(4)?..)?;
        Some((kind, body))
    })
}

/// Returns the body of the first chunk of a kind before the pixels.
pub fn chunk_before_pixels(bytes: &[u8], kind: [u8; 4]) -> Option<&[u8]> {
    let mut before = chunks(bytes).take_while(|(kind, _)| *kind != PIXELS);
    before.find_map(|(found, body)| (found == kind).then_some(body))
}

/// Returns the Exif fields, which are a TIFF structure.
pub fn exif(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let stored = chunks(bytes).find(|(kind, _)| kind == b"eXIf");
    if let Some((_, body)) = stored {
        return Some(Cow::Borrowed(body));
    }
    // The profile has the form of the block in a JPEG, which can also contain XMP.
    let profiles = ["exif", "APP1"].into_iter().filter_map(|name| raw_profile(bytes, name));
    let fields = profiles.filter_map(|block| match block.strip_prefix(EXIF_PREFIX) {
        Some(fields) => Some(fields.to_vec()),
        None => (block.starts_with(b"II") || block.starts_with(b"MM")).then_some(block),
    });
    fields.map(Cow::Owned).next()
}

/// Returns the XMP packet, which is XML.
pub fn xmp(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = text_chunks(bytes).find(|chunk| chunk.keyword == XMP_KEYWORD);
    if let Some(text) = text.and_then(|chunk| chunk.text()) {
        return Some(text.into_bytes());
    }
    let of_jpeg = || Some(raw_profile(bytes, "APP1")?.strip_prefix(XMP_PREFIX)?.to_vec());
    raw_profile(bytes, "xmp").or_else(of_jpeg)
}

/// Returns the block that the text of the first raw profile with this name contains.
pub fn raw_profile(bytes: &[u8], name: &str) -> Option<Vec<u8>> {
    let is_named = |text: &TextChunk| text.keyword.strip_prefix(RAW_PROFILE) == Some(name);
    let text = text_chunks(bytes).find(is_named)?.text()?;
    // The name and the length of the block precede its digits, each in a line of its own. Some programs write more after
    // the digits.
    let (_name, length_and_digits) = text.trim_start().split_once('\n')?;
    let (length, digits) = length_and_digits.split_once('\n')?;
    let length: usize = length.trim().parse().unwrap_or(usize::MAX);
    let digits = digits.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let digits: Vec<u8> = digits.take(length.saturating_mul(2)).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digits.as_chunks().0.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

/// Returns the keywords and texts in the order of the file, without XMP and raw profiles.
pub fn texts(bytes: &[u8]) -> Vec<(String, String)> {
    let mut left = MAX_TEXTS_BYTES;
    let mut texts = Vec::new();
    let is_text = |keyword: &str| keyword != XMP_KEYWORD && !keyword.starts_with(RAW_PROFILE);
    for chunk in text_chunks(bytes).filter(|chunk| is_text(&chunk.keyword)).take(MAX_TEXTS) {
        let text = chunk.text();
        // A text that is refused may have been expanded up to the limit.
        let length = text.as_ref().map_or(MAX_TEXT_BYTES, String::len);
        let Some(rest) = left.checked_sub(chunk.keyword.len() + length) else { break };
        left = rest;
        texts.extend(text.map(|text| (chunk.keyword, text)));
    }
    texts
}

/// A text that has not been decoded.
struct TextChunk<'a> {
    keyword: String,
    stored: &'a [u8],
    is_compressed: bool,
    is_utf8: bool,
}

fn text_chunks(bytes: &[u8]) -> impl Iterator<Item = TextChunk<'_>> {
    let is_text = |(kind, _): &([u8; 4], _)| [*b"tEXt", *b"zTXt", *b"iTXt"].contains(kind);
    chunks(bytes).filter(is_text).filter_map(|(kind, body)| {
        let (keyword, stored) = split_at_zero(body)?;
        let keyword = (keyword.len() <= MAX_KEYWORD_BYTES).then(|| latin1(keyword))?;
        match &kind {
            b"tEXt" => Some(TextChunk { keyword, stored, is_compressed: false, is_utf8: false }),
            b"zTXt" => {
                let (_method, stored) = stored.split_first()?;
                Some(TextChunk { keyword, stored, is_compressed: true, is_utf8: false })
            }
            _ => {
                let ([compressed, _method], rest) = stored.split_first_chunk()?;
                let (_language, rest) = split_at_zero(rest)?;
                let (_translated_keyword, stored) = split_at_zero(rest)?;
                Some(TextChunk { keyword, stored, is_compressed: *compressed != 0, is_utf8: true })
            }
        }
    })
}

impl TextChunk<'_> {
    /// Returns the text. Returns `None` if it is damaged or too long.
    fn text(&self) -> Option<String> {
        let stored = if self.is_compressed {
            let mut text = Vec::new();
            let limit = u64::try_from(MAX_TEXT_BYTES).ok()? + 1;
            ZlibDecoder::new(self.stored).take(limit).read_to_end(&mut text).ok()?;
            Cow::Owned(text)
        } else {
            Cow::Borrowed(self.stored)
        };
        if stored.len() > MAX_TEXT_BYTES {
            return None;
        }
        if self.is_utf8 {
            String::from_utf8(stored.into_owned()).ok()
        } else {
            Some(latin1(&stored))
        }
    }
}

fn split_at_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|&byte| byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Returns the file. If it has pixels but no end, returns a copy that ends after its last pixels.
pub fn with_end(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.ends_with(&END) {
        return Cow::Borrowed(bytes);
    }
    let (mut length, mut has_pixels) = (SIGNATURE_LENGTH, false);
    for (kind, body) in chunks(bytes) {
        if kind == END[4..8] {
            return Cow::Borrowed(bytes);
        }
        has_pixels |= kind == PIXELS;
        length += body.len() + FRAME_LENGTH;
    }
    let complete = bytes.get(..length).unwrap_or(bytes);
    let cut_pixels = cut_pixels(&bytes[complete.len()..]);
    if !has_pixels && cut_pixels.is_empty() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned([complete, &cut_pixels, &END].concat())
}

/// Returns the file with only the chunks that its first frame is made of. Other programs ignore damaged or huge chunks
/// that describe a picture or its further frames, but the crate `png` refuses some of them.
pub fn without_descriptions(bytes: &[u8]) -> Vec<u8> {
    let (signature, mut rest) = bytes.split_at(SIGNATURE_LENGTH.min(bytes.len()));
    let mut kept = signature.to_vec();
    for (kind, body) in chunks(bytes) {
        let (chunk, after) = rest.split_at(body.len() + FRAME_LENGTH);
        rest = after;
        if kind[0].is_ascii_uppercase() || PARTS_OF_PIXELS.contains(&kind) {
            kept.extend_from_slice(chunk);
        }
    }
    kept
}

/// Returns a chunk with the pixels of a chunk that is cut off. Returns nothing if there are no pixels.
fn cut_pixels(bytes: &[u8]) -> Vec<u8> {
    let Some((length, rest)) = bytes.split_first_chunk() else { return Vec::new() };
    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    let body = rest.get(..length.saturating_add(4)).unwrap_or(rest);
    if body.len() <= 4 || !body.starts_with(&PIXELS) {
        return Vec::new();
    }
    let mut checksum = Crc::new();
    checksum.update(body);
    let length = u32::try_from(body.len() - 4).unwrap_or(u32::MAX).to_be_bytes();
    [&length, body, &checksum.sum().to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: [u8; 4], body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&length[..], &kind, body, &[0; 4]].concat()
    }

    fn file(chunks: &[&[u8]]) -> Vec<u8> {
        [&b"\x89PNG\r\n\x1a\n"[..], &chunks.concat(), &END].concat()
    }

    #[test]
    fn texts_are_read_before_and_after_the_pixels() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
        encoder.add_itxt_chunk(XMP_KEYWORD.to_owned(), "<x/>".to_owned()).unwrap();
        encoder.add_text_chunk("Title".to_owned(), "A caf\u{e9}".to_owned()).unwrap();
        encoder.add_ztxt_chunk("Description".to_owned(), "at noon".to_owned()).unwrap();
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[0]).unwrap();
        let text = png::text_metadata::ITXtChunk::new("Author", "Zo\u{eb}");
        writer.write_text_chunk(&text).unwrap();
        writer.finish().unwrap();
        let text = |keyword: &str, text: &str| (keyword.to_owned(), text.to_owned());
        let mut found = texts(&bytes);
        found.sort();
        let expected = [
            text("Author", "Zo\u{eb}"),
            text("Description", "at noon"),
            text("Title", "A caf\u{e9}"),
        ];
        assert_eq!(found, expected);
        assert_eq!(xmp(&bytes).as_deref(), Some(&b"<x/>"[..]));
    }

    #[test]
    fn a_compressed_text_is_not_expanded_without_a_limit() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        encoder.add_ztxt_chunk("Description".to_owned(), long).unwrap();
        encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
        assert!(bytes.len() < MAX_TEXT_BYTES / 10);
        assert_eq!(texts(&bytes), []);
    }

    #[test]
    fn a_hostile_file_cannot_have_any_number_of_texts() {
        let text = chunk(*b"tEXt", b"a\0b");
        assert_eq!(texts(&file(&vec![&text[..]; 2 * MAX_TEXTS])).len(), MAX_TEXTS);
        let damaged = chunk(*b"zTXt", b"a\0\0b");
        assert_eq!(texts(&file(&[&damaged, &text])).len(), 1);
        let mut many = vec![&damaged[..]; MAX_TEXTS_BYTES / MAX_TEXT_BYTES];
        many.push(&text);
        assert_eq!(texts(&file(&many)), [], "the damaged texts have used up the limit");
    }

    #[test]
    fn exif_fields_are_found_wherever_programs_write_them() {
        let pixels = chunk(PIXELS, b"pixels");
        let stored = chunk(*b"eXIf", b"II*\0");
        let exif_profile =
            chunk(*b"tEXt", b"Raw profile type exif\0\nexif\n    10\n457869660000\n49492a00\n");
        let segment =
            chunk(*b"tEXt", b"Raw profile type APP1\0\ngeneric profile\n 10\n4578696600004d4d002a");
        let found = |chunks: &[&[u8]]| exif(&file(chunks)).map(Cow::into_owned);
        assert_eq!(found(&[&stored, &pixels]).as_deref(), Some(&b"II*\0"[..]));
        assert_eq!(found(&[&pixels, &stored]).as_deref(), Some(&b"II*\0"[..]));
        assert_eq!(found(&[&pixels, &exif_profile]).as_deref(), Some(&b"II*\0"[..]));
        assert_eq!(found(&[&segment, &pixels]).as_deref(), Some(&b"MM\0*"[..]));
        let with_rest =
            chunk(*b"tEXt", b"Raw profile type exif\0\nexif\n    10\n45786966000049492a00\n\0more");
        assert_eq!(found(&[&with_rest]).as_deref(), Some(&b"II*\0"[..]));
        assert_eq!(found(&[&pixels]), None);
        assert_eq!(found(&[&chunk(*b"tEXt", b"Raw profile type exif\0\nexif\n 2\n4g")]), None);
    }

    #[test]
    fn xmp_in_a_raw_profile_is_not_taken_for_exif_fields() {
        let digits = XMP_PREFIX
            .iter()
            .chain(b"<x/>")
            .fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"));
        let body = format!("Raw profile type APP1\0\ngeneric profile\n 33\n{digits}\n");
        let file = file(&[&chunk(*b"tEXt", body.as_bytes()), &chunk(PIXELS, b"pixels")]);
        assert_eq!(exif(&file), None);
        assert_eq!(xmp(&file).as_deref(), Some(&b"<x/>"[..]));
        assert_eq!(texts(&file), []);
    }
}
