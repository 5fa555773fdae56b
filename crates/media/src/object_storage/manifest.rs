//! Reads manifests, which are untrusted files in a bucket. A manifest lists media by address, or by key relative to the
//! manifest. It is downloaded before it is read, in the encodings and with the delimiters of sidecars.

use std::{
    collections::HashSet,
    fs::File,
    io::{Read as _, Seek as _},
    sync::Arc,
};

use crate::ingest::{
    sidecar::{csv_names, file_column},
    text_encoding::to_utf8,
};
use tessera_parquet::ParquetFile;
use tokio::io::AsyncWriteExt as _;
use uuid::Uuid;

use super::{
    ObjectListing, ObjectStorage, StorageError,
    error::ensure,
    listing::{ObjectEntry, PathRoot, UNADDRESSABLE},
    object_reader::ObjectBody,
    object_uri::{BucketUri, ManifestFormat, ObjectUri, is_addressable_key},
};

/// Maximum size of a manifest, in bytes.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

impl ObjectStorage {
    pub(crate) async fn list_manifest(
        &self,
        uri: &ObjectUri,
        format: ManifestFormat,
        media_limit: usize,
    ) -> Result<ObjectListing, StorageError> {
        let file = self.download_manifest(uri).await?;
        let uri = uri.clone();
        let read = move || read_manifest(file, format, &uri, media_limit);
        tokio::task::spawn_blocking(read)
            .await
            // Parsers of these formats have been observed to panic.
            .unwrap_or_else(|_| Err("it is damaged".to_owned()))
            .map_err(StorageError::Object)
    }

    async fn download_manifest(&self, uri: &ObjectUri) -> Result<File, StorageError> {
        let bucket = Arc::new(uri.bucket.clone());
        let mut body = ObjectBody::open(self, &bucket, &uri.key).await?;
        let mib = MAX_MANIFEST_BYTES >> 20;
        let too_large = || StorageError::object(format!("the manifest is larger than {mib} MiB"));
        ensure(body.size() <= MAX_MANIFEST_BYTES, too_large)?;
        let mut file = tokio::fs::File::from_std(tempfile::tempfile()?);
        while let Some(chunk) = body.next().await? {
            file.write_all(&chunk).await?;
        }
        file.flush().await?;
        let mut file = file.into_std().await;
        file.rewind()?;
        Ok(file)
    }
}

/// The names of columns of addresses. Any other column is found like the column of files of a sidecar.
const ADDRESS_COLUMNS: [&str; 3] = ["uri", "url", "s3_uri"];

struct ManifestReader {
    bucket: Arc<BucketUri>,
    folder: String,
    /// The hashes of the objects that have been listed so far.
    listed_ids: HashSet<Uuid>,
    media_limit: usize,
    /// The number of rows that have been read so far.
    row: usize,
    listing: ObjectListing,
}

/// The reason for skipping a row.
const LINK: &str = "a link; only s3:// addresses and keys are supported";

/// The reason why reading ends before the last row.
enum ReadEnd {
    Enough,
    /// What is wrong with the manifest.
    Invalid(String),
}

impl From<&str> for ReadEnd {
    fn from(reason: &str) -> Self {
        Self::Invalid(reason.to_owned())
    }
}

/// Reads until `media_limit` media are found. The error says what is wrong with the manifest.
fn read_manifest(
    file: File,
    format: ManifestFormat,
    uri: &ObjectUri,
    media_limit: usize,
) -> Result<ObjectListing, String> {
    let mut rows = ManifestReader {
        bucket: Arc::new(uri.bucket.clone()),
        folder: uri.parent_prefix().to_owned(),
        listed_ids: HashSet::new(),
        media_limit,
        row: 0,
        listing: ObjectListing::default(),
    };
    let end = match format {
        ManifestFormat::Text => {
            read_utf8(file).and_then(|text| text.lines().try_for_each(|line| rows.add_row(line)))
        }
        ManifestFormat::Csv => read_utf8(file).and_then(|text| read_csv(&text, &mut rows)),
        ManifestFormat::Parquet => read_parquet(file, &mut rows),
    };
    match end {
        Ok(()) | Err(ReadEnd::Enough) => Ok(rows.listing),
        Err(ReadEnd::Invalid(reason)) => Err(reason),
    }
}

fn read_utf8(mut file: File) -> Result<String, ReadEnd> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|_| "it cannot be read")?;
    Ok(String::from_utf8(to_utf8(bytes)).map_err(|_| "it is not UTF-8 text")?)
}

/// Reads the column of addresses or files of a table. A table without such a column has no header, and keys in its
/// first column.
fn read_csv(text: &str, rows: &mut ManifestReader) -> Result<(), ReadEnd> {
    if let Ok(mut names) = csv_names(text.as_bytes(), media_column) {
        return names.try_for_each(|name| rows.add_row(&name));
    }
    let with_header = format!("{}\n{text}", ADDRESS_COLUMNS[0]);
    let mut names = csv_names(with_header.as_bytes(), media_column).map_err(ReadEnd::Invalid)?;
    names.try_for_each(|name| rows.add_row(&name))
}

/// Returns the position of the first column of addresses or files.
fn media_column(names: &mut [String]) -> Option<usize> {
    let file = file_column(names);
    let is_address = |name: &str| ADDRESS_COLUMNS.iter().any(|it| name.eq_ignore_ascii_case(it));
    names.iter().position(|name| is_address(name) || file.as_ref() == Some(name))
}

fn read_parquet(file: File, rows: &mut ManifestReader) -> Result<(), ReadEnd> {
    let file = ParquetFile::open(file).map_err(|_| "it is damaged or not a Parquet file")?;
    let mut end = Ok(());
    let is_media_column = |name: &str| media_column(&mut [name.to_owned()]).is_some();
    let read = file.for_each_text(is_media_column, &mut |value| {
        end = rows.add_row(&String::from_utf8_lossy(value));
        if end.is_ok() { Ok(()) } else { Err("not read to its end".into()) }
    });
    end.and_then(|()| read.map_err(|why| ReadEnd::Invalid(why.to_string())))
}

impl ManifestReader {
    fn add_row(&mut self, raw: &str) -> Result<(), ReadEnd> {
        self.row += 1;
        let raw = raw.trim();
        if raw.is_empty() {
            return Ok(());
        }
        match self.parse_entry(raw) {
            Ok(entry) => {
                let id = format!("{}/{}", entry.bucket, entry.key);
                if self.listed_ids.insert(Uuid::new_v5(&Uuid::NAMESPACE_URL, id.as_bytes())) {
                    self.listing.add(entry);
                }
            }
            // The row is not named by its text, because a link may contain a secret.
            Err(reason) => self.listing.skipped.push((format!("row {}", self.row).into(), reason)),
        }
        let objects = self.listed_ids.len();
        let is_read = !self.listing.should_continue(self.media_limit, objects);
        if is_read { Err(ReadEnd::Enough) } else { Ok(()) }
    }

    /// Returns the object that a row refers to. The error is what is wrong with the row.
    fn parse_entry(&self, raw: &str) -> Result<ObjectEntry, &'static str> {
        let (bucket, key) = if ["s3://", "gs://", "az://"].iter().any(|it| raw.starts_with(it)) {
            let uri = ObjectUri::parse(raw)?;
            let is_own = uri.bucket == *self.bucket;
            (if is_own { Arc::clone(&self.bucket) } else { Arc::new(uri.bucket) }, uri.key)
        } else if raw.contains("://") {
            return Err(LINK);
        } else {
            let key = raw.trim_start_matches("./").trim_start_matches('/');
            (Arc::clone(&self.bucket), format!("{}{key}", self.folder))
        };
        if !is_addressable_key(&key) {
            return Err(UNADDRESSABLE);
        }
        let below = bucket == self.bucket && key.starts_with(&self.folder);
        let path_root =
            if below { PathRoot::ListedFolder(self.folder.len()) } else { PathRoot::Bucket };
        Ok(ObjectEntry { bucket, key, size: None, version: 0, path_root })
    }
}
