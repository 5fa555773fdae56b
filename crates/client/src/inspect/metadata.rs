//! The metadata of an export, row by row: Parquet, or JSON as an array of rows or an object that
//! contains one.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read as _, Seek as _},
    sync::Arc,
};

use parquet::{
    file::reader::{FileReader as _, SerializedFileReader},
    schema::types::Type,
};
use serde_json::{Map, Value, value::RawValue};

use crate::archive::{ArchiveEntry, ArchiveError};
use tessera_model::SafeText;

const MAX_METADATA_BYTES: u64 = 2 << 30;
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
        visit: impl FnMut(Value) -> Result<(), ArchiveError>,
    ) -> Result<Vec<String>, ArchiveError> {
        let columns = if is_json(&self.name) {
            for_each_json_row(self.file, visit)
        } else {
            for_each_parquet_row(self.file, needed, visit)
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

/// Rows are parsed one by one, so that memory holds the text only once.
fn for_each_json_row(
    mut file: File,
    mut visit: impl FnMut(Value) -> Result<(), ArchiveError>,
) -> Result<Vec<String>, ArchiveError> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut columns = None;
    for (index, raw) in find_rows(&text)?.into_iter().enumerate() {
        let row: Map<String, Value> = serde_json::from_str(raw.get())
            .map_err(|error| format!("row {}: {error}", index + 1))?;
        columns.get_or_insert_with(|| row.keys().cloned().collect());
        visit(Value::Object(row))?;
    }
    Ok(columns.unwrap_or_default())
}

/// Returns the unparsed rows: the array itself, or the longest array of objects at the first level.
fn find_rows(text: &str) -> Result<Vec<&RawValue>, ArchiveError> {
    if text.trim_start().starts_with('[') {
        return Ok(serde_json::from_str(text)?);
    }
    let map: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    let arrays = map.values().filter_map(|value| {
        let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
        items.iter().all(|item| item.get().starts_with('{')).then_some(items)
    });
    arrays.max_by_key(Vec::len).ok_or_else(|| "no rows".into())
}

fn for_each_parquet_row(
    file: File,
    needed: Option<&[&str]>,
    mut visit: impl FnMut(Value) -> Result<(), ArchiveError>,
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
