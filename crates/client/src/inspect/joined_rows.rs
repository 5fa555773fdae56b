//! Complete metadata rows, joined with the paths of their pictures.

use std::{fs::File, io::Write, path::Path};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Map, Value};

use super::{
    listing::{ArchiveListing, FILE_COLUMN, MetadataFile, has_extension, prefix_file_name},
    metadata_json,
};
use crate::archive::IMAGES_PREFIX;
use tessera_model::{Failure, FailureKind};

/// Writes the rows of `archive` as one JSON object per line, with the path of the picture as
/// `_path`, or null if `has` does not know the picture.
pub(crate) fn write_joined_rows(
    archive: &Path,
    has: impl Fn(&str) -> bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let to_failure = |reason: String| {
        Failure::new(FailureKind::Local, format!("{}: {reason}", archive.display()))
    };
    let file = File::open(archive).map_err(|error| to_failure(error.to_string()))?;
    let metadata = ArchiveListing::read(file).map_err(to_failure)?.metadata;
    let mut write = |mut row: Map<String, Value>| {
        let image = row.get(FILE_COLUMN).and_then(Value::as_str).filter(|image| has(image));
        let path = image.map(|image| format!("{IMAGES_PREFIX}{image}"));
        row.insert("_path".to_owned(), path.into());
        writeln!(out, "{}", Value::Object(row)).map_err(|error| error.to_string())
    };
    let name = metadata.name.clone();
    for_each_row(metadata, &mut write).map_err(|why| to_failure(prefix_file_name(&name, &why)))
}

fn for_each_row(
    mut metadata: MetadataFile,
    row: &mut impl FnMut(Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    if has_extension(&metadata.name, ".json") {
        let text = metadata.text()?;
        return metadata_json::find_rows(&text)?
            .iter()
            .try_for_each(|raw| row(serde_json::from_str(raw.get()).map_err(|e| e.to_string())?));
    }
    let reader = SerializedFileReader::new(metadata.file).map_err(|error| error.to_string())?;
    for found in reader.get_row_iter(None).map_err(|error| error.to_string())? {
        if let Value::Object(fields) = found.map_err(|error| error.to_string())?.to_json_value() {
            row(fields)?;
        }
    }
    Ok(())
}
