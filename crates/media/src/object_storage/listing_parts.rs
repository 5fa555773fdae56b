//! A listing in parts: the pages of a folder, or a manifest as a whole.

use std::sync::Arc;

use object_store::ObjectMeta;

use super::{
    ObjectEntry, ObjectListing, ObjectStorage, PathRoot, RoleArn, StorageError,
    error::list_error,
    listing_page::SkippedKeys,
    object_uri::{ObjectUri, is_addressable_key},
};

/// A billion objects in pages of a thousand: ends the listing of a service that never does.
const MAX_PAGES: usize = 1_000_000;

impl ObjectStorage {
    /// Lists the media at `uri`, a folder or manifest, until `most` media are found: 1 checks whether
    /// there are any. Errors are safe to send to clients.
    pub async fn list(
        &self,
        uri: &str,
        role: Option<&RoleArn>,
        most: usize,
    ) -> Result<ObjectListing, String> {
        let mut parts = self.parts(uri, most)?;
        if let Some(role) = role {
            return Err(list_error(
                uri,
                &format!(
                    "the role {role} cannot be assumed: no token service (STS) is reachable from a \
                     local deployment; start it with a key that may read the bucket"
                ),
            ));
        }
        let mut listing = ObjectListing::default();
        while !listing.truncated
            && let Some(part) = parts.next().await?
        {
            listing.append(part, most);
        }
        Ok(listing)
    }

    /// The listing of a folder or manifest in parts, so that its size does not matter. Of a manifest, at
    /// most `most` media are read.
    pub fn parts(&self, uri: &str, most: usize) -> Result<ListingParts, String> {
        let location = ObjectUri::parse(uri).map_err(|reason| list_error(uri, reason))?;
        Ok(ListingParts {
            storage: self.clone(),
            uri: uri.to_owned(),
            location,
            most,
            token: None,
            pages: 0,
            has_more: true,
            media: 0,
        })
    }
}

#[derive(Debug)]
pub struct ListingParts {
    storage: ObjectStorage,
    uri: String,
    location: ObjectUri,
    most: usize,
    /// Where the next page begins; `None` for the first.
    token: Option<String>,
    pages: usize,
    has_more: bool,
    media: usize,
}

impl ListingParts {
    /// Whether there may be further parts.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Reads the next part; `None` after the last. A listing without media is an error. Errors are safe
    /// to send to clients.
    pub async fn next(&mut self) -> Result<Option<ObjectListing>, String> {
        if !self.has_more {
            return if self.media == 0 { Err(list_error(&self.uri, "")) } else { Ok(None) };
        }
        let part = match self.location.manifest_format() {
            None => self.next_page().await.map_err(|error| error.to_string()),
            Some(format) => {
                self.has_more = false;
                self.storage.list_manifest(&self.location, format, self.most).await
            }
        };
        let part = part.map_err(|reason| list_error(&self.uri, &reason))?;
        self.media += part.media;
        Ok(Some(part))
    }

    async fn next_page(&mut self) -> Result<ObjectListing, StorageError> {
        let folder = self.location.folder_prefix();
        let bucket = Arc::new(self.location.bucket.clone());
        let page = self.storage.list_page(&bucket, &folder, self.token.take(), None).await?;
        let mut part = ObjectListing::default();
        let skipped = page.result.extensions.get::<SkippedKeys>().copied();
        part.skipped += skipped.unwrap_or_default().0;
        for object in page.result.objects {
            let key = object.location.to_string();
            if !key.starts_with(&folder) || !is_addressable_key(&key) {
                part.skipped += 1;
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

/// From the entity tag and the time, because not every service has both.
fn version(object: &ObjectMeta) -> i64 {
    let tag = object.e_tag.as_deref().unwrap_or_default();
    let hash = blake3::hash(format!("{} {tag}", object.last_modified.to_rfc3339()).as_bytes());
    let (bytes, _) = hash.as_bytes().split_first_chunk().unwrap_or((&[0; 8], &[]));
    i64::from_le_bytes(*bytes)
}
