//! Media in object storage: folders and manifests listed, and their objects fetched, over the
//! S3 API.
//!
//! Only `s3://` addresses are read. The signing and the words of S3 are a library's; the bytes
//! go over a client of our own. Nothing said here carries an address or a secret.

mod download;
mod error;
mod manifest;
mod object_entry;
mod role;
mod s3;
mod s3_uri;
mod settings;

use std::{fmt, io::Seek as _, sync::Arc};

use tokio::{fs::File, io::AsyncWriteExt as _};

pub use error::StorageError;
pub use object_entry::{ObjectEntry, PathRoot};
pub use role::RoleArn;
pub use settings::{AccessKey, StorageSettings};

use crate::ingest::file_kind::FileKind;
use error::{StorageAttemptError, transport_error};
use s3::{RetryPolicy, S3Client};
use s3_uri::{ManifestFormat, S3Uri, is_addressable_key};
use tessera_model::SafeText;

/// Most objects of a listing.
pub const MAX_OBJECTS: usize = 1_000_000;
/// Most pages of a listing: services give pages of any size.
const MAX_PAGES: usize = 20_000;
/// Largest manifest, in bytes.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// Object storage, as the settings reach it.
#[derive(Clone, Debug)]
pub struct ObjectStorage {
    s3: S3Client,
}

/// What a folder or a manifest holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectListing {
    /// Media, and the sidecars beside them, in the order they were listed.
    pub entries: Vec<ObjectEntry>,
    /// How many of the entries are media.
    pub media: usize,
    /// How many objects are neither, or have names that cannot be asked for.
    pub skipped: usize,
    /// Whether there may be more than was listed.
    pub truncated: bool,
}

/// Why nothing comes from an address; the text of a 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError(String);

impl ObjectStorage {
    /// Reaches storage as the settings say.
    ///
    /// # Errors
    /// The HTTP client cannot start.
    pub fn new(settings: StorageSettings) -> Result<Self, StorageError> {
        Ok(Self { s3: S3Client::new(settings, RetryPolicy::default())? })
    }

    /// Lists the media at `uri`, a folder or a manifest, until `most` media are found: 1 tells
    /// whether there are any, [`MOST`] is the bound of all objects in any case.
    ///
    /// # Errors
    /// `uri` is no address, cannot be read, or has no media; or a role is to be assumed.
    pub async fn list(
        &self,
        uri: &str,
        role: Option<&RoleArn>,
        most: usize,
    ) -> Result<ObjectListing, ListError> {
        let refuse = |reason: String| ListError::new(uri, &reason);
        let place = S3Uri::parse(uri).map_err(|reason| refuse(reason.to_owned()))?;
        if let Some(role) = role {
            return Err(refuse(format!(
                "the role {role} cannot be assumed: no token service (STS) is reachable from a local \
                 deployment; start it with a key that may read the bucket"
            )));
        }
        let listing = match place.manifest_format() {
            Some(format) => self.list_manifest(&place, format, most).await,
            None => self.list_folder(&place, most).await.map_err(|fault| fault.to_string()),
        };
        match listing.map_err(refuse)? {
            listing if listing.media == 0 => Err(ListError::new(uri, "")),
            listing => Ok(listing),
        }
    }

    async fn list_folder(&self, place: &S3Uri, most: usize) -> Result<ObjectListing, StorageError> {
        let folder = place.folder_prefix();
        let bucket: Arc<str> = place.bucket.as_str().into();
        let mut listing = ObjectListing::default();
        let mut token = None;
        for _ in 0..MAX_PAGES {
            let page = self.s3.list_page(&place.bucket, &folder, token.as_deref()).await?;
            for object in page.contents {
                if object.key.ends_with('/') {
                    // How some tools mark a folder.
                    continue;
                }
                if !object.key.starts_with(&folder) || !is_addressable_key(&object.key) {
                    listing.skipped += 1;
                    continue;
                }
                let place = PathRoot::ListedFolder(folder.len());
                let bucket = Arc::clone(&bucket);
                listing.add(ObjectEntry {
                    bucket,
                    key: object.key,
                    size: object.size,
                    path_root: place,
                });
                if !listing.should_continue(most) {
                    return Ok(listing);
                }
            }
            token = page.next_continuation_token;
            if token.is_none() {
                return Ok(listing);
            }
        }
        listing.truncated = true;
        Ok(listing)
    }

    async fn list_manifest(
        &self,
        place: &S3Uri,
        format: ManifestFormat,
        most: usize,
    ) -> Result<ObjectListing, String> {
        let file = self.s3.with_retries(|| self.download_manifest(place)).await;
        let file = file.map_err(|fault| fault.to_string())?;
        let place = place.clone();
        let read = move || manifest::read(file, format, &place, most);
        tokio::task::spawn_blocking(read)
            .await
            // The readers of foreign formats have been seen to panic.
            .unwrap_or_else(|_| Err("it is damaged".to_owned()))
    }

    /// The content of a manifest, in a file without a name.
    async fn download_manifest(&self, place: &S3Uri) -> Result<std::fs::File, StorageAttemptError> {
        let disk = |cause| StorageAttemptError::Permanent(StorageError::Io(cause));
        let mut answer = self.s3.get_object(&place.bucket, &place.key).await?;
        let mut file = File::from_std(tempfile::tempfile().map_err(disk)?);
        let mut bytes = 0;
        while let Some(chunk) = answer.chunk().await.map_err(|cause| transport_error(&cause))? {
            bytes += chunk.len() as u64;
            if bytes > MAX_MANIFEST_BYTES {
                let words = format!("the manifest is larger than {} MiB", MAX_MANIFEST_BYTES >> 20);
                return Err(StorageAttemptError::Permanent(StorageError::Object(words)));
            }
            file.write_all(&chunk).await.map_err(disk)?;
        }
        file.flush().await.map_err(disk)?;
        let mut file = file.into_std().await;
        file.rewind().map_err(disk)?;
        Ok(file)
    }
}

impl ObjectListing {
    /// Takes up an object if it is of use.
    fn add(&mut self, entry: ObjectEntry) {
        match entry.file_kind() {
            FileKind::Picture | FileKind::Video => self.media += 1,
            FileKind::Sidecar => {}
            FileKind::Archive | FileKind::Other => {
                self.skipped += 1;
                return;
            }
        }
        self.entries.push(entry);
    }

    /// Whether to go on until `most` media are found.
    fn should_continue(&mut self, most: usize) -> bool {
        self.truncated = self.media >= most || self.entries.len() + self.skipped >= MAX_OBJECTS;
        !self.truncated
    }
}

impl ListError {
    fn new(uri: &str, reason: &str) -> Self {
        let uri = SafeText::file_name(uri);
        let words = format!("Invalid S3 URI or no media files found at {uri}");
        Self(if reason.is_empty() { words } else { format!("{words} ({reason})") })
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
