//! Unpacks an uploaded archive, tar or ZIP. Only regular files with safe names are unpacked, within limits.
//!
//! A faulty member is skipped. A faulty archive stops the unpacking, and what was unpacked until then is kept. The
//! central directory of a ZIP archive is streamed, so that memory does not grow with its size. A tar archive inside an
//! archive, such as a shard of `WebDataset`, is unpacked into a folder of its name, within the limits of the whole.

use std::{
    cell::Cell,
    fs::{self, File},
    io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    rc::Rc,
    sync::atomic::AtomicBool,
};

use tar::{Archive, Entry, EntryType, Header};
use tessera_compression::Compression;
use tessera_files::{create_private_dir, if_exists, read_at_most, staging::UniqueFiles};
use tessera_model::keyword_enum;
use zip::{
    read::{Config, ZipFileEntry, read_zipfile_from_stream},
    unstable::read::ZipIterable,
};

use super::{
    SourceFile,
    bounded_unpacker::{LINK, MemberError, SourceFailure, Unpacker},
    original_files::ObservedFile,
    text_encoding::unmarked_name,
    zip_member::{ZipContents, open_member, zip_name},
};

pub use super::bounded_unpacker::{
    NESTED_ARCHIVE, UnpackError, UnpackLimits, UnpackReport, UnpackTarget, damage_reason,
};

keyword_enum!(
    /// The format of an archive, with the extension of its files.
    ArchiveKind {
        Zip = ".zip",
        Tar = ".tar",
        TarGz = ".tar.gz",
        TarXz = ".tar.xz",
        TarZst = ".tar.zst",
    }
);

impl ArchiveKind {
    /// Returns the format by the file name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ends = |end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty());
        Self::ALL.into_iter().find(|kind| ends(kind.as_str()))
    }

    /// Whether a file may have this format. A ZIP file may have other bytes in front, such as a program that unpacks it.
    pub fn matches(self, file: &mut (impl Read + Seek)) -> io::Result<bool> {
        let head = read_at_most(&mut *file, 512)?;
        if self != Self::Zip || self.matches_signature(&head) {
            return Ok(self.matches_signature(&head));
        }
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(ZIP_END_BYTES)))?;
        let end = read_at_most(file, ZIP_END_BYTES)?;
        Ok(end.windows(ZIP_END.len()).any(|bytes| bytes == ZIP_END))
    }

    /// Whether a file that starts with `head` (its first 512 bytes) may have this format.
    pub fn matches_signature(self, head: &[u8]) -> bool {
        match self {
            Self::Zip => head.starts_with(b"PK\x03\x04") || head.starts_with(ZIP_END),
            Self::Tar => is_tar_header(head),
            Self::TarGz => Compression::Gzip.matches_signature(head),
            Self::TarXz => Compression::Xz.matches_signature(head),
            Self::TarZst => Compression::Zstandard.matches_signature(head),
        }
    }

    /// Returns the compression of a tar archive as a whole.
    fn tar_compression(self) -> Option<Compression> {
        match self {
            Self::Zip | Self::Tar => None,
            Self::TarGz => Some(Compression::Gzip),
            Self::TarXz => Some(Compression::Xz),
            Self::TarZst => Some(Compression::Zstandard),
        }
    }
}

/// The record at the end of a ZIP file, which a comment may follow.
const ZIP_END: &[u8] = b"PK\x05\x06";
/// The number of bytes in which the record begins.
const ZIP_END_BYTES: u64 = 22 + (64 << 10);

/// Opens the archive at its start. The function is called twice, because the directory and the members are read at the
/// same time.
type OpenArchive<'a> = dyn Fn() -> io::Result<Box<dyn SourceFile>> + 'a;

/// Unpacks `archive` into the directory `into`, which is emptied first. Symbolic links, devices, hidden and encrypted
/// members, and nested archives other than tar archives are skipped. A hard link is a copy. If several members have the
/// same name, the later ones get a number. For a damaged archive, the result is a report with a reason, not an error.
pub fn unpack(
    archive: &Path,
    kind: ArchiveKind,
    into: &Path,
    limits: UnpackLimits,
    stop: &AtomicBool,
) -> Result<UnpackReport, UnpackError> {
    let open = || Ok(Box::new(File::open(archive)?) as Box<dyn SourceFile>);
    unpack_into(&open, kind, &mut UnpackFolder::new(into), limits, stop)
}

/// Unpacks an archive like [`unpack`], from any source to any target.
pub fn unpack_into(
    open: &OpenArchive<'_>,
    kind: ArchiveKind,
    target: &mut dyn UnpackTarget,
    limits: UnpackLimits,
    stop: &AtomicBool,
) -> Result<UnpackReport, UnpackError> {
    let failure = SourceFailure::default();
    let open = || -> io::Result<Box<dyn SourceFile>> {
        let failure = failure.clone();
        // Decoders report each error as damage, so the reason why the file cannot be read is kept.
        Ok(Box::new(ObservedFile { file: open()?, on_error: move |cause| failure.keep(cause) }))
    };
    let file = open().map_err(UnpackError::Io)?;
    let unpacker = Unpacker::new(target, limits, failure.clone(), stop);
    let mut unpacker = unpacker.map_err(UnpackError::Io)?;
    let end = match kind {
        ArchiveKind::Zip => open()
            .map_err(|cause| MemberError::Abort(UnpackError::Io(cause)))
            .and_then(|directory| unpack_zip(directory, file, &mut unpacker)),
        tar => unpack_tar(tar, file, &mut unpacker),
    };
    unpacker.finish(end)
}

/// Unpacks to a folder, which is emptied first.
struct UnpackFolder {
    root: PathBuf,
    files: UniqueFiles,
}

impl UnpackFolder {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: UniqueFiles::new(root) }
    }
}

impl UnpackTarget for UnpackFolder {
    fn disk(&self) -> &Path {
        &self.root
    }

    fn clear(&mut self) -> io::Result<()> {
        if_exists(fs::remove_dir_all(&self.root))?;
        create_private_dir(&self.root)
    }

    fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)> {
        self.files.create(path)
    }

    fn keep(&mut self, _: &Path, _: File) -> io::Result<()> {
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn SourceFile>> {
        let file = File::open(self.root.join(path))?;
        if file.metadata()?.is_file() {
            Ok(Box::new(file))
        } else {
            Err(ErrorKind::NotFound.into())
        }
    }

    fn discard(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(self.root.join(path))
    }
}

/// Maximum size of the headers of a member. The limit is needed because a name can have any length.
const MAX_HEADER_BYTES: u64 = 1 << 20;

fn unpack_tar(
    kind: ArchiveKind,
    file: Box<dyn SourceFile>,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    let file = MeteredReader::counting(file, &unpacker.packed);
    unpack_tar_members(&mut tar_content(kind, file), unpacker)
}

/// Returns the unpacked bytes of a tar archive.
fn tar_content<'a>(kind: ArchiveKind, file: impl Read + 'a) -> Box<dyn Read + 'a> {
    let file = BufReader::new(file);
    match kind.tar_compression() {
        Some(compression) => compression.reader(file),
        None => Box::new(file),
    }
}

/// Whether a file that starts with `head` has a valid tar header checksum.
fn is_tar_header(head: &[u8]) -> bool {
    let Some(block) = head.first_chunk::<512>() else { return false };
    let header = Header::from_byte_slice(block);
    // In the checksum, the checksum field itself counts as spaces.
    let sum = |bytes: &[u8]| bytes.iter().copied().map(u32::from).sum::<u32>();
    let expected = sum(&block[..148]) + 8 * u32::from(b' ') + sum(&block[156..]);
    block.iter().all(|&byte| byte == 0) || header.cksum().is_ok_and(|stored| stored == expected)
}

fn unpack_tar_members(content: &mut dyn Read, unpacker: &mut Unpacker) -> Result<(), MemberError> {
    // A damaged archive inside an archive is a faulty member of it.
    let is_nested = unpacker.is_in_nested_archive();
    let stopped =
        |why| if is_nested { MemberError::SkipMember(why) } else { MemberError::StopArchive(why) };
    let damaged = |cause: io::Error| stopped(damage_reason(&cause));
    let (content, allowed) = MeteredReader::limited(content);
    let mut archive = Archive::new(content);
    let mut entries = archive.entries().map_err(damaged)?;
    loop {
        // The limit applies to names, which are read into memory as a whole.
        allowed.set(MAX_HEADER_BYTES);
        let Some(entry) = entries.next() else { return Ok(()) };
        let mut entry = entry.map_err(damaged)?;
        allowed.set(u64::MAX);
        unpacker.begin_member()?;
        let name = unmarked_name(&entry.path_bytes());
        let end = unpack_tar_member(&mut entry, &name, unpacker);
        unpacker.record_member(&name, end)?;
        // Skipped content is read here, because the limits apply to it too.
        let rest = unpacker.copy_limited(&mut entry, &mut io::sink(), u64::MAX);
        rest.map_err(|error| match error {
            MemberError::SkipMember(why) => stopped(why),
            error => error,
        })?;
    }
}

fn unpack_tar_member(
    entry: &mut Entry<impl Read>,
    name: &str,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    match entry.header().entry_type() {
        EntryType::Directory | EntryType::XGlobalHeader => return Ok(()),
        EntryType::Symlink => return Err(MemberError::SkipMember(LINK)),
        EntryType::Link => {
            let earlier = entry.link_name_bytes().map(|name| unmarked_name(&name));
            return unpacker.write_link(name, &earlier.unwrap_or_default());
        }
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {}
        _ => return Err(MemberError::SkipMember("not a regular file")),
    }
    let size = entry.size();
    unpack_file(entry, name, size, unpacker)
}

/// Unpacks a member that is a file, given with its name and size. A tar archive is unpacked into a folder of its name.
fn unpack_file(
    content: &mut dyn Read,
    name: &str,
    size: u64,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    let nested = ArchiveKind::from_name(name).filter(|kind| *kind != ArchiveKind::Zip);
    let Some(kind) = nested.filter(|_| !unpacker.is_in_nested_archive()) else {
        return unpacker.write_member(name, size, content);
    };
    unpacker.begin_nested_archive(name)?;
    let end = unpack_tar_members(&mut tar_content(kind, &mut *content), unpacker);
    unpacker.end_nested_archive();
    end?;
    // The checksum of a member is verified when its end is reached.
    unpacker.copy_limited(content, &mut io::sink(), u64::MAX).map(drop)
}

fn unpack_zip(
    directory: Box<dyn SourceFile>,
    file: Box<dyn SourceFile>,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    let size = file.length()?;
    let directory = BufReader::new(directory);
    let Ok(mut directory) = ZipIterable::try_new(directory, Config::default()) else {
        return unpack_without_directory(file, unpacker);
    };
    let mut contents = BufReader::new(file);
    let damaged = |_| MemberError::StopArchive("its directory is damaged");
    for entry in directory.files().map_err(damaged)? {
        unpacker.begin_member()?;
        let entry = entry.map_err(damaged)?;
        let packed = unpacker.packed.get().saturating_add(entry.compressed_size());
        unpacker.packed.set(packed);
        if packed > size {
            // Overlapping members add up to more than the size of the file.
            return Err(MemberError::StopArchive("its members overlap (decompression bomb)"));
        }
        let name = zip_name(&entry);
        let end = unpack_zip_member(entry, &name, &mut contents, unpacker);
        unpacker.record_member(&name, end)?;
    }
    Ok(())
}

fn unpack_zip_member(
    entry: ZipFileEntry<'static>,
    name: &str,
    contents: &mut ZipContents,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    if entry.is_dir() {
        return Ok(());
    }
    if entry.is_symlink() {
        return Err(MemberError::SkipMember(LINK));
    }
    // Devices, FIFOs and sockets are skipped.
    if entry.unix_mode().is_some_and(|mode| !matches!(mode & 0o170_000, 0 | 0o100_000)) {
        return Err(MemberError::SkipMember("not a regular file"));
    }
    if entry.encrypted() {
        return Err(MemberError::SkipMember("it is encrypted"));
    }
    let size = entry.size();
    let mut content = open_member(entry, contents)?;
    unpack_file(&mut content, name, size, unpacker)
}

/// Unpacks members sequentially, for a truncated archive, which has no central directory.
fn unpack_without_directory(
    file: Box<dyn SourceFile>,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    let mut file = MeteredReader::counting(BufReader::new(file), &unpacker.packed);
    while let Ok(Some(mut content)) = read_zipfile_from_stream(&mut file) {
        unpacker.begin_member()?;
        let name = unmarked_name(content.name_raw());
        if content.is_dir() {
            continue;
        }
        let size = content.size();
        let end = unpack_file(&mut content, &name, size, unpacker);
        unpacker.record_member(&name, end)?;
    }
    Err(MemberError::StopArchive("it is truncated"))
}

struct MeteredReader<R> {
    inner: R,
    bytes_read: Rc<Cell<u64>>,
    /// The number of bytes that may still be read.
    bytes_allowed: Rc<Cell<u64>>,
}

impl<R> MeteredReader<R> {
    /// Returns a reader without a limit, which adds to a counter.
    fn counting(inner: R, bytes_read: &Rc<Cell<u64>>) -> Self {
        let bytes_allowed = Rc::new(Cell::new(u64::MAX));
        Self { inner, bytes_read: bytes_read.clone(), bytes_allowed }
    }

    /// Returns a reader with a limit, which the caller sets.
    fn limited(inner: R) -> (Self, Rc<Cell<u64>>) {
        let reader = Self::counting(inner, &Rc::default());
        let allowed = reader.bytes_allowed.clone();
        (reader, allowed)
    }
}

impl<R: Read> Read for MeteredReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes_allowed.get()).unwrap_or(usize::MAX);
        if left == 0 && !buffer.is_empty() {
            return Err(io::Error::other("read limit exceeded"));
        }
        let limit = buffer.len().min(left);
        let length = self.inner.read(&mut buffer[..limit])?;
        self.bytes_read.set(self.bytes_read.get() + length as u64);
        self.bytes_allowed.set(self.bytes_allowed.get() - length as u64);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Seek, SeekFrom, Write as _};

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::{super::disk_quota::DiskQuota, *};

    const NAMES: [&str; 3] = ["a.png", "b.tar/b.png", "c.png"];
    static CONTENT: [u8; 40_000] = [7; 40_000];

    fn archive(kind: ArchiveKind) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut tar = tar::Builder::new(Vec::new());
        let stored =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for name in NAMES {
            zip.start_file(name, stored).unwrap();
            zip.write_all(&CONTENT).unwrap();
            let mut header = Header::new_gnu();
            header.set_size(CONTENT.len() as u64);
            tar.append_data(&mut header, name, &CONTENT[..]).unwrap();
        }
        let is_zip = kind == ArchiveKind::Zip;
        if is_zip { zip.finish().unwrap().into_inner() } else { tar.into_inner().unwrap() }
    }

    /// A file that cannot be read between two positions.
    struct FailingFile(Cursor<Vec<u8>>, std::ops::Range<usize>);

    impl Read for FailingFile {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let position = usize::try_from(self.0.position()).unwrap();
            if self.1.contains(&position) {
                return Err(ErrorKind::HostUnreachable.into());
            }
            let readable = self.1.start.checked_sub(position).unwrap_or(usize::MAX);
            let length = buffer.len().min(readable);
            self.0.read(&mut buffer[..length])
        }
    }

    impl Seek for FailingFile {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    impl SourceFile for FailingFile {
        fn length(&self) -> io::Result<u64> {
            Ok(self.0.get_ref().len() as u64)
        }

        fn version(&self) -> io::Result<Option<i64>> {
            Ok(None)
        }
    }

    #[test]
    fn an_archive_that_cannot_be_read_or_written_is_not_taken_for_a_damaged_one() {
        let temp_dir = tempfile::tempdir().unwrap();
        let unpacked = |kind, unreadable: std::ops::Range<usize>, reserve| {
            let disk = DiskQuota::with_reserve(reserve);
            let limits = UnpackLimits { disk, ..UnpackLimits::default() };
            let file = || FailingFile(Cursor::new(archive(kind)), unreadable.clone());
            let open = || Ok(Box::new(file()) as Box<dyn SourceFile>);
            let mut target = UnpackFolder::new(&temp_dir.path().join("out"));
            match unpack_into(&open, kind, &mut target, limits, &AtomicBool::new(false)) {
                Err(UnpackError::Io(cause)) => Err(cause.kind()),
                end => Ok(end.unwrap().files),
            }
        };
        for kind in [ArchiveKind::Zip, ArchiveKind::Tar] {
            let end = archive(kind).len();
            assert_eq!(unpacked(kind, end..end, 0), Ok(3), "{kind:?}");
            // In a header, in two members, and in the last member or the directory of a ZIP archive.
            for start in [0, 20_000, 100_000, 120_200] {
                let outcome = unpacked(kind, start..start + 50, 0);
                assert_eq!(outcome, Err(ErrorKind::HostUnreachable), "{kind:?} {start}");
            }
            let outcome = unpacked(kind, end..end, u64::MAX);
            assert_eq!(outcome, Err(ErrorKind::StorageFull), "{kind:?}");
        }
    }
}
