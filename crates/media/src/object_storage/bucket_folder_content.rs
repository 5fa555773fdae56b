//! What is in the folder of a bucket that the service writes to.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{BucketFolder, ObjectBody, ObjectEntry, PathRoot, StorageError};

/// The names of what is directly below a folder.
#[derive(Debug, Default)]
pub struct FolderContent {
    pub folders: Vec<String>,
    /// With the time of their last change.
    pub objects: Vec<(String, SystemTime)>,
}

impl BucketFolder {
    /// The address of what has this name in the folder.
    pub fn address(&self, name: &str) -> String {
        format!("{}/{}{name}", self.folder.bucket, self.folder.folder_prefix())
    }

    pub fn entry(&self, name: &str) -> ObjectEntry {
        let prefix = self.folder.folder_prefix();
        let path_root = PathRoot::ListedFolder(prefix.len());
        let (bucket, key) = (Arc::new(self.folder.bucket.clone()), format!("{prefix}{name}"));
        ObjectEntry { bucket, key, size: None, version: 0, path_root }
    }

    /// Reads a whole object.
    pub async fn read(&self, name: &str) -> Result<Vec<u8>, StorageError> {
        let entry = self.entry(name);
        let mut body = ObjectBody::open(&self.storage, &entry.bucket, &entry.key).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = body.next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Whether there is an object of this name. A denied request is an error.
    pub async fn contains(&self, name: &str) -> Result<bool, StorageError> {
        let path = self.path(name)?;
        let bucket = &self.folder.bucket;
        // In the order of names, it is the first that begins with its name.
        let page = self.storage.list_page(bucket, path.as_ref(), None, Some("/")).await?;
        Ok(page.result.objects.iter().any(|object| object.location == path))
    }

    /// Lists what is directly below a folder in this one.
    pub async fn children(&self, name: &str) -> Result<FolderContent, StorageError> {
        self.list(name, Some("/")).await
    }

    /// Deletes all objects below a folder in this one.
    pub async fn delete_below(&self, name: &str) -> Result<(), StorageError> {
        for (object, _) in self.list(name, None).await?.objects {
            self.delete(&format!("{name}/{object}")).await?;
        }
        Ok(())
    }

    async fn list(
        &self,
        name: &str,
        delimiter: Option<&'static str>,
    ) -> Result<FolderContent, StorageError> {
        let prefix = format!("{}{name}/", self.folder.folder_prefix());
        let below = |path: &str| path.strip_prefix(&prefix).map(str::to_owned);
        let (mut content, mut token) = (FolderContent::default(), None);
        loop {
            let bucket = &self.folder.bucket;
            let page = self.storage.list_page(bucket, &prefix, token.take(), delimiter).await?;
            content
                .folders
                .extend(page.result.common_prefixes.iter().filter_map(|path| below(path.as_ref())));
            for object in page.result.objects {
                let seconds = u64::try_from(object.last_modified.timestamp()).unwrap_or(0);
                let changed_at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
                content
                    .objects
                    .extend(below(object.location.as_ref()).map(|object| (object, changed_at)));
            }
            token = page.page_token.filter(|token| !token.is_empty());
            if token.is_none() {
                return Ok(content);
            }
        }
    }
}
