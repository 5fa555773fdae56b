//! Reads, uploads (in parts), lists and deletes objects in a deployment's own folder of a bucket, and signs links to
//! these objects.

use std::{
    fs::File,
    io::Read as _,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use object_store::{
    Attribute, Attributes, MultipartId, ObjectStoreExt as _, PutMultipartOptions,
    multipart::PartId, path::Path,
};
use reqwest::{Method, Url};
use tessera_model::ExportTaskId;

use super::{
    ObjectBody, ObjectEntry, ObjectStorage, PathRoot, StorageError, StorageSettings,
    bucket_client::BucketClient,
    error::StorageAttemptError,
    object_uri::{CloudService, ObjectUri, is_addressable_key},
};

/// Minimum size of a part. Services accept at most 10,000 parts.
const PART_BYTES: u64 = 8 << 20;
const MAX_PARTS: u64 = 10_000;
/// Time during which a link can be opened. A download that has already begun may take longer.
const LINK_LIFETIME: Duration = Duration::from_mins(15);
/// The object that is written to check whether the folder can be written.
const CHECK_NAME: &str = ".tessera-check";

/// Returns the name of the object with the archive of an export, below the folder of the bucket.
pub fn archive_name(export: ExportTaskId) -> String {
    format!("exports/{export}.zip")
}

#[derive(Clone, Debug)]
pub struct BucketFolder {
    pub storage: ObjectStorage,
    pub folder: ObjectUri,
}

impl BucketFolder {
    /// Creates a folder. Every runtime needs its own, because the HTTP connections belong to the runtime of the first
    /// call.
    pub fn new(settings: &StorageSettings, folder: &ObjectUri) -> Result<Self, StorageError> {
        let storage = ObjectStorage::new(settings.clone())?;
        Ok(Self { storage, folder: folder.clone() })
    }

    /// Checks that objects can be written, linked to and deleted.
    pub async fn check(&self) -> Result<(), StorageError> {
        self.put(CHECK_NAME, Bytes::from_static(b"tessera")).await?;
        self.signed_link(CHECK_NAME).await?;
        self.delete(CHECK_NAME).await
    }

    /// Uploads an archive in parts. The object appears at the end, as a whole. `disposition` is the header by which
    /// browsers name the download. `proceed` is called with the number of bytes so far. Returns false if `proceed`
    /// stopped the upload.
    pub async fn upload(
        &self,
        name: &str,
        file: &mut File,
        disposition: &str,
        proceed: impl FnMut(u64) -> bool,
    ) -> Result<bool, StorageError> {
        self.upload_with(name, file, &self.multipart_options(disposition), proceed).await
    }

    /// Writes a file as an object, in parts if it is large.
    pub async fn put_file(&self, name: &str, mut file: File) -> Result<(), StorageError> {
        if file.metadata()?.len() > PART_BYTES {
            let options = PutMultipartOptions::default();
            return self.upload_with(name, &mut file, &options, |_| true).await.map(drop);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        self.put(name, bytes.into()).await
    }

    pub async fn put(&self, name: &str, bytes: Bytes) -> Result<(), StorageError> {
        let path = &self.path(name)?;
        let bytes = &bytes;
        self.request(|store| async move {
            store.put(path, bytes.clone().into()).await?;
            Ok(())
        })
        .await
    }

    /// Sends a request to the bucket, and repeats it if it fails for a time.
    pub(super) async fn request<T, F>(
        &self,
        send: impl Fn(Arc<dyn BucketClient>) -> F,
    ) -> Result<T, StorageError>
    where
        F: Future<Output = Result<T, StorageAttemptError>>,
    {
        let attempt = || async { send(self.storage.bucket(&self.folder.bucket).await?).await };
        self.storage.retry_policy.run(attempt).await
    }

    async fn upload_with(
        &self,
        name: &str,
        file: &mut File,
        options: &PutMultipartOptions,
        proceed: impl FnMut(u64) -> bool,
    ) -> Result<bool, StorageError> {
        let path = &self.path(name)?;
        let begin = |store: Arc<dyn BucketClient>| async move {
            Ok(store.create_multipart_opts(path, options.clone()).await?)
        };
        let upload = self.request(begin).await?;
        let end = match self.upload_parts(path, &upload, file, proceed).await {
            Ok(Some(parts)) => self.complete(path, &upload, parts, file).await.map(|()| true),
            Ok(None) => Ok(false),
            Err(error) => Err(error),
        };
        if !matches!(end, Ok(true))
            && let Ok(store) = self.storage.bucket(&self.folder.bucket).await
        {
            // If this fails, a rule of the bucket removes the parts later.
            let _ = store.abort_multipart(path, &upload).await;
        }
        end
    }

    async fn upload_parts(
        &self,
        path: &Path,
        upload: &MultipartId,
        file: &mut File,
        mut proceed: impl FnMut(u64) -> bool,
    ) -> Result<Option<Vec<PartId>>, StorageError> {
        let part_bytes = PART_BYTES.max(file.metadata()?.len().div_ceil(MAX_PARTS));
        let (mut parts, mut sent) = (Vec::new(), 0);
        loop {
            let mut part = Vec::new();
            file.by_ref().take(part_bytes).read_to_end(&mut part)?;
            if part.is_empty() && !parts.is_empty() {
                return Ok(Some(parts));
            }
            sent += part.len() as u64;
            let (part, number) = (&Bytes::from(part), parts.len());
            let put = |store: Arc<dyn BucketClient>| async move {
                Ok(store.put_part(path, upload, number, part.clone().into()).await?)
            };
            parts.push(self.request(put).await?);
            if !proceed(sent) {
                return Ok(None);
            }
        }
    }

    async fn complete(
        &self,
        path: &Path,
        upload: &MultipartId,
        parts: Vec<PartId>,
        file: &File,
    ) -> Result<(), StorageError> {
        let (length, parts) = (file.metadata()?.len(), &parts);
        let complete = |store: Arc<dyn BucketClient>| async move {
            match store.complete_multipart(path, upload, parts.clone()).await {
                Ok(_) => Ok(()),
                // If the object exists with this size, an earlier attempt succeeded and its response was lost.
                Err(_) if store.head(path).await.is_ok_and(|object| object.size == length) => {
                    Ok(())
                }
                Err(error) => Err(StorageAttemptError::from(error)),
            }
        };
        self.request(complete).await
    }

    /// Deletes an object. Deleting an object that does not exist succeeds, which S3 reports but other services do not.
    pub async fn delete(&self, name: &str) -> Result<(), StorageError> {
        let path = &self.path(name)?;
        self.request(|store| async move { unless_missing(store.delete(path).await) }).await
    }

    /// Returns a link to an object that works without credentials.
    pub async fn signed_link(&self, name: &str) -> Result<Url, StorageError> {
        let path = &self.path(name)?;
        let sign = |store: Arc<dyn BucketClient>| async move {
            let link = store.signed_url(Method::GET, path, LINK_LIFETIME).await;
            Ok(link.map_err(|_| {
                StorageError::service("the credentials of this deployment cannot sign links")
            })?)
        };
        self.request(sign).await
    }

    pub fn path(&self, name: &str) -> Result<Path, StorageError> {
        let key = format!("{}{name}", self.folder.folder_prefix());
        let path = Path::parse(&key).ok().filter(|_| is_addressable_key(&key));
        path.ok_or_else(|| StorageError::object("it is not addressable"))
    }

    /// Returns the attributes of an archive. Azure accepts no attributes at the start of an upload.
    fn multipart_options(&self, disposition: &str) -> PutMultipartOptions {
        if self.folder.bucket.service == CloudService::Azure {
            return PutMultipartOptions::default();
        }
        let attributes = [
            (Attribute::ContentType, "application/zip".to_owned()),
            (Attribute::ContentDisposition, disposition.to_owned()),
            (Attribute::CacheControl, "private, no-store".to_owned()),
        ];
        Attributes::from_iter(attributes).into()
    }
}

/// Accepts that what is to be removed does not exist.
pub(super) fn unless_missing(removed: object_store::Result<()>) -> Result<(), StorageAttemptError> {
    match removed.map_err(StorageAttemptError::from) {
        Err(StorageAttemptError { error: StorageError::Missing, .. }) => Ok(()),
        result => result,
    }
}

/// The names of the folders and objects directly below a folder.
#[derive(Debug, Default)]
pub struct FolderContent {
    pub folders: Vec<String>,
    /// The names, with the time of the last change.
    pub objects: Vec<(String, SystemTime)>,
}

impl BucketFolder {
    /// Returns the address of the object with this name.
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

    /// Whether an object with this name exists. A denied request is an error.
    pub async fn contains(&self, name: &str) -> Result<bool, StorageError> {
        let path = self.path(name)?;
        let bucket = &self.folder.bucket;
        // In the order of names, the object comes first among all objects whose names begin with its name.
        let page = self.storage.list_page(bucket, path.as_ref(), None, Some("/")).await?;
        Ok(page.result.objects.iter().any(|object| object.location == path))
    }

    /// Lists what is directly below a subfolder.
    pub async fn children(&self, name: &str) -> Result<FolderContent, StorageError> {
        self.list(name, Some("/")).await
    }

    /// Deletes all objects below a subfolder.
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
