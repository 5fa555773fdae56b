//! Lists the media of a folder or manifest in a bucket, page by page.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use object_store::ObjectMeta;

use super::{
    ObjectStorage, RoleArn, StorageError,
    error::list_error,
    listing_page::SkippedKeys,
    object_uri::{BucketUri, ObjectUri, is_addressable_key},
};
use crate::ingest::{NANOS_PER_SECOND, file_names::printable_path};
use tessera_model::FileKind;

/// Maximum number of pages, which is a billion objects in pages of a thousand. This limit ends a listing that would
/// never end.
const MAX_PAGES: usize = 1_000_000;

impl ObjectStorage {
    /// Lists the media in `uri`, which is a folder or a manifest, until `media_limit` media are found. A limit of 1
    /// checks whether there are any media. An address without media is an error. Errors are safe to send to clients.
    pub async fn list(
        &self,
        uri: &str,
        role: Option<&RoleArn>,
        media_limit: usize,
    ) -> Result<ObjectListing, StorageError> {
        let refused = |reason: &str| StorageError::Refused(list_error(uri, reason));
        let mut parts = self.parts(uri, media_limit).map_err(StorageError::Refused)?;
        if let Some(role) = role {
            return Err(refused(&format!(
                "the role {role} cannot be assumed: no token service (STS) is reachable from a local service; start it \
                 with a key that may read the bucket"
            )));
        }
        let mut listing = ObjectListing::default();
        while !listing.truncated
            && let Some(part) = parts.next().await?
        {
            listing.append(part, media_limit);
        }
        if listing.media > 0 {
            return Ok(listing);
        }
        let first = listing.skipped.first();
        let first = first.map(|(path, reason)| format!("{}: {reason}", printable_path(path)));
        Err(refused(&first.unwrap_or_default()))
    }

    /// Returns the listing of a folder or manifest in parts, so that its size does not matter. A manifest is read until
    /// `media_limit` media are found.
    pub fn parts(&self, uri: &str, media_limit: usize) -> Result<ListingParts, String> {
        let location = ObjectUri::parse(uri).map_err(|reason| list_error(uri, reason))?;
        Ok(ListingParts {
            storage: self.clone(),
            uri: uri.to_owned(),
            location,
            media_limit,
            token: None,
            pages: 0,
            has_more: true,
        })
    }
}

#[derive(Debug)]
pub struct ListingParts {
    storage: ObjectStorage,
    uri: String,
    location: ObjectUri,
    media_limit: usize,
    /// The token of the next page, or `None` for the first page.
    token: Option<String>,
    pages: usize,
    has_more: bool,
}

impl ListingParts {
    /// Whether there may be further parts.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Reads the next part. Returns `None` after the last part. Errors are safe to send to clients.
    pub async fn next(&mut self) -> Result<Option<ObjectListing>, StorageError> {
        if !self.has_more {
            return Ok(None);
        }
        let part = match self.location.manifest_format() {
            None => self.next_page().await,
            Some(format) => {
                self.has_more = false;
                self.storage.list_manifest(&self.location, format, self.media_limit).await
            }
        };
        part.map(Some).map_err(|error| error.in_listing(&self.uri))
    }

    async fn next_page(&mut self) -> Result<ObjectListing, StorageError> {
        let folder = self.location.folder_prefix();
        let bucket = Arc::new(self.location.bucket.clone());
        let page = self.storage.list_page(&bucket, &folder, self.token.take(), None).await?;
        let mut part = ObjectListing::default();
        let SkippedKeys(skipped) = page.result.extensions.get().cloned().unwrap_or_default();
        for key in &skipped {
            part.skip_key(key.strip_prefix(&folder).unwrap_or(key));
        }
        for object in page.result.objects {
            let key = object.location.to_string();
            if !key.starts_with(&folder) || !is_addressable_key(&key) {
                part.skip_key(&key);
                continue;
            }
            let path_root = PathRoot::ListedFolder(folder.len());
            let bucket = Arc::clone(&bucket);
            let (size, version) = (Some(object.size), version(&object));
            part.add(ObjectEntry { bucket, key, size, version, path_root });
        }
        self.pages += 1;
        self.token = page.page_token.filter(|token| !token.is_empty());
        self.has_more = self.token.is_some() && self.pages < MAX_PAGES;
        Ok(part)
    }
}

/// Returns the version of an object in the form of [`FileStat::modified`]. The digits below the second are derived from
/// the entity tag or, if the service has none, from the time. A listing and a response with the object give the same
/// digits, although a listing can have no quotes around the tag and more digits in the time.
///
/// [`FileStat::modified`]: crate::ingest::FileStat::modified
pub(super) fn version(object: &ObjectMeta) -> i64 {
    let tag = object.e_tag.as_deref().map(|tag| tag.trim_start_matches("W/").trim_matches('"'));
    let seconds = object.last_modified.timestamp();
    let text = match tag {
        Some(tag) if !tag.is_empty() => tag.to_owned(),
        _ => seconds.to_string(),
    };
    let hash = blake3::hash(text.as_bytes());
    let (bytes, _) = hash.as_bytes().split_first_chunk().unwrap_or((&[0; 4], &[]));
    let digits = i64::from(u32::from_le_bytes(*bytes)) % NANOS_PER_SECOND;
    seconds.clamp(0, i64::MAX / NANOS_PER_SECOND - 1) * NANOS_PER_SECOND + digits
}

/// The reason for skipping an object whose key cannot be addressed.
pub(super) const UNADDRESSABLE: &str = "its key is too long, or has empty, `.` or `..` parts or control characters; \
                                        rename the object";

/// Maximum number of objects in a manifest, which is read as a whole.
const MAX_MANIFEST_OBJECTS: usize = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectListing {
    /// Media and sidecars, in listing order.
    pub entries: Vec<ObjectEntry>,
    pub media: usize,
    /// The media and sidecars whose keys cannot be addressed, and the wrong rows of a manifest, with the reasons.
    pub skipped: Vec<(PathBuf, &'static str)>,
    /// Whether there may be further objects.
    pub truncated: bool,
}

impl ObjectListing {
    pub fn add(&mut self, entry: ObjectEntry) {
        match entry.file_kind() {
            FileKind::Picture | FileKind::Video => self.media += 1,
            FileKind::Sidecar => {}
            FileKind::Archive | FileKind::Other => return,
        }
        self.entries.push(entry);
    }

    /// Notes an object whose key cannot be addressed, if it is a media item or a sidecar.
    fn skip_key(&mut self, key: &str) {
        if !matches!(FileKind::from_name(key), FileKind::Archive | FileKind::Other) {
            self.skipped.push((key.into(), UNADDRESSABLE));
        }
    }

    /// Adds a part until `media_limit` media are found.
    pub fn append(&mut self, part: Self, media_limit: usize) {
        self.skipped.extend(part.skipped);
        for entry in part.entries {
            self.truncated = self.media >= media_limit;
            if self.truncated {
                return;
            }
            self.add(entry);
        }
        self.truncated = part.truncated || self.media >= media_limit;
    }

    /// Whether to continue reading a manifest until `media_limit` media are found.
    pub(crate) fn should_continue(&mut self, media_limit: usize, objects: usize) -> bool {
        self.truncated =
            self.media >= media_limit || objects + self.skipped.len() >= MAX_MANIFEST_OBJECTS;
        !self.truncated
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEntry {
    pub bucket: Arc<BucketUri>,
    pub key: String,
    /// Size in bytes, if the listing contains it.
    pub size: Option<u64>,
    /// The time of the last change and a derivation of the entity tag, or 0 if the listing contains neither.
    pub version: i64,
    /// The part of the address that becomes the path in the dataset.
    pub path_root: PathRoot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRoot {
    /// The key after this many bytes, which is the path relative to the listed folder.
    ListedFolder(usize),
    /// The whole address, because the object is outside the listed folder.
    Bucket,
}

impl ObjectEntry {
    fn file_kind(&self) -> FileKind {
        FileKind::from_name(&self.key)
    }

    /// Returns the path of the object in a dataset that was made from the listed folder or manifest.
    pub fn path(&self) -> PathBuf {
        match self.path_root {
            PathRoot::ListedFolder(start) => {
                PathBuf::from(self.key.get(start..).unwrap_or(&self.key))
            }
            PathRoot::Bucket => PathBuf::from(format!("{}/{}", self.bucket, self.key)),
        }
    }

    /// Returns the object that has this path in a dataset that was made from a folder or manifest.
    pub fn at_path(location: &ObjectUri, path: &Path) -> Option<Self> {
        let path = path.to_str()?;
        let (bucket, key, path_root) = if let Ok(whole) = ObjectUri::parse(path) {
            (whole.bucket, whole.key, PathRoot::Bucket)
        } else {
            let prefix = location.path_prefix();
            let key = format!("{prefix}{path}");
            (location.bucket.clone(), key, PathRoot::ListedFolder(prefix.len()))
        };
        Some(Self { bucket: Arc::new(bucket), key, size: None, version: 0, path_root })
    }
}
