//! Verification of a downloaded archive: every entry is read to its end and its checksum compared,
//! without writing anything. Limits apply to the bytes that really come out, not to what the
//! archive says of itself.

use std::{
    fs::File,
    io::{self, BufReader, Read as _},
};

use zip::{ZipArchive, result::ZipError};

/// Entries of the largest archive that is accepted.
const MOST_ENTRIES: usize = 2_000_000;
/// Unpacked bytes of the largest archive that is accepted.
const MOST_BYTES: u64 = 100 << 30;
/// Unpacked bytes from which on the ratio counts.
const RATIO_FROM: u64 = 64 << 20;
/// Unpacked bytes for each packed one; pictures and Parquet do not come near it.
const HIGHEST_RATIO: u64 = 200;
/// Where an export keeps its pictures (rule: interface, Export archive content).
const IMAGES: &str = "images/";

/// What a sound archive holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// Entries whose checksums were compared.
    pub entries: usize,
    /// How many of them are pictures.
    pub images: usize,
}

/// Reads the whole archive.
///
/// # Errors
/// A sentence that says what is wrong with it, and with which entry; not yet printable.
pub(super) fn verify(file: File) -> Result<Contents, String> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| error.to_string())?;
    if archive.len() > MOST_ENTRIES {
        return Err(format!("more than {MOST_ENTRIES} entries"));
    }
    if archive.has_overlapping_files().map_err(|error| error.to_string())? {
        return Err("entries that overlap".to_owned());
    }
    let mut contents = Contents { entries: 0, images: 0 };
    let mut unpacked = 0;
    for index in 0..archive.len() {
        let name = match archive.name_for_index(index) {
            Some(Ok(name)) => name.into_owned(),
            Some(Err(_)) | None => format!("number {index}"),
        };
        let size = read_entry(&mut archive, index, MOST_BYTES - unpacked);
        unpacked += size.map_err(|error| format!("entry {name}: {error}"))?;
        contents.entries += 1;
        contents.images += usize::from(name.starts_with(IMAGES) && !name.ends_with('/'));
    }
    Ok(contents)
}

/// Reads one entry to its end, which compares its checksum. Returns its unpacked size.
fn read_entry(
    archive: &mut ZipArchive<BufReader<File>>,
    index: usize,
    most: u64,
) -> Result<u64, ZipError> {
    let entry = archive.by_index(index)?;
    let packed = entry.compressed_size();
    let fair = packed.saturating_mul(HIGHEST_RATIO).max(RATIO_FROM);
    let limit = fair.min(most);
    let size = io::copy(&mut entry.take(limit + 1), &mut io::sink())?;
    if size > limit {
        return Err(io::Error::other("unpacks to far more than it should").into());
    }
    Ok(size)
}
