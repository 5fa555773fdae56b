//! Writes shards of `WebDataset`: tar archives in which each picture is followed by its row as JSON and by its caption.

use std::{
    collections::{BTreeSet, HashSet},
    io::Write as _,
};

use serde_json::Value;
use tar::{Builder, Header};
use zip::{CompressionMethod, write::SimpleFileOptions};

use super::{
    MissingPictures, Zip,
    metadata::{ArchiveContent, MetadataRow, for_each_row},
    parquet_columns::TableColumns,
    pictures::{progress, read_picture},
    text_tables::row_json,
};
use crate::task_error::TaskError;
use tessera_picture::PictureFormat;

/// The size from which the next picture is in the next shard.
const SHARD_BYTES: usize = 1 << 30;
/// The empty blocks at the end of a tar archive.
const TAR_END: [u8; 1_024] = [0; 1_024];

pub(super) fn write_shards(
    content: &ArchiveContent,
    zip: &mut Zip,
    mut report: impl FnMut(f64) -> Result<(), TaskError>,
) -> Result<MissingPictures, TaskError> {
    let mut missing = MissingPictures::default();
    let options = SimpleFileOptions::default().large_file(true);
    let options = options.compression_method(CompressionMethod::Stored);
    let columns = TableColumns::of_text(content)?;
    let order = SampleOrder::of(content, &columns)?;
    let (mut shards, mut shard_bytes, mut rows) = (0_u32, SHARD_BYTES, 0_u64);
    let mut write = |row: MetadataRow| {
        rows += 1;
        report(progress(content, rows))?;
        let Some(picture) = read_picture(content, &row.entry.media, &mut missing)? else {
            return Ok(());
        };
        // `datasets` refuses shards whose first samples have different members.
        let caption = row.entry.media.caption.as_deref().or(order.has_captions.then_some(""));
        let members = members(&columns, &row, &picture, caption).map_err(TaskError::archive)?;
        if shard_bytes >= SHARD_BYTES {
            if shards > 0 {
                zip.write_all(&TAR_END).map_err(TaskError::archive)?;
            }
            zip.start_file(format!("shard-{shards:06}.tar"), options)?;
            (shards, shard_bytes) = (shards + 1, 0);
        }
        shard_bytes += members.len();
        zip.write_all(&members).map_err(TaskError::archive)
    };
    for is_first in [true, false] {
        for_each_row(content, &MissingPictures::default(), |row| {
            let is_next = order.first.contains(&row.entry.media.row) == is_first;
            if is_next { write(row) } else { Ok(()) }
        })?;
    }
    if shards > 0 {
        zip.write_all(&TAR_END).map_err(TaskError::archive)?;
    }
    Ok(missing)
}

/// Returns the members of a shard for a picture, without the end of the archive.
fn members(
    columns: &TableColumns,
    row: &MetadataRow,
    picture: &[u8],
    caption: Option<&str>,
) -> std::io::Result<Vec<u8>> {
    let name = row.image.as_deref().unwrap_or_default();
    // Readers decode a picture by its extension, so that a name without one gets that of its format.
    let by_content = || PictureFormat::detect(picture).map_or("bin", PictureFormat::extension);
    let (key, extension) = name.rsplit_once('.').unwrap_or_else(|| (name, by_content()));
    let mut tar = Builder::new(Vec::with_capacity(picture.len() + (16 << 10)));
    let mut append = |extension: &str, bytes: &[u8]| {
        let mut header = Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, format!("{key}.{extension}"), bytes)
    };
    append(&extension.to_lowercase(), picture)?;
    let mut row = row_json(columns, row);
    remove_empty(&mut row);
    append("json", row.to_string().as_bytes())?;
    if let Some(caption) = caption {
        append("txt", caption.as_bytes())?;
    }
    let mut members = tar.into_inner()?;
    members.truncate(members.len() - TAR_END.len());
    Ok(members)
}

/// The number of samples from which `datasets` takes the fields of all samples. Fields that only later samples have are
/// not loaded.
const TYPED_SAMPLES: usize = 5;

/// The order of the samples.
struct SampleOrder {
    /// The rows of the pictures that come first, because together they have as many fields as possible.
    first: HashSet<i64>,
    has_captions: bool,
}

impl SampleOrder {
    fn of(content: &ArchiveContent, columns: &TableColumns) -> Result<Self, TaskError> {
        let mut has_captions = false;
        let (mut candidates, mut known) = (Vec::new(), BTreeSet::new());
        let mut most = 0;
        for_each_row(content, &MissingPictures::default(), |row| {
            has_captions |= row.entry.media.caption.is_some();
            let mut fields = BTreeSet::new();
            add_fields("", &row_json(columns, &row), &mut fields);
            if fields.len() > most || !fields.is_subset(&known) {
                most = most.max(fields.len());
                known.extend(fields.iter().cloned());
                candidates.push((row.entry.media.row, fields));
            }
            Ok(())
        })?;
        Ok(Self { first: covering_rows(&candidates), has_captions })
    }
}

/// Returns the rows that have the most fields together.
fn covering_rows(candidates: &[(i64, BTreeSet<String>)]) -> HashSet<i64> {
    let (mut rows, mut covered) = (HashSet::new(), BTreeSet::new());
    for _ in 0..TYPED_SAMPLES {
        let gain = |fields: &BTreeSet<String>| fields.difference(&covered).count();
        let Some((row, fields)) = candidates.iter().max_by_key(|(_, fields)| gain(fields)) else {
            break;
        };
        if gain(fields) == 0 {
            break;
        }
        covered.extend(fields.iter().cloned());
        rows.insert(*row);
    }
    rows
}

/// Adds the paths of the fields that have a value.
fn add_fields(path: &str, value: &Value, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(values) => {
            for (name, value) in values.iter().filter(|(_, value)| !is_empty(value)) {
                add_fields(&format!("{path}/{name}"), value, fields);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_fields(path, item, fields)),
        _ => drop(fields.insert(path.to_owned())),
    }
}

/// Removes nulls and empty lists from objects. `datasets` takes the types of columns from the first samples, and fails
/// if a column without a type has a value later.
fn remove_empty(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.retain(|_, value| {
            remove_empty(value);
            !is_empty(value)
        }),
        Value::Array(items) => items.iter_mut().for_each(remove_empty),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}
