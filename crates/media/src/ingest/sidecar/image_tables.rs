//! Reads the columns next to the images in Parquet files, as the library `datasets` of Hugging Face writes them.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde_json::{Map, Value, json};
use tessera_parquet::{Columns, ParquetFile};

use super::{
    diagnostics::SidecarDiagnostics,
    metadata_row::{SidecarRow, describe_row},
    metadata_tables::{parse_texts, read_columns},
    sidecar_reader::SidecarReader,
};
use crate::ingest::{
    features::Features,
    parquet_images::MAX_ROWS,
    scan::{is_parquet, row_of},
};

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
        diagnostics.check(prepare(&mut value, &features));
        parse_texts(&mut value);
        let text = value.to_string();
        if let Some(columns) = SidecarRow::parse(&text) {
            let description = describe_row(&columns, sidecar, diagnostics);
            for media in media {
                reader.add_description(media, sidecar, description.clone());
            }
        }
        Ok(())
    });
    read.map_err(|why| format!("after row {row}: {why}"))
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
    let mut labels = Vec::new();
    for name in features.classes().filter(|name| *name != "labels") {
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
