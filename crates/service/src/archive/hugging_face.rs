//! Writes Parquet files with the bytes of the pictures, as the library `datasets` of Hugging Face stores images. Each
//! file names the column of the images for this library.

use serde_json::json;
use zip::{CompressionMethod, write::SimpleFileOptions};

use super::{
    MissingPictures, Zip,
    metadata::{ArchiveContent, MetadataRow, for_each_row},
    parquet_columns::TableColumns,
    parquet_table::{
        Cell, Field,
        FieldKind::{Bytes, Struct, Text},
        TableWriter,
    },
    pictures::{progress, read_picture},
};
use crate::task_error::TaskError;
use tessera_wire::export::column;

/// The size of the pictures after which a row group ends. A group is in memory until it ends.
const GROUP_BYTES: usize = 32 << 20;
/// The size of the pictures, and the number of rows, after which the next file begins. Our own reader of such files has
/// the same limit of rows.
const FILE_BYTES: usize = 500 << 20;
const FILE_ROWS: usize = 200_000;

/// The picture. All of its fields are optional, because the library takes only such a column for an image.
const IMAGE: Field<'static> = Field::optional(
    "image",
    Struct(&[Field::optional("bytes", Bytes), Field::optional("path", Text)]),
);

/// The columns that the table lacks, because the picture has its name in its own column.
const NAMES: &[&str] = &[column::FILE_NAME, column::IMAGE_FILENAME];

pub(super) fn write_files(
    content: &ArchiveContent,
    zip: &mut Zip,
    mut report: impl FnMut(f64) -> Result<(), TaskError>,
) -> Result<MissingPictures, TaskError> {
    let mut missing = MissingPictures::default();
    let (mut files, mut rows) = (1_u32, 0_u64);
    let (mut file_bytes, mut file_rows, mut group_bytes) = (0, 0, 0);
    let columns = TableColumns::of(content)?.without(NAMES);
    let mut table = Some(open_file(zip, &columns, 0)?);
    for_each_row(content, &MissingPictures::default(), |row| {
        rows += 1;
        report(progress(content, rows))?;
        let Some(picture) = read_picture(content, &row.entry.media, &mut missing)? else {
            return Ok(());
        };
        let is_full = file_bytes >= FILE_BYTES || file_rows >= FILE_ROWS;
        if let Some(full) = table.take_if(|_| is_full) {
            table = Some(open_file(full.finish()?, &columns, files)?);
            files += 1;
            (file_bytes, file_rows, group_bytes) = (0, 0, 0);
        }
        let Some(table) = &mut table else { return Ok(()) };
        file_bytes += picture.len();
        file_rows += 1;
        group_bytes += picture.len();
        table.push(cells(&columns, &row, picture))?;
        if group_bytes >= GROUP_BYTES {
            group_bytes = 0;
            table.write_group()?;
        }
        Ok(())
    })?;
    if let Some(table) = table {
        table.finish()?;
    }
    Ok(missing)
}

fn open_file<'a, 'z, 'c>(
    zip: &'a mut Zip<'z>,
    columns: &'c TableColumns,
    number: u32,
) -> Result<TableWriter<'c, &'a mut Zip<'z>>, TaskError> {
    let options = SimpleFileOptions::default().large_file(true);
    let options = options.compression_method(CompressionMethod::Stored);
    zip.start_file(format!("data/train-{number:05}.parquet"), options)?;
    let fields = [IMAGE].into_iter().chain(columns.fields()).collect();
    // The library derives the types of the other columns from their types in Parquet.
    let features = json!({"info": {"features": {IMAGE.name: {"_type": "Image"}}}});
    let metadata = ("huggingface".to_owned(), features.to_string());
    Ok(TableWriter::new(zip, fields, Some(metadata))?)
}

fn cells(
    columns: &TableColumns,
    row: &MetadataRow,
    picture: Vec<u8>,
) -> impl Iterator<Item = Cell> {
    let path = Cell::text(row.image.clone().unwrap_or_default());
    let image = Cell::Struct(vec![Cell::Bytes(picture), path]);
    [image].into_iter().chain(columns.cells(row))
}
