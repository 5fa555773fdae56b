//! The boxes of a JPEG XL file (ISO/IEC 18181-2). Only what is needed reaches the decoder: it would expand
//! compressed metadata (`brob`) without a limit.

use std::borrow::Cow;

use crate::iso_boxes::split_box;

const SIGNATURE: &[u8] = b"\0\0\0\x0CJXL \r\n\x87\n";

/// What a file contains. Compressed metadata is ignored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JpegXlContainer<'a> {
    /// The picture, put together from its parts.
    pub codestream: Cow<'a, [u8]>,
    /// A structure as in TIFF files.
    pub exif: Option<&'a [u8]>,
    /// XML.
    pub xmp: Option<&'a [u8]>,
}

impl<'a> JpegXlContainer<'a> {
    /// Reads the boxes up to the first damaged one. A bare codestream has none.
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut read = Self::default();
        if !bytes.starts_with(SIGNATURE) {
            read.codestream = Cow::Borrowed(bytes);
            return read;
        }
        let mut rest = &bytes[SIGNATURE.len()..];
        while let Some((kind, body, after)) = split_box(rest) {
            match &kind {
                b"jxlc" => read.codestream = Cow::Borrowed(body),
                // The number of the part comes first; the parts are in order.
                b"jxlp" => read.codestream.to_mut().extend(body.get(4..).unwrap_or_default()),
                b"Exif" if read.exif.is_none() => read.exif = exif_structure(body),
                b"xml " => _ = read.xmp.get_or_insert(body),
                _ => {}
            }
            rest = after;
        }
        read
    }
}

/// The box begins with the offset of the structure.
fn exif_structure(body: &[u8]) -> Option<&[u8]> {
    let (offset, after) = body.split_first_chunk()?;
    after.get(usize::try_from(u32::from_be_bytes(*offset)).ok()?..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(kind: &str, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
        [&length[..], kind.as_bytes(), body].concat()
    }

    #[test]
    fn parts_of_the_codestream_are_joined_and_compressed_metadata_is_left_out() {
        let file = [
            SIGNATURE.to_vec(),
            part("ftyp", b"jxl \0\0\0\0jxl "),
            part("jxlp", b"\0\0\0\0\xFF\x0A"),
            part("brob", b"xml bomb"),
            part("Exif", b"\0\0\0\x02..II*\0"),
            part("xml ", b"<x/>"),
            part("jxlp", b"\x80\0\0\x01rest"),
        ]
        .concat();
        let read = JpegXlContainer::read(&file);
        assert_eq!(*read.codestream, *b"\xFF\x0Arest");
        assert_eq!((read.exif, read.xmp), (Some(&b"II*\0"[..]), Some(&b"<x/>"[..])));
    }

    #[test]
    fn lengths_of_all_three_kinds_are_read() {
        let long = [&b"\0\0\0\x01jxlc"[..], &18_u64.to_be_bytes(), b"\xFF\x0A"].concat();
        let open = [&b"\0\0\0\0jxlc"[..], b"\xFF\x0A"].concat();
        for body in [long, open, part("jxlc", b"\xFF\x0A")] {
            let file = [SIGNATURE, &body].concat();
            assert_eq!(*JpegXlContainer::read(&file).codestream, *b"\xFF\x0A", "{file:?}");
        }
    }

    #[test]
    fn damaged_lengths_end_the_file() {
        for length in [2_u32, 7] {
            let file = [SIGNATURE, &length.to_be_bytes(), b"jxlc\xFF\x0A"].concat();
            assert_eq!(JpegXlContainer::read(&file), JpegXlContainer::default());
        }
        let bare = JpegXlContainer::read(b"\xFF\x0Arest");
        assert_eq!(*bare.codestream, *b"\xFF\x0Arest");
    }
}
