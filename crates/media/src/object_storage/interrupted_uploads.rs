//! Finds and removes what interrupted uploads leave in a bucket: files that belong to no dataset, and parts, which no
//! listing of objects contains. Both take up space.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use object_store::{MultipartId, path::Path, signer::SignedUrlOptions};
use reqwest::Method;
use roxmltree::{Document, Node};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use super::{
    BucketFolder, CloudService, StorageError, bucket_client::BucketClient,
    bucket_folder::unless_missing, error::not_object_storage,
};

/// The age at which an upload counts as interrupted. A younger upload may belong to a process that is still running.
pub const INTERRUPTED_AFTER: Duration = Duration::from_hours(24);
/// The folder with a marker object for each upload of files that has begun.
const BEGUN_UPLOADS: &str = "begun-uploads";
/// The folders in which objects are written in parts.
const FOLDERS_OF_PARTS: [&str; 2] = ["exports", "uploads"];
const REQUEST_LIFETIME: Duration = Duration::from_mins(1);

/// An upload in parts that was not completed.
#[derive(Clone, Debug)]
pub struct IncompleteObject {
    /// The name below the folder of the bucket.
    name: String,
    id: MultipartId,
    begun_at: SystemTime,
}

/// A page of incomplete objects, and the parameters of the next page.
type IncompletePage = (Vec<IncompleteObject>, Option<[(&'static str, String); 2]>);

impl BucketFolder {
    /// Notes that the files of an upload are being written. [`BucketFolder::end_upload`] removes the note.
    pub async fn begin_upload(&self, id: &str) -> Result<(), StorageError> {
        self.put(&format!("{BEGUN_UPLOADS}/{id}"), Bytes::from_static(b"tessera")).await
    }

    pub async fn end_upload(&self, id: &str) -> Result<(), StorageError> {
        self.delete(&format!("{BEGUN_UPLOADS}/{id}")).await
    }

    /// Returns the identifiers of uploads that have not ended, with the time at which they began.
    pub async fn begun_uploads(&self) -> Result<Vec<(String, SystemTime)>, StorageError> {
        Ok(self.children(BEGUN_UPLOADS).await?.objects)
    }

    /// Returns the identifiers of uploads that began before `limit` and have not ended.
    pub async fn interrupted_uploads(
        &self,
        limit: SystemTime,
    ) -> Result<Vec<String>, StorageError> {
        let begun = self.begun_uploads().await?.into_iter();
        Ok(begun.filter(|(_, begun_at)| *begun_at < limit).map(|(id, _)| id).collect())
    }

    /// Returns the incomplete objects whose parts began to arrive before `limit`. There are none on Azure, which
    /// removes such parts itself.
    pub async fn incomplete_objects(
        &self,
        limit: SystemTime,
    ) -> Result<Vec<IncompleteObject>, StorageError> {
        let mut found = Vec::new();
        if self.folder.bucket.service == CloudService::Azure {
            return Ok(found);
        }
        for folder in FOLDERS_OF_PARTS {
            let mut marker = None;
            loop {
                let (page, next) = self.incomplete_page(folder, marker.take()).await?;
                let abandoned = |it: &IncompleteObject| it.begun_at < limit && it.is_ours();
                found.extend(page.into_iter().filter(abandoned));
                marker = next;
                if marker.is_none() {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Removes the parts of an incomplete object, unless another process has removed them.
    pub async fn abort(&self, incomplete: &IncompleteObject) -> Result<(), StorageError> {
        let path = &self.path(&incomplete.name)?;
        let abort = |store: Arc<dyn BucketClient>| async move {
            unless_missing(store.abort_multipart(path, &incomplete.id).await)
        };
        self.request(abort).await
    }

    /// Requests a page of incomplete objects. The library has no function for this request, but signs it.
    async fn incomplete_page(
        &self,
        folder: &str,
        marker: Option<[(&'static str, String); 2]>,
    ) -> Result<IncompletePage, StorageError> {
        let base = &self.folder.folder_prefix();
        let query = [("uploads", String::new()), ("prefix", format!("{base}{folder}/"))];
        let query = query.into_iter().chain(marker.into_iter().flatten());
        let query = SignedUrlOptions::new().with_query(query);
        let unsigned = |_| StorageError::service("the credentials cannot sign this request");
        let query = &query;
        let list = |store: Arc<dyn BucketClient>| async move {
            let root = Path::default();
            let signed = store.signed_url_opts(Method::GET, &root, REQUEST_LIFETIME, query).await;
            let signed = signed.map_err(unsigned)?;
            let page = self.storage.get_text(&self.folder.bucket, &signed).await?;
            read_page(&page, base).ok_or_else(not_object_storage)
        };
        self.request(list).await
    }
}

impl IncompleteObject {
    /// Returns the name below the folder of the bucket.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this program gives such names. Other programs may also write to the bucket.
    fn is_ours(&self) -> bool {
        let id = self.name.split(['/', '.']).nth(1);
        id.is_some_and(|id| Uuid::try_parse(id).is_ok())
    }
}

/// Reads a page. `base` is the prefix of all names.
fn read_page(xml: &str, base: &str) -> Option<IncompletePage> {
    let document = Document::parse(xml).ok()?;
    let root = document.root_element();
    if !root.has_tag_name("ListMultipartUploadsResult") {
        return None;
    }
    let uploads = root.children().filter(|node| node.has_tag_name("Upload"));
    let found = uploads.filter_map(|upload| {
        let begun_at = OffsetDateTime::parse(&text(upload, "Initiated")?, &Rfc3339).ok()?;
        let name = text(upload, "Key")?.strip_prefix(base)?.to_owned();
        let id = text(upload, "UploadId")?;
        Some(IncompleteObject { name, id, begun_at: begun_at.into() })
    });
    let next = || {
        let key = text(root, "NextKeyMarker")?;
        let id = text(root, "NextUploadIdMarker")?;
        Some([("key-marker", key), ("upload-id-marker", id)])
    };
    let has_more = text(root, "IsTruncated").is_some_and(|truncated| truncated == "true");
    Some((found.collect(), if has_more { next() } else { None }))
}

fn text(node: Node, name: &str) -> Option<String> {
    let child = node.children().find(|child| child.has_tag_name(name))?;
    child.text().map(str::to_owned)
}
