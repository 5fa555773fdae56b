//! Requests pages of listings, manifests and objects from object storage, and retries failed attempts.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use object_store::{
    GetOptions, GetRange, GetResult, ObjectStore as _,
    client::{HttpError, HttpRequest, HttpResponse, HttpService as _},
    list::{PaginatedListOptions, PaginatedListResult},
    path::Path,
};
use parking_lot::Mutex;
use reqwest::{Client, ClientBuilder, Url, redirect, retry};
use tessera_crypto::{ClientConfig, system_tls_config};
use tessera_proxy::is_loopback;
use tokio::time::{sleep, timeout};

use super::{
    StorageError, StorageSettings,
    bucket_client::{self, BucketClient, ListingRequest, Transport, attempt_error},
    error::StorageAttemptError,
    object_uri::{BucketUri, ObjectUri},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time in which a mebibyte of a request is sent even over a slow connection that several requests share.
const TIME_PER_SENT_MIB: Duration = Duration::from_secs(64);
/// Maximum size of a request that is sent within the time limit for a response, in bytes.
const MAX_SHORT_REQUEST: u64 = 1 << 20;

/// The HTTP clients of object storage.
#[derive(Clone, Debug)]
pub(crate) struct StorageClient {
    client: Client,
    /// The client for long requests. It has no read timeout, because that timeout includes the time for sending.
    uploader: Client,
    pub read_timeout: Duration,
}

impl StorageClient {
    pub fn new(settings: &StorageSettings, read_timeout: Duration) -> Result<Self, StorageError> {
        let is_encrypted = settings.endpoints().all(|endpoint| endpoint.scheme() == "https");
        let encryption = system_tls_config(is_encrypted).map_err(StorageError::service)?;
        let builder = || client_builder(settings, encryption.clone());
        let client = build(builder()?.read_timeout(read_timeout))?;
        let uploader = build(builder()?)?;
        Ok(Self { client, uploader, read_timeout })
    }

    /// Sends a request within a time that grows with its size.
    pub async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let length = request.body().content_length() as u64;
        if length <= MAX_SHORT_REQUEST {
            return self.client.call(request).await;
        }
        let mib = u32::try_from(length >> 20).unwrap_or(u32::MAX);
        let limit = self.read_timeout + TIME_PER_SENT_MIB.saturating_mul(mib);
        timeout(limit, self.uploader.call(request)).await.map_err(|_| {
            let error = StorageError::service("the storage did not take the upload in time");
            attempt_error(StorageAttemptError { error, retryable: true })
        })?
    }
}

#[derive(Clone, Debug)]
pub struct ObjectStorage {
    client: StorageClient,
    settings: StorageSettings,
    pub(crate) retry_policy: RetryPolicy,
    buckets: Arc<Mutex<HashMap<BucketUri, OpenBucket>>>,
}

/// A bucket in use. Its client keeps its credentials until they expire.
#[derive(Debug)]
struct OpenBucket {
    client: Arc<dyn BucketClient>,
    /// Whether a request without a signature was denied, so that the credentials have to be requested again. The role
    /// of the machine may not have responded in time.
    is_denied: Arc<AtomicBool>,
    /// When the credentials were requested again.
    reopened_at: Option<Instant>,
}

/// The time between two requests for the credentials of a bucket that denies access. On a machine without a role, each
/// request takes a second, and a scan asks for many objects.
const REOPENING_PAUSE: Duration = Duration::from_mins(1);

impl OpenBucket {
    fn is_usable(&self) -> bool {
        let is_recent = self.reopened_at.is_some_and(|at| at.elapsed() < REOPENING_PAUSE);
        is_recent || !self.is_denied.load(Ordering::Relaxed)
    }
}

impl ObjectStorage {
    pub fn new(settings: StorageSettings) -> Result<Self, StorageError> {
        Self::with_retry_policy(settings, RetryPolicy::default())
    }

    pub fn with_retry_policy(
        settings: StorageSettings,
        retry_policy: RetryPolicy,
    ) -> Result<Self, StorageError> {
        let client = StorageClient::new(&settings, retry_policy.read_timeout)?;
        Ok(Self { client, settings, retry_policy, buckets: Arc::default() })
    }

    pub(crate) async fn list_page(
        &self,
        bucket: &BucketUri,
        prefix: &str,
        token: Option<String>,
        delimiter: Option<&'static str>,
    ) -> Result<PaginatedListResult, StorageError> {
        self.retry_policy
            .run(|| async {
                let mut options = PaginatedListOptions {
                    page_token: token.clone(),
                    delimiter: delimiter.map(Into::into),
                    ..Default::default()
                };
                options.extensions.insert(ListingRequest);
                let store = self.bucket(bucket).await?;
                Ok(store.list_paginated(Some(prefix), options).await?)
            })
            .await
    }

    /// Requests an object. Returns a successful response whose body has not been read.
    pub(crate) async fn get_object(
        &self,
        bucket: &BucketUri,
        key: &str,
        options: GetOptions,
    ) -> Result<GetResult, StorageAttemptError> {
        let path = Path::parse(key).map_err(|_| StorageError::object("it is not addressable"))?;
        let store = self.bucket(bucket).await?;
        Ok(store.get_opts(&path, options).await?)
    }

    /// Reads a part of an object.
    pub async fn read_range(
        &self,
        object: &ObjectUri,
        range: Range<u64>,
    ) -> Result<Bytes, StorageError> {
        let read = || async {
            let range = Some(GetRange::Bounded(range.clone()));
            let options = GetOptions { range, ..GetOptions::default() };
            let response = self.get_object(&object.bucket, &object.key, options).await?;
            Ok(response.bytes().await?)
        };
        self.retry_policy.run(read).await
    }

    /// Requests the text at an address that was signed for a bucket.
    pub async fn get_text(
        &self,
        bucket: &BucketUri,
        signed: &Url,
    ) -> Result<String, StorageAttemptError> {
        let region = self.settings.region();
        Transport::new(&self.client, bucket.service, region, true).get_text(signed).await
    }

    pub async fn bucket(
        &self,
        bucket: &BucketUri,
    ) -> Result<Arc<dyn BucketClient>, StorageAttemptError> {
        let buckets = || self.buckets.lock();
        let known = buckets().get(bucket).map(|open| (Arc::clone(&open.client), open.is_usable()));
        if let Some((client, true)) = known {
            return Ok(client);
        }
        let is_denied = Arc::default();
        let client = bucket_client::open(&self.settings, &self.client, bucket, &is_denied).await?;
        let reopened_at = known.map(|_| Instant::now());
        let open = OpenBucket { client: Arc::clone(&client), is_denied, reopened_at };
        buckets().insert(bucket.clone(), open);
        Ok(client)
    }
}

fn client_builder(
    settings: &StorageSettings,
    encryption: ClientConfig,
) -> Result<ClientBuilder, StorageError> {
    let builder = Client::builder()
        .tls_backend_preconfigured(encryption)
        .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .referer(false)
        // A compressed object is read as it is stored, without unpacking it.
        .no_gzip()
        // A signature is valid for a single host.
        .redirect(redirect::Policy::none())
        .retry(retry::never());
    let loopback = settings.endpoints().any(|endpoint| is_loopback(&endpoint));
    if loopback {
        return Ok(builder.no_proxy());
    }
    tessera_proxy::use_proxies(builder).map_err(StorageError::service)
}

fn build(builder: ClientBuilder) -> Result<Client, StorageError> {
    let failed = |_| StorageError::service("the client for object storage cannot start");
    builder.build().map_err(failed)
}

const MAX_ATTEMPTS: u32 = 4;

#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Time limit for the next bytes of a response.
    pub read_timeout: Duration,
    /// Delay before the first retry. The delay doubles with each further retry.
    pub initial_backoff: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { read_timeout: Duration::from_secs(30), initial_backoff: Duration::from_millis(250) }
    }
}

impl RetryPolicy {
    pub async fn run<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, StorageError>
    where
        F: Future<Output = Result<T, StorageAttemptError>>,
    {
        let mut attempts = self.attempts();
        loop {
            match attempt().await {
                Ok(value) => return Ok(value),
                Err(failure) => attempts.pause_after(failure).await?,
            }
        }
    }

    pub(crate) fn attempts(&self) -> Attempts {
        Attempts { failed: 0, backoff: self.initial_backoff }
    }
}

/// The attempts of one request.
#[derive(Debug)]
pub(crate) struct Attempts {
    failed: u32,
    backoff: Duration,
}

impl Attempts {
    /// Waits until the next attempt. If there is none, returns the reason.
    pub(crate) async fn pause_after(
        &mut self,
        failure: StorageAttemptError,
    ) -> Result<(), StorageError> {
        self.failed += 1;
        if !failure.retryable {
            return Err(failure.error);
        }
        if self.failed == MAX_ATTEMPTS {
            return Err(StorageError::Temporary(failure.error.to_string()));
        }
        sleep(self.backoff).await;
        self.backoff *= 2;
        Ok(())
    }
}
