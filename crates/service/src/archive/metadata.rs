//! Writes the metadata of an archive, with one row per media item: as `metadata.json` in the format of hosted services,
//! or as `metadata.parquet` in row groups of bounded size. Both are written from the same rows. Parquet contains
//! labels, tags and objects as JSON arrays, because names may contain any character.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Write},
    sync::Arc,
};

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
use serde_json::{Value, json};

use crate::{links::media_link, originals::Originals, task_error::TaskError};
use tessera_media::ingest::{OriginalFiles, SourceFile};
use tessera_retrieval::{issues, stored_pictures::StoredPictures};
use tessera_store::{
    Connection,
    cluster::StoredPreview,
    dataset::DatasetRecord,
    export::{self, ExportEntry, ExportRecord},
    media::{MediaKind, MediaRecord},
    now_micros,
    source::SourceFolder,
};
use tessera_wire::{export::column, fields::format_iso8601};

/// The data from which the archive of an export is made.
#[derive(Clone, Copy)]
pub(crate) struct ArchiveContent<'a> {
    pub connection: &'a Connection,
    pub dataset: &'a DatasetRecord,
    pub export: &'a ExportRecord,
    pub folders: &'a SourceFolders,
    /// Reads the pictures of frames.
    pub pictures: &'a StoredPictures,
    /// Signs the links of the metadata.
    pub link_key: &'a [u8; 32],
}

/// The open sources of a dataset, by the row of the source. Empty if no pictures are written.
#[derive(Default)]
pub(crate) struct SourceFolders(HashMap<i64, Box<dyn OriginalFiles>>);

impl SourceFolders {
    pub fn open(originals: &Originals, sources: &[SourceFolder]) -> io::Result<Self> {
        let open = |source: &SourceFolder| Ok((source.row, originals.open(&source.folder)?));
        Ok(Self(sources.iter().map(open).collect::<io::Result<_>>()?))
    }

    pub(super) fn file(&self, media: &MediaRecord) -> io::Result<Box<dyn SourceFile>> {
        let folder = self.0.get(&media.source).ok_or(io::ErrorKind::NotFound)?;
        folder.open_file(&media.path)
    }
}

/// One row of the metadata, independent of the format.
pub(crate) struct MetadataRow {
    pub entry: ExportEntry,
    pub objects: Vec<ExportEntry>,
    /// The name of the picture below `images/`, if it is included.
    pub image: Option<String>,
    /// The signed link to the original in the service.
    pub url: String,
}

pub(crate) fn issue_list(entry: &ExportEntry) -> Vec<(&'static str, f64)> {
    let Some(assignment) = &entry.assignment else {
        return Vec::new();
    };
    let found = issues::detected_issues(entry.media.sharpness, entry.media.brightness, assignment);
    found.map(|(kind, confidence)| (kind.as_str(), confidence)).collect()
}

pub(crate) fn uniqueness(entry: &ExportEntry) -> Option<f64> {
    entry.assignment.map(|assignment| assignment.uniqueness.into())
}

/// Calls `each` with every row. The pictures in the rows have the names that they have in the archive.
pub(crate) fn for_each_row(
    content: &ArchiveContent,
    missing: &HashSet<i64>,
    mut each: impl FnMut(MetadataRow) -> Result<(), TaskError>,
) -> Result<(), TaskError> {
    let mut names = UniqueNames::default();
    let origin = &content.export.origin;
    let with_objects = content.dataset.n_objects > 0;
    export::for_each_entry(content.connection, content.export, |entry| {
        let image = content
            .export
            .spec
            .include_images
            .then(|| names.unique(&entry.media.file_name()))
            .filter(|_| !missing.contains(&entry.media.row));
        let StoredPreview { media, version, .. } = StoredPreview::from(&entry.media);
        let url = media_link(content.link_key, origin, media, &version, "original");
        let picture = entry.media.row;
        let objects = with_objects
            .then(|| export::object_entries(content.connection, content.export.id, picture));
        let objects = objects.transpose()?.unwrap_or_default();
        each(MetadataRow { entry, objects, image, url })
    })
}

pub(crate) fn write_json(
    content: &ArchiveContent,
    out: &mut impl Write,
    missing: &HashSet<i64>,
) -> Result<(), TaskError> {
    let dataset = content.dataset;
    let info = json!({
        "schema_version": "1.1",
        "dataset": dataset.name,
        "description": format!("Exported from {}", dataset.name),
        "dataset_url": format!("{}/api/v1/dataset/{}", content.export.origin, dataset.id),
        "export_time": format_iso8601(now_micros()),
        "dataset_creation_time": format_iso8601(dataset.created_at),
        "exported_by": "tessera",
        "total_media_items": content.export.media_count,
    });
    write!(out, "{{\"info\":{info},\"media_items\":[").map_err(TaskError::archive)?;
    let mut separator = "\n";
    for_each_row(content, missing, |item| {
        write!(out, "{separator}{}", media_item(&item)).map_err(TaskError::archive)?;
        separator = ",\n";
        Ok(())
    })?;
    out.write_all(b"\n]}\n").map_err(TaskError::archive)
}

fn media_item(item: &MetadataRow) -> Value {
    let media = &item.entry.media;
    let mut value = json!({
        column::MEDIA_ID: media.id.to_string(),
        column::MEDIA_TYPE: media_type(media.kind),
        column::IMAGE_FILENAME: item.image,
        column::FILE_NAME: media.file_name(),
        column::FILE_PATH: media.file_path(),
        column::FILE_SIZE: format_size(item.entry.size),
        column::UNIQUENESS_SCORE: uniqueness(&item.entry),
        column::HEIGHT: media.height,
        column::WIDTH: media.width,
        column::URL: item.url,
        column::CLUSTER_ID: item.entry.cluster.map(|id| id.to_string()),
        column::METADATA_ITEMS: metadata_items(item),
    });
    if let Some(confidence) = item.entry.confidence {
        value[column::SEARCH_CONFIDENCE] = json!(confidence);
    }
    value
}

/// Returns the media type in the spelling of hosted services.
pub(super) fn media_type(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Frame => "video_frame",
        MediaKind::Object => "object",
    }
}

/// Returns the name of the video from which a frame was taken, and the time of the frame in seconds.
pub(super) fn video_info(media: &MediaRecord) -> Option<(String, f64)> {
    let name = media.path.file_name().unwrap_or_default();
    media.frame.map(|frame| (name.to_string_lossy().into_owned(), frame.seconds))
}

fn metadata_items(item: &MetadataRow) -> Vec<Value> {
    let media = &item.entry.media;
    let mut items: Vec<Value> = issue_items(&item.entry).collect();
    // Labels that no model gave come from the dataset's sidecars.
    let label = |name: &String| {
        let source = if media.labels.contains(name) { "User" } else { "Model" };
        json!({"original_id": -1, "category_name": name, "source": source})
    };
    items.extend(media.all_labels().map(|name| typed("image_label", &label(name))));
    items.extend(item.objects.iter().map(|object| object_label(object, &item.url)));
    items.extend(media.caption.iter().map(|text| typed("caption", &json!({"caption": text}))));
    items.extend(media.tags.iter().map(|tag| typed("user_tag", &json!({"tag_name": tag}))));
    if let Some((name, seconds)) = video_info(media) {
        let properties = json!({ column::VIDEO_NAME: name, column::FRAME_TIMESTAMP: seconds });
        items.push(typed("video_info", &properties));
    }
    items
}

fn typed(kind: &str, properties: &Value) -> Value {
    json!({"type": kind, "properties": properties})
}

/// Writes an object. Its bounding box is in pixels: left, top, width, height.
pub(super) fn object_label(object: &ExportEntry, url: &str) -> Value {
    let media = &object.media;
    let (width, height) = (f64::from(media.width), f64::from(media.height));
    let bbox = media.region.map(|region| {
        [region.x * width, region.y * height, region.width * width, region.height * height]
            .map(f64::round)
    });
    let properties = json!({
        "original_id": -1,
        "category_name": media.labels.first(),
        "source": "User",
        "bbox": bbox,
        "uniqueness_score": uniqueness(object),
        "url": format!("{url}&object_id={}", media.id),
        "metadata_items": issue_items(object).collect::<Vec<_>>(),
    });
    typed("object_label", &properties)
}

fn issue_items(entry: &ExportEntry) -> impl Iterator<Item = Value> {
    issue_list(entry).into_iter().map(|(issue, confidence)| {
        let mut properties = json!({"issue_type": issue, "confidence": confidence});
        if issue == "duplicates" {
            properties["duplicate_group_id"] =
                json!(entry.near_duplicate_cluster.map(|id| id.to_string()));
        }
        typed("issue", &properties)
    })
}

/// Formats a size as hosted services do: `48.27KB`.
#[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn format_size(bytes: u64) -> String {
    let units = ["B", "KB", "MB", "GB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes}B") } else { format!("{size:.2}{}", units[unit]) }
}

const ROWS_PER_GROUP: usize = 8_192;

/// A column of `metadata.parquet`.
struct ParquetColumn {
    name: &'static str,
    /// Whether every row has a value.
    required: bool,
    value: ColumnValue,
}

/// How the value of a row is computed, depending on the type of the column.
enum ColumnValue {
    Text(fn(&MetadataRow) -> Option<String>),
    Double(fn(&MetadataRow) -> Option<f64>),
    Int32(fn(&MetadataRow) -> Option<i32>),
    Int64(fn(&MetadataRow) -> Option<i64>),
}

use ColumnValue::{Double, Int32, Int64, Text};

/// The columns in the order of the file.
const PARQUET_COLUMNS: [ParquetColumn; 21] = [
    required(column::MEDIA_ID, Text(|row| Some(row.entry.media.id.to_string()))),
    required(column::MEDIA_TYPE, Text(|row| Some(media_type(row.entry.media.kind).to_owned()))),
    optional(column::IMAGE_FILENAME, Text(|row| row.image.clone())),
    required(column::FILE_NAME, Text(|row| Some(row.entry.media.file_name()))),
    required(column::FILE_PATH, Text(|row| Some(row.entry.media.file_path()))),
    required(column::FILE_SIZE, Int64(|row| Some(row.entry.size.cast_signed()))),
    optional(column::VIDEO_NAME, Text(|row| Some(video_info(&row.entry.media)?.0))),
    optional(column::FRAME_TIMESTAMP, Double(|row| Some(video_info(&row.entry.media)?.1))),
    optional(column::UNIQUENESS_SCORE, Double(|row| uniqueness(&row.entry))),
    optional(column::SEARCH_CONFIDENCE, Double(|row| row.entry.confidence)),
    required(column::WIDTH, Int32(|row| Some(row.entry.media.width.cast_signed()))),
    required(column::HEIGHT, Int32(|row| Some(row.entry.media.height.cast_signed()))),
    required(column::SHARPNESS, Double(|row| Some(row.entry.media.sharpness.into()))),
    required(column::BRIGHTNESS, Double(|row| Some(row.entry.media.brightness.into()))),
    optional(column::ISSUES, Text(issue_names)),
    optional(column::CAPTION, Text(|row| row.entry.media.caption.clone())),
    optional(
        column::LABELS,
        Text(|row| json_list(&row.entry.media.all_labels().collect::<Vec<_>>())),
    ),
    optional(column::USER_TAGS, Text(|row| json_list(&row.entry.media.tags))),
    optional(column::OBJECTS, Text(object_properties)),
    optional(column::CLUSTER_ID, Text(|row| row.entry.cluster.map(|id| id.to_string()))),
    required(column::URL, Text(|row| Some(row.url.clone()))),
];

const fn required(name: &'static str, value: ColumnValue) -> ParquetColumn {
    ParquetColumn { name, required: true, value }
}

const fn optional(name: &'static str, value: ColumnValue) -> ParquetColumn {
    ParquetColumn { name, required: false, value }
}

fn issue_names(row: &MetadataRow) -> Option<String> {
    let issues: Vec<_> = issue_list(&row.entry).into_iter().map(|(issue, _)| issue).collect();
    (!issues.is_empty()).then(|| issues.join(","))
}

fn object_properties(row: &MetadataRow) -> Option<String> {
    let objects = row.objects.iter();
    let labels = objects.map(|object| object_label(object, &row.url)["properties"].take());
    json_list(&labels.collect::<Vec<_>>())
}

fn json_list(items: &[impl Serialize]) -> Option<String> {
    (!items.is_empty()).then(|| json!(items).to_string())
}

/// Returns the schema of the columns, as a message type that the library parses.
fn parquet_schema() -> String {
    let fields = PARQUET_COLUMNS.iter().map(|column| {
        let repetition = if column.required { "REQUIRED" } else { "OPTIONAL" };
        let name = column.name;
        match column.value {
            Text(_) => format!("{repetition} BYTE_ARRAY {name} (UTF8);"),
            Double(_) => format!("{repetition} DOUBLE {name};"),
            Int32(_) => format!("{repetition} INT32 {name};"),
            Int64(_) => format!("{repetition} INT64 {name};"),
        }
    });
    format!("message metadata {{ {} }}", fields.collect::<String>())
}

pub(crate) fn write_parquet(
    content: &ArchiveContent,
    out: &mut (impl Write + Send),
    missing: &HashSet<i64>,
) -> Result<(), TaskError> {
    let schema = Arc::new(parse_message_type(&parquet_schema())?);
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

fn write_row_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    rows: &[MetadataRow],
) -> Result<(), TaskError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut group = file.next_row_group()?;
    for column in PARQUET_COLUMNS {
        match column.value {
            Text(value) => write_column::<ByteArrayType, _>(&mut group, rows, |row| {
                value(row).map(|text| ByteArray::from(text.into_bytes()))
            })?,
            Double(value) => write_column::<DoubleType, _>(&mut group, rows, value)?,
            Int32(value) => write_column::<Int32Type, _>(&mut group, rows, value)?,
            Int64(value) => write_column::<Int64Type, _>(&mut group, rows, value)?,
        }
    }
    group.close()?;
    Ok(())
}

/// Writes the next column. A required column must have a value in every row.
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

/// Names inside `images/` that are safe to unpack anywhere, and that are unique even if case is ignored.
#[derive(Debug, Default)]
pub(crate) struct UniqueNames {
    used: HashSet<String>,
}

impl UniqueNames {
    /// Returns a unique name. The same calls in the same order return the same names.
    pub fn unique(&mut self, file_name: &str) -> String {
        let safe: String = file_name
            .chars()
            .map(|c| if c.is_control() || r#"/\<>:"|?*"#.contains(c) { '_' } else { c })
            .collect();
        let (stem, extension) = match safe.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
            _ => (safe.as_str(), String::new()),
        };
        let mut name = safe.clone();
        let mut number = 2;
        while !self.used.insert(name.to_lowercase()) {
            name = format!("{stem}_{number}{extension}");
            number += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_formatted_as_the_hosted_service_does() {
        let sizes = [0, 1023, 49_428, 5 << 20, 3 << 40].map(format_size);
        assert_eq!(sizes, ["0B", "1023B", "48.27KB", "5.00MB", "3072.00GB"]);
    }
}
