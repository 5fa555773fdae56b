//! Manifests: files that list media by address, or by key relative to the manifest. Manifests are
//! untrusted, so their size and content are checked.

use std::{
    collections::HashSet,
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    sync::Arc,
};

use parquet::{
    basic::{Compression, Type},
    column::reader::ColumnReader,
    errors::ParquetError,
    file::reader::{FileReader as _, SerializedFileReader},
};
use uuid::Uuid;

use super::{
    ObjectListing,
    object_entry::{ObjectEntry, PathRoot},
    s3_uri::{ManifestFormat, S3Uri, is_addressable_key},
};

/// Length limit of a line, in bytes.
const MAX_LINE_BYTES: u64 = 4_096;
/// Number of values read from a column at once.
const VALUE_BATCH_SIZE: usize = 1_024;
/// Names of a column that lists media.
const COLUMN_NAMES: [&str; 6] = ["uri", "url", "path", "file_name", "s3_uri", "image"];

/// Converts rows to object entries.
struct ManifestReader {
    bucket: Arc<str>,
    folder: String,
    /// Hashes of the objects listed so far.
    listed_ids: HashSet<Uuid>,
    /// Number of media to stop at.
    media_limit: usize,
    row: usize,
    listing: ObjectListing,
}

/// Whether to continue with the next row.
type KeepReading = Result<bool, String>;

/// Reads the manifest at `uri` from `file` until `most` media are found.
///
/// # Errors
/// What is wrong with the manifest.
pub fn read(
    file: File,
    format: ManifestFormat,
    uri: &S3Uri,
    most: usize,
) -> Result<ObjectListing, String> {
    let mut rows = ManifestReader {
        bucket: uri.bucket.as_str().into(),
        folder: uri.parent_prefix().to_owned(),
        listed_ids: HashSet::new(),
        media_limit: most,
        row: 0,
        listing: ObjectListing::default(),
    };
    match format {
        ManifestFormat::Text => read_text(file, &mut rows),
        ManifestFormat::Csv => read_csv(file, &mut rows),
        ManifestFormat::Parquet => read_parquet(file, &mut rows),
    }?;
    Ok(rows.listing)
}

fn read_text(file: File, rows: &mut ManifestReader) -> Result<(), String> {
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = file.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        if length.map_err(|_| "it cannot be read")? == 0 {
            return Ok(());
        }
        let text = std::str::from_utf8(&line).map_err(|_| "it is not UTF-8 text")?;
        if !rows.add_row(text.trim_start_matches('\u{FEFF}'))? {
            return Ok(());
        }
    }
}

fn read_csv(file: File, rows: &mut ManifestReader) -> Result<(), String> {
    let mut table = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(BufReader::new(file));
    let mut record = csv::StringRecord::new();
    let mut index = None;
    while table.read_record(&mut record).map_err(|_| "it is not a UTF-8 table")? {
        let Some(index) = index else {
            let named =
                record.iter().position(|name| is_media_column(name.trim_matches('\u{FEFF}')));
            index = Some(named.unwrap_or(0));
            if named.is_none() && !rows.add_row(record.get(0).unwrap_or_default())? {
                return Ok(());
            }
            continue;
        };
        if !rows.add_row(record.get(index).unwrap_or_default())? {
            return Ok(());
        }
    }
    Ok(())
}

fn is_media_column(name: &str) -> bool {
    COLUMN_NAMES.iter().any(|column| name.trim().eq_ignore_ascii_case(column))
}

fn read_parquet(file: File, rows: &mut ManifestReader) -> Result<(), String> {
    let damaged = |_: ParquetError| "it is damaged or not a Parquet file".to_owned();
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let texts = |at: &usize| {
        let column = schema.column(*at);
        column.physical_type() == Type::BYTE_ARRAY && column.max_rep_level() == 0
    };
    let columns: Vec<usize> = (0..schema.num_columns()).filter(texts).collect();
    let named = columns.iter().find(|at| is_media_column(schema.column(**at).name()));
    let at = *named.or(columns.first()).ok_or("it has no string column")?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let codec = group.metadata().column(at).compression();
        if !matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY) {
            return Err(format!("it is compressed with {codec}; only snappy is supported"));
        }
        let column = group.get_column_reader(at).map_err(damaged)?;
        if !read_column(column, rows)? {
            return Ok(());
        }
    }
    Ok(())
}

fn read_column(column: ColumnReader, rows: &mut ManifestReader) -> KeepReading {
    let damaged = || "it is damaged or not a Parquet file".to_owned();
    let ColumnReader::ByteArrayColumnReader(mut column) = column else { return Err(damaged()) };
    let (mut defined, mut values) = (Vec::new(), Vec::new());
    loop {
        defined.clear();
        values.clear();
        let read = column.read_records(VALUE_BATCH_SIZE, Some(&mut defined), None, &mut values);
        let (records, _, _) = read.map_err(|_| damaged())?;
        if records == 0 {
            return Ok(true);
        }
        for value in &values {
            let text = std::str::from_utf8(value.data()).map_err(|_| "it is not UTF-8 text")?;
            if !rows.add_row(text)? {
                return Ok(false);
            }
        }
    }
}

impl ManifestReader {
    /// Adds a row.
    fn add_row(&mut self, raw: &str) -> KeepReading {
        self.row += 1;
        let raw = raw.trim();
        if raw.is_empty() {
            return Ok(true);
        }
        let Some(entry) = self.parse_entry(raw)? else {
            self.listing.skipped += 1;
            return Ok(true);
        };
        let id = format!("{}/{}", entry.bucket, entry.key);
        if self.listed_ids.insert(Uuid::new_v5(&Uuid::NAMESPACE_URL, id.as_bytes())) {
            self.listing.add(entry);
        }
        Ok(self.listing.should_continue(self.media_limit))
    }

    /// The object that a row refers to; `None` if its key is not addressable.
    fn parse_entry(&self, raw: &str) -> Result<Option<ObjectEntry>, String> {
        let (bucket, key) = if raw.starts_with("s3://") {
            match S3Uri::parse(raw) {
                Ok(uri) => (uri.bucket, uri.key),
                Err(_) => return Ok(None),
            }
        } else if raw.contains("://") {
            return Err(format!(
                "row {} is a link; only s3:// addresses and keys are supported",
                self.row
            ));
        } else {
            let key = raw.trim_start_matches("./").trim_start_matches('/');
            (self.bucket.to_string(), format!("{}{key}", self.folder))
        };
        if !is_addressable_key(&key) {
            return Ok(None);
        }
        let own = *bucket == *self.bucket;
        let below = own && key.starts_with(&self.folder);
        let path_root =
            if below { PathRoot::ListedFolder(self.folder.len()) } else { PathRoot::Bucket };
        let bucket = if own { self.bucket.clone() } else { bucket.into() };
        Ok(Some(ObjectEntry { bucket, key, size: None, path_root }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use parquet::{
        data_type::{ByteArray, ByteArrayType, Int32Type},
        file::{properties::WriterProperties, writer::SerializedFileWriter},
        schema::parser::parse_message_type,
    };

    use super::*;

    fn listed(format: ManifestFormat, bytes: &[u8]) -> Result<ObjectListing, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        read(file, format, &S3Uri::parse("s3://photos/lists/a.csv").unwrap(), usize::MAX)
    }

    fn names(listing: &ObjectListing) -> Vec<String> {
        let name = |entry: &ObjectEntry| {
            format!("{}/{} -> {}", entry.bucket, entry.key, entry.staging_path().display())
        };
        listing.entries.iter().map(name).collect()
    }

    fn parquet(values: &[&str], codec: Compression) -> Vec<u8> {
        let schema = "message m { REQUIRED BYTE_ARRAY label (UTF8); OPTIONAL BYTE_ARRAY Path (UTF8); \
                      REQUIRED INT32 n; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(codec).build());
        let mut bytes = Vec::new();
        let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
        for half in values.chunks(values.len().div_ceil(2)) {
            let mut group = file.next_row_group().unwrap();
            let texts: Vec<_> = half.iter().map(|text| ByteArray::from(*text)).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let defined = vec![1; half.len()];
            column.typed::<ByteArrayType>().write_batch(&texts, Some(&defined), None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&vec![7; half.len()], None, None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        file.close().unwrap();
        bytes
    }

    #[test]
    fn text_manifests_list_keys_and_addresses_of_any_bucket() {
        let text = "\u{FEFF}a.jpg\r\n\n ./sub/b c.png \ns3://photos/lists/c.mp4\n\
                    s3://photos/other/d.jpg\ns3://shared/e.jpg\nnotes.doc\n../up.jpg\n\
                    a.jpg\nmetadata.jsonl\ns3://x/f.jpg";
        let listing = listed(ManifestFormat::Text, text.as_bytes()).unwrap();
        let expected = [
            "photos/lists/a.jpg -> a.jpg",
            "photos/lists/sub/b c.png -> sub/b c.png",
            "photos/lists/c.mp4 -> c.mp4",
            "photos/other/d.jpg -> photos/other/d.jpg",
            "shared/e.jpg -> shared/e.jpg",
            "photos/lists/metadata.jsonl -> metadata.jsonl",
        ];
        assert_eq!(names(&listing), expected);
        assert_eq!((listing.media, listing.skipped), (5, 3));
    }

    #[test]
    fn tables_use_a_named_column_or_the_first() {
        let expected = ["photos/lists/a.jpg -> a.jpg", "photos/lists/b, c.jpg -> b, c.jpg"];
        let tables = [
            "label,S3_URI\ncat,a.jpg\ndog,\"b, c.jpg\"\n",
            "a.jpg,cat\n\"b, c.jpg\",dog,more\n",
            "picture,label\na.jpg,cat\n\"b, c.jpg\",dog\n",
        ];
        for table in tables {
            assert_eq!(
                names(&listed(ManifestFormat::Csv, table.as_bytes()).unwrap()),
                expected,
                "{table}"
            );
        }
    }

    #[test]
    fn parquet_is_read_with_snappy() {
        let values = ["a.jpg", "b.jpg", "s3://shared/c.jpg"];
        for codec in [Compression::SNAPPY, Compression::UNCOMPRESSED] {
            let listing = listed(ManifestFormat::Parquet, &parquet(&values, codec)).unwrap();
            let expected = [
                "photos/lists/a.jpg -> a.jpg",
                "photos/lists/b.jpg -> b.jpg",
                "shared/c.jpg -> shared/c.jpg",
            ];
            assert_eq!(names(&listing), expected);
        }
        assert!(listed(ManifestFormat::Parquet, b"PAR1 and no more").is_err());
    }

    #[test]
    fn links_and_non_text_manifests_are_rejected() {
        let link = listed(ManifestFormat::Text, b"a.jpg\nhttps://example.com/b.jpg");
        assert_eq!(
            link.unwrap_err(),
            "row 2 is a link; only s3:// addresses and keys are supported"
        );
        assert!(listed(ManifestFormat::Text, b"\xFF\xFE").is_err());
        assert!(listed(ManifestFormat::Csv, b"a\xFF.jpg").is_err());
    }

    #[test]
    fn overlong_lines_are_skipped() {
        let long = vec![b'a'; 1 << 20];
        let listing = listed(ManifestFormat::Text, &long).unwrap();
        assert_eq!((listing.entries.len(), listing.skipped), (0, 256));
    }
}
