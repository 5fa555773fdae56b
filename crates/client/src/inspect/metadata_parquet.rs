//! Metadata in Parquet. Only the two required columns are read.

use std::{fs::File, sync::Arc};

use parquet::{
    file::reader::{FileReader as _, SerializedFileReader},
    record::Field,
    schema::types::Type,
};

use super::listing::{FILE_COLUMN, RowVisitor, SCORE_COLUMN};

/// Reads all rows.
pub(super) fn read_rows(file: File, out: &mut impl RowVisitor) -> Result<(), String> {
    let to_text = |error: parquet::errors::ParquetError| error.to_string();
    let reader = SerializedFileReader::new(file).map_err(to_text)?;
    let metadata = reader.metadata().file_metadata();
    let fields = metadata.schema().get_fields();
    out.visit_columns(fields.iter().map(|field| field.name().to_owned()).collect());
    let columns: Vec<_> = fields
        .iter()
        .filter(|field| [SCORE_COLUMN, FILE_COLUMN].contains(&field.name()))
        .map(Arc::clone)
        .collect();
    if columns.is_empty() {
        for _ in 0..metadata.num_rows() {
            out.visit_row(None, None);
        }
        return Ok(());
    }
    let schema = Type::group_type_builder(metadata.schema().name()).with_fields(columns).build();
    let rows = reader.get_row_iter(Some(schema.map_err(to_text)?)).map_err(to_text)?;
    for row in rows {
        let row = row.map_err(to_text)?;
        let (mut score, mut file) = (None, None);
        for (name, field) in row.get_column_iter() {
            match field {
                Field::Double(number) if name == SCORE_COLUMN => score = Some(*number),
                Field::Float(number) if name == SCORE_COLUMN => score = Some((*number).into()),
                Field::Str(text) if name == FILE_COLUMN => file = Some(text.as_str()),
                _ => {}
            }
        }
        out.visit_row(score, file);
    }
    Ok(())
}
