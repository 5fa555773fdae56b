//! Adding media: where they come from, what is asked of the service, and what a look at them before
//! anything is sent has found.

use std::path::PathBuf;

use crate::{SafeText, vql::InvalidField};

/// Where media come from: exactly one of these (rule: interface, `POST add_media`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaSource {
    /// A folder in object storage, or a manifest that lists media.
    Storage(String),
    /// Files of this machine, and folders with all that is below them.
    Files(Vec<PathBuf>),
    /// An archive of this machine.
    Archive(PathBuf),
    /// A folder that the pipeline of an on-premises deployment can read.
    ServerPath(String),
}

/// What an address in object storage names, by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKind {
    /// All media below it.
    Folder,
    /// A list of media.
    Manifest,
    /// One object that is no manifest by its name: to be questioned, not refused.
    Object,
}

impl StorageKind {
    /// Reads an address as `s3://bucket/path`.
    ///
    /// # Errors
    /// It begins otherwise, or names no bucket.
    pub fn parse(uri: &str) -> Result<Self, InvalidField> {
        let wrong = |reason: &str| InvalidField { field: "s3_uri", reason: reason.to_owned() };
        let place = uri.strip_prefix("s3://").ok_or_else(|| wrong("must begin with s3://"))?;
        let (bucket, path) = place.split_once('/').unwrap_or((place, ""));
        if bucket.trim().is_empty() {
            return Err(wrong("must name a bucket: s3://bucket/folder/"));
        }
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        Ok(match name.rsplit_once('.') {
            Some((_, "csv" | "parquet" | "txt")) => Self::Manifest,
            Some(_) => Self::Object,
            None => Self::Folder,
        })
    }
}

/// Endings of the archives that the interface names.
const ARCHIVE_SUFFIXES: [&str; 3] = [".zip", ".tar", ".tar.gz"];
/// An ending that means `.tar.gz` to people, and perhaps to the service.
pub const TGZ_SUFFIX: &str = ".tgz";

/// An addition of media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaAddition {
    /// Where they come from.
    pub source: MediaSource,
    /// Whether the dataset is clustered anew at once; else it rests in PARTIAL INDEX.
    pub auto_reindex: bool,
    /// The role to assume for storage of another account: an ARN.
    pub assume_role: Option<String>,
    /// Videos to make room for, instead of the computed number.
    pub batch_videos: Option<u64>,
    /// Images to make room for.
    pub batch_images: Option<u64>,
    /// Objects to make room for.
    pub batch_objects: Option<u64>,
    /// Whether spot instances may do it; hosted deployments only.
    pub spot: Option<bool>,
    /// Whether it is sent although the status of the dataset forbids it.
    pub force: bool,
}

impl MediaAddition {
    /// An addition of media without any wish beside.
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

    /// Whether it may be sent.
    ///
    /// # Errors
    /// The field that is wrong, as the wire names it, and why.
    pub fn validate(&self) -> Result<(), InvalidField> {
        let wrong = |field, reason: &str| Err(InvalidField { field, reason: reason.to_owned() });
        match &self.source {
            MediaSource::Storage(uri) => StorageKind::parse(uri).map(drop)?,
            MediaSource::Files(files) if files.is_empty() => {
                return wrong(
                    "files",
                    "Exactly one media source must be provided: files[], s3_uri, or archive",
                );
            }
            MediaSource::Archive(path) => {
                let name = path.to_string_lossy().to_ascii_lowercase();
                if !ARCHIVE_SUFFIXES.iter().chain([&TGZ_SUFFIX]).any(|end| name.ends_with(end)) {
                    return wrong("archive", "must be a .zip, .tar or .tar.gz file");
                }
            }
            MediaSource::ServerPath(path) if !path.starts_with('/') => {
                return wrong("path", "must be absolute, as the pipeline sees it");
            }
            MediaSource::ServerPath(_) if self.has_options() => {
                return wrong("path", "is sent alone: no reindex, role, counts or spot with it");
            }
            MediaSource::Files(_) | MediaSource::ServerPath(_) => {}
        }
        match (&self.assume_role, &self.source) {
            (Some(_), MediaSource::Files(_) | MediaSource::Archive(_)) => {
                wrong("assume_role", "is for object storage only")
            }
            (Some(role), _) if !is_role_arn(role) => {
                wrong("assume_role", "must look like arn:aws:iam::123456789012:role/name")
            }
            _ => Ok(()),
        }
    }

    fn has_options(&self) -> bool {
        let Self {
            auto_reindex, assume_role, batch_videos, batch_images, batch_objects, spot, ..
        } = self;
        let counts = [batch_videos, batch_images, batch_objects];
        *auto_reindex
            || assume_role.is_some()
            || counts.iter().any(|count| count.is_some())
            || spot.is_some()
    }
}

/// Whether a text has the shape of the ARN of a role.
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

/// What a look at media has found, before anything is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preflight {
    /// Images that can be sent.
    pub images: u64,
    /// Videos that can be sent.
    pub videos: u64,
    /// Bytes of what is sent: the files, or the archive.
    pub bytes: u64,
    /// Files of other kinds in folders, and links there; they are left out.
    pub skipped: u64,
    /// Media that cannot be read and are left out.
    pub unreadable: u64,
    /// At most [`Preflight::NAMED`] of them.
    pub unreadable_files: Vec<UnreadableFile>,
    /// Which of the paths that were given are folders.
    pub folders: Vec<PathBuf>,
    /// What a person should know before sending.
    pub warnings: Vec<SafeText>,
}

impl Preflight {
    /// Unreadable files that are named.
    pub const MAX_NAMED: usize = 200;

    /// Whether there is nothing that can be sent.
    pub fn is_empty(&self) -> bool {
        self.images + self.videos == 0
    }
}

/// A file of this machine that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalFile {
    /// Where it is.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
}

/// A file that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableFile {
    /// Which one.
    pub name: SafeText,
    /// Why.
    pub reason: SafeText,
}
