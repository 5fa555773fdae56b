//! The rows of a Parquet file. Neither the sizes nor the numbers of rows that it claims are believed.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use parquet::{
    basic::Repetition,
    errors::{ParquetError, Result as ParquetResult},
    file::{
        metadata::ColumnChunkMetaData,
        reader::{ChunkReader, FileReader, Length, RowGroupReader, SerializedFileReader},
    },
    schema::types::Type,
};
use serde_json::{Map, Value};

use super::{json_rows::RowVisitor, page_header::unpacked_page_bytes};
use crate::archive::ArchiveError;
use tessera_picture::decode::catch_decoder_panic;

/// Memory of the pages that are open at the same time: a dictionary and a page of each column.
const MAX_PAGE_MEMORY: u64 = 256 << 20;
const MAX_PAGE_BYTES: u64 = 16 << 20;
/// The description of the file at its end.
const MAX_FOOTER_BYTES: u64 = 4 << 20;
/// The length of the description and the last four letters.
const FOOTER_END_BYTES: u64 = 8;
/// Statistics are the longest part of a header; writers omit or shorten them at 4 KiB.
const MAX_HEADER_BYTES: u64 = 32 << 10;

/// Calls `visit` with each row, and returns the names of all columns. Of `needed` columns, only those
/// with one value per row are read.
pub(super) fn for_each_parquet_row(
    file: File,
    needed: Option<&[&str]>,
    visit: RowVisitor<'_>,
) -> Result<Vec<String>, ArchiveError> {
    // The library panics on some damaged pages.
    catch_decoder_panic(|| read_rows(file, needed, visit))
        .unwrap_or_else(|| Err("a damaged page".into()))
}

fn read_rows(
    file: File,
    needed: Option<&[&str]>,
    visit: RowVisitor<'_>,
) -> Result<Vec<String>, ArchiveError> {
    let max_bytes = Arc::new(AtomicU64::new(MAX_FOOTER_BYTES));
    let reader =
        SerializedFileReader::new(BoundedFile { file, max_bytes: Arc::clone(&max_bytes) })?;
    let schema = reader.metadata().file_metadata().schema();
    let fields = schema.get_fields();
    let columns = fields.iter().map(|field| field.name().to_owned()).collect();
    let read: Vec<_> =
        fields.iter().filter(|field| is_needed(field, needed)).map(Arc::clone).collect();
    let leaves = reader.metadata().file_metadata().schema_descr().num_columns();
    let open = if needed.is_some() { read.len().max(1) } else { leaves.max(1) };
    max_bytes.store((MAX_PAGE_MEMORY / (2 * open as u64)).min(MAX_PAGE_BYTES), Ordering::Relaxed);
    let schema = Type::group_type_builder(schema.name()).with_fields(read.clone()).build()?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = count_rows(&*group)?;
        if read.is_empty() {
            (0..rows).try_for_each(|_| visit(Value::Object(Map::new())))?;
        } else {
            for row in group.get_row_iter(Some(schema.clone()))? {
                visit(row?.to_json_value())?;
            }
        }
    }
    Ok(columns)
}

fn is_needed(field: &Type, needed: Option<&[&str]>) -> bool {
    let is_list = || {
        let info = field.get_basic_info();
        info.has_repetition() && info.repetition() == Repetition::REPEATED
    };
    needed.is_none_or(|needed| needed.contains(&field.name()) && field.is_primitive() && !is_list())
}

/// Counts the rows in the headers of the pages, and compares them with the number that the file claims.
fn count_rows(group: &dyn RowGroupReader) -> Result<u64, ArchiveError> {
    let metadata = group.metadata();
    let one_per_row = |column: &ColumnChunkMetaData| column.column_descr().max_rep_level() == 0;
    let column = metadata.columns().iter().position(one_per_row);
    let mut pages =
        group.get_column_page_reader(column.ok_or("no column with one value per row")?)?;
    let mut rows = 0_u64;
    while let Some(page) = pages.peek_next_page()? {
        if !page.is_dict {
            rows += page.num_levels.or(page.num_rows).unwrap_or(0) as u64;
        }
        pages.skip_next_page()?;
    }
    if u64::try_from(metadata.num_rows()) != Ok(rows) {
        let claimed = metadata.num_rows();
        return Err(format!("it claims {claimed} rows, but its pages have {rows}").into());
    }
    Ok(rows)
}

/// A file of which no larger part is read than allowed, and no larger page unpacked.
struct BoundedFile {
    file: File,
    max_bytes: Arc<AtomicU64>,
}

impl BoundedFile {
    fn read(&self, start: u64, length: u64) -> io::Result<Vec<u8>> {
        let length = length.min(self.len().saturating_sub(start));
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }

    fn max_bytes(&self) -> u64 {
        self.max_bytes.load(Ordering::Relaxed)
    }
}

impl Length for BoundedFile {
    fn len(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }
}

impl ChunkReader for BoundedFile {
    type T = PageStart;

    fn get_read(&self, start: u64) -> ParquetResult<PageStart> {
        let bytes = io::Cursor::new(self.read(start, MAX_HEADER_BYTES)?);
        let is_page = start + FOOTER_END_BYTES != self.len();
        Ok(PageStart { bytes, unchecked: is_page.then(|| self.max_bytes()) })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let (length, max_bytes) = (length as u64, self.max_bytes());
        if length > max_bytes {
            return Err(ParquetError::General(too_large(length, max_bytes)));
        }
        let bytes = self.read(start, length)?;
        if bytes.len() as u64 != length {
            return Err(ParquetError::EOF("the file is truncated".to_owned()));
        }
        Ok(bytes.into())
    }
}

/// The start of a page, which is checked when the library begins to read its header.
struct PageStart {
    bytes: io::Cursor<Vec<u8>>,
    /// The limit of the page, until it was checked.
    unchecked: Option<u64>,
}

impl Read for PageStart {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Some(max_bytes) = self.unchecked.take() {
            let unpacked = unpacked_page_bytes(self.bytes.get_ref());
            let unpacked = unpacked.ok_or_else(|| io::Error::other("a damaged page header"))?;
            if unpacked > max_bytes {
                return Err(io::Error::other(too_large(unpacked, max_bytes)));
            }
        }
        self.bytes.read(out)
    }
}

fn too_large(bytes: u64, max_bytes: u64) -> String {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    format!("a part of {} MiB is larger than {} MiB", mib(bytes), mib(max_bytes))
}
