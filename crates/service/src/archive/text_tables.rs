//! Writes the columns of `metadata.parquet` as text: `metadata.csv` for spreadsheets, and `metadata.jsonl`, the table
//! of an image folder of the library `datasets`. The members of a shard of `WebDataset` are such rows, too.

use std::io::Write;

use serde_json::{Map, Value};

use super::{
    MissingPictures,
    metadata::{ArchiveContent, MetadataRow, for_each_row},
    parquet_columns::TableColumns,
    parquet_table::{Cell, Field, FieldKind},
};
use crate::task_error::TaskError;
use tessera_model::{Annotation, text::with_apostrophe};
use tessera_wire::fields::format_iso8601;

/// Returns a row as a JSON object.
pub(super) fn row_json(columns: &TableColumns, row: &MetadataRow) -> Value {
    let cells = columns.fields().zip(columns.cells(row));
    let named = cells.map(|(field, cell)| (field.name.to_owned(), cell_json(field.kind, &cell)));
    named.collect::<Map<_, _>>().into()
}

fn cell_json(kind: FieldKind, cell: &Cell) -> Value {
    let named =
        |(field, cell): (&Field<'_>, &Cell)| (field.name.to_owned(), cell_json(field.kind, cell));
    match (kind, cell) {
        (_, Cell::Text(text)) => text.as_str().into(),
        (_, Cell::Bool(value)) => (*value).into(),
        (_, Cell::Float(number)) => (*number).into(),
        (_, Cell::Double(number)) => (*number).into(),
        (FieldKind::Timestamp, Cell::Int(micros)) => (format_iso8601(*micros) + "+00:00").into(),
        (_, Cell::Int(number)) => (*number).into(),
        (FieldKind::List(element), Cell::List(items)) => {
            items.iter().map(|item| cell_json(*element, item)).collect()
        }
        (FieldKind::Struct(fields), Cell::Struct(cells)) => {
            fields.iter().zip(cells).map(named).collect::<Map<_, _>>().into()
        }
        (_, Cell::Absent | Cell::Bytes(_) | Cell::List(_) | Cell::Struct(_)) => Value::Null,
    }
}

pub(super) fn write_jsonl(
    content: &ArchiveContent,
    out: &mut impl Write,
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    let columns = TableColumns::of_text(content)?;
    for_each_row(content, missing, |row| {
        // A row without a picture would make the whole table unreadable.
        if row.image.is_none() {
            return Ok(());
        }
        writeln!(out, "{}", row_json(&columns, &row)).map_err(TaskError::archive)
    })
}

/// Writes a table. Of an object, it has the label, the box and the score, because many readers limit the size of a
/// cell.
pub(super) fn write_csv(
    content: &ArchiveContent,
    out: &mut impl Write,
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    let failed = |cause: csv::Error| TaskError::archive(cause.into());
    let mut table = csv::Writer::from_writer(out);
    let columns = TableColumns::of_text(content)?;
    let header: Vec<_> = columns.fields().map(|field| with_apostrophe(field.name)).collect();
    table.write_record(header.iter().map(|name| name.as_bytes())).map_err(failed)?;
    for_each_row(content, missing, |mut row| {
        for object in &mut row.objects {
            let score = object.annotation.score;
            object.annotation = Annotation { score, ..Annotation::default() };
        }
        let cells = columns.fields().zip(columns.cells(&row));
        let texts = cells.map(|(field, cell)| cell_text(field.kind, &cell));
        table.write_record(texts).map_err(failed)
    })?;
    table.flush().map_err(TaskError::archive)
}

/// Returns the text of a cell. A text that a spreadsheet would calculate gets an apostrophe in front of it.
fn cell_text(kind: FieldKind, cell: &Cell) -> String {
    let text = match (kind, cell) {
        (_, Cell::Absent) => return String::new(),
        (FieldKind::List(FieldKind::Text), Cell::List(names)) => names_text(names),
        (kind, cell) => match cell_json(kind, cell) {
            Value::String(text) => text,
            Value::Array(list) if list.is_empty() => return String::new(),
            value => return value.to_string(),
        },
    };
    with_apostrophe(&text).into_owned()
}

/// Joins names by `|`. Names that contain a separator make the cell a JSON list.
fn names_text(names: &[Cell]) -> String {
    let texts = names.iter().filter_map(|name| match name {
        Cell::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    let is_ambiguous = |text: &&str| text.contains(['|', ';']) || text.starts_with('[');
    if texts.iter().any(is_ambiguous) { Value::from(texts).to_string() } else { texts.join("|") }
}
