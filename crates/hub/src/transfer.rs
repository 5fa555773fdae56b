//! Asks a hub for the files of a repository, and downloads them. The token is only sent to the hub itself, and a
//! download that was cut off resumes where it ended.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::{Client, Response, StatusCode, Url, header, redirect, retry};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tessera_crypto::{causes, certificate_problem, system_tls_config};
use tessera_files::{
    create_private_dir_durably, if_exists, open_locked, parent_dir, sync_dir, synced,
};
use tessera_proxy::{is_loopback, used_proxy};

use crate::{
    HubError, HubErrorKind, HubFile, HubSettings, Listing, RepositoryName, cache::CachedRepository,
    listing::FileHash,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
const READ_TIMEOUT: Duration = Duration::from_mins(1);
const MAX_REDIRECTS: usize = 5;
/// The number of times that a file is requested if its connections are cut.
const MAX_ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(500);
/// The longest time that is waited before another attempt. If the hub asks for a longer one, the download ends.
const MAX_PAUSE: Duration = Duration::from_mins(1);
/// The maximum size of a list of files.
const MAX_LISTING_BYTES: usize = 32 << 20;
const HASHED_AT_A_TIME: usize = 1 << 16;

/// A client of a hub.
pub struct Hub {
    settings: HubSettings,
    client: Client,
}

/// Why an attempt to download a file ended early.
enum Interruption {
    /// The connection was cut, so another attempt continues.
    Connection(String),
    Final(HubError),
}

impl From<HubError> for Interruption {
    fn from(cause: HubError) -> Self {
        Self::Final(cause)
    }
}

impl From<Interruption> for HubError {
    fn from(cause: Interruption) -> Self {
        match cause {
            Interruption::Connection(cause) => Self::unreachable(&cause),
            Interruption::Final(cause) => cause,
        }
    }
}

impl Hub {
    pub fn new(settings: HubSettings) -> Result<Self, HubError> {
        let is_encrypted = settings.endpoint.scheme() == "https";
        let encryption = system_tls_config(is_encrypted).map_err(HubError::new)?;
        let builder = Client::builder()
            .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .referer(false)
            // A range refers to the bytes of the file, and a hash to its whole content.
            .no_gzip()
            // The client would send the token to the host of a redirect.
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .tls_backend_preconfigured(encryption);
        let builder = if is_loopback(&settings.endpoint) {
            builder.no_proxy()
        } else {
            tessera_proxy::use_proxies(builder).map_err(HubError::new)?
        };
        let client = builder.build().map_err(|cause| {
            HubError::new(format!("cannot create the HTTP client: {}", without_address(cause)))
        })?;
        Ok(Self { settings, client })
    }

    /// Returns the files of the main branch of a repository.
    pub async fn list(&self, repository: &RepositoryName) -> Result<Listing, HubError> {
        let url =
            self.url(&format!("api/models/{repository}/revision/main"), Some("blobs=true"))?;
        let mut response = self.get(url, None, repository).await?;
        let mut body = Vec::new();
        let unreadable = |cause| {
            HubError::new(format!("cannot read the list of files: {}", without_address(cause)))
        };
        while let Some(chunk) = response.chunk().await.map_err(unreadable)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_LISTING_BYTES {
                return Err(HubError::new(
                    "the list of files is too long; choose another repository",
                ));
            }
        }
        let body: Value = serde_json::from_slice(&body)
            .map_err(|_| HubError::new("the response of the hub is not JSON; check HF_ENDPOINT"))?;
        Listing::read(&body)
    }

    /// Downloads files of a listing that are not in the cache yet, and returns their folder. `progress` is called with
    /// the number of bytes that have arrived. Call [`Self::publish`] after the last file.
    pub async fn download(
        &self,
        repository: &RepositoryName,
        listing: &Listing,
        files: &[&HubFile],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<PathBuf, HubError> {
        let cached = CachedRepository::new(&self.settings.cache, repository);
        let mut before = 0;
        for file in files {
            self.fetch(repository, listing, &cached, file, &|bytes| progress(before + bytes))
                .await?;
            cached.link(&listing.commit, file)?;
            before += file.bytes;
            progress(before);
        }
        Ok(cached.snapshot(&listing.commit))
    }

    /// Returns whether the content of a file is in the cache.
    pub fn is_cached(&self, repository: &RepositoryName, file: &HubFile) -> bool {
        let cached = CachedRepository::new(&self.settings.cache, repository);
        cached.blob(&file.hash).metadata().is_ok_and(|found| found.len() == file.bytes)
    }

    /// Lets the commit of a listing be found by the name of its repository.
    pub fn publish(&self, repository: &RepositoryName, listing: &Listing) -> Result<(), HubError> {
        CachedRepository::new(&self.settings.cache, repository).set_main(&listing.commit)
    }

    async fn fetch(
        &self,
        repository: &RepositoryName,
        listing: &Listing,
        cached: &CachedRepository,
        file: &HubFile,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), HubError> {
        if self.is_cached(repository, file) {
            return Ok(());
        }
        let blob = cached.blob(&file.hash);
        // The hub's own tools use the same name, so that they and this program resume each other's downloads.
        let part = blob.with_extension("incomplete");
        create_private_dir_durably(parent_dir(&part))
            .map_err(|cause| HubError::file("create", parent_dir(&part), &cause))?;
        let opened = open_locked(&part).map_err(|cause| HubError::file("write", &part, &cause))?;
        let mut to = opened.ok_or_else(|| {
            let sentence = format!("another program is downloading {}; try again later", file.path);
            HubError::of_kind(HubErrorKind::Temporary, sentence)
        })?;
        let path = format!("{repository}/resolve/{}/{}", listing.commit, file.path);
        let url = self.url(&path, None)?;
        let mut attempt = 1;
        while let Err(interruption) =
            self.receive(&url, repository, file, (&mut to, &part), progress).await
        {
            match interruption {
                Interruption::Connection(_) if attempt < MAX_ATTEMPTS => attempt += 1,
                Interruption::Connection(cause) => {
                    let sentence = format!(
                        "the download of {} was cut off ({cause}); try again to resume it",
                        file.path
                    );
                    return Err(HubError::of_kind(HubErrorKind::Temporary, sentence));
                }
                Interruption::Final(cause) => return Err(cause),
            }
            tokio::time::sleep(PAUSE).await;
        }
        verify(&part, file)?;
        let keep = || {
            synced(to.sync_all())?;
            fs::rename(&part, &blob)?;
            sync_dir(parent_dir(&blob))
        };
        keep().map_err(|cause: io::Error| HubError::file("write", &blob, &cause))
    }

    /// Appends the rest of a file to what has arrived.
    async fn receive(
        &self,
        url: &Url,
        repository: &RepositoryName,
        file: &HubFile,
        (to, part): (&mut File, &Path),
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Interruption> {
        let failed = |cause: io::Error| HubError::file("write", part, &cause);
        let mut position = to.seek(SeekFrom::End(0)).map_err(failed)?;
        if position == file.bytes {
            return Ok(());
        }
        if position > file.bytes {
            position = 0;
            to.set_len(0).map_err(failed)?;
        }
        let range = (position > 0).then(|| format!("bytes={position}-"));
        let mut response = self.get(url.clone(), range, repository).await?;
        let start = range_start(&response).unwrap_or_default();
        if start != position {
            // The hub ignored the range, so the response is the whole file.
            position = start.min(position);
            to.set_len(position).map_err(failed)?;
        }
        to.seek(SeekFrom::Start(position)).map_err(failed)?;
        let cut = |cause| Interruption::Connection(without_address(cause));
        while let Some(chunk) = response.chunk().await.map_err(cut)? {
            position += chunk.len() as u64;
            if position > file.bytes {
                to.set_len(0).map_err(failed)?;
                return Err(wrong_content(file).into());
            }
            to.write_all(&chunk).map_err(failed)?;
            progress(position);
        }
        if position < file.bytes {
            return Err(Interruption::Connection("the response ended early".to_owned()));
        }
        Ok(())
    }

    fn url(&self, path: &str, query: Option<&str>) -> Result<Url, HubError> {
        let mut url = self.settings.endpoint.clone();
        {
            let wrong = |()| HubError::new("HF_ENDPOINT is not an address of a hub; correct it");
            let mut segments = url.path_segments_mut().map_err(wrong)?;
            segments.pop_if_empty().extend(path.split('/'));
        }
        url.set_query(query);
        Ok(url)
    }

    /// Sends a request, and follows redirects. Only requests to the hub itself carry the token.
    async fn get(
        &self,
        mut url: Url,
        range: Option<String>,
        repository: &RepositoryName,
    ) -> Result<Response, Interruption> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send(&url, range.as_deref()).await?;
            if !response.status().is_redirection() {
                return Ok(self.checked(response, repository)?);
            }
            let location = response.headers().get(header::LOCATION);
            let next = location.and_then(|location| url.join(location.to_str().ok()?).ok());
            let next = next.filter(|next| {
                next.scheme() == "https" || (next.scheme() == "http" && url.scheme() == "http")
            });
            url = next.ok_or_else(|| {
                HubError::new("the hub redirects to an address that is not encrypted or not valid")
            })?;
        }
        Err(HubError::new("the hub redirects too often; check HF_ENDPOINT").into())
    }

    /// Sends a request. A hub that is busy is asked again after the time that it names.
    async fn send(&self, url: &Url, range: Option<&str>) -> Result<Response, Interruption> {
        let token = self.settings.token.as_ref();
        let token = token.filter(|_| url.origin() == self.settings.endpoint.origin());
        let mut attempt = 1;
        loop {
            let mut request = self.client.get(url.clone());
            if let Some(token) = token {
                request = request.bearer_auth(token.expose_secret());
            }
            if let Some(range) = range {
                request = request.header(header::RANGE, range);
            }
            let cut = |cause| {
                let proxy = used_proxy(url).map(|proxy| format!(", through the proxy {proxy}"));
                Interruption::Connection(without_address(cause) + &proxy.unwrap_or_default())
            };
            let response = request.send().await.map_err(cut)?;
            let pause = requested_pause(&response).unwrap_or(PAUSE);
            if !is_busy(response.status()) || attempt == MAX_ATTEMPTS || pause > MAX_PAUSE {
                return Ok(response);
            }
            attempt += 1;
            tokio::time::sleep(pause).await;
        }
    }

    fn checked(
        &self,
        response: Response,
        repository: &RepositoryName,
    ) -> Result<Response, HubError> {
        let has_token = self.settings.token.is_some();
        let (kind, sentence) = match response.status() {
            status if status.is_success() => return Ok(response),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if has_token => (
                HubErrorKind::NoAccess,
                format!(
                    "the hub gives no access to {repository} with this token; accept the license on the page of the \
                     repository, or check its name and HF_TOKEN"
                ),
            ),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => (
                HubErrorKind::NoAccess,
                format!(
                    "the hub gives no access to {repository} without a token; check the name, accept the license on \
                     its page, and set HF_TOKEN"
                ),
            ),
            StatusCode::NOT_FOUND => (
                HubErrorKind::NotFound,
                format!("the hub has no repository {repository}, or not this file; check the name"),
            ),
            StatusCode::TOO_MANY_REQUESTS => (
                HubErrorKind::Temporary,
                "the hub asks to wait; try again in a few minutes".to_owned(),
            ),
            status => {
                (HubErrorKind::Temporary, format!("the hub responded {status}; try again later"))
            }
        };
        Err(HubError::of_kind(kind, sentence))
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// Returns the time that the hub asks to wait, which public hubs give in seconds.
fn requested_pause(response: &Response) -> Option<Duration> {
    let value = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    Some(Duration::from_secs(value.trim().parse().ok()?))
}

/// Returns the position at which the content of a response begins.
fn range_start(response: &Response) -> Option<u64> {
    if response.status() != StatusCode::PARTIAL_CONTENT {
        return None;
    }
    let range = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.parse().ok()
}

/// Compares a file with its hash. A file that differs is removed, so that the next download begins again.
fn verify(path: &Path, file: &HubFile) -> Result<(), HubError> {
    let failed = |cause: io::Error| HubError::file("read", path, &cause);
    let found = match &file.hash {
        FileHash::Sha256(_) => {
            hex(&hash(path, Sha256::new(), |hasher, bytes| hasher.update(bytes))
                .map_err(failed)?
                .finalize())
        }
        FileHash::Git(_) => {
            let mut hasher = sha1_smol::Sha1::new();
            hasher.update(format!("blob {}\0", file.bytes).as_bytes());
            hash(path, hasher, sha1_smol::Sha1::update).map_err(failed)?.digest().to_string()
        }
    };
    if found == file.hash.as_str() {
        return Ok(());
    }
    if_exists(fs::remove_file(path)).map_err(failed)?;
    Err(wrong_content(file))
}

fn hash<H>(path: &Path, mut hasher: H, update: impl Fn(&mut H, &[u8])) -> io::Result<H> {
    let mut from = File::open(path)?;
    let mut buffer = vec![0; HASHED_AT_A_TIME];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hasher),
            length => update(&mut hasher, &buffer[..length]),
        }
    }
}

fn wrong_content(file: &HubFile) -> HubError {
    HubError::new(format!(
        "the content of {} differs from its hash and was thrown away; try again",
        file.path
    ))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16);
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(digit).collect()
}

/// Describes an error without its address, whose query can be a signature.
fn without_address(cause: reqwest::Error) -> String {
    let cause = cause.without_url();
    let deepest = || causes(&cause).last().map_or_else(|| cause.to_string(), ToString::to_string);
    certificate_problem(&cause).unwrap_or_else(deepest)
}
