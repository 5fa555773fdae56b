//! Fields of the structure that Exif shares with TIFF files. Nothing is copied before it is asked for, and texts are
//! read up to a limit: hostile fields can all claim the same large part of a file.

/// Longer texts are cut.
const MAX_TEXT_BYTES: usize = 8 << 10;
const ENTRY_SIZE: usize = 12;

pub(super) struct TiffStructure<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

/// The fields of one list of them (an image file directory): 12 bytes each.
#[derive(Clone, Copy)]
pub(super) struct Directory<'a>(&'a [[u8; ENTRY_SIZE]]);

impl<'a> TiffStructure<'a> {
    /// The structure and its first directory. `None` for other bytes, and for a `BigTIFF`.
    pub(super) fn open(bytes: &'a [u8]) -> Option<(Self, Directory<'a>)> {
        let is_big_endian = match bytes.get(..4)? {
            b"MM\0*" => true,
            b"II*\0" => false,
            _ => return None,
        };
        let structure = Self { bytes, is_big_endian };
        let first = structure.directory_at(structure.long(bytes.get(4..8)?)?)?;
        Some((structure, first))
    }

    /// The directory that a field refers to.
    pub(super) fn subdirectory(&self, directory: Directory, tag: u16) -> Option<Directory<'a>> {
        self.directory_at(self.integer(directory, tag)?)
    }

    /// The bytes of a text, without what follows a zero.
    pub(super) fn text(&self, directory: Directory<'a>, tag: u16) -> Option<&'a [u8]> {
        let (2, bytes) = self.field(directory, tag, MAX_TEXT_BYTES)? else { return None };
        bytes.split(|&byte| byte == 0).next()
    }

    /// The first number of a field of whole numbers.
    pub(super) fn integer(&self, directory: Directory, tag: u16) -> Option<u32> {
        match self.field(directory, tag, 4)? {
            (3, bytes) => self.short(bytes.get(..2)?).map(u32::from),
            (4, bytes) => self.long(bytes),
            _ => None,
        }
    }

    /// The first `N` fractions of a field, none of which is negative or has a denominator of zero.
    pub(super) fn fractions<const N: usize>(
        &self,
        directory: Directory,
        tag: u16,
    ) -> Option<[(u32, u32); N]> {
        let (5, bytes) = self.field(directory, tag, 8 * N)? else { return None };
        let mut fractions = [(0, 1); N];
        for (fraction, pair) in fractions.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *fraction = (self.long(&pair[..4])?, self.long(&pair[4..])?);
        }
        let is_valid = bytes.len() == 8 * N && fractions.iter().all(|fraction| fraction.1 > 0);
        is_valid.then_some(fractions)
    }

    fn directory_at(&self, offset: u32) -> Option<Directory<'a>> {
        let at = usize::try_from(offset).ok()?;
        let count = usize::from(self.short(self.bytes.get(at..at.checked_add(2)?)?)?);
        let entries = self.bytes.get(at + 2..)?.as_chunks().0;
        Some(Directory(&entries[..count.min(entries.len())]))
    }

    /// The type of a field and at most `limit` bytes of its values.
    fn field<'b>(&self, directory: Directory<'b>, tag: u16, limit: usize) -> Option<(u16, &'b [u8])>
    where
        'a: 'b,
    {
        let entry = directory.0.iter().find(|entry| self.short(&entry[..2]) == Some(tag))?;
        let kind = self.short(&entry[2..4])?;
        let size = match kind {
            2 => 1,
            3 => 2,
            4 => 4,
            5 => 8,
            _ => return None,
        };
        let length = usize::try_from(self.long(&entry[4..8])?).ok()?.checked_mul(size)?;
        // Values of up to four bytes are in the field itself.
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
