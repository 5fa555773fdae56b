//! `s3://bucket/key` addresses, and which keys can be addressed at all.

/// Length limit of a key, in bytes.
const MAX_KEY_BYTES: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Uri {
    pub bucket: String,
    /// The key of an object or folder; empty for the whole bucket.
    pub key: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestFormat {
    Csv,
    Parquet,
    /// One address per line.
    Text,
}

impl S3Uri {
    pub fn parse(raw: &str) -> Result<Self, &'static str> {
        let rest = raw.strip_prefix("s3://").ok_or("only s3://bucket/prefix is supported")?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if !is_bucket_name(bucket) {
            return Err("the bucket name is not valid");
        }
        if !key.is_empty() && !is_addressable_key(key.trim_end_matches('/')) {
            return Err("the path is not addressable");
        }
        Ok(Self { bucket: bucket.to_owned(), key: key.to_owned() })
    }

    pub fn manifest_format(&self) -> Option<ManifestFormat> {
        let (_, extension) = self.key.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Some(ManifestFormat::Csv),
            "parquet" => Some(ManifestFormat::Parquet),
            "txt" => Some(ManifestFormat::Text),
            _ => None,
        }
    }

    /// The key as a folder prefix: empty or with a trailing slash.
    pub fn folder_prefix(&self) -> String {
        let key = self.key.trim_end_matches('/');
        if key.is_empty() { String::new() } else { format!("{key}/") }
    }

    pub fn parent_prefix(&self) -> &str {
        self.key.rfind('/').map_or("", |end| &self.key[..=end])
    }
}

/// The bucket becomes part of a host name or path.
fn is_bucket_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let ends = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    (3..=63).contains(&name.len())
        && name.bytes().all(plain)
        && ends(name.bytes().next())
        && ends(name.bytes().last())
}

/// Whether a URL can contain this key: URLs resolve `.` and `..`.
pub fn is_addressable_key(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= MAX_KEY_BYTES
        && key.split('/').all(|part| !matches!(part, "." | ".."))
}
