//! Sends the requests of the cloud clients over our own HTTP client, and limits what they read.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use object_store::{
    ClientConfigKey, ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
        HttpResponse, HttpResponseBody, HttpService,
    },
};
use reqwest::{Client, StatusCode, Url};
use tokio::time::timeout;

use super::{
    error::{StorageAttemptError, StorageError, not_object_storage, sanitized_token},
    listing_page::addressable_page,
    object_uri::CloudService,
};

/// Size limits of a listing page and of an error response, in bytes.
const MAX_PAGE_BYTES: usize = 16 << 20;
const MAX_ERROR_BYTES: usize = 64 << 10;
/// A machine with a role gets an immediate response; elsewhere nobody may respond at all.
const ROLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Marks the request of a listing page.
#[derive(Clone, Copy, Debug)]
pub struct ListingRequest;

#[derive(Clone, Debug)]
pub struct Transport {
    client: Client,
    service: CloudService,
    region: String,
    signed: bool,
    /// Whether it requests the role of the machine.
    for_role: bool,
}

impl Transport {
    pub fn new(client: &Client, service: CloudService, region: &str, signed: bool) -> Self {
        let (client, region) = (client.clone(), region.to_owned());
        Self { client, service, region, signed, for_role: false }
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
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            let message = format!("the storage is temporarily unavailable ({})", status.as_u16());
            return StorageAttemptError { error: StorageError::Service(message), retryable: true };
        }
        if matches!(status.as_u16(), 301 | 307 | 400)
            && let Some(region) = region.filter(|region| *region != self.region)
        {
            let message = format!("the bucket is in the region {region}; set AWS_REGION to it");
            return StorageError::Service(message).into();
        }
        // Without a body, the status has to suffice.
        let description = read_text(response.into_body(), MAX_ERROR_BYTES).await;
        let keyless = (!self.signed).then_some(self.service);
        StorageError::from_response(status.as_u16(), &description.unwrap_or_default(), keyless)
            .into()
    }
}

impl HttpConnector for Transport {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // The library gives these requests another limit, and nothing else distinguishes them.
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

/// The kind keeps the library from another attempt.
fn attempt_error(error: StorageAttemptError) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, error)
}
