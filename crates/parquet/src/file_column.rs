//! Reads columns that contain files, as Hugging Face writes images: a group of `bytes` and `path`, or the bytes alone.

use parquet::{
    basic::{ConvertedType, LogicalType, Type as PhysicalType},
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{ByteArray, ByteArrayType},
    file::{metadata::RowGroupMetaData, reader::RowGroupReader},
    schema::types::ColumnDescriptor,
};

use crate::{
    pages::{BATCH_RECORDS, BoundedRowGroup},
    parquet_file::{Columns, Error, ParquetFile, catch_panic, count_rows, described},
};

/// The limit of a page is high, because writers put the files of a whole row group into one page.
const MAX_PAGE_BYTES: u64 = 128 << 20;
/// The maximum length of a path. The limit is needed because a few bytes can repeat a long path in every row.
const MAX_PATH_BYTES: usize = 256;
/// The limit for files that are read together. The last file may exceed it.
const MAX_FILES_BYTES: usize = 64 << 20;

/// The columns that contain the content and the path of files.
#[derive(Clone, Copy, Debug)]
pub struct FileColumn {
    content: usize,
    path: Option<usize>,
}

impl ParquetFile {
    /// Returns the first column of files whose name satisfies `is_wanted`.
    pub fn file_column(&self, is_wanted: impl Fn(&str) -> bool) -> Option<FileColumn> {
        let columns = self.schema().columns();
        let find = |parts: &[&str]| {
            columns.iter().position(|column| is_bytes(column) && column.path().parts() == parts)
        };
        columns.iter().find_map(|column| match column.path().parts() {
            [name] if is_wanted(name) && !is_text(column) => {
                Some(FileColumn { content: find(&[name])?, path: None })
            }
            [name, bytes] if is_wanted(name) && bytes == "bytes" => {
                Some(FileColumn { content: find(&[name, "bytes"])?, path: find(&[name, "path"]) })
            }
            _ => None,
        })
    }

    /// Returns the number of rows, which are counted in the pages.
    pub fn count_rows(&self) -> Result<u64, Error> {
        self.begin_pages(MAX_PAGE_BYTES);
        catch_panic(|| {
            let mut rows = 0_u64;
            for metadata in self.row_groups() {
                rows += count_rows(&self.group(metadata), Columns::Named(&[]))?;
            }
            Ok(rows)
        })
    }

    /// Returns the paths of the first `count` rows. A row without a path gives `None`.
    pub fn file_paths(
        &self,
        column: FileColumn,
        count: usize,
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        match column.path {
            None => Ok(vec![None; count]),
            Some(path) => {
                let mut paths = Vec::new();
                self.for_each_value(path, 0, BATCH_RECORDS, &mut |path| {
                    paths.push(path.map(|path| path[..path.len().min(MAX_PATH_BYTES)].to_vec()));
                    paths.len() < count
                })?;
                Ok(paths)
            }
        }
    }

    /// Returns the files of up to `count` rows, starting at row `first` (counted from 0). If the files are large, fewer
    /// rows are returned, but at least one. A row without a file gives `None`.
    pub fn files(
        &self,
        column: FileColumn,
        first: u64,
        count: usize,
    ) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let (mut files, mut bytes) = (Vec::new(), 0);
        // Files are read one at a time, because a batch of rows can repeat a large file.
        self.for_each_value(column.content, first, 1, &mut |file| {
            files.push(file.map(<[u8]>::to_vec));
            bytes += file.map_or(0, <[u8]>::len);
            files.len() < count && bytes < MAX_FILES_BYTES
        })?;
        if files.is_empty() { Err("it has no such row".into()) } else { Ok(files) }
    }

    /// Calls `visit` with the value of each row, starting at row `first`, until `visit` returns false.
    fn for_each_value(
        &self,
        column: usize,
        first: u64,
        batch: usize,
        visit: &mut dyn FnMut(Option<&[u8]>) -> bool,
    ) -> Result<(), Error> {
        self.begin_pages(MAX_PAGE_BYTES);
        catch_panic(|| {
            let mut skipped = first;
            for metadata in self.row_groups() {
                let rows = u64::try_from(metadata.num_rows()).map_err(|_| "a damaged row group")?;
                if skipped >= rows {
                    skipped -= rows;
                    continue;
                }
                let group = self.group(metadata);
                let reader = group.get_column_reader(column).map_err(described)?;
                let ColumnReader::ByteArrayColumnReader(mut reader) = reader else {
                    return Err("a damaged column".into());
                };
                let skip = usize::try_from(skipped)?;
                if reader.skip_records(skip).map_err(described)? != skip {
                    return Err("a damaged column".into());
                }
                skipped = 0;
                let level = metadata.column(column).column_descr().max_def_level();
                if !visit_records(&mut reader, level, batch, visit)? {
                    break;
                }
            }
            Ok(())
        })
    }

    fn group<'a>(&'a self, metadata: &'a RowGroupMetaData) -> BoundedRowGroup<'a> {
        BoundedRowGroup { file: self.bounded_file(), metadata, max_row_values: 1 }
    }
}

/// Visits the records of a row group. Records whose level is below `level` have no value. Returns whether to continue.
fn visit_records(
    reader: &mut ColumnReaderImpl<ByteArrayType>,
    level: i16,
    batch: usize,
    visit: &mut dyn FnMut(Option<&[u8]>) -> bool,
) -> Result<bool, Error> {
    let (mut levels, mut found) = (Vec::new(), Vec::new());
    loop {
        levels.clear();
        found.clear();
        let end = reader.read_records(batch, Some(&mut levels), None, &mut found);
        let (records, _, _) = end.map_err(described)?;
        if records == 0 {
            return Ok(true);
        }
        let mut values = found.iter();
        for record in 0..records {
            // In a column without levels, each record has a value.
            let is_defined = levels.get(record).is_none_or(|&defined| defined == level);
            let value = if is_defined { values.next().map(ByteArray::data) } else { None };
            if !visit(value) {
                return Ok(false);
            }
        }
    }
}

fn is_bytes(column: &ColumnDescriptor) -> bool {
    column.physical_type() == PhysicalType::BYTE_ARRAY && column.max_rep_level() == 0
}

fn is_text(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::String))
        || column.converted_type() == ConvertedType::UTF8
        || !is_bytes(column)
}
