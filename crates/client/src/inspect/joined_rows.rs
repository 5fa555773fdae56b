//! Complete metadata rows, joined with the paths of their pictures.

use std::{fs::File, io::Write, path::Path};

use serde_json::Value;

use super::{listing::ArchiveListing, metadata::find_picture};
use crate::{
    archive::{ArchiveError, IMAGES_PREFIX, into_failure},
    disk::disk_failure,
};
use tessera_model::Failure;

/// One JSON object per line, with the path of the picture as `_path`, null if it is unknown.
pub(crate) fn write_joined_rows(
    archive: &Path,
    has: impl Fn(&str) -> bool,
    (out, target): (&mut impl Write, &Path),
) -> Result<(), Failure> {
    let write = |mut row: Value| {
        let path = |image: &str| has(image).then(|| format!("{IMAGES_PREFIX}{image}"));
        row["_path"] = find_picture(&row, path).and_then(Result::ok).into();
        writeln!(out, "{row}").map_err(|error| disk_failure(target, &error).into())
    };
    let written = || {
        let (_, metadata) = ArchiveListing::read(File::open(archive)?)?;
        metadata.for_each_row(None, write).map(drop)
    };
    written().map_err(|error: ArchiveError| into_failure(archive, error))
}
