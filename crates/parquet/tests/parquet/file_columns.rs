//! Columns of images as `datasets` and pyarrow write them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tessera_parquet::{FileColumn, ParquetFile};

const IMAGES: &[u8] = include_bytes!("images/images.parquet");
const BYTES: &[u8] = include_bytes!("images/bytes.parquet");
const NAMES: &[u8] = include_bytes!("images/names.parquet");
/// A file of 40 MiB in each of three rows, stored once.
const REPEATED: &[u8] = include_bytes!("images/repeated.parquet");

fn open(bytes: &[u8]) -> (ParquetFile, Option<FileColumn>) {
    let file = ParquetFile::open(bytes.to_vec()).unwrap();
    let column = file.file_column(|name| name == "image");
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
        .map(|path| path.as_deref().map(String::from_utf8_lossy).unwrap_or_default())
        .collect();
    assert_eq!(paths, ["red.png", "a/../../green.png", "", "broken.png", "", "yellow.png"]);
    assert_eq!(file.file_paths(column, 2).unwrap().len(), 2);
    let files = file.files(column, 0, 100).unwrap();
    assert_eq!(files.len(), 6);
    assert!(is_png(files[0].as_ref()) && is_png(files[5].as_ref()));
    assert_eq!(files[2], None);
    assert_eq!(files[3].as_deref(), Some(&b"no picture"[..]));
    for row in 0..6 {
        let alone = file.files(column, row, 1).unwrap();
        assert_eq!(alone, [files[usize::try_from(row).unwrap()].clone()], "{row}");
    }
    assert!(file.files(column, 6, 1).is_err());
    assert!(file.key_value("huggingface").unwrap().contains("ClassLabel"));
}

#[test]
fn bytes_alone_are_files_and_texts_are_not() {
    let (file, column) = open(BYTES);
    let files = file.files(column.unwrap(), 0, 3).unwrap();
    assert!(is_png(files[0].as_ref()) && is_png(files[1].as_ref()));
    assert_eq!(files[2], None);
    assert_eq!(file.file_paths(column.unwrap(), 3).unwrap(), [None, None, None]);
    assert!(open(NAMES).1.is_none());
    assert!(file.file_column(|name| name == "text").is_none());
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

#[test]
fn damaged_files_are_errors() {
    for at in (4..IMAGES.len()).step_by(7) {
        let mut damaged = IMAGES.to_vec();
        damaged[at] ^= 0x55;
        let Ok(file) = ParquetFile::open(damaged) else { continue };
        let Some(column) = file.file_column(|name| name == "image") else { continue };
        let _ = (file.count_rows(), file.file_paths(column, 6), file.files(column, 0, 6));
    }
}
