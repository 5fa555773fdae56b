//! A single picture of an archive.

use std::{
    fs::File,
    io::{BufReader, Read as _},
    path::Path,
};

use bytes::Bytes;
use zip::ZipArchive;

use crate::archive::ArchiveError;
use tessera_model::{Failure, SafeText};

const MAX_PICTURE_BYTES: u64 = 64 << 20;

/// Returns the bytes of a picture in an archive. Blocks on the disk.
pub fn read_entry(path: &Path, name: &str) -> Result<Bytes, Failure> {
    read(path, name).map_err(|error| {
        let name_in_archive = format!("{} in {}", SafeText::file_name(name), path.display());
        Failure::local(format!("{name_in_archive}: {error}"))
    })
}

fn read(path: &Path, name: &str) -> Result<Bytes, ArchiveError> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?))?;
    let mut bytes = Vec::new();
    archive.by_name(name)?.take(MAX_PICTURE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PICTURE_BYTES {
        return Err(format!("larger than {} MiB", MAX_PICTURE_BYTES >> 20).into());
    }
    Ok(bytes.into())
}
