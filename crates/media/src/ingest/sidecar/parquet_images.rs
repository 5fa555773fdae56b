//! Parquet files with images: the columns beside the image, as in `metadata.jsonl`. A label can be a number, of which
//! the file names the class.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde_json::{Map, Value};
use tessera_parquet::{Columns, ParquetFile};

use super::{
    diagnostics::SidecarDiagnostics,
    json,
    metadata_parquet::parse_texts,
    sidecar_reader::SidecarReader,
    sidecar_row::{COLUMNS, describe},
};
use crate::ingest::parquet_images::{MAX_ROWS, is_parquet, row_of};

/// Where `datasets` keeps the types of columns.
const FEATURES_KEY: &str = "huggingface";

/// The file of each row.
type RowFiles<'a> = HashMap<u64, &'a Path>;

pub fn read(reader: &mut SidecarReader<'_>) {
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
        let end = read_rows(reader, sidecar, &files, &mut diagnostics);
        let problems: Vec<String> = diagnostics.summary().into_iter().chain(end.err()).collect();
        if !problems.is_empty() {
            reader.report_problem(sidecar, problems.join("; "));
        }
    }
}

/// The error is why rows were not read.
fn read_rows(
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
    let known = |name: &String| COLUMNS.contains(&name.as_str());
    if !parquet.column_names().iter().any(known) {
        return Ok(());
    }
    let classes = class_names(&parquet);
    let mut row = 0;
    let read = parquet.for_each_row(Columns::Named(&COLUMNS), &mut |mut value| {
        row += 1;
        let Some(media) = files.get(&row) else { return Ok(()) };
        diagnostics.set_position(usize::try_from(row)?);
        name_class(&mut value, &classes);
        parse_texts(&mut value);
        let text = value.to_string();
        if let Some(columns) = json::parse_object(&text) {
            let description = describe(&columns, diagnostics);
            reader.add_description(media, description);
        }
        Ok(())
    });
    read.map_err(|why| format!("after row {row}: {why}"))
}

/// The names of the classes that are numbers in the column `label`.
fn class_names(parquet: &ParquetFile) -> Vec<String> {
    let features = parquet.key_value(FEATURES_KEY).unwrap_or_default();
    let features: Value = serde_json::from_str(features).unwrap_or_default();
    let names = features["info"]["features"]["label"]["names"].as_array();
    let name = |name: &Value| name.as_str().unwrap_or_default().to_owned();
    names.into_iter().flatten().map(name).collect()
}

/// Replaces the number of a class by its name. Without names, it is called by its number.
fn name_class(row: &mut Value, classes: &[String]) {
    let Some(columns) = row.as_object_mut() else { return };
    let Some(number) = columns.get("label").and_then(Value::as_i64) else { return };
    let named = usize::try_from(number).ok().and_then(|number| classes.get(number));
    // The number of a class that is not known, as in a test set without labels.
    if number < 0 || (named.is_none() && !classes.is_empty()) {
        Map::remove(columns, "label");
        return;
    }
    columns["label"] = named.cloned().unwrap_or_else(|| number.to_string()).into();
}
