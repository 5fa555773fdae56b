//! Reads the metadata tables of image folder datasets: `metadata.jsonl`, `metadata.csv`, `metadata.parquet`, and the
//! columns next to the images in other Parquet files. `metadata_row` converts the rows.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde_json::{Map, Value};
use tessera_model::text::is_formula;
use tessera_parquet::{Columns, ParquetFile, Source};

use super::{
    description::{MediaDescription, push_name},
    diagnostics::{Reason, SidecarDiagnostics},
    metadata_row::{BoxUnit, SidecarRow, collect_names, describe_row, read_objects, read_row},
    own_columns::{is_known, push_cell},
    sidecar_names::{METADATA_CSV, METADATA_JSONL},
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
};
use crate::ingest::{
    parquet_images::MAX_ROWS,
    scan::{METADATA_PARQUET, is_parquet, row_of},
};

pub(crate) fn read_jsonl(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_JSONL) {
        reader.mark_used(sidecar);
        if let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES) {
            read_lines(reader, sidecar, &bytes);
        }
    }
}

fn read_lines(reader: &mut SidecarReader<'_>, sidecar: &Path, bytes: &[u8]) {
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for line in bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        diagnostics.next_position();
        match str::from_utf8(line).map(SidecarRow::parse) {
            Err(_) => diagnostics.report("it is not UTF-8"),
            Ok(Some(row)) => {
                let end = read_row(reader, sidecar, &row, &mut diagnostics);
                diagnostics.check(end);
            }
            Ok(None) if line.is_empty() => {}
            Ok(None) => diagnostics.report("it is not a JSON object"),
        }
    }
    reader.report_problems(sidecar, diagnostics);
}

pub(crate) fn read_csv(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_CSV) {
        reader.mark_used(sidecar);
        if let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES)
            && let Some(why) = read_table(reader, sidecar, &bytes)
        {
            reader.report_problem(sidecar, why);
        }
    }
}

/// Reads a table and returns what is wrong with it.
fn read_table(reader: &mut SidecarReader<'_>, sidecar: &Path, bytes: &[u8]) -> Option<String> {
    let mut table = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let names: Vec<String> = match table.headers() {
        Ok(names) => names.iter().map(|name| name.trim().to_owned()).collect(),
        Err(_) => return Some("line 1: it is not UTF-8".to_owned()),
    };
    let Some(file_name) = names.iter().position(|name| name.to_lowercase() == "file_name") else {
        return Some("it has no column file_name".to_owned());
    };
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    let mut lines = LineCounter { bytes, offset: 0, line: 1 };
    let mut record = csv::ByteRecord::new();
    // The only possible error here is a record of different length, which is allowed.
    while table.read_byte_record(&mut record).unwrap_or(false) {
        diagnostics.set_position(lines.line_of(&record));
        // Cells without a column are ignored.
        let cells = record.iter().take(names.len()).map(str::from_utf8);
        let Ok(row) = cells.collect::<Result<Vec<_>, _>>() else {
            diagnostics.report("it is not UTF-8");
            continue;
        };
        let Some(name) = row.get(file_name).filter(|name| !name.trim().is_empty()) else {
            diagnostics.report("it has no file_name");
            continue;
        };
        match reader.files.resolve(name, sidecar) {
            Ok(media) => {
                let columns = names.iter().map(String::as_str).zip(row.iter().copied());
                reader.add_description(media, describe_cells(columns, &mut diagnostics));
            }
            Err(why) => diagnostics.report(&why),
        }
    }
    reader.summary(diagnostics)
}

/// Counts lines, because the CSV reader does not count every `\r\n` and attributes blank lines to the next record.
struct LineCounter<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// Returns the line (counted from 1) in which a record starts. Records must be passed in order.
    fn line_of(&mut self, record: &csv::ByteRecord) -> usize {
        let begin = record.position().and_then(|at| usize::try_from(at.byte()).ok());
        let rest = begin.and_then(|begin| self.bytes.get(begin.max(self.offset)..));
        let rest = rest.unwrap_or_default();
        let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let begin = self.bytes.len() - rest.len() + blank;
        self.line += self.bytes[self.offset..begin].split(|byte| *byte == b'\n').count() - 1;
        self.offset = begin;
        self.line
    }
}

fn describe_cells<'a>(
    columns: impl Iterator<Item = (&'a str, &'a str)>,
    diagnostics: &mut SidecarDiagnostics,
) -> MediaDescription {
    let mut description = MediaDescription::default();
    let columns: Vec<_> = columns.filter(|(_, cell)| !cell.trim().is_empty()).collect();
    let find = |name| {
        columns.iter().find(|(column, _)| column.to_lowercase() == name).map(|(_, cell)| *cell)
    };
    let side = |name| find(name)?.trim().parse().ok();
    let is_export = find("media_id").is_some();
    let unit = BoxUnit::of_row(is_export, side("width"), side("height"));
    let mut text = None;
    for (column, cell) in columns {
        // An export puts an apostrophe in front of a cell that a spreadsheet would calculate.
        let plain = cell.strip_prefix('\'').filter(|plain| is_formula(plain));
        let cell = plain.unwrap_or(cell);
        push_cell(&mut description.own, column, cell, is_export, &mut diagnostics.refused);
        match column.to_lowercase().as_str() {
            "caption" => description.push_caption(cell),
            "text" => text = Some(cell),
            "label" => push_name(&mut description.labels, cell),
            "labels" if collect_cell_names(cell, &mut description.labels).is_none() => {
                diagnostics.report("its labels are not a list of strings");
            }
            "tags" | "user_tags" if collect_cell_names(cell, &mut description.tags).is_none() => {
                diagnostics.report("its tags are not a list of strings");
            }
            "objects" => {
                read_objects(cell, unit, &mut description, diagnostics);
            }
            _ => {}
        }
    }
    if let Some(text) = text.filter(|_| description.caption.is_none()) {
        description.push_caption(text);
    }
    description
}

/// Maximum number of rows of a file. The limit is needed because a few bytes can repeat a row.
const MAX_METADATA_ROWS: usize = 4_000_000;
const TOO_MANY_ROWS: &str = "it has more than 4,000,000 rows";
/// Columns of names, which may be lists.
const NAME_COLUMNS: [&str; 3] = ["labels", "tags", "user_tags"];

pub(crate) fn read_parquet(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_PARQUET) {
        reader.mark_used(sidecar);
        let Some(file) = reader.open_parquet(sidecar) else { continue };
        let mut diagnostics = SidecarDiagnostics::new("row", "rows");
        let end = read_parquet_rows(reader, sidecar, file, &mut diagnostics);
        reader.report_rows(sidecar, diagnostics, end);
    }
}

/// Reads the rows. The error explains why rows were not read.
fn read_parquet_rows(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    file: Source,
    diagnostics: &mut SidecarDiagnostics,
) -> Result<(), String> {
    let file = ParquetFile::open(file).map_err(|_| "it is damaged or not a Parquet file")?;
    if !file.column_names().iter().any(|name| name == "file_name") {
        return Err("it has no column file_name".to_owned());
    }
    let mut rows = 0;
    let columns = read_columns(&file);
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let read = file.for_each_row(Columns::Named(&columns), &mut |mut row| {
        rows += 1;
        if rows > MAX_METADATA_ROWS {
            return Err(TOO_MANY_ROWS.into());
        }
        diagnostics.set_position(rows);
        parse_texts(&mut row);
        let text = row.to_string();
        let row = SidecarRow::parse(&text).ok_or(Reason::from("it is not a JSON object"));
        let end = row.and_then(|row| read_row(reader, sidecar, &row, diagnostics));
        diagnostics.check(end);
        Ok(())
    });
    read.map_err(|why| format!("after row {rows}: {why}"))
}

/// Returns the columns with a meaning, and those that can be columns of the user's own.
fn read_columns(parquet: &ParquetFile) -> Vec<String> {
    let own = parquet.scalar_column_names();
    let is_read = |name: &String| is_known(name) || own.contains(name);
    let names = parquet.column_names().into_iter().filter(|name| name != "image");
    names.filter(is_read).collect()
}

/// Adds the names in a cell to `names`. A cell is a JSON list, or names separated by `|` or `;`. Returns `None` if the
/// cell starts like a JSON list but is not valid.
fn collect_cell_names(cell: &str, names: &mut Vec<String>) -> Option<()> {
    if cell.trim_start().starts_with('[') {
        return collect_names(cell, names);
    }
    cell.split(['|', ';']).for_each(|name| push_name(names, name));
    Some(())
}

/// Parses the lists and objects that a row contains as text.
fn parse_texts(row: &mut Value) {
    for column in NAME_COLUMNS {
        if let Some(Value::String(text)) = row.get(column) {
            let mut names = Vec::new();
            // An invalid list stays text, and is then reported.
            if collect_cell_names(text, &mut names).is_some() {
                row[column] = names.into();
            }
        }
    }
    if let Some(Value::String(text)) = row.get("objects")
        && let Ok(objects) = serde_json::from_str(text)
    {
        row["objects"] = objects;
    }
}

/// The key under which the library `datasets` stores the types of columns.
const FEATURES_KEY: &str = "huggingface";

/// The file of each row.
type RowFiles<'a> = HashMap<u64, &'a Path>;

pub(crate) fn read_image_tables(reader: &mut SidecarReader<'_>) {
    let mut files: BTreeMap<&Path, RowFiles> = BTreeMap::new();
    for file in reader.files.all() {
        let parquet = file.parent().filter(|parent| is_parquet(parent));
        let parquet = parquet.and_then(|parent| reader.files.get(parent));
        if let Some((parquet, row)) = parquet.zip(row_of(file)) {
            files.entry(parquet).or_default().insert(row, file);
        }
    }
    for (sidecar, files) in files {
        reader.mark_used(sidecar);
        let mut diagnostics = SidecarDiagnostics::new("row", "rows");
        let end = read_image_rows(reader, sidecar, &files, &mut diagnostics);
        reader.report_rows(sidecar, diagnostics, end);
    }
}

/// Reads the rows that are files of the folder. The error explains why rows were not read.
fn read_image_rows(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    files: &RowFiles<'_>,
    diagnostics: &mut SidecarDiagnostics,
) -> Result<(), String> {
    let Some(file) = reader.open_parquet(sidecar) else { return Ok(()) };
    let parquet = ParquetFile::open(file).map_err(|why| format!("it cannot be read: {why}"))?;
    if parquet.count_rows().is_ok_and(|rows| rows > MAX_ROWS as u64) {
        diagnostics.set_position(MAX_ROWS + 1);
        diagnostics.report("images after row 200,000 are skipped; split the file");
    }
    let columns = read_columns(&parquet);
    if columns.is_empty() {
        return Ok(());
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let classes = class_names(&parquet);
    let mut row = 0;
    let read = parquet.for_each_row(Columns::Named(&columns), &mut |mut value| {
        row += 1;
        let Some(media) = files.get(&row) else { return Ok(()) };
        diagnostics.set_position(usize::try_from(row)?);
        name_class(&mut value, &classes);
        parse_texts(&mut value);
        let text = value.to_string();
        if let Some(columns) = SidecarRow::parse(&text) {
            let description = describe_row(&columns, diagnostics);
            reader.add_description(media, description);
        }
        Ok(())
    });
    read.map_err(|why| format!("after row {row}: {why}"))
}

/// Returns the names of the classes whose numbers are in the column `label`.
fn class_names(parquet: &ParquetFile) -> Vec<String> {
    let features = parquet.key_value(FEATURES_KEY).unwrap_or_default();
    let features: Value = serde_json::from_str(features).unwrap_or_default();
    let names = features["info"]["features"]["label"]["names"].as_array();
    let name = |name: &Value| name.as_str().unwrap_or_default().to_owned();
    names.into_iter().flatten().map(name).collect()
}

/// Replaces the number of a class by the name of the class. If the file has no names, the number becomes the label.
fn name_class(row: &mut Value, classes: &[String]) {
    let Some(columns) = row.as_object_mut() else { return };
    let Some(number) = columns.get("label").and_then(Value::as_i64) else { return };
    let named = usize::try_from(number).ok().and_then(|number| classes.get(number));
    // In a test set without labels, the number refers to no class.
    if number < 0 || (named.is_none() && !classes.is_empty()) {
        Map::remove(columns, "label");
        return;
    }
    columns["label"] = named.cloned().unwrap_or_else(|| number.to_string()).into();
}
