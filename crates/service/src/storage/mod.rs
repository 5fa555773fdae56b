//! Media in object storage: folders and manifests listed, and their objects fetched, over the
//! S3 API.
//!
//! Only `s3://` addresses are read. The signing and the words of S3 are a library's; the bytes
//! go over a client of our own. Nothing said here carries an address or a secret.

mod entry;
mod fault;
mod fetch;
mod manifest;
mod role;
mod s3;
mod settings;
mod uri;

use std::{fmt, io::Seek as _, sync::Arc};

use tokio::{fs::File, io::AsyncWriteExt as _};

pub use entry::{Entry, Place};
pub use fault::Fault;
pub use role::Role;
pub use settings::{Key, Settings};

use crate::ingest::kind::Kind;
use fault::{Setback, lost};
use s3::{Patience, S3};
use tessera_model::SafeText;
use uri::{Format, Uri, is_reachable};

/// Most objects of a listing.
pub const MOST: usize = 1_000_000;
/// Most pages of a listing: services give pages of any size.
const PAGES: usize = 20_000;
/// Largest manifest, in bytes.
const MANIFEST: u64 = 64 << 20;

/// Object storage, as the settings reach it.
#[derive(Clone, Debug)]
pub struct Storage {
    s3: S3,
}

/// What a folder or a manifest holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Media, and the sidecars beside them, in the order they were listed.
    pub entries: Vec<Entry>,
    /// How many of the entries are media.
    pub media: usize,
    /// How many objects are neither, or have names that cannot be asked for.
    pub passed_over: usize,
    /// Whether there may be more than was listed.
    pub more: bool,
}

/// Why nothing comes from an address; the text of a 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Storage {
    /// Reaches storage as the settings say.
    ///
    /// # Errors
    /// The HTTP client cannot start.
    pub fn new(settings: Settings) -> Result<Self, Fault> {
        Ok(Self { s3: S3::new(settings, Patience::default())? })
    }

    /// Lists the media at `uri`, a folder or a manifest, until `most` media are found: 1 tells
    /// whether there are any, [`MOST`] is the bound of all objects in any case.
    ///
    /// # Errors
    /// `uri` is no address, cannot be read, or has no media; or a role is to be assumed.
    pub async fn list(
        &self,
        uri: &str,
        role: Option<&Role>,
        most: usize,
    ) -> Result<Listing, Refusal> {
        let refuse = |reason: String| Refusal::new(uri, &reason);
        let place = Uri::parse(uri).map_err(|reason| refuse(reason.to_owned()))?;
        if let Some(role) = role {
            return Err(refuse(format!(
                "the role {role} cannot be assumed: no token service (STS) is reachable from a local \
                 deployment; start it with a key that may read the bucket"
            )));
        }
        let listing = match place.manifest() {
            Some(format) => self.manifest(&place, format, most).await,
            None => self.folder(&place, most).await.map_err(|fault| fault.to_string()),
        };
        match listing.map_err(refuse)? {
            listing if listing.media == 0 => Err(Refusal::new(uri, "")),
            listing => Ok(listing),
        }
    }

    async fn folder(&self, place: &Uri, most: usize) -> Result<Listing, Fault> {
        let folder = place.folder();
        let bucket: Arc<str> = place.bucket.as_str().into();
        let mut listing = Listing::default();
        let mut token = None;
        for _ in 0..PAGES {
            let page = self.s3.page(&place.bucket, &folder, token.as_deref()).await?;
            for object in page.contents {
                if object.key.ends_with('/') {
                    // How some tools mark a folder.
                    continue;
                }
                if !object.key.starts_with(&folder) || !is_reachable(&object.key) {
                    listing.passed_over += 1;
                    continue;
                }
                let place = Place::Below(folder.len());
                let bucket = Arc::clone(&bucket);
                listing.add(Entry { bucket, key: object.key, size: object.size, place });
                if !listing.wants_more(most) {
                    return Ok(listing);
                }
            }
            token = page.next_continuation_token;
            if token.is_none() {
                return Ok(listing);
            }
        }
        listing.more = true;
        Ok(listing)
    }

    async fn manifest(&self, place: &Uri, format: Format, most: usize) -> Result<Listing, String> {
        let file = self.s3.retried(|| self.content(place)).await;
        let file = file.map_err(|fault| fault.to_string())?;
        let place = place.clone();
        let read = move || manifest::read(file, format, &place, most);
        tokio::task::spawn_blocking(read)
            .await
            // The readers of foreign formats have been seen to panic.
            .unwrap_or_else(|_| Err("it is damaged".to_owned()))
    }

    /// The content of a manifest, in a file without a name.
    async fn content(&self, place: &Uri) -> Result<std::fs::File, Setback> {
        let disk = |cause| Setback::Final(Fault::Disk(cause));
        let mut answer = self.s3.object(&place.bucket, &place.key).await?;
        let mut file = File::from_std(tempfile::tempfile().map_err(disk)?);
        let mut bytes = 0;
        while let Some(chunk) = answer.chunk().await.map_err(|cause| lost(&cause))? {
            bytes += chunk.len() as u64;
            if bytes > MANIFEST {
                let words = format!("the manifest is larger than {} MiB", MANIFEST >> 20);
                return Err(Setback::Final(Fault::Object(words)));
            }
            file.write_all(&chunk).await.map_err(disk)?;
        }
        file.flush().await.map_err(disk)?;
        let mut file = file.into_std().await;
        file.rewind().map_err(disk)?;
        Ok(file)
    }
}

impl Listing {
    /// Takes up an object if it is of use.
    fn add(&mut self, entry: Entry) {
        match entry.kind() {
            Kind::Picture | Kind::Video => self.media += 1,
            Kind::Sidecar => {}
            Kind::Archive | Kind::Other => {
                self.passed_over += 1;
                return;
            }
        }
        self.entries.push(entry);
    }

    /// Whether to go on until `most` media are found.
    fn wants_more(&mut self, most: usize) -> bool {
        self.more = self.media >= most || self.entries.len() + self.passed_over >= MOST;
        !self.more
    }
}

impl Refusal {
    fn new(uri: &str, reason: &str) -> Self {
        let uri = SafeText::file(uri);
        let words = format!("Invalid S3 URI or no media files found at {uri}");
        Self(if reason.is_empty() { words } else { format!("{words} ({reason})") })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
