//! The client for object storage: requests for pages of listings, manifests and objects.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use object_store::{
    GetOptions, GetRange, GetResult, ObjectStore as _,
    list::{PaginatedListOptions, PaginatedListResult},
    path::Path,
};
use reqwest::{Client, Url, redirect, retry};

use super::{
    RetryPolicy, StorageError, StorageSettings,
    bucket_store::{self, BucketStore, is_loopback},
    error::StorageAttemptError,
    object_uri::{BucketUri, ObjectUri},
    transport::{ListingRequest, Transport},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct ObjectStorage {
    client: Client,
    settings: StorageSettings,
    pub(super) retry_policy: RetryPolicy,
    /// The buckets in use; a client of a bucket keeps its credentials until they expire.
    buckets: Arc<Mutex<HashMap<BucketUri, Arc<dyn BucketStore>>>>,
}

impl ObjectStorage {
    pub fn new(settings: StorageSettings) -> Result<Self, StorageError> {
        Self::with_retry_policy(settings, RetryPolicy::default())
    }

    pub fn with_retry_policy(
        settings: StorageSettings,
        retry_policy: RetryPolicy,
    ) -> Result<Self, StorageError> {
        let client = http_client(&settings, retry_policy)
            .map_err(|_| StorageError::service("the client for object storage cannot start"))?;
        Ok(Self { client, settings, retry_policy, buckets: Arc::default() })
    }

    pub(super) async fn list_page(
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
    pub(super) async fn get_object(
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
    pub(super) async fn read_range(
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

    /// Requests the text at an address that is signed for a bucket.
    pub(super) async fn get_text(
        &self,
        bucket: &BucketUri,
        signed: &Url,
    ) -> Result<String, StorageAttemptError> {
        let region = self.settings.region();
        Transport::new(&self.client, bucket.service, region, true).get_text(signed).await
    }

    pub(super) async fn bucket(
        &self,
        bucket: &BucketUri,
    ) -> Result<Arc<dyn BucketStore>, StorageAttemptError> {
        let buckets = || self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = buckets().get(bucket) {
            return Ok(Arc::clone(store));
        }
        let store = bucket_store::open(&self.settings, &self.client, bucket).await?;
        buckets().insert(bucket.clone(), Arc::clone(&store));
        Ok(store)
    }
}

fn http_client(
    settings: &StorageSettings,
    retry_policy: RetryPolicy,
) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(retry_policy.read_timeout)
        .tcp_nodelay(true)
        .referer(false)
        // Compressed objects are stored as they are.
        .no_gzip()
        // A signature is valid for one host only.
        .redirect(redirect::Policy::none())
        .retry(retry::never());
    let loopback = settings.endpoints().any(|endpoint| is_loopback(&endpoint));
    let builder = if loopback { builder.no_proxy() } else { builder };
    builder.build()
}
