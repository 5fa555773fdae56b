//! An addition of media: its source, its options, and the local check that runs before anything is sent.

use std::path::{Path, PathBuf};

use crate::{SafeText, vql::InvalidField};

/// The source of an addition. A request has exactly one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaSource {
    /// A folder in object storage, or a manifest that lists media.
    Storage(String),
    /// Local files and folders, recursively.
    Files(Vec<PathBuf>),
    Archive(PathBuf),
    /// A folder that the pipeline of an on-premises deployment can read.
    ServerPath(String),
}

/// The kind of an object storage address, by its last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKind {
    Folder,
    Manifest,
    /// A single object that does not look like a manifest, which causes a warning rather than an error.
    Object,
}

impl StorageKind {
    pub fn parse(uri: &str) -> Result<Self, InvalidField> {
        let invalid = |reason| InvalidField::new("s3_uri", reason);
        let address = ["s3://", "gs://", "az://"]
            .iter()
            .find_map(|scheme| uri.strip_prefix(scheme))
            .ok_or_else(|| invalid("must begin with s3://, gs:// or az://"))?;
        let (bucket, path) = address.split_once('/').unwrap_or((address, ""));
        if bucket.trim().is_empty() {
            return Err(invalid("must name a bucket: s3://bucket/folder/"));
        }
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        Ok(match name.rsplit_once('.') {
            Some((_, "csv" | "parquet" | "txt")) => Self::Manifest,
            Some(_) => Self::Object,
            None => Self::Folder,
        })
    }
}

/// The archive formats that the API documents.
const ARCHIVE_SUFFIXES: [&str; 3] = [".zip", ".tar", ".tar.gz"];
/// Archive formats that the API does not document: the short form of `.tar.gz`, and two formats that the local service
/// also unpacks.
pub const UNDOCUMENTED_ARCHIVE_SUFFIXES: [&str; 3] = [".tgz", ".tar.xz", ".tar.zst"];

/// Whether the local service unpacks a file of this name.
pub fn is_unpacked(archive: &Path) -> bool {
    let name = archive.to_string_lossy().to_ascii_lowercase();
    let mut suffixes = ARCHIVE_SUFFIXES.iter().chain(&UNDOCUMENTED_ARCHIVE_SUFFIXES);
    suffixes.any(|end| name.ends_with(end))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaAddition {
    pub source: MediaSource,
    /// Whether to reindex right after the addition. If false, the dataset stays in PARTIAL INDEX.
    pub auto_reindex: bool,
    /// The ARN of a role to assume for another account's storage.
    pub assume_role: Option<String>,
    /// The capacity to reserve for videos, instead of the computed capacity.
    pub batch_videos: Option<u64>,
    pub batch_images: Option<u64>,
    pub batch_objects: Option<u64>,
    /// Whether spot instances may be used. Only hosted deployments have this option.
    pub spot: Option<bool>,
    /// Whether to send the request even if the status of the dataset forbids it.
    pub force: bool,
}

impl MediaAddition {
    pub fn new(source: MediaSource) -> Self {
        Self {
            source,
            auto_reindex: false,
            assume_role: None,
            batch_videos: None,
            batch_images: None,
            batch_objects: None,
            spot: None,
            force: false,
        }
    }

    /// Checks the rules of the API. An error names the field by its name on the wire.
    pub fn validate(&self) -> Result<(), InvalidField> {
        let invalid = |field, reason| Err(InvalidField::new(field, reason));
        match &self.source {
            MediaSource::Storage(uri) => StorageKind::parse(uri).map(drop)?,
            MediaSource::Files(files) if files.is_empty() => {
                return invalid(
                    "files",
                    "Exactly one media source must be provided: files[], s3_uri, or archive",
                );
            }
            MediaSource::Archive(path) => {
                if !is_unpacked(path) {
                    return invalid(
                        "archive",
                        "must be a .zip, .tar or .tar.gz file; the local service also unpacks .tar.xz and .tar.zst",
                    );
                }
            }
            MediaSource::ServerPath(path) if !path.starts_with('/') => {
                return invalid("path", "must be absolute, as the pipeline sees it");
            }
            MediaSource::ServerPath(_) if self.has_options() => {
                return invalid("path", "cannot be combined with reindex, role, counts or spot");
            }
            MediaSource::Files(_) | MediaSource::ServerPath(_) => {}
        }
        match (&self.assume_role, &self.source) {
            (Some(_), MediaSource::Files(_) | MediaSource::Archive(_)) => {
                invalid("assume_role", "is only for object storage")
            }
            (Some(role), _) if !is_role_arn(role) => {
                invalid("assume_role", "must look like arn:aws:iam::123456789012:role/name")
            }
            _ => Ok(()),
        }
    }

    /// Whether any option except `force` is set.
    fn has_options(&self) -> bool {
        *self != Self { force: self.force, ..Self::new(self.source.clone()) }
    }
}

fn is_role_arn(text: &str) -> bool {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    let [arn, partition, service, _, account, resource] = parts.as_slice() else { return false };
    let name = resource.strip_prefix("role/").unwrap_or_default();
    *arn == "arn"
        && !partition.is_empty()
        && *service == "iam"
        && account.len() == 12
        && account.bytes().all(|byte| byte.is_ascii_digit())
        && !name.is_empty()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preflight {
    pub images: u64,
    pub videos: u64,
    /// Size of the files or of the archive to send.
    pub bytes: u64,
    /// The number of skipped entries: files of other kinds, and links in folders.
    pub skipped: u64,
    pub unreadable: u64,
    /// The first unreadable files, at most [`Preflight::MAX_NAMED`].
    pub unreadable_files: Vec<UnreadableFile>,
    /// The given paths that are folders.
    pub folders: Vec<PathBuf>,
    pub warnings: Vec<SafeText>,
}

impl Preflight {
    pub const MAX_NAMED: usize = 200;

    pub fn is_empty(&self) -> bool {
        self.images + self.videos == 0
    }

    pub fn add_unreadable(&mut self, name: &str, reason: &str) {
        self.unreadable += 1;
        if self.unreadable_files.len() < Self::MAX_NAMED {
            let (name, reason) = (SafeText::file_name(name), SafeText::detail(reason));
            self.unreadable_files.push(UnreadableFile { name, reason });
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalFile {
    pub path: PathBuf,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableFile {
    pub name: SafeText,
    pub reason: SafeText,
}
