//! Reads the metadata tables of image folder datasets: `metadata.jsonl` and `metadata.parquet`. `metadata_row` converts
//! the rows.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::prelude::*;
use super::{
    box_columns::BoxColumns,
    csv_table::collect_cell_names,
    extra_columns::{
        CAPTION_ALIASES, Refusal, RefusedColumns, is_exported, is_known, known_name,
        name_file_column,
    },
    metadata_row::{OBJECT_NAME_COLUMNS, SidecarRow, describe_row, read_row},
    sidecar_names::METADATA_JSONL,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, NOT_UTF_8},
};
use crate::ingest::{
    features::Features,
    parquet_images::MAX_ROWS,
    scan::{METADATA_PARQUET, is_parquet, row_of},
};
use tessera_model::FileKind;
use tessera_parquet::{Columns, ParquetFile, Source};

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
    let lines = || {
        let lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        lines.map(|line| str::from_utf8(line).map(|line| documents::repaired(line.to_owned())))
    };
    for line in lines().flatten() {
        note_name(reader, sidecar, &line);
    }
    for line in lines() {
        diagnostics.next_position();
        match line.as_deref().map(SidecarRow::parse) {
            Err(_) => diagnostics.report(NOT_UTF_8),
            Ok(Some(row)) => {
                let end = read_row(reader, sidecar, row, &mut diagnostics);
                diagnostics.check(end);
            }
            Ok(None) if line.as_deref() == Ok("") => {}
            Ok(None) => diagnostics.report("it is not a JSON object"),
        }
    }
    reader.report_problems(sidecar, diagnostics);
}

/// Notes the name of the file in a row.
fn note_name(reader: &mut SidecarReader<'_>, sidecar: &Path, row: &str) {
    if let Some(name) = SidecarRow::parse(row).and_then(|mut row| row.file_name().ok()) {
        reader.files.note_name(&name, None, sidecar);
    }
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
    let features = Features::of(&file);
    let columns = read_columns(&file, &features, None, &mut diagnostics.refused);
    let mut names: Vec<String> = columns.iter().map(|name| known_name(name)).collect();
    let file_name = name_file_column(&mut names).ok_or("it has no column file_name")?;
    let mut rows = 0;
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    // What is wrong with the rows is reported when they are read.
    let _ = file.for_each_row(Columns::Named(&columns[file_name..=file_name]), &mut |row| {
        rows += 1;
        note_name(reader, sidecar, &row.to_string());
        if rows > MAX_METADATA_ROWS { Err(TOO_MANY_ROWS.into()) } else { Ok(()) }
    });
    rows = 0;
    let read = file.for_each_row(Columns::Named(&columns), &mut |row| {
        rows += 1;
        if rows > MAX_METADATA_ROWS {
            return Err(TOO_MANY_ROWS.into());
        }
        diagnostics.set_position(rows);
        let text = prepared(row, &features, diagnostics);
        let row = SidecarRow::parse(&text).ok_or("it is not a JSON object".into());
        let end = row.and_then(|row| read_row(reader, sidecar, row, diagnostics));
        diagnostics.check(end);
        Ok(())
    });
    read.map_err(|why| format!("after row {rows}: {why}"))
}

/// Returns the columns with a meaning, and those that can be columns of the user's own. The other columns are named,
/// except the one with the pictures.
pub(crate) fn read_columns(
    parquet: &ParquetFile,
    features: &Features,
    image: Option<&str>,
    refused: &mut RefusedColumns,
) -> Vec<String> {
    let scalars = parquet.scalar_column_names();
    let pictures = parquet.file_columns();
    let typed: Vec<&str> = features.classes().chain(features.objects()).collect();
    // A column `image` may contain the pictures themselves.
    let is_known = |name: &str| {
        name != "image" && (is_known(&known_name(name)) || CAPTION_ALIASES.contains(&name))
    };
    let names = parquet.column_names();
    let boxes = box_list(names.iter());
    let is_of_boxes =
        |name: &str| boxes.is_some_and(|list| list == name || OBJECT_NAME_COLUMNS.contains(&name));
    let is_read = |name: &String| {
        is_known(name)
            || scalars.contains(name)
            || typed.contains(&name.as_str())
            || is_of_boxes(name)
    };
    let (columns, others): (Vec<_>, Vec<_>) = names.iter().cloned().partition(is_read);
    let is_export = columns.iter().any(|name| name == "media_id");
    let is_silent = |name: &str| image == Some(name) || (is_export && is_exported(name));
    for name in others.iter().filter(|name| !is_silent(name)) {
        let is_picture = pictures.iter().any(|(picture, _)| picture == name);
        refused.add(name, if is_picture { Refusal::Pictures } else { Refusal::NotScalar });
    }
    columns
}

/// Returns the column with the boxes of a row as lists.
fn box_list<'n>(names: impl Iterator<Item = &'n String>) -> Option<&'n str> {
    let names: Vec<&str> = names.map(String::as_str).collect();
    BoxColumns::of_row(&names, false)?.list()
}

/// Parses the lists and objects that a row contains as text. The error says which list is invalid.
pub(crate) fn parse_texts(row: &mut Value) -> Result<(), String> {
    let mut end = Ok(());
    for column in NAME_COLUMNS {
        if let Some(Value::String(text)) = row.get(column) {
            let mut names = Vec::new();
            if collect_cell_names(text, &mut names).is_none() {
                end = Err(format!("its {column} are not a list of strings"));
            }
            row[column] = names.into();
        }
    }
    if let Some(Value::String(text)) = row.get("objects")
        && let Ok(objects) = serde_json::from_str(text)
    {
        row["objects"] = objects;
    }
    end
}

// Reads the columns next to the images in Parquet files, as the library `datasets` of Hugging Face writes them.

/// The files of each row.
type RowFiles<'a> = HashMap<u64, Vec<&'a Path>>;

pub(crate) fn read_image_tables(reader: &mut SidecarReader<'_>) {
    let mut files: BTreeMap<&Path, RowFiles> = BTreeMap::new();
    for file in reader.files.all() {
        let parquet = file.parent().filter(|parent| is_parquet(parent));
        let parquet = parquet.and_then(|parent| reader.files.get(parent));
        if let Some((parquet, row)) = parquet.zip(row_of(file)) {
            files.entry(parquet).or_default().entry(row).or_default().push(file);
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
    let features = Features::of(&parquet);
    let image = features.image_column(&parquet).map(|(name, _)| name);
    let columns = read_columns(&parquet, &features, image.as_deref(), &mut diagnostics.refused);
    if columns.is_empty() {
        return Ok(());
    }
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut row = 0;
    let read = parquet.for_each_row(Columns::Named(&columns), &mut |mut value| {
        row += 1;
        let Some(media) = files.get(&row) else { return Ok(()) };
        diagnostics.set_position(usize::try_from(row)?);
        if let Some(text) = text_of_sample(image.as_deref(), &value) {
            value["caption"] = text;
        }
        let text = prepared(value, &features, diagnostics);
        if let Some(columns) = SidecarRow::parse(&text) {
            let description = describe_row(&columns, diagnostics);
            for media in media {
                reader.add_description(media, sidecar, description.clone());
            }
        }
        Ok(())
    });
    read.map_err(|why| format!("after row {row}: {why}"))
}

/// Returns the text beside a picture in a table that was made from a shard of `WebDataset`, whose columns are called
/// like the extensions of its members.
fn text_of_sample(image: Option<&str>, row: &Value) -> Option<Value> {
    let is_of_shard =
        image.is_some_and(|name| FileKind::from_name(&format!("a.{name}")).is_media());
    row.get("txt")
        .filter(|text| is_of_shard && text.is_string() && row["caption"].is_null())
        .cloned()
}

/// Returns a row as JSON, with the columns that all tables have.
fn prepared(mut row: Value, features: &Features, diagnostics: &mut SidecarDiagnostics) -> String {
    diagnostics.check(prepare(&mut row, features));
    diagnostics.check(parse_texts(&mut row));
    row.to_string()
}

/// Names the classes of a row, and brings its labels and objects into the columns that all tables have.
pub(super) fn prepare(row: &mut Value, features: &Features) -> Result<(), String> {
    let known_classes = features
        .name_classes(row)
        .map_err(|class| format!("the types of the columns have no name for class {class}"));
    let Some(columns) = row.as_object_mut() else { return known_classes };
    // In a file without types, the number of a class is its label.
    if let Some(number) = columns.get("label").and_then(Value::as_i64) {
        let label = (number >= 0).then(|| number.to_string());
        columns.insert("label".to_owned(), label.into());
    }
    let is_labeled =
        columns.get("label").is_some_and(Value::is_string) || columns.contains_key("labels");
    // The classes beside a list of boxes are those of the boxes.
    let has_boxes = box_list(columns.keys()).is_some()
        && OBJECT_NAME_COLUMNS.iter().any(|name| columns.contains_key(*name));
    let mut labels = Vec::new();
    for name in features.classes().filter(|name| *name != "labels" && !has_boxes) {
        match columns.get(name) {
            Some(name @ Value::String(_)) => labels.push(name.clone()),
            // A list that adds no labels stays, so that it is reported as a column that is not kept.
            Some(Value::Array(names)) if !is_labeled => {
                labels.extend(names.iter().filter(|name| name.is_string()).cloned());
                columns.remove(name);
            }
            _ => {}
        }
    }
    if !is_labeled && !labels.is_empty() {
        columns.insert("labels".to_owned(), labels.into());
    }
    if let Some(objects) = features.objects().and_then(|name| columns.remove(name)) {
        columns.insert("objects".to_owned(), as_columns(objects));
    }
    known_classes
}

/// Returns objects in the form in which their boxes are in pixels: lists of boxes and names.
fn as_columns(objects: Value) -> Value {
    let Value::Array(objects) = objects else { return objects };
    if objects.is_empty() {
        return Value::Array(objects);
    }
    let mut columns = Map::<String, Value>::new();
    for object in objects {
        let Value::Object(fields) = object else { continue };
        for (name, value) in fields {
            if let Value::Array(values) = columns.entry(name).or_insert_with(|| json!([])) {
                values.push(value);
            }
        }
    }
    columns.into()
}
