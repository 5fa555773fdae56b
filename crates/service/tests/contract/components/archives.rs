//! Archives that are made for tests, and what unpacking them gives.

use std::{
    fs,
    io::{Cursor, Write as _},
    path::Path,
    sync::atomic::AtomicBool,
};

use flate2::{Compression, write::GzEncoder};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;
use tessera_media::ingest::{
    FolderPatterns, SandboxedDir,
    archive_readers::{ArchiveKind, UnpackLimits, UnpackReport, unpack},
    scan_folder,
};
use zip::{ZipWriter, write::SimpleFileOptions};

pub static GO: AtomicBool = AtomicBool::new(false);

pub fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (name, bytes) in members {
        append_member(&mut tar, name, EntryType::Regular, bytes);
    }
    tar.into_inner().unwrap()
}

/// Appends a member without validating its name, as hostile archives do.
pub fn append_member(tar: &mut Builder<Vec<u8>>, name: &str, kind: EntryType, bytes: &[u8]) {
    let mut header = Header::new_gnu();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    tar.append(&header, bytes).unwrap();
}

pub fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gz = GzEncoder::new(Vec::new(), Compression::best());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

/// Archives written by `xz` and `zstd`: plain ones, bombs, and ones with a dictionary of 256 MiB.
pub const PLAIN: [(ArchiveKind, &[u8]); 2] = [
    (ArchiveKind::TarXz, include_bytes!("archives/plain.tar.xz")),
    (ArchiveKind::TarZst, include_bytes!("archives/plain.tar.zst")),
];
pub const BOMBS: [(ArchiveKind, &[u8]); 2] = [
    (ArchiveKind::TarXz, include_bytes!("archives/bomb.tar.xz")),
    (ArchiveKind::TarZst, include_bytes!("archives/bomb.tar.zst")),
];
pub const LARGE_DICTIONARIES: [(ArchiveKind, &[u8]); 2] = [
    (ArchiveKind::TarXz, include_bytes!("archives/dictionary.tar.xz")),
    (ArchiveKind::TarZst, include_bytes!("archives/dictionary.tar.zst")),
];

/// Members with the same text in bzip2, Deflate64, LZMA, xz and Zstandard, one in `PPMd`, and three that are damaged.
pub const METHODS: &[u8] = include_bytes!("archives/methods.zip");
/// Names as Windows and macOS write them.
pub const NAMES: &[u8] = include_bytes!("archives/names.zip");

/// Bytes that do not compress.
pub fn random_bytes(length: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

pub fn unpack_with(
    kind: ArchiveKind,
    bytes: &[u8],
    limits: UnpackLimits,
) -> (TempDir, UnpackReport) {
    let temp_dir = tempfile::tempdir().unwrap();
    let archive = temp_dir.path().join("archive");
    fs::write(&archive, bytes).unwrap();
    let out = unpack(&archive, kind, &temp_dir.path().join("out"), limits, &GO).unwrap();
    (temp_dir, out)
}

pub fn unpack_bytes(kind: ArchiveKind, bytes: &[u8]) -> (TempDir, UnpackReport) {
    unpack_with(kind, bytes, UnpackLimits::default())
}

/// Files in a directory, with their content.
pub fn files_in(temp_dir: &TempDir) -> Vec<(String, Vec<u8>)> {
    let root = temp_dir.path().join("out");
    let scan =
        scan_folder(&SandboxedDir::open(&root).unwrap(), &FolderPatterns::default()).unwrap();
    assert_eq!(scan.skipped, []);
    let read = |path: &Path| fs::read(root.join(path)).unwrap();
    let files = scan.files.iter();
    files.map(|file| (file.path.to_str().unwrap().to_owned(), read(&file.path))).collect()
}

pub fn names(temp_dir: &TempDir) -> Vec<String> {
    files_in(temp_dir).into_iter().map(|(name, _)| name).collect()
}

pub fn skip_reasons(out: &UnpackReport) -> Vec<(String, &'static str)> {
    out.skipped.iter().map(|(name, why)| (name.to_string(), *why)).collect()
}
