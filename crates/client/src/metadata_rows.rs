//! Reads the metadata of an export row by row, from Parquet or JSON. Rows are streamed, so that only one row of bounded
//! size is in memory. A JSON file is an array of rows, or an object that contains such an array. Numbers that JSON
//! lacks, such as the `NaN` of Python, count as missing.

use std::{
    cell::Cell,
    fmt,
    fs::File,
    io::{self, Read, Seek as _},
};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::{
    bounded_unpack::{ArchiveEntry, ArchiveError, EntryError},
    part_file::disk_failure,
};
use tessera_model::{Failure, SafeText};
use tessera_parquet::{Columns, ParquetFile};
use tessera_wire::{
    export::column,
    tolerant_json::{BoundedValue, JsonReader},
};

const MAX_METADATA_BYTES: u64 = 2 << 30;
const MAX_ROWS: usize = 10_000_000;
/// The column of scores that the API guarantees.
pub(super) const SCORE_COLUMN: &str = column::UNIQUENESS_SCORE;
/// The columns that name the picture of a row below `images/`: first the column of the API, then the columns of
/// recorded archives, which lack it. A path also names the folder or the video of the picture.
const FILE_COLUMNS: [&str; 3] = [column::IMAGE_FILENAME, column::FILE_PATH, column::FILE_NAME];
/// The columns that an inspection reads.
pub(super) const INSPECTED_COLUMNS: &[&str] = &[
    SCORE_COLUMN,
    FILE_COLUMNS[0],
    FILE_COLUMNS[1],
    FILE_COLUMNS[2],
    // These columns show whether a row is a frame, and of which video.
    column::MEDIA_TYPE,
    column::VIDEO_NAME,
    column::FRAME_TIMESTAMP,
];

/// Finds the picture of a row by its name below `images/`. If the picture is missing, the error is its name. Returns
/// `None` if the row names no picture.
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
    /// Whether an entry of this name contains metadata. The API document does not name the
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

    /// Calls `visit` with each row as an object, and returns the names of all columns. In a Parquet file, only the
    /// columns in `needed` are read, and only if they have one value per row.
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

/// Returns a visitor that passes on rows up to a limit.
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

/// The maximum text size of one row, or of one value outside the rows.
const MAX_ROW_BYTES: usize = 8 << 20;
const MAX_ROW_MEMORY: usize = 16 << 20;

/// Receives each row as an object.
pub(super) type RowVisitor<'a> = &'a mut dyn FnMut(Value) -> Result<(), ArchiveError>;

/// Calls `visit` with each row, and returns the names of the columns in the first row.
pub(super) fn for_each_json_row(
    mut file: File,
    visit: RowVisitor<'_>,
) -> Result<Vec<String>, ArchiveError> {
    let allowance = &Cell::new(0);
    let (rows, columns) = (0, Vec::new());
    let (list, is_object, longest, error) = (None, false, None, None);
    let mut reader = RowReader { allowance, list, is_object, longest, visit, rows, columns, error };
    let mut parsed = parse(&file, allowance, &mut reader);
    if parsed.is_ok() && reader.is_object {
        reader.list = Some(reader.longest.take().ok_or("no rows")?.position);
        file.rewind()?;
        parsed = parse(&file, allowance, &mut reader);
    }
    match reader.error {
        Some(error) => Err(error),
        None => parsed.map(|()| reader.columns),
    }
}

fn parse<'de, S: DeserializeSeed<'de>>(
    file: &File,
    allowance: &Cell<usize>,
    seed: S,
) -> Result<(), ArchiveError> {
    allowance.set(MAX_ROW_BYTES);
    let rows = BoundedReader { input: JsonReader::new(file, None), allowance };
    let mut deserializer = serde_json::Deserializer::from_reader(rows);
    seed.deserialize(&mut deserializer)?;
    Ok(deserializer.end()?)
}

/// Reads as many bytes as are allowed until the next row. The limit is needed because the parser stores whole texts.
struct BoundedReader<'a> {
    input: JsonReader<&'a File>,
    allowance: &'a Cell<usize>,
}

impl Read for BoundedReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(out)?;
        let left = self.allowance.get().checked_sub(length);
        let too_large =
            || io::Error::other(format!("a row larger than {} MiB", MAX_ROW_BYTES >> 20));
        self.allowance.set(left.ok_or_else(too_large)?);
        Ok(length)
    }
}

/// The type of a value that was skipped.
#[derive(PartialEq)]
enum Skipped {
    Object,
    /// An array of this many objects.
    Objects(usize),
    Other,
}

/// Skips a value.
#[derive(Clone, Copy)]
struct Skip<'a> {
    allowance: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Skip<'_> {
    type Value = Skipped;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Skipped, D::Error> {
        let skipped = deserializer.deserialize_any(self);
        self.allowance.set(MAX_ROW_BYTES);
        skipped
    }
}

impl<'de> Visitor<'de> for Skip<'_> {
    type Value = Skipped;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Skipped, E> {
        Ok(Skipped::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Skipped, A::Error> {
        let (mut count, mut are_objects) = (0, true);
        while let Some(item) = items.next_element_seed(self)? {
            count += 1;
            are_objects &= item == Skipped::Object;
        }
        Ok(if are_objects { Skipped::Objects(count) } else { Skipped::Other })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Skipped, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Skipped::Object)
    }
}

/// An array of objects in the document. The longest array contains the rows.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RowList {
    length: usize,
    name: String,
    position: usize,
}

/// Reads the rows of a document that is an array. If the document is an object, finds the array of rows first.
struct RowReader<'a> {
    allowance: &'a Cell<usize>,
    /// The position of the array of rows, once it is known.
    list: Option<usize>,
    is_object: bool,
    longest: Option<RowList>,
    visit: RowVisitor<'a>,
    rows: usize,
    /// The names in the first row.
    columns: Vec<String>,
    /// The error with which `visit` ended the reading.
    error: Option<ArchiveError>,
}

impl RowReader<'_> {
    fn read_row(&mut self, row: Value) -> Result<(), ArchiveError> {
        self.rows += 1;
        let object = row.as_object().ok_or_else(|| format!("row {}: not an object", self.rows))?;
        if self.rows == 1 {
            self.columns = object.keys().cloned().collect();
        }
        (self.visit)(row)
    }
}

impl<'de> DeserializeSeed<'de> for &mut RowReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut RowReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        loop {
            let left = &Cell::new(MAX_ROW_MEMORY);
            let seed = BoundedValue { left, has_unique_keys: false };
            let Some(row) = rows.next_element_seed(seed)? else { return Ok(()) };
            self.allowance.set(MAX_ROW_BYTES);
            if let Err(error) = self.read_row(row) {
                self.error = Some(error);
                return Err(A::Error::custom("reading was ended"));
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.is_object = true;
        let mut position = 0;
        while let Some(name) = map.next_key()? {
            if self.list == Some(position) {
                map.next_value_seed(&mut *self)?;
            } else if let Skipped::Objects(length) =
                map.next_value_seed(Skip { allowance: self.allowance })?
            {
                self.longest = self.longest.take().max(Some(RowList { length, name, position }));
            }
            position += 1;
        }
        Ok(())
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
