//! Opens the members of a ZIP archive in all common compressions. The library `zip` unpacks the older ones. xz, LZMA
//! and Zstandard are unpacked here, because the library has no limit on their memory.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek as _, SeekFrom};

use tessera_compression::{Compression, lzma_reader};
use zip::{CompressionMethod, ZipReadOptions, read::ZipFileEntry};

use super::{
    SourceFile,
    bounded_unpacker::{MemberError, damage_reason},
    text_encoding::{FIRST_OF_EAST_ASIA, japanese_name, unmarked_name},
};

/// The file with the members of an archive.
pub(super) type ZipContents = BufReader<Box<dyn SourceFile>>;

/// Opens a member. Its checksum is verified when its end is reached.
pub(super) fn open_member<'a>(
    entry: ZipFileEntry<'static>,
    contents: &'a mut ZipContents,
) -> Result<Box<dyn Read + 'a>, MemberError> {
    let compression = match entry.compression() {
        CompressionMethod::XZ => Some(Compression::Xz),
        CompressionMethod::ZSTD => Some(Compression::Zstandard),
        CompressionMethod::LZMA => None,
        CompressionMethod::Stored
        | CompressionMethod::Deflated
        | CompressionMethod::Deflate64
        | CompressionMethod::Bzip2 => {
            let opened = entry.with_reader(contents, ZipReadOptions::default());
            let content = opened.map_err(|_| MemberError::SkipMember("it is damaged"))?;
            return Ok(Box::new(content));
        }
        _ => return Err(MemberError::SkipMember(UNSUPPORTED)),
    };
    let (checksum, size) = (entry.crc32(), entry.size());
    let skipped = |cause: io::Error| MemberError::SkipMember(damage_reason(&cause));
    let (packed, flags) = packed_content(&entry, contents).map_err(skipped)?;
    let inner = match compression {
        Some(compression) => compression.reader(packed),
        None => open_lzma(packed, flags, size).map_err(skipped)?,
    };
    Ok(Box::new(CheckedReader { inner, hasher: crc32fast::Hasher::new(), checksum }))
}

const UNSUPPORTED: &str = "unsupported compression method; compress it with deflate";

/// The length of the header before the content of a member, without the name and the extra fields.
const HEADER_LENGTH: usize = 30;

/// Returns the packed content of a member and the flags of its header.
fn packed_content<'a>(
    entry: &ZipFileEntry<'_>,
    contents: &'a mut ZipContents,
) -> io::Result<(io::Take<&'a mut ZipContents>, u16)> {
    contents.seek(SeekFrom::Start(entry.header_start()))?;
    let mut header = [0; HEADER_LENGTH];
    contents.read_exact(&mut header)?;
    if !header.starts_with(b"PK\x03\x04") {
        return Err(ErrorKind::InvalidData.into());
    }
    let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    contents.seek_relative(i64::from(number(26)) + i64::from(number(28)))?;
    Ok((contents.take(entry.compressed_size()), number(6)))
}

/// The flag of a member in LZMA that ends with a marker.
const ENDS_WITH_MARKER: u16 = 1 << 1;

/// Opens content in LZMA, which begins with a version and with the length of the properties.
fn open_lzma<'a>(
    mut packed: impl BufRead + 'a,
    flags: u16,
    size: u64,
) -> io::Result<Box<dyn Read + 'a>> {
    let mut head = [0; 9];
    packed.read_exact(&mut head)?;
    let [_, _, 5, 0, properties, dictionary @ ..] = head else {
        return Err(ErrorKind::InvalidData.into());
    };
    let size = (flags & ENDS_WITH_MARKER == 0).then_some(size);
    lzma_reader(packed, properties, u32::from_le_bytes(dictionary), size)
}

/// A reader that fails at its end if the checksum is wrong.
struct CheckedReader<R> {
    inner: R,
    hasher: crc32fast::Hasher,
    checksum: u32,
}

impl<R: Read> Read for CheckedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..length]);
        if length == 0 && !buffer.is_empty() && self.hasher.clone().finalize() != self.checksum {
            return Err(ErrorKind::InvalidData.into());
        }
        Ok(length)
    }
}

/// Returns the name of a member of a ZIP archive. macOS writes names in UTF-8 without marking them as such, and Windows
/// writes them in the encoding of the system.
pub(super) fn zip_name(entry: &ZipFileEntry<'_>) -> String {
    let raw = entry.name_raw();
    if let Ok(name) = str::from_utf8(raw) {
        return name.to_owned();
    }
    match entry.name() {
        // A name in an extra field is in UTF-8.
        Ok(name) if name.contains(|c: char| c >= FIRST_OF_EAST_ASIA) => name.into_owned(),
        Ok(name) => japanese_name(raw).unwrap_or_else(|| name.into_owned()),
        Err(_) => unmarked_name(raw),
    }
}
