//! Complete metadata rows, joined with the paths of their pictures.

use std::{fs::File, io::Write, path::Path};

use serde_json::Value;

use super::{listing::ArchiveListing, metadata::FILE_COLUMN};
use crate::archive::{ArchiveError, IMAGES_PREFIX, into_failure};
use tessera_model::Failure;

/// One JSON object per line, with the path of the picture as `_path`, null if it is unknown.
pub(crate) fn write_joined_rows(
    archive: &Path,
    has: impl Fn(&str) -> bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let write = |mut row: Value| {
        let image = row.get(FILE_COLUMN).and_then(Value::as_str).filter(|image| has(image));
        row["_path"] = image.map(|image| format!("{IMAGES_PREFIX}{image}")).into();
        Ok(writeln!(out, "{row}")?)
    };
    let written = || {
        let (_, metadata) = ArchiveListing::read(File::open(archive)?)?;
        metadata.for_each_row(None, write).map(drop)
    };
    written().map_err(|error: ArchiveError| into_failure(archive, error))
}
