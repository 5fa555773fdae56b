//! Unpacks ZIP archives; the central directory is streamed, so memory does not grow with it.

use std::{borrow::Cow, io::BufReader};

use zip::{
    ZipReadOptions,
    read::{Config, ZipFileEntry, read_zipfile_from_stream},
    result::ZipError,
    unstable::read::ZipIterable,
};

use super::{
    metered_reader::MeteredReader,
    unpacker::{MemberError, Unpacker},
};
use crate::ingest::SourceFile;

pub fn unpack_zip(
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
    let mut packed = 0_u64;
    for entry in directory.files().map_err(damaged)? {
        unpacker.begin_member(packed)?;
        let entry = entry.map_err(damaged)?;
        packed = packed.saturating_add(entry.compressed_size());
        if packed > size {
            // Overlapping members add up to more than the file.
            return Err(MemberError::StopArchive("its members overlap (decompression bomb)"));
        }
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let end = unpack_member(entry, packed, &mut contents, unpacker);
        unpacker.record_member(&name, end)?;
    }
    Ok(())
}

fn unpack_member(
    entry: ZipFileEntry<'static>,
    packed: u64,
    contents: &mut BufReader<Box<dyn SourceFile>>,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    let Ok(name) = entry.name().map(Cow::into_owned) else {
        return Err(MemberError::SkipMember("its name cannot be read"));
    };
    if entry.is_dir() {
        return Ok(());
    }
    if entry.is_symlink() {
        return Err(MemberError::SkipMember("a link"));
    }
    // Also not a device, FIFO or socket.
    if entry.unix_mode().is_some_and(|mode| !matches!(mode & 0o170_000, 0 | 0o100_000)) {
        return Err(MemberError::SkipMember("not a regular file"));
    }
    if entry.encrypted() {
        return Err(MemberError::SkipMember("it is encrypted"));
    }
    let mut content = entry.with_reader(contents, ZipReadOptions::default()).map_err(|cause| {
        MemberError::SkipMember(match cause {
            ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
                "unsupported compression method (deflate is supported)"
            }
            _ => "it is damaged",
        })
    })?;
    let size = content.size();
    unpacker.write_member(&name, size, &mut content, || packed)
}

/// Unpacks members sequentially: a truncated archive has no central directory.
fn unpack_without_directory(
    file: Box<dyn SourceFile>,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    let (mut file, meter) = MeteredReader::new(BufReader::new(file));
    while let Ok(Some(mut content)) = read_zipfile_from_stream(&mut file) {
        unpacker.begin_member(meter.bytes_read.get())?;
        let name = String::from_utf8_lossy(content.name_raw()).into_owned();
        if content.is_dir() {
            continue;
        }
        let size = content.size();
        let end = unpacker.write_member(&name, size, &mut content, || meter.bytes_read.get());
        unpacker.record_member(&name, end)?;
    }
    Err(MemberError::StopArchive("it is truncated"))
}
