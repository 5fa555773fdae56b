//! Finds the pictures in raw files of cameras. A raw file contains the data of the sensor, and JPEGs of the same
//! picture that the camera developed. The largest JPEG that can be decoded is shown.

use image::metadata::Orientation;

use crate::{
    iso_boxes::{boxes, find_box, number},
    jpeg,
    limits::DecodeError,
    tiff_structure::{TiffDirectory, TiffStructure, exif_orientation},
};

// Tags of TIFF, TIFF/EP and DNG.
const PHOTOMETRIC_INTERPRETATION: u16 = 0x0106;
const MAKE: u16 = 0x010F;
const DNG_VERSION: u16 = 0xC612;
/// Values of the photometric interpretation that mark sensor data: a mosaic of colors, and all colors for each pixel.
const SENSOR_COLORS: [u32; 2] = [32_803, 34_892];

/// A format of raw files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawFormat {
    /// Raw files of Adobe software, and of several makers of cameras and phones.
    Dng,
    /// Canon, up to 2018.
    Cr2,
    /// Canon, since 2018.
    Cr3,
    /// Nikon.
    Nef,
    /// Sony.
    Arw,
    /// Olympus.
    Orf,
    /// Panasonic.
    Rw2,
    /// Pentax.
    Pef,
    /// Fujifilm.
    Raf,
    /// Raw files of other makers that follow the TIFF/EP standard, as most of the formats above do.
    TiffEp,
}

impl RawFormat {
    /// Detects the format of a file with the signature of TIFF. Returns `None` for TIFF files that are not raw. `bytes`
    /// must be the whole file, because the fields that distinguish the formats may be anywhere in it.
    pub(crate) fn detect_in_tiff(bytes: &[u8]) -> Option<Self> {
        let (structure, first) = TiffStructure::open(bytes)?;
        if structure.bytes(first, DNG_VERSION).is_some() {
            return Some(Self::Dng);
        }
        let is_sensor = |directory: TiffDirectory| {
            let colors = structure.integer(directory, PHOTOMETRIC_INTERPRETATION);
            colors.is_some_and(|colors| SENSOR_COLORS.contains(&colors))
        };
        let directories = structure.linked_directories(first);
        let make = structure.text(first, MAKE)?.to_ascii_uppercase();
        let is_of = |maker: &str| make.starts_with(maker.as_bytes());
        directories.into_iter().any(is_sensor).then(|| match () {
            () if is_of("NIKON") => Self::Nef,
            () if is_of("SONY") => Self::Arw,
            () if is_of("PENTAX") || is_of("RICOH") => Self::Pef,
            () => Self::TiffEp,
        })
    }

    /// Returns the name, the usual extension of a file name, and the media type. Only the type of DNG is registered; the
    /// remaining types are those that desktop environments define.
    pub(crate) fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Dng => ("DNG", "dng", "image/x-adobe-dng"),
            Self::Cr2 => ("CR2", "cr2", "image/x-canon-cr2"),
            Self::Cr3 => ("CR3", "cr3", "image/x-canon-cr3"),
            Self::Nef => ("NEF", "nef", "image/x-nikon-nef"),
            Self::Arw => ("ARW", "arw", "image/x-sony-arw"),
            Self::Orf => ("ORF", "orf", "image/x-olympus-orf"),
            Self::Rw2 => ("RW2", "rw2", "image/x-panasonic-rw2"),
            Self::Pef => ("PEF", "pef", "image/x-pentax-pef"),
            Self::Raf => ("RAF", "raf", "image/x-fuji-raf"),
            Self::TiffEp => ("TIFF/EP", "tif", "image/tiff"),
        }
    }
}

/// The largest JPEG in a raw file that the decoders here can read.
pub struct RawPreview<'a> {
    pub jpeg: &'a [u8],
    /// The orientation in the raw file, which takes precedence over the orientation in the JPEG.
    pub orientation: Option<Orientation>,
}

impl<'a> RawPreview<'a> {
    pub fn find(bytes: &'a [u8], format: RawFormat) -> Result<Self, DecodeError> {
        let (jpegs, orientation) = match format {
            RawFormat::Raf => (raf_preview(bytes).into_iter().collect(), None),
            RawFormat::Cr3 => {
                let file = Cr3::read(bytes);
                (file.jpegs, file.fields[0].and_then(exif_orientation))
            }
            _ => (tiff_jpegs(bytes), exif_orientation(bytes)),
        };
        let sized = jpegs.into_iter().filter_map(|jpeg| Some((decodable_pixels(jpeg)?, jpeg)));
        // `max_by_key` returns the last maximum, so the order is reversed to take the first of equally large JPEGs.
        let largest = sized.rev().max_by_key(|(pixels, _)| *pixels);
        let (_, jpeg) = largest.ok_or_else(|| {
            let (name, ..) = format.names();
            DecodeError(format!(
                "a {name} without a JPEG preview: convert it to JPEG with a raw converter"
            ))
        })?;
        Ok(Self { jpeg, orientation })
    }
}

/// Returns the JPEG of a Fujifilm raw file. The header contains its position and length.
pub fn raf_preview(bytes: &[u8]) -> Option<&[u8]> {
    let number = |at| {
        let bytes = bytes.get(at..)?.first_chunk()?;
        usize::try_from(u32::from_be_bytes(*bytes)).ok()
    };
    bytes.get(number(84)?..)?.get(..number(88)?)
}

/// Returns the number of pixels of a JPEG that our decoders read. `None` for other JPEGs, because many raw files store
/// the data of the sensor as a lossless JPEG.
fn decodable_pixels(jpeg: &[u8]) -> Option<u64> {
    if !jpeg.starts_with(&[0xFF, 0xD8]) {
        return None;
    }
    let is_frame =
        |marker: u8| matches!(marker, 0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC));
    let mut segments = jpeg::segments_before_scan(jpeg).take(jpeg::MAX_SEGMENTS);
    let (marker, frame) = segments.find(|(marker, _)| is_frame(*marker))?;
    let [precision, height @ .., width_high, width_low]: [u8; 5] = *frame.first_chunk()?;
    let [height, width] = [height, [width_high, width_low]].map(u16::from_be_bytes);
    let is_decodable = precision == 8 && matches!(marker, 0xC0..=0xC2);
    is_decodable.then(|| u64::from(height) * u64::from(width))
}

// Tags of TIFF and Exif.
const COMPRESSION: u16 = 0x0103;
const STRIP_OFFSETS: u16 = 0x0111;
const STRIP_BYTE_COUNTS: u16 = 0x0117;
const JPEG_OFFSET: u16 = 0x0201;
const JPEG_LENGTH: u16 = 0x0202;
const EXIF_DIRECTORY: u16 = 0x8769;
const MAKER_NOTE: u16 = 0x927C;
/// A field in Panasonic files whose value is the whole JPEG.
const PANASONIC_JPEG: u16 = 0x002E;

// Tags in the maker notes of Olympus.
const OLYMPUS_CAMERA_SETTINGS: u16 = 0x2020;
const OLYMPUS_PREVIEW_OFFSET: u16 = 0x0101;
const OLYMPUS_PREVIEW_LENGTH: u16 = 0x0102;
/// The first bytes of the maker notes, and the offset at which their directory begins.
const OLYMPUS_HEADERS: [(&[u8], u32); 2] = [(b"OLYMPUS\0", 12), (b"OM SYSTEM\0", 16)];

/// Returns the parts of a file that are JPEGs according to its fields.
fn tiff_jpegs(bytes: &[u8]) -> Vec<&[u8]> {
    let Some((structure, first)) = TiffStructure::open(bytes) else { return Vec::new() };
    let directories = structure.linked_directories(first);
    let mut found: Vec<&[u8]> =
        directories.into_iter().flat_map(|directory| jpegs_of(&structure, directory)).collect();
    found.extend(olympus_preview(&structure, first));
    found
}

fn jpegs_of<'a>(
    structure: &TiffStructure<'a>,
    directory: TiffDirectory<'a>,
) -> impl Iterator<Item = &'a [u8]> {
    let part = |offset, length| {
        let offset = structure.integer(directory, offset)?;
        structure.part(offset, structure.integer(directory, length)?)
    };
    // The old and the new kind of JPEG in TIFF. Several strips would be several JPEGs, so only a single strip is taken.
    let is_jpeg = matches!(structure.integer(directory, COMPRESSION), Some(6 | 7))
        && structure.integers(directory, STRIP_OFFSETS, 2).len() == 1;
    let strip = is_jpeg.then(|| part(STRIP_OFFSETS, STRIP_BYTE_COUNTS)).flatten();
    let found = [part(JPEG_OFFSET, JPEG_LENGTH), strip, structure.bytes(directory, PANASONIC_JPEG)];
    found.into_iter().flatten()
}

/// Finds the preview in the maker notes of Olympus, in which positions are counted from the start of the notes.
fn olympus_preview<'a>(
    structure: &TiffStructure<'a>,
    first: TiffDirectory<'a>,
) -> Option<&'a [u8]> {
    let exif = structure.subdirectory(first, EXIF_DIRECTORY)?;
    let notes = structure.rest_from_values(exif, MAKER_NOTE)?;
    let (header, offset) = OLYMPUS_HEADERS.into_iter().find(|(head, _)| notes.starts_with(head))?;
    let is_big_endian = notes[header.len()..].starts_with(b"MM");
    let (notes, directory) = TiffStructure::open_at(notes, is_big_endian, offset)?;
    let settings = notes.subdirectory(directory, OLYMPUS_CAMERA_SETTINGS)?;
    let offset = notes.integer(settings, OLYMPUS_PREVIEW_OFFSET)?;
    notes.part(offset, notes.integer(settings, OLYMPUS_PREVIEW_LENGTH)?)
}

// The boxes of a CR3, the raw file of Canon since 2018. A box of a user-defined kind starts with the UUID of that kind.
const UUID_SIZE: usize = 16;
/// The box in `moov` with the fields of the camera.
const CR3_METADATA: [u8; UUID_SIZE] = 0x85C0_B687_820F_11E0_8111_F4CE_462B_6A48_u128.to_be_bytes();
const CR3_PREVIEW: [u8; UUID_SIZE] = 0xEAF4_2B5E_1C98_4B88_B9FB_B7DC_406E_4D16_u128.to_be_bytes();
const CR3_XMP: [u8; UUID_SIZE] = 0xBE7A_CFCB_97A9_42E8_9C71_9994_91E3_AFAC_u128.to_be_bytes();
/// The offset of the preview box after the UUID, and the offset of the JPEG in the preview box.
const CR3_PREVIEW_HEADER: usize = 8;
const CR3_PREVIEW_JPEG: usize = 16;

/// The pictures and the metadata of a CR3.
#[derive(Default)]
pub struct Cr3<'a> {
    /// The JPEG in the preview box, and the first picture of each track. One of them has the full size.
    pub jpegs: Vec<&'a [u8]>,
    /// The first directory, the Exif directory and the GPS directory, each as a TIFF file of its own.
    pub fields: [Option<&'a [u8]>; 3],
    /// The XMP packet, which is XML.
    pub xmp: Option<&'a [u8]>,
}

impl<'a> Cr3<'a> {
    /// Reads the boxes up to the first damaged box.
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut read = Self::default();
        for (kind, body) in boxes(bytes) {
            if &kind == b"moov" {
                read.read_index(bytes, body);
            } else if let Some(preview) = user_box(kind, body, CR3_PREVIEW) {
                let preview =
                    preview.get(CR3_PREVIEW_HEADER..).and_then(|body| find_box(body, *b"PRVW"));
                read.jpegs.extend(preview.and_then(|body| body.get(CR3_PREVIEW_JPEG..)));
            } else if let Some(xmp) = user_box(kind, body, CR3_XMP) {
                read.xmp = Some(xmp);
            }
        }
        read
    }

    fn read_index(&mut self, file: &'a [u8], index: &'a [u8]) {
        for (kind, body) in boxes(index) {
            if &kind == b"trak" {
                self.jpegs.extend(first_sample(file, body));
            } else if let Some(metadata) = user_box(kind, body, CR3_METADATA) {
                self.fields = [*b"CMT1", *b"CMT2", *b"CMT4"].map(|kind| find_box(metadata, kind));
            }
        }
    }
}

/// Returns the content of a box if its user-defined kind is `uuid`.
fn user_box(kind: [u8; 4], body: &[u8], uuid: [u8; UUID_SIZE]) -> Option<&[u8]> {
    (&kind == b"uuid").then(|| body.strip_prefix(&uuid)).flatten()
}

/// Returns the first picture of a track.
fn first_sample<'a>(file: &'a [u8], track: &[u8]) -> Option<&'a [u8]> {
    let path = [*b"mdia", *b"minf", *b"stbl"];
    let table = path.into_iter().try_fold(track, |body, kind| find_box(body, kind))?;
    // The first offset follows the version, the flags and the count.
    let offset = match find_box(table, *b"co64") {
        Some(offsets) => number::<8>(offsets, 8)?,
        None => number::<4>(find_box(table, *b"stco")?, 8)?,
    };
    let sizes = find_box(table, *b"stsz")?;
    // The box has one size for all samples, or a list of sizes after their count.
    let size = number::<4>(sizes, 4).filter(|&size| size > 0).or_else(|| number::<4>(sizes, 12))?;
    let [offset, size] = [offset, size].map(|number| usize::try_from(number).ok());
    file.get(offset?..)?.get(..size?)
}
