//! Files and columns of images as pyarrow and `datasets` write them, in every compression, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    io::{self, Read, Seek, SeekFrom},
    sync::Arc,
};

use parquet::{
    data_type::{DataType, FixedLenByteArrayType, FloatType, Int64Type},
    file::writer::{SerializedFileWriter, SerializedRowGroupWriter},
    schema::parser::parse_message_type,
};
use serde_json::{Value, json};
use tessera_parquet::{Columns, Error, FileColumn, ParquetFile, Source};

/// The same 40 rows in two groups, with pages of version 1 and 2, written by
/// `pyarrow.parquet.write_table(table, name, compression=..., data_page_version=..., row_group_size=30)`.
const FILES: [(&str, &[u8]); 10] = [
    ("none, 1", include_bytes!("files/none-v1.parquet")),
    ("snappy, 1", include_bytes!("files/snappy-v1.parquet")),
    ("gzip, 1", include_bytes!("files/gzip-v1.parquet")),
    ("gzip, 2", include_bytes!("files/gzip-v2.parquet")),
    ("brotli, 1", include_bytes!("files/brotli-v1.parquet")),
    ("brotli, 2", include_bytes!("files/brotli-v2.parquet")),
    ("lz4, 1", include_bytes!("files/lz4-v1.parquet")),
    ("lz4, 2", include_bytes!("files/lz4-v2.parquet")),
    ("zstd, 1", include_bytes!("files/zstd-v1.parquet")),
    ("zstd, 2", include_bytes!("files/zstd-v2.parquet")),
];

fn rows(bytes: &[u8], columns: Columns<'_>) -> Result<Vec<Value>, Error> {
    let mut rows = Vec::new();
    ParquetFile::open(bytes.to_vec())?.for_each_row(columns, &mut |row| {
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

#[test]
fn files_are_read_in_every_compression() {
    let expected = rows(FILES[0].1, Columns::All).unwrap();
    assert_eq!(expected.len(), 40);
    assert_eq!(
        expected[11],
        json!({"file_name": "11.jpg", "caption": null, "labels": ["car", "street"],
               "objects": {"bbox": [[11.0, 2.0, 3.5, 4.0], [11.0, 2.0, 3.5, 4.0]],
                           "categories": ["car", "car"]}})
    );
    for (name, bytes) in FILES {
        assert_eq!(rows(bytes, Columns::All).unwrap(), expected, "{name}");
        let names = rows(bytes, Columns::Flat(&["file_name", "labels"])).unwrap();
        assert_eq!(names[39], json!({"file_name": "39.jpg"}), "{name}");
        let labels = rows(bytes, Columns::Named(&["labels"])).unwrap();
        assert_eq!(labels[0], json!({"labels": ["car"]}), "{name}");
        assert_eq!(rows(bytes, Columns::Named(&[])).unwrap(), vec![json!({}); 40], "{name}");
        let columns = ParquetFile::open(bytes.to_vec()).unwrap().column_names();
        assert_eq!(columns, ["file_name", "caption", "labels", "objects"]);
    }
}

#[test]
fn dates_in_nanoseconds_are_dates() {
    let schema = "message rows { optional int64 at (TIMESTAMP(NANOS,true)); required int64 n; }";
    let dates = [1_715_904_000_000_000_000, 1_715_904_000_123_456_789, -1];
    let bytes = write_rows(schema, |group| {
        write_column::<Int64Type>(group, &dates, Some(&[1, 1, 1, 0]), None);
        write_column::<Int64Type>(group, &[1, 2, 3, 4], None, None);
    });
    let expected = [
        json!({"at": "2024-05-17 00:00:00.000000 +00:00", "n": 1}),
        json!({"at": "2024-05-17 00:00:00.123456789 +00:00", "n": 2}),
        json!({"at": "1969-12-31 23:59:59.999999999 +00:00", "n": 3}),
        json!({"at": null, "n": 4}),
    ];
    assert_eq!(rows(&bytes, Columns::All).unwrap(), expected);
}

#[test]
fn short_floats_are_the_decimals_that_were_written() {
    let schema = "message rows {
        required float single;
        required fixed_len_byte_array(2) half (FLOAT16);
        repeated group objects { required float score; }
    }";
    let bytes = write_rows(schema, |group| {
        let numbers = [0.1, 123_456_792.0, f32::NAN];
        write_column::<FloatType>(group, &numbers, None, None);
        let halves = [0x2e66_u16, 0x7bff, 0x0001].map(|it| it.to_le_bytes().to_vec().into());
        write_column::<FixedLenByteArrayType>(group, &halves, None, None);
        let levels = (Some(&[1, 1, 0, 0][..]), Some(&[0, 1, 0, 0][..]));
        write_column::<FloatType>(group, &[0.9, 0.3], levels.0, levels.1);
    });
    let expected = [
        json!({"single": 0.1, "half": 0.1, "objects": [{"score": 0.9}, {"score": 0.3}]}),
        json!({"single": 123_456_792.0, "half": 65_504.0, "objects": []}),
        json!({"single": null, "half": 6e-8, "objects": []}),
    ];
    assert_eq!(rows(&bytes, Columns::All).unwrap(), expected);
}

/// Writes a file with one row group, whose columns `write` writes.
fn write_rows(
    schema: &str,
    write: impl FnOnce(&mut SerializedRowGroupWriter<'_, &mut Vec<u8>>),
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    write(&mut group);
    group.close().unwrap();
    file.close().unwrap();
    bytes
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    values: &[T::T],
    defined: Option<&[i16]>,
    repeated: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, defined, repeated).unwrap();
    column.close().unwrap();
}

#[test]
fn texts_of_a_column_are_read_alone() {
    for (name, bytes) in FILES {
        let file = ParquetFile::open(bytes.to_vec()).unwrap();
        let first = |wanted: &str| {
            let mut texts = Vec::new();
            let mut visit = |text: &[u8]| {
                texts.push(String::from_utf8(text.to_vec()).unwrap());
                Ok(())
            };
            file.for_each_text(|column| column == wanted, &mut visit).unwrap();
            texts.swap_remove(0)
        };
        assert_eq!(first("caption"), "a red car number 0 on a street in the rain", "{name}");
        assert_eq!(first("missing"), "0.jpg", "{name}");
    }
}

#[test]
fn an_error_of_the_visitor_ends_the_reading() {
    let file = ParquetFile::open(FILES[9].1.to_vec()).unwrap();
    let mut read = 0;
    let end = file.for_each_row(Columns::All, &mut |_| {
        read += 1;
        if read == 3 { Err("enough".into()) } else { Ok(()) }
    });
    assert_eq!((read, end.unwrap_err().to_string()), (3, "enough".to_owned()));
}

#[test]
fn rows_of_endless_lists_are_refused() {
    // Its second row is a list of 2,000,000 times the same text.
    let bytes = include_bytes!("files/endless-list.parquet");
    let error = rows(bytes, Columns::Named(&["labels"])).unwrap_err();
    assert_eq!(error.to_string(), "a row has too many values");
    assert_eq!(rows(bytes, Columns::Flat(&["file_name", "labels"])).unwrap().len(), 2);
}

#[test]
fn files_with_changed_bytes_are_read_or_refused() {
    for (name, bytes) in FILES {
        for at in (0..bytes.len()).step_by(2) {
            let mut changed = bytes.to_vec();
            changed[at] ^= 0x81;
            if let Err(error) = rows(&changed, Columns::All) {
                let error = error.to_string();
                assert!(error.len() < 600 && !error.contains('\n'), "{name}, byte {at}: {error}");
            }
        }
        for length in (0..bytes.len()).step_by(7) {
            assert!(rows(&bytes[..length], Columns::All).is_err(), "{name}, {length} bytes");
        }
    }
}

const IMAGES: &[u8] = include_bytes!("images/images.parquet");
const BYTES: &[u8] = include_bytes!("images/bytes.parquet");
/// Five rows with lists of two files, of none, of one without a path, of one without content and one that is null, and
/// no list.
const LISTS: &[u8] = include_bytes!("images/lists.parquet");
const NAMES: &[u8] = include_bytes!("images/names.parquet");
/// A file of 40 MiB in each of three rows, stored once.
const REPEATED: &[u8] = include_bytes!("images/repeated.parquet");

fn column_of(file: &ParquetFile, name: &str) -> Option<FileColumn> {
    let mut columns = file.file_columns().into_iter();
    columns.find(|(found, _)| found == name).map(|(_, column)| column)
}

fn open(bytes: &[u8]) -> (ParquetFile, Option<FileColumn>) {
    let file = ParquetFile::open(bytes.to_vec()).unwrap();
    let column = column_of(&file, "image");
    (file, column)
}

fn is_png(file: Option<&Vec<u8>>) -> bool {
    file.is_some_and(|bytes| bytes.starts_with(b"\x89PNG"))
}

#[test]
fn files_and_their_paths_are_read_by_row() {
    let (file, column) = open(IMAGES);
    let column = column.unwrap();
    assert_eq!(file.count_rows().unwrap(), 6);
    let paths = file.file_paths(column, 6).unwrap();
    let paths: Vec<_> = paths
        .iter()
        .flatten()
        .map(|path| path.as_deref().map(String::from_utf8_lossy).unwrap_or_default())
        .collect();
    assert_eq!(paths, ["red.png", "a/../../green.png", "", "broken.png", "", "yellow.png"]);
    assert_eq!(file.file_paths(column, 2).unwrap().len(), 2);
    let rows = file.files(column, 0, 100).unwrap();
    assert_eq!(rows.len(), 6);
    let files = rows.concat();
    assert!(is_png(files[0].as_ref()) && is_png(files[5].as_ref()));
    assert_eq!(files[2], None);
    assert_eq!(files[3].as_deref(), Some(&b"no picture"[..]));
    for row in 0..6 {
        let alone = file.files(column, row, 1).unwrap();
        assert_eq!(alone, [rows[usize::try_from(row).unwrap()].clone()], "{row}");
    }
    assert!(file.files(column, 6, 1).is_err());
    assert!(file.key_value("huggingface").unwrap().contains("ClassLabel"));
}

#[test]
fn bytes_alone_are_files_and_texts_are_not() {
    let (file, column) = open(BYTES);
    let files = file.files(column.unwrap(), 0, 3).unwrap().concat();
    assert!(is_png(files[0].as_ref()) && is_png(files[1].as_ref()));
    assert_eq!(files[2], None);
    assert_eq!(file.file_paths(column.unwrap(), 3).unwrap().concat(), [None, None, None]);
    assert!(open(NAMES).1.is_none());
    assert!(column_of(&file, "text").is_none());
}

#[test]
fn lists_have_their_files_in_order() {
    let (file, column) = open(LISTS);
    let column = column.unwrap();
    assert!(column.is_list() && column.has_path());
    assert_eq!(file.count_rows().unwrap(), 5);
    let lengths = |rows: Vec<Vec<Option<Vec<u8>>>>| -> Vec<Vec<Option<usize>>> {
        let length = |file: &Option<Vec<u8>>| file.as_ref().map(Vec::len);
        rows.iter().map(|row| row.iter().map(length).collect()).collect()
    };
    let paths = lengths(file.file_paths(column, 5).unwrap());
    assert_eq!(paths, [vec![Some(5); 2], vec![], vec![None], vec![Some(5), None], vec![]]);
    let files = lengths(file.files(column, 0, 5).unwrap());
    assert_eq!(files, [vec![Some(3), Some(4)], vec![], vec![Some(5)], vec![None; 2], vec![]]);
    assert_eq!(lengths(file.files(column, 2, 1).unwrap()), [[Some(5)]]);
    let alone = [(0, 1), (2, 0), (3, 0), (0, 2)];
    let alone = alone.map(|(row, at)| file.file(column, row, at).unwrap().map(|file| file.len()));
    assert_eq!(alone, [Some(4), Some(5), None, None]);
}

#[test]
fn repeated_large_files_are_not_read_together() {
    let (file, column) = open(REPEATED);
    assert_eq!(file.count_rows().unwrap(), 3);
    assert_eq!(file.files(column.unwrap(), 0, 3).unwrap().len(), 2);
    let bytes: Vec<u8> = REPEATED.to_vec();
    let cut = ParquetFile::open(bytes[..bytes.len() / 2].to_vec());
    assert!(cut.is_err());
}

/// A file on a disk that fails.
struct FailingDisk;

impl Read for FailingDisk {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(5))
    }
}

impl Seek for FailingDisk {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn an_error_of_the_disk_is_told_from_a_damaged_file() {
    let failed = ParquetFile::open(Source::remote(Box::new(FailingDisk), 1_000)).err().unwrap();
    assert_eq!(failed.downcast::<io::Error>().unwrap().raw_os_error(), Some(5));
    let damaged = ParquetFile::open(vec![0; 1_000]).err().unwrap();
    assert!(damaged.downcast::<io::Error>().is_err());
}

#[test]
fn damaged_files_do_not_panic() {
    let places = |file: &'static [u8]| (4..file.len()).step_by(7).map(move |at| (file, at));
    for (file, at) in places(IMAGES).chain(places(LISTS)) {
        let mut damaged = file.to_vec();
        damaged[at] ^= 0x55;
        let Ok(file) = ParquetFile::open(damaged) else { continue };
        let Some(column) = column_of(&file, "image") else { continue };
        let _ = (file.count_rows(), file.file_paths(column, 6), file.files(column, 0, 6));
    }
}
