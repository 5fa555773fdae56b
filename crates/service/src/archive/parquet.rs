//! `metadata.parquet`: one row per media item, snappy, in row groups of bounded size. Labels, tags
//! and objects are JSON arrays, because they may contain any character.

use std::{collections::HashSet, io::Write, sync::Arc};

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type},
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};
use serde::Serialize;
use serde_json::json;

use super::{
    ArchiveContent,
    json::{media_type, object_label, video_info},
    metadata_row::{MetadataRow, for_each_row, issue_list, uniqueness},
};
use crate::task_error::TaskError;

const ROWS_PER_GROUP: usize = 8_192;

const SCHEMA: &str = "message metadata {
  REQUIRED BYTE_ARRAY media_id (UTF8);
  REQUIRED BYTE_ARRAY media_type (UTF8);
  OPTIONAL BYTE_ARRAY image_filename (UTF8);
  REQUIRED BYTE_ARRAY file_name (UTF8);
  REQUIRED BYTE_ARRAY file_path (UTF8);
  REQUIRED INT64 file_size;
  OPTIONAL BYTE_ARRAY video_name (UTF8);
  OPTIONAL DOUBLE frame_timestamp;
  OPTIONAL DOUBLE uniqueness_score;
  OPTIONAL DOUBLE search_confidence;
  REQUIRED INT32 width;
  REQUIRED INT32 height;
  REQUIRED DOUBLE sharpness;
  REQUIRED DOUBLE brightness;
  OPTIONAL BYTE_ARRAY issues (UTF8);
  OPTIONAL BYTE_ARRAY caption (UTF8);
  OPTIONAL BYTE_ARRAY labels (UTF8);
  OPTIONAL BYTE_ARRAY user_tags (UTF8);
  OPTIONAL BYTE_ARRAY objects (UTF8);
  OPTIONAL BYTE_ARRAY cluster_id (UTF8);
  REQUIRED BYTE_ARRAY url (UTF8);
}";

pub fn write(
    content: &ArchiveContent,
    out: &mut (impl Write + Send),
    missing: &HashSet<i64>,
) -> Result<(), TaskError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut rows = Vec::new();
    for_each_row(content, missing, |item| {
        rows.push(item);
        if rows.len() == ROWS_PER_GROUP {
            write_row_group(&mut file, &rows)?;
            rows.clear();
        }
        Ok(())
    })?;
    write_row_group(&mut file, &rows)?;
    file.close()?;
    Ok(())
}

/// Writes a row group, with the columns in the order of the schema.
fn write_row_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    rows: &[MetadataRow],
) -> Result<(), TaskError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut group = file.next_row_group()?;
    let columns = &mut group;
    write_text_column(columns, rows, |item| Some(item.entry.media.id.to_string()))?;
    write_text_column(columns, rows, |item| Some(media_type(item.entry.media.kind).to_owned()))?;
    write_text_column(columns, rows, |item| item.image.clone())?;
    write_text_column(columns, rows, |item| Some(item.entry.media.file_name()))?;
    write_text_column(columns, rows, |item| Some(item.entry.media.file_path()))?;
    write_column::<Int64Type, _>(columns, rows, |item| Some(item.entry.size.cast_signed()))?;
    write_text_column(columns, rows, |item| Some(video_info(&item.entry.media)?.0))?;
    write_column::<DoubleType, _>(columns, rows, |item| Some(video_info(&item.entry.media)?.1))?;
    write_column::<DoubleType, _>(columns, rows, |item| uniqueness(&item.entry))?;
    write_column::<DoubleType, _>(columns, rows, |item| item.entry.confidence)?;
    write_column::<Int32Type, _>(columns, rows, |item| Some(item.entry.media.width.cast_signed()))?;
    write_column::<Int32Type, _>(columns, rows, |item| {
        Some(item.entry.media.height.cast_signed())
    })?;
    write_column::<DoubleType, _>(columns, rows, |item| Some(item.entry.media.sharpness.into()))?;
    write_column::<DoubleType, _>(columns, rows, |item| Some(item.entry.media.brightness.into()))?;
    write_text_column(columns, rows, |item| {
        let issues: Vec<_> = issue_list(&item.entry).into_iter().map(|(issue, _)| issue).collect();
        (!issues.is_empty()).then(|| issues.join(","))
    })?;
    write_text_column(columns, rows, |item| item.entry.media.caption.clone())?;
    write_text_column(columns, rows, |item| {
        json_list(&item.entry.media.all_labels().collect::<Vec<_>>())
    })?;
    write_text_column(columns, rows, |item| json_list(&item.entry.media.tags))?;
    write_text_column(columns, rows, |item| {
        let objects = item.objects.iter();
        let labels = objects.map(|object| object_label(object, &item.url)["properties"].take());
        json_list(&labels.collect::<Vec<_>>())
    })?;
    write_text_column(columns, rows, |item| item.entry.cluster.map(|id| id.to_string()))?;
    write_text_column(columns, rows, |item| Some(item.url.clone()))?;
    group.close()?;
    Ok(())
}

fn json_list(items: &[impl Serialize]) -> Option<String> {
    (!items.is_empty()).then(|| json!(items).to_string())
}

fn write_text_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[MetadataRow],
    value: impl Fn(&MetadataRow) -> Option<String>,
) -> Result<(), TaskError> {
    write_column::<ByteArrayType, _>(group, rows, |item| {
        value(item).map(|text| ByteArray::from(text.into_bytes()))
    })
}

/// Writes the next column. A REQUIRED column must have all values.
fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[MetadataRow],
    value: impl Fn(&MetadataRow) -> Option<T::T>,
) -> Result<(), TaskError> {
    let cells: Vec<Option<T::T>> = rows.iter().map(value).collect();
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values, Some(&present), None)?;
        column.close()?;
    }
    Ok(())
}
