//! Unpacks archives entry by entry, in constant memory. The number of entries, the unpacked bytes and the compression
//! ratio are limited. The limits apply to the bytes that are actually unpacked, not to those that the archive declares.
//!
//! Response bodies are decoded in the same way. A download asks for the bytes of the archive itself, but some storages
//! and proxies compress them all the same.

use std::{
    error::Error,
    fmt,
    fs::File,
    io::{self, BufReader, ErrorKind, Read as _, Seek as _, Write},
    mem,
    path::Path,
};

use crate::{errors::AttemptError, part_file::local_failure};
use bytes::{Bytes, BytesMut};
use flate2::write::GzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use serde::de::IgnoredAny;
use tessera_model::{Failure, FailureKind, SafeText};
use zip::{
    ZipReadOptions,
    read::{Config, ZipFileEntry},
    unstable::read::ZipIterable,
};

const MAX_ENTRIES: usize = 2_000_000;
const MAX_UNPACKED_BYTES: u64 = 100 << 30;
/// The unpacked size above which the compression ratio is checked.
const RATIO_CHECK_THRESHOLD: u64 = 64 << 20;
/// The maximum number of unpacked bytes per packed byte. Pictures and Parquet do not come near this ratio.
const MAX_COMPRESSION_RATIO: u64 = 200;
const COPY_BUFFER_BYTES: usize = 64 << 10;
/// The folder in which an export stores its pictures (API document, "Export archive content").
pub(super) const IMAGES_PREFIX: &str = "images/";

/// What is wrong with an archive, or the [`Failure`] that ended the reading. The text is not safe to print.
pub(super) type ArchiveError = Box<dyn Error + Send + Sync>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VerifiedArchive {
    /// The number of entries whose checksums were compared.
    pub entries: usize,
    pub images: usize,
}

pub(super) struct ArchiveEntry<'a> {
    /// The name as stored, which is neither printable nor a safe path.
    pub name: String,
    pub header: ZipFileEntry<'static>,
    contents: &'a mut BufReader<File>,
    /// The packed bytes of all entries so far. `unpacked` counts the bytes that were unpacked from them.
    packed: u64,
    unpacked: &'a mut u64,
}

/// The reason why an entry could not be extracted.
#[derive(Debug)]
pub(super) enum EntryError {
    Invalid(String),
    /// The output could not be written.
    Disk(io::Error),
}

impl Error for EntryError {}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(reason) => f.write_str(reason),
            Self::Disk(error) => error.fmt(f),
        }
    }
}

pub(super) fn into_failure(archive: &Path, error: ArchiveError) -> Failure {
    match error.downcast::<Failure>() {
        Ok(failure) => *failure,
        Err(error) => local_failure(archive, &error.to_string()),
    }
}

/// Calls `visit` with each entry, in the order of the directory. An error of `visit` ends the reading.
pub(super) fn for_each_entry(
    file: File,
    mut visit: impl FnMut(ArchiveEntry<'_>) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let size = file.metadata()?.len();
    // Both readers share one file offset, so each reader seeks before it reads.
    let directory = BufReader::new(file.try_clone()?);
    let mut contents = BufReader::new(file);
    let mut directory =
        ZipIterable::try_new(directory, Config::default())?.enforce_header_consistency(true);
    if directory.len() > MAX_ENTRIES {
        return Err(format!("more than {MAX_ENTRIES} entries").into());
    }
    let (mut packed, mut unpacked) = (0_u64, 0);
    for entry in directory.files()? {
        let entry = entry?;
        packed = packed.saturating_add(entry.compressed_size());
        if packed > size {
            // Entries that share bytes add up to more than the size of the file.
            return Err("overlapping entries".into());
        }
        let name = entry.name().unwrap_or_else(|_| String::from_utf8_lossy(entry.name_raw()));
        let name = name.into_owned();
        let (contents, unpacked) = (&mut contents, &mut unpacked);
        visit(ArchiveEntry { name, header: entry, contents, packed, unpacked })?;
    }
    Ok(())
}

/// Reads the whole archive and verifies its checksums. An error names the damaged entry.
pub(super) fn verify(file: File) -> Result<VerifiedArchive, ArchiveError> {
    let mut contents = VerifiedArchive { entries: 0, images: 0 };
    for_each_entry(file, |entry| {
        let name = entry.name.clone();
        contents.entries += 1;
        contents.images += usize::from(name.starts_with(IMAGES_PREFIX) && !entry.header.is_dir());
        let read = entry.copy_to(&mut io::sink(), u64::MAX);
        read.map_err(|error| format!("entry {name}: {error}"))?;
        Ok(())
    })?;
    Ok(contents)
}

/// Returns the first bytes of a file if they are text, which an archive never is. An empty file is an empty text.
pub(super) fn text_of(mut file: &File, max_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let mut start = Vec::new();
    file.rewind()?;
    file.take(max_bytes as u64).read_to_end(&mut start)?;
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    Ok((!start.iter().any(is_control)).then_some(start))
}

impl ArchiveEntry<'_> {
    /// Whether the entry is a regular file, and not a link or a device.
    pub(super) fn is_plain(&self) -> bool {
        let kind = self.header.unix_mode().map_or(0, |mode| mode & 0o170_000);
        !self.header.is_symlink() && matches!(kind, 0 | 0o100_000)
    }

    /// Copies at most `max_bytes` and verifies the checksum. Returns the size.
    pub(super) fn copy_to(self, out: &mut impl Write, max_bytes: u64) -> Result<u64, EntryError> {
        let fair =
            |packed: u64| packed.saturating_mul(MAX_COMPRESSION_RATIO).max(RATIO_CHECK_THRESHOLD);
        let left = fair(self.packed).min(MAX_UNPACKED_BYTES).saturating_sub(*self.unpacked);
        let limit = fair(self.header.compressed_size()).min(left);
        let damaged = |error: &dyn Error| EntryError::Invalid(error.to_string());
        let content = self.header.with_reader(self.contents, ZipReadOptions::default());
        let mut content = content.map_err(|error| damaged(&error))?;
        let (mut block, mut size) = (vec![0; COPY_BUFFER_BYTES], 0);
        loop {
            let length = match content.read(&mut block) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(damaged(&error)),
            };
            size += length as u64;
            // A refused entry counts as well, so that many refused entries cannot exceed the limit of the archive.
            *self.unpacked += length as u64;
            if size > limit {
                return Err(EntryError::Invalid("exceeds the compression limit".to_owned()));
            }
            if size > max_bytes {
                return Err(EntryError::Invalid(format!("larger than {} MiB", max_bytes >> 20)));
            }
            out.write_all(&block[..length]).map_err(EntryError::Disk)?;
        }
        Ok(size)
    }
}

/// The first byte of each gzip stream. No archive and no picture starts with it.
const GZIP_START: u8 = 0x1f;
/// The first bytes of each archive.
const ARCHIVE_START: &[u8] = b"PK";

/// The registered encodings (HTTP Content Coding Registry). As in browsers, other names do not encode a body: storages
/// send `utf-8`, `binary` or the `aws-chunked` of an upload.
const ENCODINGS: [&str; 12] = [
    "gzip",
    "x-gzip",
    "deflate",
    "compress",
    "x-compress",
    "br",
    "zstd",
    "dcb",
    "dcz",
    "exi",
    "pack200-gzip",
    "aes128gcm",
];

/// Returns the encoding of a body, or `None` if the body is not encoded.
pub(super) fn content_encoding(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let names = values.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
    let names = names.collect::<Vec<_>>().join(",");
    let is_encoding = |name: &&str| ENCODINGS.contains(name);
    let names: Vec<&str> = names.split(',').map(str::trim).filter(is_encoding).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Decodes a whole body. Returns `None` if it exceeds `limit` decoded bytes.
pub(super) fn decode_body(
    headers: &HeaderMap,
    body: Bytes,
    limit: usize,
) -> Result<Option<Bytes>, AttemptError> {
    let is_json = || serde_json::from_slice::<IgnoredAny>(&body).is_ok();
    let is_gzip = body.first() == Some(&GZIP_START);
    if content_encoding(headers).is_none() && !is_gzip || is_json() {
        return Ok(Some(body));
    }
    let (mut decoder, mut whole) = (BodyDecoder::new(headers, 0), BytesMut::new());
    // Small pieces keep a body that expands a thousandfold from exceeding the limit by much.
    for start in (0..body.len()).step_by(PIECE_BYTES) {
        let piece = body.slice(start..body.len().min(start + PIECE_BYTES));
        whole.extend_from_slice(&decoder.decode(piece)?);
        if whole.len() > limit {
            return Ok(None);
        }
    }
    whole.extend_from_slice(&decoder.end()?);
    Ok((whole.len() <= limit).then(|| whole.freeze()))
}

const PIECE_BYTES: usize = 4 << 10;

fn unknown_encoding(encoding: &str) -> AttemptError {
    let encoding = SafeText::name(encoding);
    let sentence = format!(
        "the response is encoded as {encoding}, which was not requested (Content-Encoding)"
    );
    let remedy =
        "Ask the operator of the service, of its storage or of the proxy to send it unencoded";
    AttemptError::Fatal(Failure::new(FailureKind::Unexpected, sentence).with_remedy(remedy))
}

/// Decodes a body chunk by chunk. A body that begins like gzip is decoded even if no header says so.
pub(super) struct BodyDecoder {
    /// Decodes a member, after which more members may follow.
    gzip: Option<GzDecoder<Vec<u8>>>,
    /// The encoding of a body that cannot be decoded.
    unknown: Option<String>,
    has_started: bool,
}

impl BodyDecoder {
    /// `position` is the number of bytes of the body before this response.
    pub(super) fn new(headers: &HeaderMap, position: u64) -> Self {
        let is_gzip = |name: &String| matches!(name.as_str(), "gzip" | "x-gzip");
        let unknown = content_encoding(headers).filter(|name| !is_gzip(name));
        Self { gzip: None, unknown, has_started: position > 0 }
    }

    pub(super) fn is_gzip(&self) -> bool {
        self.gzip.is_some()
    }

    pub(super) fn decode(&mut self, chunk: Bytes) -> Result<Bytes, AttemptError> {
        let has_started = mem::replace(&mut self.has_started, true);
        // An object may have a wrong header, or none, so the bytes decide.
        if !has_started && chunk.first() == Some(&GZIP_START) && self.unknown.is_none() {
            self.gzip = Some(GzDecoder::new(Vec::new()));
        }
        if let Some(encoding) = self.unknown.take()
            && !chunk.starts_with(ARCHIVE_START)
        {
            return Err(unknown_encoding(&encoding));
        }
        let Some(decoder) = &mut self.gzip else { return Ok(chunk) };
        write_members(decoder, &chunk).map_err(|error| damaged(&error))?;
        Ok(mem::take(decoder.get_mut()).into())
    }

    /// Returns the rest of the body.
    pub(super) fn end(self) -> Result<Bytes, AttemptError> {
        let rest = self.gzip.map(GzDecoder::finish).transpose();
        Ok(rest.map_err(|error| damaged(&error))?.unwrap_or_default().into())
    }
}

/// Decodes the next bytes of a gzip stream. Zeros after a member are padding, as in files.
fn write_members(decoder: &mut GzDecoder<Vec<u8>>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = decoder.write(bytes)?;
        bytes = &bytes[written..];
        if written == 0 {
            let padding = bytes.iter().take_while(|byte| **byte == 0).count();
            bytes = &bytes[padding..];
            if !bytes.is_empty() {
                decoder.try_finish()?;
                *decoder = GzDecoder::new(mem::take(decoder.get_mut()));
            }
        }
    }
    Ok(())
}

fn damaged(error: &io::Error) -> AttemptError {
    AttemptError::NoResponse(format!("the compressed response is damaged: {error}").into())
}
