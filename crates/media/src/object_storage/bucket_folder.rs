//! A folder of a bucket that the service writes to: uploads in parts, deletes, and signs links.

use std::{fs::File, io::Read as _, time::Duration};

use bytes::Bytes;
use object_store::{
    Attribute, Attributes, MultipartId, ObjectStoreExt as _, PutMultipartOptions,
    multipart::PartId, path::Path,
};
use reqwest::{Method, Url};

use super::{
    ObjectStorage, StorageError, StorageSettings,
    error::StorageAttemptError,
    object_uri::{CloudService, ObjectUri},
};
use tessera_model::ExportTaskId;

/// Smallest size of a part; services accept at most 10,000 of them.
const PART_BYTES: u64 = 8 << 20;
const MAX_PARTS: u64 = 10_000;
/// How long a link can be opened; a download that has begun may take longer.
const LINK_LIFETIME: Duration = Duration::from_mins(15);
/// The object that is written to check whether the folder can be written.
const CHECK_NAME: &str = ".tessera-check";

/// The object of the archive of an export, below the folder of the bucket.
pub fn archive_name(export: ExportTaskId) -> String {
    format!("exports/{export}.zip")
}

#[derive(Clone, Debug)]
pub struct BucketFolder {
    pub(super) storage: ObjectStorage,
    pub(super) folder: ObjectUri,
}

impl BucketFolder {
    /// The HTTP connections belong to the runtime of the first call, so every runtime needs its own.
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

    /// Uploads an archive in parts; `disposition` is how browsers save it. The object appears at the
    /// end, whole. Returns false if `proceed` stopped it, which gets the number of bytes so far.
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
        let put = || async {
            let store = self.storage.bucket(&self.folder.bucket).await?;
            store.put(path, bytes.clone().into()).await?;
            Ok(())
        };
        self.storage.retry_policy.run(put).await
    }

    async fn upload_with(
        &self,
        name: &str,
        file: &mut File,
        options: &PutMultipartOptions,
        proceed: impl FnMut(u64) -> bool,
    ) -> Result<bool, StorageError> {
        let path = &self.path(name)?;
        let retry = self.storage.retry_policy;
        let begin = || async {
            let store = self.storage.bucket(&self.folder.bucket).await?;
            Ok(store.create_multipart_opts(path, options.clone()).await?)
        };
        let upload = retry.run(begin).await?;
        let end = match self.upload_parts(path, &upload, file, proceed).await {
            Ok(Some(parts)) => self.complete(path, &upload, parts, file).await.map(|()| true),
            Ok(None) => Ok(false),
            Err(error) => Err(error),
        };
        if !matches!(end, Ok(true))
            && let Ok(store) = self.storage.bucket(&self.folder.bucket).await
        {
            // Parts that stay are removed by a rule of the bucket.
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
            let put = || async {
                let store = self.storage.bucket(&self.folder.bucket).await?;
                Ok(store.put_part(path, upload, number, part.clone().into()).await?)
            };
            parts.push(self.storage.retry_policy.run(put).await?);
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
        let length = file.metadata()?.len();
        let complete = || async {
            let store = self.storage.bucket(&self.folder.bucket).await?;
            match store.complete_multipart(path, upload, parts.clone()).await {
                Ok(_) => Ok(()),
                // The response to an attempt that succeeded may have been lost.
                Err(_) if store.head(path).await.is_ok_and(|object| object.size == length) => {
                    Ok(())
                }
                Err(error) => Err(StorageAttemptError::from(error)),
            }
        };
        self.storage.retry_policy.run(complete).await
    }

    /// Deletes an object; one that does not exist is deleted already, as S3 says and others do not.
    pub async fn delete(&self, name: &str) -> Result<(), StorageError> {
        let path = &self.path(name)?;
        let delete = || async {
            let store = self.storage.bucket(&self.folder.bucket).await?;
            match store.delete(path).await.map_err(StorageAttemptError::from) {
                Err(StorageAttemptError { error: StorageError::Missing, .. }) => Ok(()),
                result => result,
            }
        };
        self.storage.retry_policy.run(delete).await
    }

    /// A link to an object that needs no credentials.
    pub async fn signed_link(&self, name: &str) -> Result<Url, StorageError> {
        let path = &self.path(name)?;
        let sign = || async {
            let store = self.storage.bucket(&self.folder.bucket).await?;
            let link = store.signed_url(Method::GET, path, LINK_LIFETIME).await;
            Ok(link.map_err(|_| {
                StorageError::service("the credentials of this deployment cannot sign links")
            })?)
        };
        self.storage.retry_policy.run(sign).await
    }

    pub(super) fn path(&self, name: &str) -> Result<Path, StorageError> {
        Path::parse(format!("{}{name}", self.folder.folder_prefix()))
            .map_err(|_| StorageError::object("it is not addressable"))
    }

    /// Azure has no attributes before the end of an upload.
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
