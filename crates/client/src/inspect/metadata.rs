//! The metadata of an export, row by row: Parquet or JSON.

use std::{fs::File, io::Seek as _, sync::Arc};

use parquet::{
    file::reader::{FileReader as _, SerializedFileReader},
    schema::types::Type,
};
use serde_json::{Map, Value};

use super::json_rows::{RowVisitor, for_each_json_row};
use crate::archive::{ArchiveEntry, ArchiveError};
use tessera_model::SafeText;

const MAX_METADATA_BYTES: u64 = 2 << 30;
const MAX_ROWS: usize = 10_000_000;
/// The two columns that the interface guarantees.
pub(super) const SCORE_COLUMN: &str = "uniqueness_score";
pub(super) const FILE_COLUMN: &str = "image_filename";

/// A metadata file, copied to a temporary file because Parquet needs to seek.
pub(super) struct MetadataFile {
    pub name: String,
    file: File,
}

impl MetadataFile {
    /// Whether an entry of this name contains metadata. The interface document does not name the
    /// JSON file.
    pub(super) fn has_extension(name: &str) -> bool {
        is_json(name) || name.to_ascii_lowercase().ends_with(".parquet")
    }

    pub(super) fn read(entry: ArchiveEntry<'_>) -> Result<Self, ArchiveError> {
        let name = entry.name.clone();
        let copy = || -> Result<File, ArchiveError> {
            let mut file = tempfile::tempfile()?;
            entry.copy_to(&mut file, MAX_METADATA_BYTES)?;
            file.rewind()?;
            Ok(file)
        };
        let file = copy().map_err(|error| in_file(&name, &error))?;
        Ok(Self { name, file })
    }

    /// Calls `visit` with each row, an object, and returns the names of all columns. Of a Parquet
    /// file, only the columns of `needed` are read.
    pub(super) fn for_each_row(
        self,
        needed: Option<&[&str]>,
        mut visit: impl FnMut(Value) -> Result<(), ArchiveError>,
    ) -> Result<Vec<String>, ArchiveError> {
        let mut rows = 0;
        let mut visit = |row| {
            rows += 1;
            if rows > MAX_ROWS {
                Err(format!("more than {MAX_ROWS} rows").into())
            } else {
                visit(row)
            }
        };
        let columns = if is_json(&self.name) {
            for_each_json_row(self.file, &mut visit)
        } else {
            for_each_parquet_row(self.file, needed, &mut visit)
        };
        columns.map_err(|error| in_file(&self.name, &error))
    }
}

fn is_json(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".json")
}

fn in_file(name: &str, error: &ArchiveError) -> ArchiveError {
    format!("{}: {error}", SafeText::file_name(name)).into()
}

fn for_each_parquet_row(
    file: File,
    needed: Option<&[&str]>,
    visit: RowVisitor<'_>,
) -> Result<Vec<String>, ArchiveError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let fields = metadata.schema().get_fields();
    let is_needed = |name: &str| needed.is_none_or(|needed| needed.contains(&name));
    let read: Vec<_> =
        fields.iter().filter(|field| is_needed(field.name())).map(Arc::clone).collect();
    if read.is_empty() {
        (0..metadata.num_rows()).try_for_each(|_| visit(Value::Object(Map::new())))?;
    } else {
        let schema =
            Type::group_type_builder(metadata.schema().name()).with_fields(read).build()?;
        for row in reader.get_row_iter(Some(schema))? {
            visit(row?.to_json_value())?;
        }
    }
    Ok(fields.iter().map(|field| field.name().to_owned()).collect())
}
