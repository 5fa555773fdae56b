//! Unpacks tar archives, plain or compressed.

use std::io::{self, BufReader, Read};

use tar::{Archive, Entry, EntryType, Header};
use tessera_compression::Compression;

use super::{
    metered_reader::{MeteredReader, ReadMeter},
    unpacker::{MemberError, Unpacker, damage_reason},
};
use crate::ingest::SourceFile;

/// Size limit of the headers of a member: its name can have any length.
const MAX_HEADER_BYTES: u64 = 1 << 20;

pub fn unpack_tar(file: Box<dyn SourceFile>, unpacker: &mut Unpacker) -> Result<(), MemberError> {
    let (file, meter) = MeteredReader::new(BufReader::new(file));
    unpack_members(file, &meter, unpacker)
}

pub fn unpack_compressed_tar(
    compression: Compression,
    file: Box<dyn SourceFile>,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    let (file, meter) = MeteredReader::new(file);
    unpack_members(compression.reader(BufReader::new(file)), &meter, unpacker)
}

/// Whether a file that starts with `head` has a valid tar header checksum.
pub fn is_tar_header(head: &[u8]) -> bool {
    let Some(block) = head.first_chunk::<512>() else { return false };
    let header = Header::from_byte_slice(block);
    // The checksum field itself counts as spaces.
    let sum = |bytes: &[u8]| bytes.iter().copied().map(u32::from).sum::<u32>();
    let expected = sum(&block[..148]) + 8 * u32::from(b' ') + sum(&block[156..]);
    block.iter().all(|&byte| byte == 0) || header.cksum().is_ok_and(|stored| stored == expected)
}

fn unpack_members(
    content: impl Read,
    meter: &ReadMeter,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    let damaged = |cause: io::Error| MemberError::StopArchive(damage_reason(&cause));
    let (content, bound) = MeteredReader::new(content);
    let mut archive = Archive::new(content);
    let mut entries = archive.entries().map_err(damaged)?;
    loop {
        // Names are read into memory completely.
        bound.bytes_allowed.set(MAX_HEADER_BYTES);
        let Some(entry) = entries.next() else { return Ok(()) };
        let mut entry = entry.map_err(damaged)?;
        bound.bytes_allowed.set(u64::MAX);
        unpacker.begin_member(meter.bytes_read.get())?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let end = unpack_member(&mut entry, &name, meter, unpacker);
        unpacker.record_member(&name, end)?;
        // Skipped content is read here, where limits apply.
        let rest =
            unpacker.copy_limited(&mut entry, &mut io::sink(), u64::MAX, || meter.bytes_read.get());
        rest.map_err(|error| match error {
            MemberError::SkipMember(why) => MemberError::StopArchive(why),
            error => error,
        })?;
    }
}

fn unpack_member(
    entry: &mut Entry<impl Read>,
    name: &str,
    meter: &ReadMeter,
    unpacker: &mut Unpacker,
) -> Result<(), MemberError> {
    match entry.header().entry_type() {
        EntryType::Directory | EntryType::XGlobalHeader => return Ok(()),
        EntryType::Symlink | EntryType::Link => return Err(MemberError::SkipMember("a link")),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {}
        _ => return Err(MemberError::SkipMember("not a regular file")),
    }
    if std::str::from_utf8(&entry.path_bytes()).is_err() {
        return Err(MemberError::SkipMember("its name is not UTF-8"));
    }
    let size = entry.size();
    unpacker.write_member(name, size, entry, || meter.bytes_read.get())
}
