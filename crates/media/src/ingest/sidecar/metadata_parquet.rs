//! `metadata.parquet`, as in image folder datasets: the columns of `metadata.jsonl`. Lists and objects
//! can also be text, as in `metadata.csv` and in exports.

use std::path::Path;

use serde_json::Value;
use tessera_parquet::{Columns, ParquetFile};

use super::{
    candidates::METADATA_PARQUET,
    diagnostics::SidecarDiagnostics,
    json,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
    sidecar_row::{COLUMNS, read_row},
};

/// Limit on the rows of a file, which a few bytes can repeat.
const MAX_ROWS: usize = 4_000_000;
const TOO_MANY_ROWS: &str = "it has more than 4,000,000 rows";
/// Columns of names, which can be lists.
const NAME_COLUMNS: [&str; 3] = ["labels", "tags", "user_tags"];

pub fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_PARQUET) {
        reader.mark_used(sidecar);
        let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES) else { continue };
        let mut diagnostics = SidecarDiagnostics::new("row", "rows");
        let end = read_rows(reader, sidecar, bytes, &mut diagnostics);
        let problems: Vec<String> = diagnostics.summary().into_iter().chain(end.err()).collect();
        if !problems.is_empty() {
            reader.report_problem(sidecar, problems.join("; "));
        }
    }
}

/// The error says why rows were not read.
fn read_rows(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    bytes: Vec<u8>,
    diagnostics: &mut SidecarDiagnostics,
) -> Result<(), String> {
    let file = ParquetFile::open(bytes).map_err(|_| "it is damaged or not a Parquet file")?;
    if !file.column_names().iter().any(|name| name == "file_name") {
        return Err("it has no column file_name".to_owned());
    }
    let mut rows = 0;
    let read = file.for_each_row(Columns::Named(&COLUMNS), &mut |mut row| {
        rows += 1;
        if rows > MAX_ROWS {
            return Err(TOO_MANY_ROWS.into());
        }
        diagnostics.set_position(rows);
        parse_texts(&mut row);
        let text = row.to_string();
        let row = json::parse_object(&text).ok_or("it is not a JSON object");
        let end = row.and_then(|row| read_row(reader, sidecar, &row, diagnostics));
        diagnostics.check(end);
        Ok(())
    });
    read.map_err(|why| format!("after row {rows}: {why}"))
}

/// Replaces lists and objects that are text by what the text says.
pub(super) fn parse_texts(row: &mut Value) {
    for column in NAME_COLUMNS {
        if let Some(Value::String(text)) = row.get(column) {
            let mut names = Vec::new();
            // A list that is not valid stays text, which is reported.
            if json::parse_names(text, &mut names).is_some() {
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
