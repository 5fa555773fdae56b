//! Reads the metadata tables of image folder datasets: `metadata.jsonl` and `metadata.parquet`. `metadata_row` converts
//! the rows.

use std::path::Path;

use serde_json::Value;
use tessera_parquet::{Columns, ParquetFile, Source};

use super::{
    column_names::{CAPTION_ALIASES, known_name, name_file_column},
    csv_table::collect_cell_names,
    diagnostics::{Reason, SidecarDiagnostics},
    image_tables::prepare,
    metadata_row::{SidecarRow, read_row},
    own_columns::{Refusal, RefusedColumns, is_exported, is_known},
    sidecar_names::METADATA_JSONL,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, NOT_UTF_8, SidecarReader},
};
use crate::ingest::{documents, features::Features, scan::METADATA_PARQUET};

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
        let line = str::from_utf8(line).map(|line| documents::without_nan(line.to_owned()));
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
    if name_file_column(&mut names).is_none() {
        return Err("it has no column file_name".to_owned());
    }
    let mut rows = 0;
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let read = file.for_each_row(Columns::Named(&columns), &mut |mut row| {
        rows += 1;
        if rows > MAX_METADATA_ROWS {
            return Err(TOO_MANY_ROWS.into());
        }
        diagnostics.set_position(rows);
        diagnostics.check(prepare(&mut row, &features));
        parse_texts(&mut row);
        let text = row.to_string();
        let row = SidecarRow::parse(&text).ok_or(Reason::from("it is not a JSON object"));
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
    let own = parquet.scalar_column_names();
    let pictures = parquet.file_columns();
    let typed: Vec<&str> = features.classes().chain(features.objects()).collect();
    // A column `image` may contain the pictures themselves.
    let is_known = |name: &str| {
        name != "image" && (is_known(&known_name(name)) || CAPTION_ALIASES.contains(&name))
    };
    let is_read =
        |name: &String| is_known(name) || own.contains(name) || typed.contains(&name.as_str());
    let (columns, others): (Vec<_>, Vec<_>) = parquet.column_names().into_iter().partition(is_read);
    let is_export = columns.iter().any(|name| name == "media_id");
    let is_silent = |name: &str| image == Some(name) || (is_export && is_exported(name));
    for name in others.iter().filter(|name| !is_silent(name)) {
        let is_picture = pictures.iter().any(|(picture, _)| picture == name);
        refused.add(name, if is_picture { Refusal::Pictures } else { Refusal::NotScalar });
    }
    columns
}

/// Parses the lists and objects that a row contains as text.
pub(crate) fn parse_texts(row: &mut Value) {
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
