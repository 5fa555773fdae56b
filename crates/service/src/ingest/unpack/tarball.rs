//! The members of a tar archive, packed with gzip or not, in the order they come.

use std::{
    fs::File,
    io::{self, BufReader, Read},
};

use flate2::bufread::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, Header};

use super::{
    Trouble, Unpacking,
    meter::{Meter, Metered},
};

/// Most bytes of what stands before the content of a member: its name can be of any length.
const HEAD: u64 = 1 << 20;

/// Unpacks a tar archive.
pub fn unpack(file: File, unpacking: &mut Unpacking) -> Result<(), Trouble> {
    let (file, taken) = Metered::new(BufReader::new(file));
    members(file, &taken, unpacking)
}

/// Unpacks a tar archive packed with gzip.
pub fn unpack_gz(file: File, unpacking: &mut Unpacking) -> Result<(), Trouble> {
    let (file, taken) = Metered::new(file);
    members(MultiGzDecoder::new(BufReader::new(file)), &taken, unpacking)
}

/// Whether a file that begins with `head` may be one: the checksum of its first block is right.
pub fn begins(head: &[u8]) -> bool {
    let Some(block) = head.first_chunk::<512>() else { return false };
    let header = Header::from_byte_slice(block);
    // The checksum is of the block with spaces in its own place.
    let sum = |bytes: &[u8]| bytes.iter().copied().map(u32::from).sum::<u32>();
    let right = sum(&block[..148]) + 8 * u32::from(b' ') + sum(&block[156..]);
    block.iter().all(|&byte| byte == 0) || header.cksum().is_ok_and(|given| given == right)
}

fn members(content: impl Read, taken: &Meter, unpacking: &mut Unpacking) -> Result<(), Trouble> {
    let damaged = |_: io::Error| Trouble::Archive("it is damaged");
    let (content, bound) = Metered::new(content);
    let mut archive = Archive::new(content);
    let mut entries = archive.entries().map_err(damaged)?;
    loop {
        // Names are read into memory whole.
        bound.left.set(HEAD);
        let Some(entry) = entries.next() else { return Ok(()) };
        let mut entry = entry.map_err(damaged)?;
        bound.left.set(u64::MAX);
        unpacking.begin(taken.taken.get())?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let end = member(&mut entry, &name, taken, unpacking);
        unpacking.settle(&name, end)?;
        // What was not wanted is read past here, where it is watched.
        let rest = unpacking.flow(&mut entry, &mut io::sink(), u64::MAX, || taken.taken.get());
        rest.map_err(|trouble| match trouble {
            Trouble::Member(why) => Trouble::Archive(why),
            trouble => trouble,
        })?;
    }
}

fn member(
    entry: &mut Entry<impl Read>,
    name: &str,
    taken: &Meter,
    unpacking: &mut Unpacking,
) -> Result<(), Trouble> {
    match entry.header().entry_type() {
        EntryType::Directory | EntryType::XGlobalHeader => return Ok(()),
        EntryType::Symlink | EntryType::Link => return Err(Trouble::Member("a link")),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {}
        _ => return Err(Trouble::Member("not a regular file")),
    }
    if std::str::from_utf8(&entry.path_bytes()).is_err() {
        return Err(Trouble::Member("its name is no UTF-8"));
    }
    let size = entry.size();
    unpacking.write(name, size, entry, || taken.taken.get())
}
