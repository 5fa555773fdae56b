//! Fuzzes Parquet files: their metadata, pages and values, as the client reads them from an export.

use std::{
    fs,
    io::{Cursor, Write as _},
    sync::Arc,
};

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DoubleType},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};
use tessera_client::{ExistingFile, ExtractOptions, extract, inspect_archive};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{fuzz, mutation::mutated};

const SCHEMA: &str = "message metadata {
  OPTIONAL BYTE_ARRAY image_filename (UTF8);
  OPTIONAL DOUBLE uniqueness_score;
  OPTIONAL BYTE_ARRAY uri (UTF8);
}";

/// Files written by `pyarrow` with lists and structs, in the remaining compressions.
const PYARROW_FILES: [&[u8]; 4] = [
    include_bytes!("../../crates/parquet/tests/parquet/files/gzip-v1.parquet"),
    include_bytes!("../../crates/parquet/tests/parquet/files/brotli-v2.parquet"),
    include_bytes!("../../crates/parquet/tests/parquet/files/lz4-v1.parquet"),
    include_bytes!("../../crates/parquet/tests/parquet/files/zstd-v2.parquet"),
];

/// Returns files of two row groups with nulls, with and without compression and dictionaries.
pub fn parquet_files() -> Vec<Vec<u8>> {
    let mut files: Vec<Vec<u8>> = PYARROW_FILES.iter().map(|file| file.to_vec()).collect();
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        for dictionary in [false, true] {
            let properties = WriterProperties::builder()
                .set_compression(compression)
                .set_dictionary_enabled(dictionary);
            files.push(parquet_file(properties.build()));
        }
    }
    files
}

fn parquet_file(properties: WriterProperties) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).expect("a schema"));
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("memory");
    for rows in [3, 1] {
        let present: Vec<i16> = (0..=rows).map(|row| i16::from(row < rows)).collect();
        let names: Vec<ByteArray> =
            (0..rows).map(|row| format!("{row}.jpg").into_bytes().into()).collect();
        let scores: Vec<f64> = (0..rows).map(|row| f64::from(row) / 4.0).collect();
        let mut group = file.next_row_group().expect("a group");
        let mut columns = 0;
        while let Some(mut column) = group.next_column().expect("a column") {
            let levels = Some(&present[..]);
            if columns == 1 {
                column.typed::<DoubleType>().write_batch(&scores, levels, None).expect("memory");
            } else {
                column.typed::<ByteArrayType>().write_batch(&names, levels, None).expect("memory");
            }
            column.close().expect("a column");
            columns += 1;
        }
        group.close().expect("a group");
    }
    file.into_inner().expect("memory")
}

fn export_with(metadata: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in [("images/0.jpg", &b"a"[..]), ("metadata.parquet", metadata)] {
        zip.start_file(name, options).expect("a member");
        zip.write_all(bytes).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

/// The library that reads the pages panics on some of these files, which must become an error.
#[test]
fn metadata_with_any_changed_byte_is_read_or_refused() {
    let metadata = parquet_file(WriterProperties::builder().build());
    let archive = tempfile::NamedTempFile::new().expect("a file");
    for at in 0..metadata.len() {
        for value in [0, 2] {
            let mut changed = metadata.clone();
            changed[at] = value;
            fs::write(archive.path(), export_with(&changed)).expect("a file");
            let _ = inspect_archive(archive.path());
        }
    }
}

#[test]
fn damaged_metadata_of_an_export_is_read_or_refused() {
    fuzz(
        500,
        &mutated(parquet_files(), &["PAR1", "\u{15}\u{0}", "schema", "\u{19}\u{1C}"]),
        |input| {
            let parent = tempfile::tempdir().expect("a folder");
            let archive = parent.path().join("export.zip");
            fs::write(&archive, export_with(&input.0)).expect("a file");
            if let Ok(inspection) = inspect_archive(&archive) {
                assert!(inspection.rows <= 1 << 20, "{} rows in a small file", inspection.rows);
            }
            let _ = extract(
                &archive,
                &parent.path().join("out"),
                &ExtractOptions::new(ExistingFile::Keep, true),
            );
        },
    );
}
