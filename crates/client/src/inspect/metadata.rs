//! The metadata of an export, row by row: Parquet or JSON.

use std::{fs::File, io::Seek as _};

use serde_json::Value;

use super::{json_rows::for_each_json_row, parquet_rows::for_each_parquet_row};
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
    /// file, only the columns of `needed` are read, as far as they have one value per row.
    pub(super) fn for_each_row(
        self,
        needed: Option<&[&str]>,
        mut visit: impl FnMut(Value) -> Result<(), ArchiveError>,
    ) -> Result<Vec<String>, ArchiveError> {
        let mut visit = capped(MAX_ROWS, &mut visit);
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

/// Passes rows on, up to a limit.
fn capped(
    max_rows: usize,
    visit: &mut impl FnMut(Value) -> Result<(), ArchiveError>,
) -> impl FnMut(Value) -> Result<(), ArchiveError> {
    let mut rows = 0;
    move |row| {
        rows += 1;
        if rows > max_rows { Err(format!("more than {max_rows} rows").into()) } else { visit(row) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_the_limit_are_refused() {
        let mut visited = 0;
        let mut visit = |_| {
            visited += 1;
            Ok(())
        };
        let mut capped = capped(2, &mut visit);
        assert!(capped(Value::Null).is_ok() && capped(Value::Null).is_ok());
        assert_eq!(capped(Value::Null).unwrap_err().to_string(), "more than 2 rows");
        drop(capped);
        assert_eq!(visited, 2);
    }
}
