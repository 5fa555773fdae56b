//! The members of a ZIP archive, one at a time: the directory is walked, not loaded, so an
//! archive of any number of members takes the same memory.

use std::{
    borrow::Cow,
    fs::File,
    io::{BufReader, Seek as _},
};

use zip::{
    ZipReadOptions,
    read::{Config, ZipFileEntry, read_zipfile_from_stream},
    result::ZipError,
    unstable::read::ZipIterable,
};

use super::{Trouble, Unpacking, disk, meter::Metered};

/// Unpacks every member that the directory at the end names.
pub fn unpack(mut file: File, unpacking: &mut Unpacking) -> Result<(), Trouble> {
    let size = file.metadata().map_err(disk)?.len();
    let directory = BufReader::new(file.try_clone().map_err(disk)?);
    let Ok(mut directory) = ZipIterable::try_new(directory, Config::default()) else {
        file.rewind().map_err(disk)?;
        return without_directory(file, unpacking);
    };
    // The same place in the file as the directory's, but both look it up before they read.
    let mut contents = BufReader::new(file);
    let damaged = |_| Trouble::Archive("its directory is damaged");
    let mut packed = 0_u64;
    for entry in directory.files().map_err(damaged)? {
        unpacking.begin(packed)?;
        let entry = entry.map_err(damaged)?;
        packed = packed.saturating_add(entry.compressed_size());
        if packed > size {
            // Members that share their bytes add up to more than there is.
            return Err(Trouble::Archive("its members overlap: a bomb"));
        }
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let end = member(entry, packed, &mut contents, unpacking);
        unpacking.settle(&name, end)?;
    }
    Ok(())
}

fn member(
    entry: ZipFileEntry<'static>,
    packed: u64,
    contents: &mut BufReader<File>,
    unpacking: &mut Unpacking,
) -> Result<(), Trouble> {
    let Ok(name) = entry.name().map(Cow::into_owned) else {
        return Err(Trouble::Member("its name cannot be read"));
    };
    if entry.is_dir() {
        return Ok(());
    }
    if entry.is_symlink() {
        return Err(Trouble::Member("a link"));
    }
    if entry.unix_mode().is_some_and(is_special) {
        return Err(Trouble::Member("not a regular file"));
    }
    if entry.encrypted() {
        return Err(Trouble::Member("it is encrypted"));
    }
    let mut content = entry.with_reader(contents, ZipReadOptions::default()).map_err(|cause| {
        Trouble::Member(match cause {
            ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
                "it is packed in a way that is not read (deflate is)"
            }
            _ => "it is damaged",
        })
    })?;
    let size = content.size();
    unpacking.write(&name, size, &mut content, || packed)
}

/// Whether a Unix mode is of a device, a FIFO or a socket.
fn is_special(mode: u32) -> bool {
    !matches!(mode & 0o170_000, 0 | 0o100_000)
}

/// Unpacks the members from the beginning until they end: the directory is at the end, and an
/// archive that was cut off has none.
fn without_directory(file: File, unpacking: &mut Unpacking) -> Result<(), Trouble> {
    let (mut file, meter) = Metered::new(BufReader::new(file));
    while let Ok(Some(mut content)) = read_zipfile_from_stream(&mut file) {
        unpacking.begin(meter.taken.get())?;
        let name = String::from_utf8_lossy(content.name_raw()).into_owned();
        if content.is_dir() {
            continue;
        }
        let size = content.size();
        let end = unpacking.write(&name, size, &mut content, || meter.taken.get());
        unpacking.settle(&name, end)?;
    }
    Err(Trouble::Archive("its end is missing"))
}
