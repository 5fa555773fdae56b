//! The metadata of an export, row by row: Parquet or JSON.

use std::{
    fs::File,
    io::{self, Seek as _},
};

use serde_json::Value;

use super::json_rows::for_each_json_row;
use crate::{
    archive::{ArchiveEntry, ArchiveError, EntryError},
    disk::disk_failure,
};
use tessera_model::{Failure, SafeText};
use tessera_parquet::{Columns, ParquetFile};

const MAX_METADATA_BYTES: u64 = 2 << 30;
const MAX_ROWS: usize = 10_000_000;
/// The column of scores that the interface guarantees.
pub(super) const SCORE_COLUMN: &str = "uniqueness_score";
/// The columns that name the picture of a row below `images/`: that of the interface, and those of
/// recorded archives, which lack it. A path names the folder or the video of the picture, too.
const FILE_COLUMNS: [&str; 3] = ["image_filename", "file_path", "file_name"];
/// The columns that an inspection reads.
pub(super) const INSPECTED_COLUMNS: &[&str] = &[
    SCORE_COLUMN,
    FILE_COLUMNS[0],
    FILE_COLUMNS[1],
    FILE_COLUMNS[2],
    // These show whether a row is a frame, and of which video.
    "media_type",
    "video_name",
    "frame_timestamp",
];

/// Finds the picture of a row by its name below `images/`. A picture that is missing is an error with
/// its name; `None` if the row names no picture.
pub(super) fn find_picture<T>(
    row: &Value,
    find: impl Fn(&str) -> Option<T>,
) -> Option<Result<T, &str>> {
    let [of_interface, recorded @ ..] = &FILE_COLUMNS;
    let has_column = row.get(*of_interface).is_some();
    let columns = if has_column { std::slice::from_ref(of_interface) } else { recorded };
    let names = || columns.iter().filter_map(|column| row.get(*column)?.as_str());
    let found = names().find_map(find);
    found.map(Ok).or_else(|| names().next().map(Err))
}

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
        let folder = std::env::temp_dir();
        let no_room = |error: io::Error| disk_failure(&folder, &error);
        let mut file = tempfile::tempfile().map_err(no_room)?;
        match entry.copy_to(&mut file, MAX_METADATA_BYTES) {
            Ok(_) => {}
            Err(EntryError::Disk(error)) => return Err(no_room(error).into()),
            Err(EntryError::Invalid(reason)) => return Err(in_file(&name, &reason)),
        }
        file.rewind().map_err(no_room)?;
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
            let columns = needed.map_or(Columns::All, Columns::Flat);
            ParquetFile::open(self.file).and_then(|file| {
                file.for_each_row(columns, &mut visit)?;
                Ok(file.column_names())
            })
        };
        let in_file = |error: ArchiveError| {
            if error.is::<Failure>() { error } else { in_file(&self.name, &error.to_string()) }
        };
        columns.map_err(in_file)
    }
}

fn is_json(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".json")
}

fn in_file(name: &str, reason: &str) -> ArchiveError {
    format!("{}: {reason}", SafeText::file_name(name)).into()
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
