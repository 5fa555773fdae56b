//! The JPEGs in raw files with the structure of TIFF.

use image::metadata::Orientation;

use crate::tiff_structure::{TiffDirectory, TiffStructure};

/// More directories are not read. Raw files have up to eight.
pub const MAX_DIRECTORIES: usize = 32;
/// The field that links to further directories.
pub const SUBDIRECTORIES: u16 = 0x014A;

// Tags of TIFF and Exif.
const COMPRESSION: u16 = 0x0103;
const STRIP_OFFSETS: u16 = 0x0111;
const ORIENTATION: u16 = 0x0112;
const STRIP_BYTE_COUNTS: u16 = 0x0117;
const JPEG_OFFSET: u16 = 0x0201;
const JPEG_LENGTH: u16 = 0x0202;
const EXIF_DIRECTORY: u16 = 0x8769;
const MAKER_NOTE: u16 = 0x927C;
/// The whole JPEG as the value of a field, in files of Panasonic.
const PANASONIC_JPEG: u16 = 0x002E;

// Tags in the notes of Olympus.
const OLYMPUS_CAMERA_SETTINGS: u16 = 0x2020;
const OLYMPUS_PREVIEW_OFFSET: u16 = 0x0101;
const OLYMPUS_PREVIEW_LENGTH: u16 = 0x0102;
/// What the notes start with, and where their directory is.
const OLYMPUS_HEADERS: [(&[u8], u32); 2] = [(b"OLYMPUS\0", 12), (b"OM SYSTEM\0", 16)];

/// The parts of a file that are JPEGs by their fields.
pub fn jpegs(bytes: &[u8]) -> Vec<&[u8]> {
    let Some((structure, first)) = TiffStructure::open(bytes) else { return Vec::new() };
    let directories = structure.linked_directories(first, SUBDIRECTORIES, MAX_DIRECTORIES);
    let mut found: Vec<&[u8]> =
        directories.into_iter().flat_map(|directory| jpegs_of(&structure, directory)).collect();
    found.extend(olympus_preview(&structure, first));
    found
}

/// The orientation of the picture, from the first directory.
pub fn orientation(bytes: &[u8]) -> Option<Orientation> {
    let (structure, first) = TiffStructure::open(bytes)?;
    let value = structure.integer(first, ORIENTATION)?;
    Orientation::from_exif(u8::try_from(value).ok()?)
}

fn jpegs_of<'a>(
    structure: &TiffStructure<'a>,
    directory: TiffDirectory<'a>,
) -> impl Iterator<Item = &'a [u8]> {
    let part = |offset, length| {
        let offset = structure.integer(directory, offset)?;
        structure.part(offset, structure.integer(directory, length)?)
    };
    // The old and the new kind of JPEG in TIFF. Several strips would be several JPEGs.
    let is_jpeg = matches!(structure.integer(directory, COMPRESSION), Some(6 | 7))
        && structure.integers(directory, STRIP_OFFSETS, 2).len() == 1;
    let strip = is_jpeg.then(|| part(STRIP_OFFSETS, STRIP_BYTE_COUNTS)).flatten();
    let found = [part(JPEG_OFFSET, JPEG_LENGTH), strip, structure.bytes(directory, PANASONIC_JPEG)];
    found.into_iter().flatten()
}

/// The positions in the notes of Olympus count from their start.
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
