//! The rows of a JSON file: an array of rows, or an object that contains one. They are streamed, so
//! that memory holds one row.

use std::{
    cell::Cell,
    fmt,
    fs::File,
    io::{self, BufReader, Read, Seek as _},
};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::archive::ArchiveError;
use tessera_wire::bounded_json::BoundedValue;

/// Text of one row, or of one value beside the rows.
const MAX_ROW_BYTES: usize = 8 << 20;
const MAX_ROW_MEMORY: usize = 16 << 20;

/// Receives each row, an object.
pub(super) type RowVisitor<'a> = &'a mut dyn FnMut(Value) -> Result<(), ArchiveError>;

/// Calls `visit` with each row, and returns the names in the first one.
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
        reader.list = Some(reader.longest.take().ok_or("no rows")?.2);
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
    let file = BoundedReader { file: BufReader::new(file), allowance };
    let mut deserializer = serde_json::Deserializer::from_reader(file);
    seed.deserialize(&mut deserializer)?;
    Ok(deserializer.end()?)
}

/// Reads as many bytes as are allowed until the next row, because the parser stores whole texts.
struct BoundedReader<'a> {
    file: BufReader<&'a File>,
    allowance: &'a Cell<usize>,
}

impl Read for BoundedReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(out)?;
        let left = self.allowance.get().checked_sub(length);
        let too_large =
            || io::Error::other(format!("a row larger than {} MiB", MAX_ROW_BYTES >> 20));
        self.allowance.set(left.ok_or_else(too_large)?);
        Ok(length)
    }
}

/// What a skipped value was.
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

/// Reads the rows of a document that is an array. Of an object, it finds the array of rows first.
struct RowReader<'a> {
    allowance: &'a Cell<usize>,
    /// Position of the array of rows, once it is known.
    list: Option<usize>,
    is_object: bool,
    /// Length, name and position of the longest array of objects in the document.
    longest: Option<(usize, String, usize)>,
    visit: RowVisitor<'a>,
    rows: usize,
    /// The names in the first row.
    columns: Vec<String>,
    /// Why `visit` ended the reading.
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
            let Some(row) = rows.next_element_seed(BoundedValue { left })? else { return Ok(()) };
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
            } else if let Skipped::Objects(count) =
                map.next_value_seed(Skip { allowance: self.allowance })?
            {
                self.longest = self.longest.take().max(Some((count, name, position)));
            }
            position += 1;
        }
        Ok(())
    }
}
