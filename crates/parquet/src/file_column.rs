//! Reads columns that contain files, as Hugging Face writes images: a group of `bytes` and `path`, or the bytes alone.

use std::sync::Arc;

use parquet::{
    basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType},
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{ByteArray, ByteArrayType},
    file::{metadata::RowGroupMetaData, reader::RowGroupReader},
    schema::types::{ColumnDescPtr, ColumnDescriptor},
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

/// Maximum number of files in the list of a row.
const MAX_LIST_FILES: u64 = 1_000;

/// The columns that contain the content and the path of files.
#[derive(Clone, Copy, Debug)]
pub struct FileColumn {
    content: usize,
    path: Option<usize>,
    /// Whether a row has a list of files.
    is_list: bool,
}

impl FileColumn {
    pub fn has_path(&self) -> bool {
        self.path.is_some()
    }

    pub fn is_list(&self) -> bool {
        self.is_list
    }
}

/// The files or paths of a row. A row without a list has exactly one.
type RowValues = Vec<Option<Vec<u8>>>;

/// Receives the values of a row. Returns whether to continue.
pub(crate) type RecordVisitor<'a> = dyn FnMut(&[Option<&[u8]>]) -> bool + 'a;

impl ParquetFile {
    /// Returns all columns of files by name: bytes, a group of `bytes` and `path`, or a list of either.
    pub fn file_columns(&self) -> Vec<(String, FileColumn)> {
        let columns = self.schema().columns();
        let find = |parts: &[String]| {
            let is_found =
                |column: &ColumnDescPtr| is_bytes(column) && column.path().parts() == parts;
            columns.iter().position(is_found)
        };
        let file_column = |column: &ColumnDescPtr| {
            let parts = column.path().parts();
            let (name, path) = match parts {
                [name] | [name, _, _] if !is_text(column) => (name, None),
                [name, bytes] | [name, _, _, bytes] if bytes == "bytes" => {
                    let path = [&parts[..parts.len() - 1], &["path".to_owned()]].concat();
                    (name, find(&path))
                }
                _ => return None,
            };
            let is_list = column.max_rep_level() > 0;
            let has_list_form = is_list == (parts.len() > 2) && column.max_rep_level() <= 1;
            let content = find(parts).filter(|_| has_list_form)?;
            Some((name.clone(), FileColumn { content, path, is_list }))
        };
        columns.iter().filter_map(file_column).collect()
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

    /// Returns the paths of the files in the first `count` rows. A file without a path gives `None`.
    pub fn file_paths(&self, column: FileColumn, count: usize) -> Result<Vec<RowValues>, Error> {
        if column.path.is_none() && !column.is_list {
            return Ok(vec![vec![None]; count]);
        }
        let mut paths = Vec::new();
        let wanted = column.path.unwrap_or(column.content);
        self.for_each_record(wanted, 0, BATCH_RECORDS, &mut |values| {
            let values = values.iter().map(|path| path.filter(|_| column.path.is_some()));
            let short = |path: &[u8]| path[..path.len().min(MAX_PATH_BYTES)].to_vec();
            paths.push(values.map(|path| path.map(short)).collect());
            paths.len() < count
        })?;
        Ok(paths)
    }

    /// Returns the files of up to `count` rows, starting at row `first` (counted from 0). If the files are large, fewer
    /// rows are returned, but at least one. A row or item without a file gives `None`, and so does an item of a list
    /// that does not fit in the limit.
    pub fn files(
        &self,
        column: FileColumn,
        first: u64,
        count: usize,
    ) -> Result<Vec<RowValues>, Error> {
        let (mut files, mut bytes) = (Vec::new(), 0);
        // Rows are read one at a time, because a batch of rows can repeat a large file. So can a list.
        self.for_each_record(column.content, first, 1, &mut |values| {
            let copied = values.iter().map(|file| {
                let room = bytes < MAX_FILES_BYTES;
                bytes += file.map_or(0, <[u8]>::len);
                file.filter(|_| room).map(<[u8]>::to_vec)
            });
            files.push(copied.collect());
            files.len() < count && bytes < MAX_FILES_BYTES
        })?;
        if files.is_empty() { Err("it has no such row".into()) } else { Ok(files) }
    }

    /// Returns one file of a row, which may be in a list that is too large to be read as a whole.
    pub fn file(
        &self,
        column: FileColumn,
        row: u64,
        position: usize,
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut file = None;
        self.for_each_record(column.content, row, 1, &mut |values| {
            file = values.get(position).copied().flatten().map(<[u8]>::to_vec);
            false
        })?;
        Ok(file)
    }

    /// Calls `visit` with the values of each row, starting at row `first`, until `visit` returns false.
    pub(crate) fn for_each_record(
        &self,
        column: usize,
        first: u64,
        batch: usize,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<(), Error> {
        self.begin_pages(MAX_PAGE_BYTES);
        let levels = self.levels(column)?;
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
                if !visit_records(&mut reader, levels, batch, visit)? {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Returns the levels of the values and items in a column.
    fn levels(&self, column: usize) -> Result<Levels, Error> {
        let descriptor = self.schema().column(column);
        let (mut level, mut item) = (0, 0);
        let mut node = self.schema().root_schema_ptr();
        for part in descriptor.path().parts() {
            let field = node.get_fields().iter().find(|field| field.name() == part);
            node = Arc::clone(field.ok_or("a damaged schema")?);
            let info = node.get_basic_info();
            let repetition = Some(info).filter(|info| info.has_repetition());
            let repetition = repetition.ok_or("a damaged schema")?.repetition();
            level += i16::from(repetition != Repetition::REQUIRED);
            if repetition == Repetition::REPEATED {
                item = level;
            }
        }
        Ok(Levels {
            value: descriptor.max_def_level(),
            item,
            is_list: descriptor.max_rep_level() > 0,
        })
    }

    fn group<'a>(&'a self, metadata: &'a RowGroupMetaData) -> BoundedRowGroup<'a> {
        BoundedRowGroup { file: self.bounded_file(), metadata, max_row_values: MAX_LIST_FILES }
    }
}

/// The definition levels from which on a column has a value or an item.
#[derive(Clone, Copy)]
struct Levels {
    /// The level of a value that is not null.
    value: i16,
    /// The level of an item of a list, which may be null. Lower levels are empty lists.
    item: i16,
    is_list: bool,
}

/// Visits the records of a row group. Returns whether to continue.
fn visit_records(
    reader: &mut ColumnReaderImpl<ByteArrayType>,
    levels: Levels,
    batch: usize,
    visit: &mut RecordVisitor<'_>,
) -> Result<bool, Error> {
    let (mut defined, mut repeated, mut found) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        defined.clear();
        repeated.clear();
        found.clear();
        let repetition = levels.is_list.then_some(&mut repeated);
        let end = reader.read_records(batch, Some(&mut defined), repetition, &mut found);
        let (records, _, _) = end.map_err(described)?;
        if records == 0 {
            return Ok(true);
        }
        let mut values = found.iter();
        let entries = if levels.is_list { repeated.len() } else { records };
        let mut row = Vec::new();
        for entry in 0..entries {
            // In a column without levels, each record has a value.
            let level = defined.get(entry).copied().unwrap_or(levels.value);
            let value =
                if level == levels.value { values.next().map(ByteArray::data) } else { None };
            if !levels.is_list || level >= levels.item {
                row.push(value);
            }
            if repeated.get(entry + 1).is_none_or(|&repeated| repeated == 0) {
                if !visit(&row) {
                    return Ok(false);
                }
                row.clear();
            }
        }
    }
}

fn is_bytes(column: &ColumnDescriptor) -> bool {
    column.physical_type() == PhysicalType::BYTE_ARRAY
}

fn is_text(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::String))
        || column.converted_type() == ConvertedType::UTF8
        || !is_bytes(column)
}
