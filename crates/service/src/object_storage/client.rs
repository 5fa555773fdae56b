//! The client for object storage: listing folders and manifests.

use std::{io::Seek as _, sync::Arc};

use tokio::fs::File;

use super::{
    ObjectEntry, ObjectListing, PathRoot, RetryPolicy, RoleArn, StorageError, StorageSettings,
    error::StorageAttemptError,
    manifest,
    response_body::{copy_body, ensure},
    s3::S3Client,
    s3_uri::{ManifestFormat, S3Uri, is_addressable_key},
};
use crate::ingest::disk_quota::DiskQuota;
use tessera_model::SafeText;

/// Limit on pages of a listing, because services choose the page size.
const MAX_PAGES: usize = 20_000;
/// Size limit of a manifest, in bytes.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub struct ObjectStorage {
    pub(super) s3: S3Client,
    pub(super) disk: DiskQuota,
}

impl ObjectStorage {
    pub fn new(settings: StorageSettings, disk: DiskQuota) -> Result<Self, StorageError> {
        Ok(Self { disk, ..Self::with_retry_policy(settings, RetryPolicy::default())? })
    }

    pub fn with_retry_policy(
        settings: StorageSettings,
        retry_policy: RetryPolicy,
    ) -> Result<Self, StorageError> {
        let disk = DiskQuota::default();
        Ok(Self { s3: S3Client::new(settings, retry_policy)?, disk })
    }

    /// Lists the media at `uri`, a folder or manifest, until `most` media are found: 1 checks whether
    /// there are any. At most `MAX_OBJECTS` objects are read. Errors are safe to send to clients.
    pub async fn list(
        &self,
        uri: &str,
        role: Option<&RoleArn>,
        most: usize,
    ) -> Result<ObjectListing, String> {
        let refuse = |reason: &str| list_error(uri, reason);
        let location = S3Uri::parse(uri).map_err(refuse)?;
        if let Some(role) = role {
            return Err(refuse(&format!(
                "the role {role} cannot be assumed: no token service (STS) is reachable from a local \
                 deployment; start it with a key that may read the bucket"
            )));
        }
        let listing = match location.manifest_format() {
            Some(format) => self.list_manifest(&location, format, most).await,
            None => self.list_folder(&location, most).await.map_err(|error| error.to_string()),
        };
        match listing.map_err(|reason| refuse(&reason))? {
            listing if listing.media == 0 => Err(refuse("")),
            listing => Ok(listing),
        }
    }

    async fn list_folder(&self, uri: &S3Uri, most: usize) -> Result<ObjectListing, StorageError> {
        let folder = uri.folder_prefix();
        let bucket: Arc<str> = uri.bucket.as_str().into();
        let mut listing = ObjectListing::default();
        let mut token = None;
        for _ in 0..MAX_PAGES {
            let page = self.s3.list_page(&uri.bucket, &folder, token.as_deref()).await?;
            for object in page.contents {
                if object.key.ends_with('/') {
                    // How some tools represent a folder.
                    continue;
                }
                if !object.key.starts_with(&folder) || !is_addressable_key(&object.key) {
                    listing.skipped += 1;
                    continue;
                }
                let path_root = PathRoot::ListedFolder(folder.len());
                let bucket = Arc::clone(&bucket);
                listing.add(ObjectEntry { bucket, key: object.key, size: object.size, path_root });
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
        uri: &S3Uri,
        format: ManifestFormat,
        most: usize,
    ) -> Result<ObjectListing, String> {
        let file = self.s3.with_retries(|| self.download_manifest(uri)).await;
        let file = file.map_err(|error| error.to_string())?;
        let uri = uri.clone();
        let read = move || manifest::read(file, format, &uri, most);
        tokio::task::spawn_blocking(read)
            .await
            // Parsers of foreign formats have been observed to panic.
            .unwrap_or_else(|_| Err("it is damaged".to_owned()))
    }

    async fn download_manifest(&self, uri: &S3Uri) -> Result<std::fs::File, StorageAttemptError> {
        let response = self.s3.get_object(&uri.bucket, &uri.key).await?;
        let mut file = File::from_std(tempfile::tempfile()?);
        let mib = MAX_MANIFEST_BYTES >> 20;
        let too_large = || StorageError::object(format!("the manifest is larger than {mib} MiB"));
        let check = |length| ensure(length <= MAX_MANIFEST_BYTES, too_large);
        copy_body(response, &mut file, check).await?;
        let mut file = file.into_std().await;
        file.rewind()?;
        Ok(file)
    }
}

fn list_error(uri: &str, reason: &str) -> String {
    let uri = SafeText::file_name(uri);
    let message = format!("Invalid S3 URI or no media files found at {uri}");
    if reason.is_empty() { message } else { format!("{message} ({reason})") }
}
