//! Opens a bucket by creating the client of its cloud, with credentials from the settings or from the machine.
//! `Transport` sends the requests of that client through our own HTTP client, and limits what is read.

use std::{
    fmt::Debug,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use object_store::{
    ClientConfigKey, ClientOptions, CredentialProvider, ObjectStore, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
    azure::{MicrosoftAzure, MicrosoftAzureBuilder},
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
        HttpResponse, HttpResponseBody, HttpService,
    },
    gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder},
    list::PaginatedListStore,
    multipart::MultipartStore,
    signer::Signer,
};
use reqwest::Url;
use tokio::time::timeout;

use super::{
    error::{StorageAttemptError, StorageError, is_overload, not_object_storage, sanitized_token},
    listing_page::addressable_page,
    object_uri::{BucketUri, CloudService},
    settings::StorageSettings,
    storage::StorageClient,
};

pub trait BucketClient: ObjectStore + PaginatedListStore + MultipartStore + Signer {}

impl<T: ObjectStore + PaginatedListStore + MultipartStore + Signer> BucketClient for T {}

/// Opens a bucket. Requests are not signed if the settings and the machine have no credentials. `is_denied` is set when
/// such a request is denied.
pub(super) async fn open(
    settings: &StorageSettings,
    client: &StorageClient,
    bucket: &BucketUri,
    is_denied: &Arc<AtomicBool>,
) -> Result<Arc<dyn BucketClient>, StorageAttemptError> {
    match bucket.service {
        CloudService::S3 => {
            let build = |transport| build_s3(settings, bucket, transport);
            open_with(settings, (client, is_denied), bucket, build, AmazonS3::credentials).await
        }
        CloudService::GoogleCloud => {
            let build = |transport| build_google_cloud(settings, bucket, transport);
            open_with(settings, (client, is_denied), bucket, build, GoogleCloudStorage::credentials)
                .await
        }
        CloudService::Azure => {
            let build = |transport| build_azure(settings, bucket, transport);
            open_with(settings, (client, is_denied), bucket, build, MicrosoftAzure::credentials)
                .await
        }
    }
}

async fn open_with<S: BucketClient, C: Debug + Send + Sync + 'static>(
    settings: &StorageSettings,
    (client, is_denied): (&StorageClient, &Arc<AtomicBool>),
    bucket: &BucketUri,
    build: impl Fn(Transport) -> object_store::Result<S>,
    credentials: impl Fn(&S) -> &Arc<dyn CredentialProvider<Credential = C>>,
) -> Result<Arc<dyn BucketClient>, StorageAttemptError> {
    let service = bucket.service;
    let unsuitable = |_| {
        let scheme = service.as_str();
        StorageError::service(format!(
            "the settings of this deployment for {scheme}:// are not valid"
        ))
    };
    if service == CloudService::Azure && !settings.has_azure_account() {
        return Err(StorageError::refused("AZURE_STORAGE_ACCOUNT_NAME is not set").into());
    }
    let transport = |signed| Transport {
        is_denied: Arc::clone(is_denied),
        ..Transport::new(client, service, settings.region(), signed)
    };
    if !settings.skips_signature(service) {
        let store = build(transport(true)).map_err(unsuitable)?;
        let provider = Arc::clone(credentials(&store));
        if settings.has_credentials(service) {
            provider.get_credential().await.map_err(|_| {
                StorageError::service(
                    "the credentials of this deployment cannot be read or fetched",
                )
            })?;
            return Ok(Arc::new(store));
        }
        if provider.get_credential().await.is_ok() {
            return Ok(Arc::new(store));
        }
    }
    Ok(Arc::new(build(transport(false)).map_err(unsuitable)?))
}

/// Turns off retries in the library, because `RetryPolicy` repeats attempts and knows the body of the response.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

fn build_s3(
    settings: &StorageSettings,
    bucket: &BucketUri,
    transport: Transport,
) -> object_store::Result<AmazonS3> {
    let (endpoint, by_host) = s3_address(settings, &bucket.name);
    settings
        .options("AWS_")
        .fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(key, value))
        .with_bucket_name(&bucket.name)
        .with_region(settings.region())
        .with_config(object_store::aws::AmazonS3ConfigKey::S3Endpoint, endpoint)
        .with_virtual_hosted_style_request(by_host)
        .with_allow_http(true)
        // Some services with the S3 API cannot delete several objects in one request.
        .with_disable_bulk_delete(true)
        .with_skip_signature(!transport.signed())
        .with_retry(no_retries())
        .with_http_connector(transport)
        .build()
}

fn build_google_cloud(
    settings: &StorageSettings,
    bucket: &BucketUri,
    transport: Transport,
) -> object_store::Result<GoogleCloudStorage> {
    settings
        .options("GOOGLE_")
        .fold(GoogleCloudStorageBuilder::new(), |builder, (key, value)| {
            builder.with_config(key, value)
        })
        .with_bucket_name(&bucket.name)
        .with_skip_signature(!transport.signed())
        .with_retry(no_retries())
        .with_http_connector(transport)
        .build()
}

fn build_azure(
    settings: &StorageSettings,
    bucket: &BucketUri,
    transport: Transport,
) -> object_store::Result<MicrosoftAzure> {
    settings
        .options("AZURE_")
        .fold(MicrosoftAzureBuilder::new(), |builder, (key, value)| builder.with_config(key, value))
        .with_container_name(&bucket.name)
        .with_skip_signature(!transport.signed())
        .with_retry(no_retries())
        .with_http_connector(transport)
        .build()
}

/// Returns the address of the API, and whether its host contains the bucket.
fn s3_address(settings: &StorageSettings, bucket: &str) -> (String, bool) {
    if let Some(endpoint) = settings.endpoint() {
        return (endpoint.into(), false);
    }
    let region = settings.region();
    let top = if region.starts_with("cn-") { "com.cn" } else { "com" };
    // Such names do not match a wildcard certificate, or are not valid in a host name.
    let unsuitable = |c: char| c == '.' || c == '_' || c.is_ascii_uppercase();
    if bucket.contains(unsuitable) {
        (format!("https://s3.{region}.amazonaws.{top}"), false)
    } else {
        (format!("https://{bucket}.s3.{region}.amazonaws.{top}"), true)
    }
}

/// Maximum sizes of a listing page and of an error response, in bytes.
const MAX_PAGE_BYTES: usize = 16 << 20;
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Time limit for requesting the role of the machine. A machine with a role gets an immediate response; other machines
/// may get none.
const ROLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Marks the request for a listing page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListingRequest;

#[derive(Clone, Debug)]
pub(crate) struct Transport {
    client: StorageClient,
    service: CloudService,
    region: String,
    signed: bool,
    /// Whether the requests ask for the role of the machine.
    for_role: bool,
    /// Whether a request without a signature was denied.
    is_denied: Arc<AtomicBool>,
}

impl Transport {
    pub fn new(client: &StorageClient, service: CloudService, region: &str, signed: bool) -> Self {
        let (client, region) = (client.clone(), region.to_owned());
        Self { client, service, region, signed, for_role: false, is_denied: Arc::default() }
    }

    pub fn signed(&self) -> bool {
        self.signed
    }

    /// Requests the text at a signed address.
    pub async fn get_text(&self, signed: &Url) -> Result<String, StorageAttemptError> {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = signed.as_str().parse().map_err(|_| not_object_storage())?;
        let text = async { read_text(self.send(request).await?.into_body(), MAX_PAGE_BYTES).await };
        Ok(text.await?)
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let lists = request.extensions().get::<ListingRequest>().is_some();
        let response = if self.for_role {
            let late = |_| attempt_error(StorageError::service("this machine has no role").into());
            timeout(ROLE_TIMEOUT, self.client.call(request)).await.map_err(late)??
        } else {
            self.client.call(request).await?
        };
        if !response.status().is_success() {
            return Err(attempt_error(self.response_error(response).await));
        }
        if !lists {
            return Ok(response);
        }
        let (mut parts, body) = response.into_parts();
        let text = read_text(body, MAX_PAGE_BYTES).await?;
        let (page, skipped) =
            addressable_page(&text).ok_or_else(|| attempt_error(not_object_storage()))?;
        parts.extensions.insert(skipped);
        Ok(HttpResponse::from_parts(parts, page.into()))
    }

    async fn response_error(&self, response: HttpResponse) -> StorageAttemptError {
        let status = response.status();
        let region = response.headers().get("x-amz-bucket-region");
        let region = region.and_then(|region| region.to_str().ok()).map(sanitized_token);
        let overloaded = || {
            let message = format!("the storage is temporarily unavailable ({})", status.as_u16());
            StorageAttemptError { error: StorageError::Service(message), retryable: true }
        };
        if status.is_server_error() || matches!(status.as_u16(), 408 | 429) {
            return overloaded();
        }
        if matches!(status.as_u16(), 301 | 307 | 400)
            && let Some(region) = region.filter(|region| *region != self.region)
        {
            let message = format!("the bucket is in the region {region}; set AWS_REGION to it");
            return StorageError::Refused(message).into();
        }
        // If there is no body, the status must suffice.
        let description = read_text(response.into_body(), MAX_ERROR_BYTES);
        let description = timeout(self.client.read_timeout, description).await;
        let description = description.ok().and_then(Result::ok).unwrap_or_default();
        if is_overload(&description) {
            return overloaded();
        }
        let keyless = (!self.signed).then_some(self.service);
        let error = StorageError::from_response(status.as_u16(), &description, keyless);
        if !self.signed && matches!(error, StorageError::Denied(_)) {
            self.is_denied.store(true, Ordering::Relaxed);
        }
        error.into()
    }
}

impl HttpConnector for Transport {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // The requests by which the library gets the credentials of the machine's IAM role can be recognized only by
        // their different timeout.
        let limit =
            |options: &ClientOptions| options.get_config_value(&ClientConfigKey::ConnectTimeout);
        let for_role = limit(options) != limit(&ClientOptions::default());
        Ok(HttpClient::new(Self { for_role, ..self.clone() }))
    }
}

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.send(request).await
    }
}

async fn read_text(body: HttpResponseBody, limit: usize) -> Result<String, HttpError> {
    let mut chunks = body.bytes_stream();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.next().await {
        bytes.extend_from_slice(&chunk?);
        if bytes.len() > limit {
            return Err(attempt_error(
                StorageError::service("the storage response is too large").into(),
            ));
        }
    }
    String::from_utf8(bytes).map_err(|_| attempt_error(not_object_storage()))
}

/// Wraps an error in a kind that the library does not retry.
pub(super) fn attempt_error(error: StorageAttemptError) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, error)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use object_store::path::Path;
    use reqwest::Method;

    use super::*;

    async fn address(variables: &[(&str, &str)], uri: &str) -> String {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let settings = StorageSettings::from_env(variables).unwrap();
        let bucket = super::super::ObjectUri::parse(uri).unwrap().bucket;
        let client = StorageClient::new(&settings, Duration::from_secs(1)).unwrap();
        let store = open(&settings, &client, &bucket, &Arc::default()).await.unwrap();
        let path = Path::parse("a b.jpg").unwrap();
        let url = store.signed_url(Method::GET, &path, Duration::from_mins(1)).await.unwrap();
        url.as_str().split('?').next().unwrap().to_owned()
    }

    #[tokio::test]
    async fn bucket_addresses_depend_on_service_region_and_endpoint() {
        let key = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        for (name, value, uri, expected) in [
            (
                "AWS_REGION",
                "eu-west-1",
                "s3://photos",
                "https://photos.s3.eu-west-1.amazonaws.com/a%20b.jpg",
            ),
            (
                "AWS_REGION",
                "eu-west-1",
                "s3://my.photos",
                "https://s3.eu-west-1.amazonaws.com/my.photos/a%20b.jpg",
            ),
            (
                "AWS_REGION",
                "cn-north-1",
                "s3://photos",
                "https://photos.s3.cn-north-1.amazonaws.com.cn/a%20b.jpg",
            ),
            (
                "AWS_ENDPOINT_URL",
                "http://127.0.0.1:9000/s3",
                "s3://photos",
                "http://127.0.0.1:9000/s3/photos/a%20b.jpg",
            ),
        ] {
            let variables = [key[0], key[1], (name, value)];
            assert_eq!(address(&variables, uri).await, expected);
        }
        let azure =
            [("AZURE_STORAGE_ACCOUNT_NAME", "team"), ("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0")];
        let expected = "https://team.blob.core.windows.net/photos/a%20b.jpg";
        assert_eq!(address(&azure, "az://photos").await, expected);
    }
}
