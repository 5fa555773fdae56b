//! Lists the objects of a manifest, which is downloaded first.

use std::{io::Seek as _, sync::Arc};

use tokio::{fs::File, io::AsyncWriteExt as _};

use super::{
    ObjectListing, ObjectStorage, StorageError,
    error::ensure,
    manifest,
    object_body::ObjectBody,
    object_uri::{ManifestFormat, ObjectUri},
};

/// Size limit of a manifest, in bytes.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

impl ObjectStorage {
    pub(super) async fn list_manifest(
        &self,
        uri: &ObjectUri,
        format: ManifestFormat,
        most: usize,
    ) -> Result<ObjectListing, String> {
        let file = self.download_manifest(uri).await.map_err(|error| error.to_string())?;
        let uri = uri.clone();
        let read = move || manifest::read(file, format, &uri, most);
        tokio::task::spawn_blocking(read)
            .await
            // Parsers of foreign formats have been observed to panic.
            .unwrap_or_else(|_| Err("it is damaged".to_owned()))
    }

    async fn download_manifest(&self, uri: &ObjectUri) -> Result<std::fs::File, StorageError> {
        let bucket = Arc::new(uri.bucket.clone());
        let mut body = ObjectBody::open(self, &bucket, &uri.key).await?;
        let mib = MAX_MANIFEST_BYTES >> 20;
        let too_large = || StorageError::object(format!("the manifest is larger than {mib} MiB"));
        ensure(body.size() <= MAX_MANIFEST_BYTES, too_large)?;
        let mut file = File::from_std(tempfile::tempfile()?);
        while let Some(chunk) = body.next().await? {
            file.write_all(&chunk).await?;
        }
        file.flush().await?;
        let mut file = file.into_std().await;
        file.rewind()?;
        Ok(file)
    }
}
