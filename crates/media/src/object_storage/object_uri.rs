//! Parses addresses of the form `s3://bucket/key`, `gs://` and `az://`, and decides which keys can be addressed. The
//! role that a request can assume is parsed here, too.

use std::fmt;

use object_store::path::Path;
use tessera_model::keyword_enum;

/// Maximum length of a key, in bytes.
const MAX_KEY_BYTES: usize = 1_024;

keyword_enum!(
    /// A service, with the scheme of its addresses.
    CloudService {
        S3 = "s3",
        GoogleCloud = "gs",
        Azure = "az",
    }
);

impl CloudService {
    /// Returns the names of the environment variables that usually contain credentials.
    pub(crate) fn credential_hint(self) -> &'static str {
        match self {
            Self::S3 => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            Self::GoogleCloud => "GOOGLE_APPLICATION_CREDENTIALS",
            Self::Azure => "AZURE_STORAGE_ACCOUNT_KEY",
        }
    }
}

/// A bucket, which Azure calls a container.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BucketUri {
    pub service: CloudService,
    pub name: String,
}

impl fmt::Display for BucketUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.service.as_str(), self.name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectUri {
    pub bucket: BucketUri,
    /// The key of an object or folder. Empty for the whole bucket.
    pub key: String,
}

impl fmt::Display for ObjectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bucket, self.key)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestFormat {
    Csv,
    Parquet,
    /// A text file with one address per line.
    Text,
}

impl ObjectUri {
    pub fn parse(raw: &str) -> Result<Self, &'static str> {
        let split = |service: CloudService| {
            let rest = raw.strip_prefix(service.as_str())?.strip_prefix("://")?;
            Some((service, rest))
        };
        let (service, rest) = CloudService::ALL
            .into_iter()
            .find_map(split)
            .ok_or("only s3://bucket/prefix, gs:// and az:// are supported")?;
        let (name, key) = rest.split_once('/').unwrap_or((rest, ""));
        if !is_bucket_name(service, name) {
            return Err("the bucket name is not valid");
        }
        if !key.is_empty() && !is_addressable_key(key.trim_end_matches('/')) {
            return Err("the path is not addressable");
        }
        Ok(Self { bucket: BucketUri { service, name: name.to_owned() }, key: key.to_owned() })
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

    /// Returns the key as a folder prefix, which is empty or ends with a slash.
    pub(crate) fn folder_prefix(&self) -> String {
        let key = self.key.trim_end_matches('/');
        if key.is_empty() { String::new() } else { format!("{key}/") }
    }

    /// Returns the common prefix of the keys of its objects. The prefix of a manifest is the folder that contains it.
    pub(crate) fn path_prefix(&self) -> String {
        match self.manifest_format() {
            Some(_) => self.parent_prefix().to_owned(),
            None => self.folder_prefix(),
        }
    }

    pub(crate) fn parent_prefix(&self) -> &str {
        self.key.rfind('/').map_or("", |end| &self.key[..=end])
    }
}

/// Whether a name is safe as part of a host name or path.
fn is_bucket_name(service: CloudService, name: &str) -> bool {
    // Buckets of Google Cloud may be named like domains, which are longer.
    let longest = if service == CloudService::GoogleCloud { 222 } else { 63 };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let ends = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    (3..=longest).contains(&name.len())
        && name.bytes().all(plain)
        && ends(name.bytes().next())
        && ends(name.bytes().last())
}

/// Whether an address can contain this key. A key must not have empty, `.` or `..` segments, or control characters.
pub(crate) fn is_addressable_key(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= MAX_KEY_BYTES
        && Path::parse(key).is_ok_and(|path| path.as_ref() == key)
}

/// Maximum length of the path and name of a role, in bytes.
const MAX_RESOURCE_BYTES: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleArn(String);

impl RoleArn {
    /// Parses `arn:<partition>:iam::<12-digit account>:role/<path and name>`.
    pub fn parse(raw: &str) -> Option<Self> {
        let mut parts = raw.splitn(6, ':');
        let mut is = |right: fn(&str) -> bool| parts.next().is_some_and(right);
        let right = is(|arn| arn == "arn")
            && is(|partition| {
                let rest = partition.strip_prefix("aws");
                rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
            })
            && is(|service| service == "iam")
            && is(str::is_empty)
            && is(|account| account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit()))
            && is(|resource| resource.strip_prefix("role/").is_some_and(is_role_name));
        right.then(|| Self(raw.to_owned()))
    }
}

fn is_role_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_RESOURCE_BYTES
        && !name.ends_with('/')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_+=,.@-/".contains(c))
}

impl fmt::Display for RoleArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
