//! Files as pyarrow writes them, in every compression, and what is refused.

mod file_columns;

use serde_json::{Value, json};
use tessera_parquet::{Columns, Error, ParquetFile};

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
