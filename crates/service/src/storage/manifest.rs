//! A manifest: a file that lists media, as addresses or as keys beside it. It comes from
//! anywhere, so what is read of it is bounded and what it names is checked.

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
    Listing,
    entry::{Entry, Place},
    uri::{Format, Uri, is_reachable},
};

/// Longest line of a text, in bytes.
const LINE: u64 = 4_096;
/// Values read at once from a column.
const VALUES: usize = 1_024;
/// Names of a column that lists media.
const COLUMNS: [&str; 6] = ["uri", "url", "path", "file_name", "s3_uri", "image"];

/// What a manifest lists, row by row.
struct Rows {
    bucket: Arc<str>,
    folder: String,
    /// The objects listed so far.
    seen: HashSet<Uuid>,
    /// Most media wanted.
    most: usize,
    row: usize,
    listing: Listing,
}

/// Whether to go on with the next row.
type More = Result<bool, String>;

/// Reads the manifest at `uri`, whose content is in `file`, for at most `most` media.
///
/// # Errors
/// What is wrong with it.
pub fn read(file: File, format: Format, uri: &Uri, most: usize) -> Result<Listing, String> {
    let mut rows = Rows {
        bucket: uri.bucket.as_str().into(),
        folder: uri.parent().to_owned(),
        seen: HashSet::new(),
        most,
        row: 0,
        listing: Listing::default(),
    };
    match format {
        Format::Text => lines(file, &mut rows),
        Format::Csv => table(file, &mut rows),
        Format::Parquet => column(file, &mut rows),
    }?;
    Ok(rows.listing)
}

fn lines(file: File, rows: &mut Rows) -> Result<(), String> {
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = file.by_ref().take(LINE).read_until(b'\n', &mut line);
        if length.map_err(|_| "it cannot be read")? == 0 {
            return Ok(());
        }
        let text = std::str::from_utf8(&line).map_err(|_| "it is no UTF-8 text")?;
        if !rows.add(text.trim_start_matches('\u{FEFF}'))? {
            return Ok(());
        }
    }
}

fn table(file: File, rows: &mut Rows) -> Result<(), String> {
    let mut table = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(BufReader::new(file));
    let mut record = csv::StringRecord::new();
    let mut place = None;
    while table.read_record(&mut record).map_err(|_| "it is no UTF-8 table")? {
        let Some(place) = place else {
            let named = record.iter().position(|name| is_column(name.trim_matches('\u{FEFF}')));
            place = Some(named.unwrap_or(0));
            if named.is_none() && !rows.add(record.get(0).unwrap_or_default())? {
                return Ok(());
            }
            continue;
        };
        if !rows.add(record.get(place).unwrap_or_default())? {
            return Ok(());
        }
    }
    Ok(())
}

fn is_column(name: &str) -> bool {
    COLUMNS.iter().any(|column| name.trim().eq_ignore_ascii_case(column))
}

fn column(file: File, rows: &mut Rows) -> Result<(), String> {
    let damaged = |_: ParquetError| "it is damaged or no parquet file".to_owned();
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let texts = |at: &usize| {
        let column = schema.column(*at);
        column.physical_type() == Type::BYTE_ARRAY && column.max_rep_level() == 0
    };
    let columns: Vec<usize> = (0..schema.num_columns()).filter(texts).collect();
    let named = columns.iter().find(|at| is_column(schema.column(**at).name()));
    let at = *named.or(columns.first()).ok_or("it has no column of texts")?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let codec = group.metadata().column(at).compression();
        if !matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY) {
            return Err(format!("it is packed with {codec}; only snappy is read"));
        }
        let column = group.get_column_reader(at).map_err(damaged)?;
        if !values(column, rows)? {
            return Ok(());
        }
    }
    Ok(())
}

fn values(column: ColumnReader, rows: &mut Rows) -> More {
    let damaged = || "it is damaged or no parquet file".to_owned();
    let ColumnReader::ByteArrayColumnReader(mut column) = column else { return Err(damaged()) };
    let (mut defined, mut values) = (Vec::new(), Vec::new());
    loop {
        defined.clear();
        values.clear();
        let read = column.read_records(VALUES, Some(&mut defined), None, &mut values);
        let (records, _, _) = read.map_err(|_| damaged())?;
        if records == 0 {
            return Ok(true);
        }
        for value in &values {
            let text = std::str::from_utf8(value.data()).map_err(|_| "it is no UTF-8 text")?;
            if !rows.add(text)? {
                return Ok(false);
            }
        }
    }
}

impl Rows {
    /// Takes up a row.
    fn add(&mut self, raw: &str) -> More {
        self.row += 1;
        let raw = raw.trim();
        if raw.is_empty() {
            return Ok(true);
        }
        let Some(entry) = self.entry(raw)? else {
            self.listing.passed_over += 1;
            return Ok(true);
        };
        let id = format!("{}/{}", entry.bucket, entry.key);
        if self.seen.insert(Uuid::new_v5(&Uuid::NAMESPACE_URL, id.as_bytes())) {
            self.listing.add(entry);
        }
        Ok(self.listing.wants_more(self.most))
    }

    /// The object that a row names; `None` when it cannot be asked for.
    fn entry(&self, raw: &str) -> Result<Option<Entry>, String> {
        let (bucket, key) = if raw.starts_with("s3://") {
            match Uri::parse(raw) {
                Ok(uri) => (uri.bucket, uri.key),
                Err(_) => return Ok(None),
            }
        } else if raw.contains("://") {
            return Err(format!("row {} is a link; only s3:// and keys are read", self.row));
        } else {
            let key = raw.trim_start_matches("./").trim_start_matches('/');
            (self.bucket.to_string(), format!("{}{key}", self.folder))
        };
        if !is_reachable(&key) {
            return Ok(None);
        }
        let own = *bucket == *self.bucket;
        let below = own && key.starts_with(&self.folder);
        let place = if below { Place::Below(self.folder.len()) } else { Place::Anywhere };
        let bucket = if own { self.bucket.clone() } else { bucket.into() };
        Ok(Some(Entry { bucket, key, size: None, place }))
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

    fn listed(format: Format, bytes: &[u8]) -> Result<Listing, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        read(file, format, &Uri::parse("s3://photos/lists/a.csv").unwrap(), usize::MAX)
    }

    fn names(listing: &Listing) -> Vec<String> {
        let name =
            |entry: &Entry| format!("{}/{} -> {}", entry.bucket, entry.key, entry.path().display());
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
    fn m28_texts_list_keys_and_addresses_of_any_bucket() {
        let text = "\u{FEFF}a.jpg\r\n\n ./sub/b c.png \ns3://photos/lists/c.mp4\n\
                    s3://photos/other/d.jpg\ns3://shared/e.jpg\nnotes.doc\n../up.jpg\n\
                    a.jpg\nmetadata.jsonl\ns3://x/f.jpg";
        let listing = listed(Format::Text, text.as_bytes()).unwrap();
        let expected = [
            "photos/lists/a.jpg -> a.jpg",
            "photos/lists/sub/b c.png -> sub/b c.png",
            "photos/lists/c.mp4 -> c.mp4",
            "photos/other/d.jpg -> photos/other/d.jpg",
            "shared/e.jpg -> shared/e.jpg",
            "photos/lists/metadata.jsonl -> metadata.jsonl",
        ];
        assert_eq!(names(&listing), expected);
        assert_eq!((listing.media, listing.passed_over), (5, 3));
    }

    #[test]
    fn m28_tables_have_their_column_by_name_or_first() {
        let expected = ["photos/lists/a.jpg -> a.jpg", "photos/lists/b, c.jpg -> b, c.jpg"];
        let tables = [
            "label,S3_URI\ncat,a.jpg\ndog,\"b, c.jpg\"\n",
            "a.jpg,cat\n\"b, c.jpg\",dog,more\n",
            "picture,label\na.jpg,cat\n\"b, c.jpg\",dog\n",
        ];
        for table in tables {
            assert_eq!(names(&listed(Format::Csv, table.as_bytes()).unwrap()), expected, "{table}");
        }
    }

    #[test]
    fn m28_parquet_is_read_with_snappy() {
        let values = ["a.jpg", "b.jpg", "s3://shared/c.jpg"];
        for codec in [Compression::SNAPPY, Compression::UNCOMPRESSED] {
            let listing = listed(Format::Parquet, &parquet(&values, codec)).unwrap();
            let expected = [
                "photos/lists/a.jpg -> a.jpg",
                "photos/lists/b.jpg -> b.jpg",
                "shared/c.jpg -> shared/c.jpg",
            ];
            assert_eq!(names(&listing), expected);
        }
        assert!(listed(Format::Parquet, b"PAR1 and no more").is_err());
    }

    #[test]
    fn m28_links_and_what_is_no_text_are_refused() {
        let link = listed(Format::Text, b"a.jpg\nhttps://example.com/b.jpg");
        assert_eq!(link.unwrap_err(), "row 2 is a link; only s3:// and keys are read");
        assert!(listed(Format::Text, b"\xFF\xFE").is_err());
        assert!(listed(Format::Csv, b"a\xFF.jpg").is_err());
    }

    #[test]
    fn e12_lines_without_end_are_cut_and_come_to_nothing() {
        let long = vec![b'a'; 1 << 20];
        let listing = listed(Format::Text, &long).unwrap();
        assert_eq!((listing.entries.len(), listing.passed_over), (0, 256));
    }
}
