//! A single picture of an archive.

use std::{fs::File, path::Path};

use bytes::Bytes;

use crate::archive::{ArchiveError, for_each_entry};
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
    let mut bytes = None;
    for_each_entry(File::open(path)?, |entry| {
        if bytes.is_none() && entry.name == name {
            let mut picture = Vec::new();
            entry.copy_to(&mut picture, MAX_PICTURE_BYTES)?;
            bytes = Some(picture.into());
        }
        Ok(())
    })?;
    bytes.ok_or_else(|| "the archive does not contain this entry".into())
}
