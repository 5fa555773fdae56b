//! Reads archives entry by entry. The directory is streamed, not loaded, so memory does not grow
//! with the number of entries. Limits apply to the bytes actually unpacked, not to the declared
//! sizes.
//!
//! A download is verified by reading every entry to its end, which compares the checksums.

use std::{
    fs::File,
    io::{self, BufReader, ErrorKind, Read as _, Write},
};

use zip::{
    ZipReadOptions,
    read::{Config, ZipFileEntry},
    unstable::read::ZipIterable,
};

const MAX_ENTRIES: usize = 2_000_000;
const MAX_UNPACKED_BYTES: u64 = 100 << 30;
/// Unpacked size above which the compression ratio is checked.
const RATIO_CHECK_THRESHOLD: u64 = 64 << 20;
/// Unpacked bytes per packed byte. Pictures and Parquet do not come near it.
const MAX_COMPRESSION_RATIO: u64 = 200;
const COPY_BUFFER_BYTES: usize = 64 << 10;
/// Where an export stores its pictures (interface document, "Export archive content").
pub(super) const IMAGES_PREFIX: &str = "images/";

/// The result of reading a whole archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VerifiedArchive {
    /// Entries whose checksums were compared.
    pub entries: usize,
    pub images: usize,
}

/// An entry of an archive that is being read.
pub(super) struct ArchiveEntry<'a> {
    /// The name as stored: neither printable nor a safe path.
    pub name: String,
    entry: ZipFileEntry<'static>,
    contents: &'a mut BufReader<File>,
    /// Packed bytes of all entries so far, and the bytes unpacked from them.
    packed: u64,
    unpacked: &'a mut u64,
}

/// Why an entry could not be extracted.
#[derive(Debug)]
pub(super) enum EntryError {
    Invalid(String),
    /// The output cannot be written.
    Disk(io::Error),
}

/// Calls `visit` with each entry, in directory order.
///
/// # Errors
/// Describes what is wrong with the archive, or the error of `visit`. The text is not safe
/// to print.
pub(super) fn for_each_entry(
    file: File,
    mut visit: impl FnMut(ArchiveEntry<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let size = file.metadata().map_err(text)?.len();
    // Both readers share one file offset, so each seeks before it reads.
    let directory = BufReader::new(file.try_clone().map_err(text)?);
    let mut contents = BufReader::new(file);
    let mut directory = ZipIterable::try_new(directory, Config::default())
        .map_err(|error| error.to_string())?
        .enforce_header_consistency(true);
    if directory.len() > MAX_ENTRIES {
        return Err(format!("more than {MAX_ENTRIES} entries"));
    }
    let (mut packed, mut unpacked) = (0_u64, 0);
    for entry in directory.files().map_err(|error| error.to_string())? {
        let entry = entry.map_err(|error| error.to_string())?;
        packed = packed.saturating_add(entry.compressed_size());
        if packed > size {
            // Entries that share bytes add up to more than the file size.
            return Err("overlapping entries".to_owned());
        }
        let name = match entry.name() {
            Ok(name) => name.into_owned(),
            Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
        };
        let (contents, unpacked) = (&mut contents, &mut unpacked);
        visit(ArchiveEntry { name, entry, contents, packed, unpacked })?;
    }
    Ok(())
}

impl ArchiveEntry<'_> {
    pub(super) fn is_dir(&self) -> bool {
        self.entry.is_dir()
    }

    /// Whether it is a regular file, not a link or a device.
    pub(super) fn is_plain(&self) -> bool {
        let kind = self.entry.unix_mode().map_or(0, |mode| mode & 0o170_000);
        !self.entry.is_symlink() && matches!(kind, 0 | 0o100_000)
    }

    /// The declared size.
    pub(super) fn size(&self) -> u64 {
        self.entry.size()
    }

    /// Copies at most `most` bytes, which compares the checksum. Returns the size.
    ///
    /// # Errors
    /// The entry is damaged, larger than `most`, or exceeds the compression limits; or
    /// `out` cannot be written.
    pub(super) fn copy_to(self, out: &mut impl Write, most: u64) -> Result<u64, EntryError> {
        let fair =
            |packed: u64| packed.saturating_mul(MAX_COMPRESSION_RATIO).max(RATIO_CHECK_THRESHOLD);
        let left = fair(self.packed).min(MAX_UNPACKED_BYTES).saturating_sub(*self.unpacked);
        let limit = fair(self.entry.compressed_size()).min(left);
        let damaged = |error: &dyn std::fmt::Display| EntryError::Invalid(error.to_string());
        let options = ZipReadOptions::default();
        let mut content =
            self.entry.with_reader(self.contents, options).map_err(|error| damaged(&error))?;
        let (mut block, mut size) = (vec![0; COPY_BUFFER_BYTES], 0);
        loop {
            let length = match content.read(&mut block) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(damaged(&error)),
            };
            size += length as u64;
            if size > limit {
                return Err(damaged(&"exceeds the compression limit"));
            }
            if size > most {
                return Err(EntryError::Invalid(format!("larger than {} MiB", most >> 20)));
            }
            out.write_all(&block[..length]).map_err(EntryError::Disk)?;
        }
        *self.unpacked += size;
        Ok(size)
    }
}

impl std::fmt::Display for EntryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(words) => f.write_str(words),
            Self::Disk(error) => error.fmt(f),
        }
    }
}

/// Reads the whole archive.
///
/// # Errors
/// Names the damaged entry and the error. The text is not safe to print.
pub(super) fn verify(file: File) -> Result<VerifiedArchive, String> {
    let mut contents = VerifiedArchive { entries: 0, images: 0 };
    for_each_entry(file, |entry| {
        let name = entry.name.clone();
        contents.entries += 1;
        contents.images += usize::from(name.starts_with(IMAGES_PREFIX) && !entry.is_dir());
        let read = entry.copy_to(&mut io::sink(), u64::MAX);
        read.map(drop).map_err(|error| format!("entry {name}: {error}"))
    })?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use std::io::Seek as _;

    use super::*;
    use crate::test_zip::{
        ZipMember, central_header, deflated_zeros, end_of_directory, local_header, stored_member,
        temporary_file, zip_bytes,
    };

    /// Names and contents of all entries, or the error.
    fn unpacked(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
        let mut all = Vec::new();
        for_each_entry(temporary_file(bytes), |entry| {
            let (name, mut content) = (entry.name.clone(), Vec::new());
            entry.copy_to(&mut content, u64::MAX).map_err(|error| error.to_string())?;
            all.push((name, content));
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn no_flipped_byte_changes_what_comes_out() {
        let noise = |seed: u32| -> Vec<u8> {
            (0..700_u32)
                .map(|at| (at ^ seed).wrapping_mul(2_654_435_761).to_be_bytes()[1])
                .collect()
        };
        let mut members = vec![deflated_zeros("metadata.json", 3_000)];
        members.extend((0..4).map(|n| stored_member(&format!("images/{n}.jpg"), &noise(n))));
        let sound = zip_bytes(&members);
        let expected = unpacked(&sound).unwrap();
        let (mut flips, mut undetected) = (0, 0);
        for at in 0..sound.len() {
            for mask in [0x01, 0x80, 0xFF] {
                let mut damaged = sound.clone();
                damaged[at] ^= mask;
                flips += 1;
                if let Ok(content) = unpacked(&damaged) {
                    undetected += 1;
                    assert!(content == expected, "byte {at}, mask {mask:x}");
                }
            }
        }
        // No checksum covers dates, modes and comments.
        assert!(flips > 9_000 && undetected < flips / 20, "{undetected} of {flips}");
    }

    #[test]
    fn archive_bombs_are_rejected_while_reading() {
        let verified =
            |bytes: &[u8]| verify(temporary_file(bytes)).map(|contents| contents.entries);
        let bomb = deflated_zeros("a", 80 << 20);
        assert!(
            verified(&zip_bytes(std::slice::from_ref(&bomb)))
                .unwrap_err()
                .contains("compression limit")
        );
        // The declared size does not matter.
        let lying = ZipMember { size: 7, ..bomb };
        assert!(verified(&zip_bytes(&[lying])).is_err());
        let part = deflated_zeros("a", 60 << 20);
        let many = [part.clone(), part].map(|raw| vec![raw; 2]).concat();
        assert!(
            verified(&zip_bytes(&many)).unwrap_err().contains("compression limit"),
            "all together"
        );
        let inner = zip_bytes(&[stored_member("x", b"y")]);
        assert_eq!(
            verified(&zip_bytes(&[stored_member("nested.zip", &inner)])),
            Ok(1),
            "it is just a file"
        );
    }

    #[test]
    fn overlapping_entries_are_rejected() {
        let raw = stored_member("a", &[7; 1_000]);
        let body = [local_header(&raw), raw.packed.clone()].concat();
        let directory = central_header(&raw, 0).repeat(50);
        let bytes =
            [&body[..], &directory, &end_of_directory(50, directory.len(), body.len())].concat();
        assert!(verify(temporary_file(&bytes)).unwrap_err().contains("overlap"));
    }

    #[test]
    fn incomplete_archives_are_rejected() {
        let raw = stored_member("a", b"abc");
        let sound = zip_bytes(std::slice::from_ref(&raw));
        let encrypted = ZipMember { flags: raw.flags | 1, ..raw.clone() };
        let unknown = ZipMember { method: 97, ..raw.clone() };
        let wrong = ZipMember { crc: raw.crc ^ 1, ..raw.clone() };
        let body = [local_header(&raw), raw.packed.clone(), central_header(&raw, 0)].concat();
        for (what, bytes) in [
            ("encrypted", zip_bytes(&[encrypted])),
            ("packed in an unknown way", zip_bytes(&[unknown])),
            ("another checksum", zip_bytes(&[wrong])),
            (
                "more members than there are",
                [&body[..], &end_of_directory(60_000, 47, 34)].concat(),
            ),
            ("cut off", sound[..sound.len() - 5].to_vec()),
            ("empty", Vec::new()),
            ("another name in front", {
                let mut bytes = sound.clone();
                bytes[30] = b'b';
                bytes
            }),
        ] {
            assert!(verify(temporary_file(&bytes)).is_err(), "{what}");
        }
    }

    #[test]
    fn large_directories_are_not_loaded_into_memory() {
        let count = MAX_ENTRIES as u64 + 1;
        let size = count * 46;
        let mut sparse = tempfile::tempfile().unwrap();
        sparse.write_all(b"PK\x01\x02").unwrap();
        sparse.seek(std::io::SeekFrom::Start(size)).unwrap();
        let wide = |n: u64| n.to_le_bytes();
        let end64 = [
            &b"PK\x06\x06"[..],
            &wide(44),
            &[45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &wide(count),
            &wide(count),
            &wide(size),
            &wide(0),
            b"PK\x06\x07\0\0\0\0",
            &wide(size),
            &[1, 0, 0, 0],
            b"PK\x05\x06\0\0\0\0",
            &[0xFF; 12],
            &[0, 0],
        ];
        sparse.write_all(&end64.concat()).unwrap();
        assert!(verify(sparse).unwrap_err().contains("more than 2000000 entries"));
    }
}
