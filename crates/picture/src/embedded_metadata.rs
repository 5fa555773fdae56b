//! Reads the metadata in picture files as it is stored: Exif, XMP, IPTC and the texts of PNG.

use std::borrow::Cow;

use memchr::memmem;

use crate::{
    camera_raw::{Cr3, RawFormat, raf_preview},
    decode::catch_decoder_panic,
    format::PictureFormat,
    heif::ItemTable,
    iso_boxes::{exif_structure, number},
    jpeg::{self, EXIF_PREFIX, EXTENDED_XMP_PREFIX, XMP_PREFIX},
    jpeg_xl::JpegXlContainer,
    png_chunks,
    raster::RasterDecoder,
    tiff::Tiff,
    tiff_structure::TiffStructure,
};

/// The size above which a block is ignored. Cameras and editors write at most some hundred KiB.
const MAX_BLOCK_BYTES: usize = 1 << 20;
// Tags of TIFF fields that contain XMP, IPTC, and the image resources of Photoshop with IPTC records among them.
pub(crate) const XMP: u16 = 0x02BC;
pub(crate) const IPTC: u16 = 0x83BB;
pub(crate) const IMAGE_RESOURCES: u16 = 0x8649;

/// The metadata of a picture, not validated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedMetadata<'a> {
    /// A TIFF structure with the Exif fields. For a TIFF file, and for a raw file with the structure of TIFF, this is
    /// the whole file, whatever its size.
    pub exif: Option<Cow<'a, [u8]>>,
    /// The Exif directory and the GPS directory, each as a TIFF structure, if they are not in `exif`.
    pub exif_parts: [Option<&'a [u8]>; 2],
    /// The XMP packet, which is XML.
    pub xmp: Option<Vec<u8>>,
    /// A second XMP packet, with what did not fit into a segment of a JPEG.
    pub extended_xmp: Option<Vec<u8>>,
    /// Image resources as in Photoshop files, which contain the IPTC records of a JPEG, or the bare records.
    pub iptc: Option<Vec<u8>>,
    /// Keywords and texts of a PNG.
    pub texts: Vec<(String, String)>,
}

impl<'a> EmbeddedMetadata<'a> {
    /// Reads the metadata of a picture of any format. Skips damaged blocks.
    pub fn read(bytes: &'a [u8]) -> Self {
        catch_decoder_panic(|| Self::read_format(bytes)).unwrap_or_default()
    }

    fn read_format(bytes: &'a [u8]) -> Self {
        let read = match PictureFormat::detect(bytes) {
            Some(PictureFormat::Jpeg) => Self::read_jpeg(bytes),
            Some(PictureFormat::Png) => Self::read_png(bytes),
            Some(PictureFormat::JpegXl) => Self::read_jpeg_xl(bytes),
            Some(format @ (PictureFormat::WebP | PictureFormat::Gif)) => {
                Self::read_raster(bytes, format)
            }
            Some(PictureFormat::Avif | PictureFormat::Heif) => Self::read_heif(bytes),
            Some(PictureFormat::Tiff) => return Self::read_tiff(bytes),
            Some(PictureFormat::Raw(format)) => return Self::read_raw(bytes, format),
            _ => Self::default(),
        };
        read.without_large_blocks()
    }

    fn without_large_blocks(mut self) -> Self {
        self.exif.take_if(|bytes| bytes.len() > MAX_BLOCK_BYTES);
        for block in [&mut self.xmp, &mut self.extended_xmp, &mut self.iptc] {
            block.take_if(|bytes| bytes.len() > MAX_BLOCK_BYTES);
        }
        self
    }

    fn read_jpeg(bytes: &'a [u8]) -> Self {
        let mut read = Self::default();
        let mut xmp_parts = Vec::new();
        for (marker, body) in jpeg::segments_before_scan(bytes) {
            if marker == 0xE1
                && let Some(exif) = body.strip_prefix(EXIF_PREFIX)
            {
                read.exif.get_or_insert(Cow::Borrowed(exif));
            } else if marker == 0xE1
                && let Some(xmp) = body.strip_prefix(XMP_PREFIX)
            {
                read.xmp.get_or_insert_with(|| xmp.to_vec());
            } else if marker == 0xE1
                && let Some(part) = body.strip_prefix(EXTENDED_XMP_PREFIX)
            {
                xmp_parts.extend(XmpPart::read(part));
            } else if marker == 0xED
                && let Some(part) = body.strip_prefix(b"Photoshop 3.0\0")
            {
                // A long resource continues in the next segment.
                read.iptc.get_or_insert_default().extend_from_slice(part);
            }
        }
        read.extended_xmp = read.xmp.as_ref().and_then(|xmp| joined_xmp(xmp, xmp_parts));
        read
    }

    fn read_png(bytes: &'a [u8]) -> Self {
        Self {
            exif: png_chunks::exif(bytes),
            xmp: png_chunks::xmp(bytes),
            iptc: png_chunks::raw_profile(bytes, "iptc"),
            texts: png_chunks::texts(bytes),
            ..Self::default()
        }
    }

    fn read_tiff(bytes: &'a [u8]) -> Self {
        let page = Tiff::open(bytes).ok();
        let [xmp, iptc] = page.map(|mut page| [page.xmp(), page.iptc()]).unwrap_or_default();
        let blocks = Self { xmp, iptc, ..Self::default() };
        Self { exif: Some(Cow::Borrowed(bytes)), ..blocks.without_large_blocks() }
    }

    fn read_jpeg_xl(bytes: &'a [u8]) -> Self {
        let JpegXlContainer { exif, xmp, .. } = JpegXlContainer::read(bytes);
        Self { exif: exif.map(Cow::Borrowed), xmp: xmp.map(<[u8]>::to_vec), ..Self::default() }
    }

    fn read_heif(bytes: &'a [u8]) -> Self {
        let blocks = ItemTable::open(bytes).map(|table| table.metadata()).unwrap_or_default();
        let [exif, xmp] = blocks.map(|parts| {
            // Many parts can claim the same bytes, so that they are joined only if they are short.
            let parts = parts?;
            let length: usize = parts.iter().map(|part| part.len()).sum();
            (length <= MAX_BLOCK_BYTES).then(|| parts.concat())
        });
        let exif = exif.and_then(|item| exif_structure(&item).map(<[u8]>::to_vec));
        Self { exif: exif.map(Cow::Owned), xmp, ..Self::default() }
    }

    /// Reads a raw file. If the file has the structure of TIFF, all of it is returned as the fields, as for a TIFF.
    fn read_raw(bytes: &'a [u8], format: RawFormat) -> Self {
        match format {
            RawFormat::Raf => {
                raf_preview(bytes).map(Self::read_jpeg).unwrap_or_default().without_large_blocks()
            }
            RawFormat::Cr3 => {
                let Cr3 { fields: [first, exif_parts @ ..], xmp, .. } = Cr3::read(bytes);
                let xmp = xmp.filter(|packet| packet.len() <= MAX_BLOCK_BYTES);
                let (exif, xmp) = (first.map(Cow::Borrowed), xmp.map(<[u8]>::to_vec));
                Self { exif, exif_parts, xmp, ..Self::default() }
            }
            _ => {
                let block = |tag| {
                    let (structure, first) = TiffStructure::open(bytes)?;
                    let block = structure.bytes(first, tag)?;
                    (block.len() <= MAX_BLOCK_BYTES).then(|| block.to_vec())
                };
                let exif = Some(Cow::Borrowed(bytes));
                let iptc = block(IPTC).or_else(|| block(IMAGE_RESOURCES));
                Self { exif, xmp: block(XMP), iptc, ..Self::default() }
            }
        }
    }

    fn read_raster(bytes: &'a [u8], format: PictureFormat) -> Self {
        let opened = RasterDecoder::open(bytes, format);
        let [exif, xmp, iptc] =
            opened.map(|mut raster| raster.metadata_blocks()).unwrap_or_default();
        Self { exif: exif.map(Cow::Owned), xmp, iptc, ..Self::default() }
    }
}

/// A part of the second XMP packet of a JPEG (XMP specification, part 3, section 1.1.3.1).
struct XmpPart<'a> {
    /// The digest of the whole packet, which the first packet names.
    digest: &'a [u8],
    length: u64,
    start: u64,
    text: &'a [u8],
}

impl<'a> XmpPart<'a> {
    fn read(body: &'a [u8]) -> Option<Self> {
        let (digest, numbers) = body.split_at_checked(32)?;
        let [length, start] = [number::<4>(numbers, 0)?, number::<4>(numbers, 4)?];
        Some(Self { digest, length, start, text: &numbers[8..] })
    }
}

/// Joins the parts of the second packet. Returns `None` if a part is missing.
fn joined_xmp(first: &[u8], mut parts: Vec<XmpPart>) -> Option<Vec<u8>> {
    parts.retain(|part| memmem::find(first, part.digest).is_some());
    parts.sort_by_key(|part| part.start);
    let length = parts.first()?.length;
    let mut joined = Vec::new();
    for part in parts {
        (part.start == joined.len() as u64).then(|| joined.extend_from_slice(part.text))?;
    }
    (joined.len() as u64 == length).then_some(joined)
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    fn segment(marker: u8, body: &[&[u8]]) -> Vec<u8> {
        let body = body.concat();
        let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
        [&[0xFF, marker], &length[..], &body].concat()
    }

    #[test]
    fn jpeg_blocks_are_found_and_continued_ones_are_joined() {
        let file = [
            vec![0xFF, 0xD8],
            segment(0xE1, &[b"Exif\0\0", b"II*\0"]),
            segment(0xE1, &[b"http://ns.adobe.com/xap/1.0/\0", b"<x/>"]),
            segment(0xED, &[b"Photoshop 3.0\0", b"8BIM"]),
            segment(0xED, &[b"Photoshop 3.0\0", b"rest"]),
            segment(0xDA, &[&[0; 4]]),
            segment(0xE1, &[b"Exif\0\0", b"later"]),
        ]
        .concat();
        let read = EmbeddedMetadata::read(&file);
        assert_eq!(read.exif.as_deref(), Some(&b"II*\0"[..]));
        assert_eq!(read.xmp.as_deref(), Some(&b"<x/>"[..]));
        assert_eq!(read.iptc.as_deref(), Some(&b"8BIMrest"[..]));
    }

    #[test]
    fn a_second_packet_is_joined_from_its_parts() {
        let part = |digest: &[u8; 32], length: u32, start: u32, text: &[u8]| {
            let numbers = [length.to_be_bytes(), start.to_be_bytes()].concat();
            segment(0xE1, &[b"http://ns.adobe.com/xmp/extension/\0", digest, &numbers, text])
        };
        let (digest, other) = (&[b'A'; 32], &[b'B'; 32]);
        let first = segment(0xE1, &[b"http://ns.adobe.com/xap/1.0/\0<x>", digest, b"</x>"]);
        let second = |parts: &[Vec<u8>]| {
            let file = [&[0xFF, 0xD8][..], &first, &parts.concat(), &segment(0xDA, &[])].concat();
            EmbeddedMetadata::read(&file).extended_xmp
        };
        let [start, end] = [part(digest, 6, 0, b"<y>"), part(digest, 6, 3, b"abc")];
        let whole = second(&[end.clone(), part(other, 1, 0, b"z"), start.clone()]);
        assert_eq!(whole.as_deref(), Some(&b"<y>abc"[..]));
        assert_eq!(second(slice::from_ref(&start)), None);
        assert_eq!(second(&[start.clone(), start, end]), None);
    }

    #[test]
    fn blocks_of_heic_and_avif_are_found_among_the_items() {
        let part = |kind: &[u8; 4], body: &[&[u8]]| {
            let body = body.concat();
            let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
            [&length[..], kind, &body].concat()
        };
        let items = [
            part(b"infe", &[b"\x02\0\0\0\0\x01\0\0av01\0"]),
            part(b"infe", &[b"\x02\0\0\0\0\x02\0\0mimeXMP\0application/rdf+xml\0deflate\0"]),
            part(b"infe", &[b"\x02\0\0\0\0\x03\0\0Exif\0"]),
            part(b"infe", &[b"\x02\0\0\0\0\x04\0\0mimeXMP\0application/rdf+xml\0"]),
        ];
        // The items 3 and 4 are inside the box `idat`, the last one in two parts.
        let locations = b"\x01\0\0\0\x44\0\0\x02\
            \0\x03\0\x01\0\0\0\x01\0\0\0\0\0\0\0\x0E\
            \0\x04\0\x01\0\0\0\x02\0\0\0\x0E\0\0\0\x02\0\0\0\x12\0\0\0\x02";
        for brand in [b"avif", b"heic"] {
            let meta = [
                part(b"pitm", &[b"\0\0\0\0\0\x01"]),
                part(b"iinf", &[b"\0\0\0\0\0\x04", &items.concat()]),
                part(b"iloc", &[locations]),
                part(b"idat", &[b"\0\0\0\x06Exif\0\0II*\0<x../>"]),
            ];
            let file = [
                part(b"ftyp", &[brand, b"\0\0\0\0mif1"]),
                part(b"meta", &[&[0; 4], &meta.concat()]),
            ]
            .concat();
            let read = EmbeddedMetadata::read(&file);
            assert_eq!(read.exif.as_deref(), Some(&b"II*\0"[..]));
            assert_eq!(read.xmp.as_deref(), Some(&b"<x/>"[..]));
        }
    }

    #[test]
    fn other_files_have_no_metadata() {
        for bytes in [&b""[..], b"\xFF\xD8\xFF", b"RIFF\0\0\0\0WEBP", b"\x89PNG\r\n\x1a\n", b"text"]
        {
            assert_eq!(EmbeddedMetadata::read(bytes), EmbeddedMetadata::default());
        }
    }
}
