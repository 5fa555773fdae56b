//! Sends requests to object storage, with retries. The signatures come from a library.

use std::{net::IpAddr, time::Duration};

use reqwest::{Client, Response, StatusCode, Url, redirect, retry};
use rusty_s3::{
    Bucket, S3Action as _, UrlStyle,
    actions::{ListObjectsV2, list_objects_v2::ListObjectsV2Response},
};
use tokio::time::sleep;

use super::{
    error::{StorageAttemptError, StorageError, sanitized_token},
    response_body::{not_object_storage, read_text},
    settings::StorageSettings,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_ATTEMPTS: u32 = 4;
const SIGNATURE_LIFETIME: Duration = Duration::from_mins(15);
/// Size limits of a listing page and of an error response, in bytes.
const MAX_PAGE_BYTES: u64 = 16 << 20;
const MAX_ERROR_BYTES: u64 = 64 << 10;

#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Time limit for the next bytes of a response.
    pub read_timeout: Duration,
    /// Delay before the first retry; doubled for each further one.
    pub initial_backoff: Duration,
}

#[derive(Clone, Debug)]
pub struct S3Client {
    client: Client,
    settings: StorageSettings,
    retry_policy: RetryPolicy,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { read_timeout: Duration::from_secs(30), initial_backoff: Duration::from_millis(250) }
    }
}

impl S3Client {
    pub fn new(settings: StorageSettings, retry_policy: RetryPolicy) -> Result<Self, StorageError> {
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
        let loopback = settings.endpoint.as_ref().is_some_and(is_loopback);
        let builder = if loopback { builder.no_proxy() } else { builder };
        let client = builder
            .build()
            .map_err(|_| StorageError::service("the client for object storage cannot start"))?;
        Ok(Self { client, settings, retry_policy })
    }

    pub async fn list_page(
        &self,
        bucket: &str,
        prefix: &str,
        token: Option<&str>,
    ) -> Result<ListObjectsV2Response, StorageError> {
        let bucket = self.bucket(bucket)?;
        self.with_retries(|| async {
            let credentials = self.settings.credentials();
            let mut list = bucket.list_objects_v2(credentials.as_ref());
            list.with_prefix(prefix);
            if let Some(token) = token {
                list.with_continuation_token(token);
            }
            let response = self.send(list.sign(SIGNATURE_LIFETIME)).await?;
            let text = read_text(response, MAX_PAGE_BYTES).await?;
            ListObjectsV2::parse_response(&text).map_err(|_| not_object_storage())
        })
        .await
    }

    /// Requests an object. Returns a successful response whose body has not been read.
    pub async fn get_object(
        &self,
        bucket: &str,
        key: &str,
    ) -> Result<Response, StorageAttemptError> {
        let bucket = self.bucket(bucket)?;
        let credentials = self.settings.credentials();
        self.send(bucket.get_object(credentials.as_ref(), key).sign(SIGNATURE_LIFETIME)).await
    }

    pub async fn with_retries<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, StorageError>
    where
        F: Future<Output = Result<T, StorageAttemptError>>,
    {
        let mut backoff = self.retry_policy.initial_backoff;
        for _ in 1..MAX_ATTEMPTS {
            match attempt().await {
                Err(failure) if failure.retryable => sleep(backoff).await,
                end => return end.map_err(|failure| failure.error),
            }
            backoff *= 2;
        }
        attempt().await.map_err(|failure| failure.error)
    }

    async fn send(&self, url: Url) -> Result<Response, StorageAttemptError> {
        let response = self.client.get(url).send().await?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(self.response_error(response).await)
        }
    }

    async fn response_error(&self, response: Response) -> StorageAttemptError {
        let status = response.status();
        let region = response.headers().get("x-amz-bucket-region");
        let region = region.and_then(|region| region.to_str().ok()).map(sanitized_token);
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            let message = format!("the storage is temporarily unavailable ({})", status.as_u16());
            return StorageAttemptError { error: StorageError::Service(message), retryable: true };
        }
        if matches!(status.as_u16(), 301 | 307 | 400)
            && let Some(region) = region.filter(|region| *region != self.settings.region)
        {
            let message = format!("the bucket is in the region {region}; set AWS_REGION to it");
            return StorageError::Service(message).into();
        }
        // Without a body, the status has to suffice.
        let description = read_text(response, MAX_ERROR_BYTES).await.unwrap_or_default();
        let keyless = self.settings.key.is_none();
        StorageError::from_response(status.as_u16(), &description, keyless).into()
    }

    fn bucket(&self, name: &str) -> Result<Bucket, StorageError> {
        let region = &self.settings.region;
        // Names that do not match a wildcard certificate or a host name.
        let unsuitable = |c: char| c == '.' || c == '_' || c.is_ascii_uppercase();
        let (endpoint, style) = if let Some(endpoint) = &self.settings.endpoint {
            (Some(endpoint.clone()), UrlStyle::Path)
        } else {
            let top = if region.starts_with("cn-") { "com.cn" } else { "com" };
            let endpoint = Url::parse(&format!("https://s3.{region}.amazonaws.{top}")).ok();
            let by_path = name.contains(unsuitable);
            (endpoint, if by_path { UrlStyle::Path } else { UrlStyle::VirtualHost })
        };
        endpoint
            .and_then(|url| Bucket::new(url, style, name.to_owned(), region.clone()).ok())
            .ok_or_else(|| StorageError::service("the bucket name is not valid"))
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_addresses_depend_on_region_and_endpoint() {
        let address = |region: &str, endpoint: Option<&str>, bucket: &str| {
            let endpoint = endpoint.map(|url| Url::parse(url).unwrap());
            let settings = StorageSettings { key: None, region: region.to_owned(), endpoint };
            let s3 = S3Client::new(settings, RetryPolicy::default()).unwrap();
            s3.bucket(bucket).unwrap().object_url("a b.jpg").to_string()
        };
        let cloud = [
            ("eu-west-1", "photos", "photos.s3.eu-west-1.amazonaws.com/a%20b.jpg"),
            ("eu-west-1", "my.photos", "s3.eu-west-1.amazonaws.com/my.photos/a%20b.jpg"),
            ("cn-north-1", "photos", "photos.s3.cn-north-1.amazonaws.com.cn/a%20b.jpg"),
        ];
        for (region, bucket, expected) in cloud {
            assert_eq!(address(region, None, bucket), format!("https://{expected}"));
        }
        let own = address("x", Some("http://127.0.0.1:9000/s3"), "photos");
        assert_eq!(own, "http://127.0.0.1:9000/s3/photos/a%20b.jpg");
    }

    #[test]
    fn loopback_is_reached_without_a_proxy() {
        for (url, expected) in [
            ("http://127.0.0.1:9000", true),
            ("http://localhost", true),
            ("http://[::1]:9000", true),
            ("https://s3.example.com", false),
            ("http://127.0.0.1.example.com", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
