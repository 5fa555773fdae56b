//! Reads the fields of the structure that Exif and the raw files of cameras share with TIFF files. Nothing is copied
//! before it is needed, and texts are read up to a limit, because hostile fields can all claim the same large part of a
//! file.

use image::metadata::Orientation;

use crate::jpeg::EXIF_PREFIX;

/// Longer texts are truncated.
const MAX_TEXT_BYTES: usize = 8 << 10;
const ENTRY_SIZE: usize = 12;
/// Directories beyond this number are not read. Raw files have up to eight.
const MAX_DIRECTORIES: usize = 32;
/// The field that links to further directories.
const SUBDIRECTORIES: u16 = 0x014A;

/// The tag of the orientation in TIFF and Exif.
const ORIENTATION: u16 = 0x0112;

pub struct TiffStructure<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

/// The fields of one image file directory, 12 bytes each.
#[derive(Clone, Copy)]
pub struct TiffDirectory<'a> {
    entries: &'a [[u8; ENTRY_SIZE]],
    /// The position at which the entries start.
    at: usize,
    /// The position at which the next directory of the chain starts, or 0 for the last directory.
    next: u32,
}

impl<'a> TiffStructure<'a> {
    /// Returns the structure and its first directory. Returns `None` for a `BigTIFF` and for bytes that are not a TIFF.
    pub fn open(bytes: &'a [u8]) -> Option<(Self, TiffDirectory<'a>)> {
        // Some programs write the name in front, which precedes the fields only in a JPEG.
        let bytes = bytes.strip_prefix(EXIF_PREFIX).unwrap_or(bytes);
        let is_big_endian = match bytes.get(..4)? {
            // Olympus writes the second signature.
            b"MM\0*" | b"MMOR" => true,
            // Olympus and Panasonic write the last three signatures.
            b"II*\0" | b"IIRO" | b"IIRS" | b"IIU\0" => false,
            _ => return None,
        };
        let structure = Self { bytes, is_big_endian };
        let first = structure.directory_at(structure.long(bytes.get(4..8)?)?)?;
        Some((structure, first))
    }

    /// Returns a structure without the TIFF header, whose offsets are counted from the start of `bytes`, and its
    /// directory at `offset`.
    pub(crate) fn open_at(
        bytes: &'a [u8],
        is_big_endian: bool,
        offset: u32,
    ) -> Option<(Self, TiffDirectory<'a>)> {
        let structure = Self { bytes, is_big_endian };
        let directory = structure.directory_at(offset)?;
        Some((structure, directory))
    }

    /// Returns the first directory, the next directories in its chain, and the directories to which any of these link,
    /// and none of them twice, even if they link to each other.
    pub(crate) fn linked_directories(&self, first: TiffDirectory<'a>) -> Vec<TiffDirectory<'a>> {
        let mut directories = vec![first];
        let mut followed = 0;
        while let Some(&directory) = directories.get(followed) {
            followed += 1;
            let links = self.integers(directory, SUBDIRECTORIES, MAX_DIRECTORIES);
            let linked = [directory.next].into_iter().chain(links);
            for offset in linked.filter(|&offset| offset > 0) {
                if directories.len() < MAX_DIRECTORIES
                    && let Some(next) = self.directory_at(offset)
                    && directories.iter().all(|known| known.at != next.at)
                {
                    directories.push(next);
                }
            }
        }
        directories
    }

    /// Returns the directory that a field refers to or contains.
    pub fn subdirectory(&self, directory: TiffDirectory, tag: u16) -> Option<TiffDirectory<'a>> {
        let offset = match self.entry(directory, tag)? {
            (entry, 7, _) => self.long(&entry[8..]),
            _ => self.integer(directory, tag),
        };
        self.directory_at(offset?)
    }

    /// Returns the part of the file with `length` bytes at `offset`.
    pub(crate) fn part(&self, offset: u32, length: u32) -> Option<&'a [u8]> {
        let [offset, length] = [offset, length].map(|number| usize::try_from(number).ok());
        self.bytes.get(offset?..)?.get(..length?)
    }

    /// Returns the values of a field of bytes. Photoshop gives some of these fields the type of long numbers.
    pub(crate) fn bytes(&self, directory: TiffDirectory<'a>, tag: u16) -> Option<&'a [u8]> {
        let (1 | 4 | 7, bytes) = self.field(directory, tag, usize::MAX)? else { return None };
        Some(bytes)
    }

    /// Returns the rest of the file from the first value of a field on. The field must have more than four bytes.
    pub(crate) fn rest_from_values(
        &self,
        directory: TiffDirectory<'a>,
        tag: u16,
    ) -> Option<&'a [u8]> {
        let (entry, _, length) = self.entry(directory, tag)?;
        let at = usize::try_from(self.long(&entry[8..])?).ok()?;
        (length > 4).then(|| self.bytes.get(at..)).flatten()
    }

    /// Returns the bytes of a text up to the first zero.
    pub fn text(&self, directory: TiffDirectory<'a>, tag: u16) -> Option<&'a [u8]> {
        let (ASCII | UTF_8, bytes) = self.field(directory, tag, MAX_TEXT_BYTES)? else {
            return None;
        };
        bytes.split(|&byte| byte == 0).next()
    }

    /// Returns a copy of the file whose first directory has the fields of `directory`, and a field of long zeros.
    pub(crate) fn with_zeros(
        &self,
        directory: TiffDirectory,
        tag: u16,
        count: usize,
    ) -> Option<Vec<u8>> {
        let mut file = self.bytes.to_vec();
        // A single number is stored in the field itself.
        let values = if count == 1 { 0 } else { u32::try_from(file.len()).ok()? };
        file.resize(file.len() + 4 * count, 0);
        let start = u32::try_from(file.len()).ok()?;
        let number = u16::try_from(directory.entries.len() + 1).ok()?;
        let short = |number: u16| {
            if self.is_big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
        };
        let long = |number: u32| {
            if self.is_big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
        };
        file.extend(short(number));
        file.extend_from_slice(directory.entries.as_flattened());
        file.extend([short(tag), short(4)].as_flattened());
        file.extend([u32::try_from(count).ok()?, values, directory.next].map(long).as_flattened());
        file.get_mut(4..8)?.copy_from_slice(&long(start));
        Some(file)
    }

    /// Returns a copy of the file in which `directory` is the last one of its chain, if it links to itself.
    pub(crate) fn without_loop(&self, directory: TiffDirectory) -> Option<Vec<u8>> {
        let link = directory.at + directory.entries.as_flattened().len();
        // A chain ends with 0, also if the directory itself is at 0.
        let next = usize::try_from(directory.next).ok().filter(|next| *next > 0);
        let is_loop = next.is_some_and(|next| next + 2 == directory.at);
        let mut file = is_loop.then(|| self.bytes.to_vec())?;
        file.get_mut(link..link + 4)?.fill(0);
        Some(file)
    }

    /// Returns a copy of the file in which fields of `directory` have other tags, in pairs of the old and the new tag.
    pub(crate) fn with_tags(&self, directory: TiffDirectory, tags: [(u16, u16); 2]) -> Vec<u8> {
        let mut file = self.bytes.to_vec();
        for (index, entry) in directory.entries.iter().enumerate() {
            let is_old = |(old, _): &&(u16, u16)| self.short(&entry[..2]) == Some(*old);
            if let Some((_, new)) = tags.iter().find(is_old) {
                let at = directory.at + ENTRY_SIZE * index;
                file[at..][..2].copy_from_slice(&self.short_bytes(*new));
            }
        }
        file
    }

    /// Returns a copy of the file in which a field with one short number has this value.
    pub(crate) fn with_short(
        &self,
        directory: TiffDirectory,
        tag: u16,
        value: u16,
    ) -> Option<Vec<u8>> {
        let is_field = |entry: &[u8; ENTRY_SIZE]| self.short(&entry[..2]) == Some(tag);
        let index = directory.entries.iter().position(is_field)?;
        let (_, kind, length) = self.entry(directory, tag)?;
        let mut file = (kind == 3 && length == 2).then(|| self.bytes.to_vec())?;
        let at = directory.at + ENTRY_SIZE * index + 8;
        file.get_mut(at..at + 2)?.copy_from_slice(&self.short_bytes(value));
        Some(file)
    }

    fn short_bytes(&self, number: u16) -> [u8; 2] {
        if self.is_big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    /// Returns the first number of a field of whole numbers.
    pub fn integer(&self, directory: TiffDirectory, tag: u16) -> Option<u32> {
        self.integers(directory, tag, 1).first().copied()
    }

    /// Returns the first `limit` numbers of a field of whole numbers. A field of another type gives no numbers.
    pub(crate) fn integers(&self, directory: TiffDirectory, tag: u16, limit: usize) -> Vec<u32> {
        let values = self.field(directory, tag, limit.saturating_mul(4));
        let numbers: Vec<u32> = match values {
            // Some programs write numbers with a sign, though none of these numbers can be negative.
            Some((3 | 8, bytes)) => {
                bytes.chunks_exact(2).filter_map(|pair| self.short(pair)).map(u32::from).collect()
            }
            // Type 13 is the offset of a directory.
            Some((4 | 9 | 13, bytes)) => {
                bytes.chunks_exact(4).filter_map(|long| self.long(long)).collect()
            }
            _ => Vec::new(),
        };
        numbers.into_iter().take(limit).collect()
    }

    /// Returns the first `limit` numbers of a field, which may have any type of numbers. A number that the file states as
    /// unknown, by a denominator of zero or the largest numerator, is not finite.
    pub fn numbers(&self, directory: TiffDirectory, tag: u16, limit: usize) -> Vec<f64> {
        let values = self.field(directory, tag, limit.saturating_mul(8));
        let Some((kind, bytes)) = values else { return Vec::new() };
        let size = size_of_value(kind).unwrap_or(1);
        bytes.chunks_exact(size).take(limit).map_while(|value| self.number(kind, value)).collect()
    }

    fn number(&self, kind: u16, value: &[u8]) -> Option<f64> {
        let [first, second] = [0, 4].map(|at| value.get(at..).and_then(|half| self.long(half)));
        Some(match kind {
            1 => value[0].into(),
            3 => self.short(value)?.into(),
            4 => first?.into(),
            5 if first? == u32::MAX => f64::INFINITY,
            5 => f64::from(first?) / f64::from(second?),
            8 => self.short(value)?.cast_signed().into(),
            9 => first?.cast_signed().into(),
            10 => f64::from(first?.cast_signed()) / f64::from(second?.cast_signed()),
            11 => f32::from_bits(first?).into(),
            12 => {
                let bytes = *value.first_chunk()?;
                if self.is_big_endian {
                    f64::from_be_bytes(bytes)
                } else {
                    f64::from_le_bytes(bytes)
                }
            }
            _ => return None,
        })
    }

    /// Returns the directory at a position in the file.
    pub(crate) fn directory_at(&self, offset: u32) -> Option<TiffDirectory<'a>> {
        let at = usize::try_from(offset).ok()?;
        let count = usize::from(self.short(self.bytes.get(at..at.checked_add(2)?)?)?);
        let rest = self.bytes.get(at + 2..)?;
        let entries = rest.as_chunks().0;
        let next = rest.get(count * ENTRY_SIZE..).and_then(|after| self.long(after));
        Some(TiffDirectory {
            entries: &entries[..count.min(entries.len())],
            at: at + 2,
            next: next.unwrap_or(0),
        })
    }

    /// Returns a field with its type and the length of its values in bytes.
    fn entry<'b>(
        &self,
        directory: TiffDirectory<'b>,
        tag: u16,
    ) -> Option<(&'b [u8; ENTRY_SIZE], u16, usize)> {
        let entry = directory.entries.iter().find(|entry| self.short(&entry[..2]) == Some(tag))?;
        let kind = self.short(&entry[2..4])?;
        let size = size_of_value(kind)?;
        let length = usize::try_from(self.long(&entry[4..8])?).ok()?.checked_mul(size)?;
        Some((entry, kind, length))
    }

    /// Returns the type of a field, and at most `limit` bytes of its values.
    fn field<'b>(
        &self,
        directory: TiffDirectory<'b>,
        tag: u16,
        limit: usize,
    ) -> Option<(u16, &'b [u8])>
    where
        'a: 'b,
    {
        let (entry, kind, length) = self.entry(directory, tag)?;
        // Values of up to four bytes are stored in the field itself.
        let values = if length <= 4 {
            entry[8..].get(..length)?
        } else {
            let at = usize::try_from(self.long(&entry[8..])?).ok()?;
            self.bytes.get(at..at.checked_add(length)?)?
        };
        Some((kind, &values[..length.min(limit)]))
    }

    fn short(&self, bytes: &[u8]) -> Option<u16> {
        let bytes = *bytes.first_chunk()?;
        Some(if self.is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn long(&self, bytes: &[u8]) -> Option<u32> {
        let bytes = *bytes.first_chunk()?;
        Some(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}

// The types of texts, by TIFF and Exif 3.0.
const ASCII: u16 = 2;
const UTF_8: u16 = 129;

/// Returns the number of bytes of a value of a type, which TIFF and Exif define.
fn size_of_value(kind: u16) -> Option<usize> {
    match kind {
        1 | ASCII | 6 | 7 | UTF_8 => Some(1),
        3 | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 => Some(8),
        _ => None,
    }
}

/// Returns the orientation of the picture, which is in the first directory. Some programs write it as a byte or as a
/// long number.
pub(crate) fn exif_orientation(bytes: &[u8]) -> Option<Orientation> {
    let (structure, first) = TiffStructure::open(bytes)?;
    let byte = || structure.bytes(first, ORIENTATION)?.first().copied().map(u32::from);
    let value = structure.integer(first, ORIENTATION).or_else(byte)?;
    Orientation::from_exif(u8::try_from(value).ok()?)
}
