//! Sends one request: authentication, timeouts, size limits and retries.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    attempt_error::{AttemptError, ErrorResponse},
    auth_provider::{AuthHeader, AuthProvider},
    base_url::is_local_only,
    dry_run::DryRun,
    endpoint::Endpoint,
    failure_text::FailureContext,
    http_clients::{self, BodyReader},
    multipart::MultipartBody,
    policy::ClientPolicy,
    raw_request,
    recorder::{Attempt, RequestRecorder},
    request::{ApiRequest, ApiResponse, RequestBody},
    retry::{RetryEngine, RetryState},
};
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use tessera_model::{Failure, FailureKind, Link, SafeText};
use tessera_wire::error_body::read_error_message;

const MAX_ERROR_BODY_BYTES: usize = 64 << 10;

/// Shared by all requests of one client.
#[derive(Clone)]
pub(super) struct Transport {
    pub endpoint: Endpoint,
    pub retry_engine: Arc<RetryEngine>,
    pub recorder: RequestRecorder,
    pub dry_run: Option<DryRun>,
    pub auth: AuthProvider,
    api_client: reqwest::Client,
    blob_client: reqwest::Client,
    pipeline_client: reqwest::Client,
}

impl Transport {
    pub(super) fn new(endpoint: Endpoint, policy: ClientPolicy) -> Result<Self, Failure> {
        Ok(Self {
            auth: AuthProvider::new(&endpoint)?,
            api_client: http_clients::api_client(&endpoint, &policy)?,
            blob_client: http_clients::blob_client(&endpoint, &policy)?,
            pipeline_client: http_clients::pipeline_client(&endpoint, &policy)?,
            retry_engine: Arc::new(RetryEngine::new(policy)),
            recorder: RequestRecorder::default(),
            dry_run: None,
            endpoint,
        })
    }

    /// Resolves a link of the service to a URL that is safe to fetch.
    pub(super) fn resolve(&self, link: &Link) -> Result<Url, Failure> {
        let base = self.endpoint.base_url();
        let url = base.join(link.expose()).filter(|url| {
            matches!(url.scheme(), "http" | "https")
                && (base.is_local_only() || !is_local_only(url))
        });
        url.ok_or_else(|| {
            let sentence = format!("the service gave a link that is not followed: {link}");
            Failure::new(FailureKind::Unexpected, sentence)
        })
    }

    /// Sends `request` until it succeeds or the retry table forbids another attempt.
    pub(super) async fn fetch(&self, call: &ApiRequest) -> Result<ApiResponse, Failure> {
        let mut attempts = RetryState::new(call.operation, call.origin());
        loop {
            let attempt = Attempt::new(call, attempts.number());
            let setback = match self.fetch_once(call).await {
                Ok(reply) => {
                    let bytes = reply.body.len() as u64;
                    self.recorder.notify(|| attempt.succeeded(reply.status, bytes));
                    self.retry_engine.succeeded(&mut attempts);
                    return Ok(reply);
                }
                Err(setback) => setback,
            };
            let pause = self.retry_engine.next_pause(&mut attempts, &setback);
            self.recorder.notify(|| attempt.failed(&setback, pause));
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(self.explain(call, setback)),
            }
        }
    }

    /// Turns an error of `request` into a failure for the user.
    pub(super) fn explain(&self, call: &ApiRequest, setback: AttemptError) -> Failure {
        let (operation, method) = (call.operation, call.method());
        FailureContext { operation, method, url: &call.url, hosted: !self.auth.is_anonymous() }
            .explain(setback)
    }

    /// Makes one attempt, including the response body.
    pub(super) async fn fetch_once(&self, call: &ApiRequest) -> Result<ApiResponse, AttemptError> {
        let policy = self.retry_engine.policy();
        // Pictures may be large: rate and size limits replace the deadline.
        let deadline = if call.operation.follows_link() {
            Duration::MAX
        } else {
            policy.total_timeout.saturating_add(call.upload_timeout())
        };
        let answer = async {
            let response = self.open_response(call).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let media_type = media_type(&response);
            let body = if call.operation.follows_link() {
                BodyReader::transfer(response, policy.idle_timeout)
            } else {
                BodyReader::new(response, policy.idle_timeout)
            };
            let body =
                body.collect(call.max_bytes).await?.ok_or_else(|| call.response_too_large())?;
            Ok(ApiResponse { status, headers, media_type, body })
        };
        let late = |_| AttemptError::NoResponse("the answer took too long".to_owned());
        tokio::time::timeout(deadline, answer).await.map_err(late)?
    }

    /// Makes one attempt up to the headers of a success response. After a 401 it is repeated once
    /// with a new token, because the check precedes every effect.
    pub(super) async fn open_response(&self, call: &ApiRequest) -> Result<Response, AttemptError> {
        let bare = call.operation.follows_link() || call.operation.uses_pipeline();
        let pass =
            if bare { None } else { self.auth.current_header().map_err(AttemptError::Fatal)? };
        let rehearsed = self.dry_run.as_ref().and_then(|all| all.intercept(pass.is_some(), call));
        if let Some(failure) = rehearsed {
            return Err(AttemptError::Fatal(failure));
        }
        let attempt = Attempt::new(call, 1);
        let outcome = self.send(call, pass.as_ref()).await;
        let rejected = matches!(&outcome, Err(AttemptError::Rejected(refusal))
            if refusal.status == StatusCode::UNAUTHORIZED);
        let (Err(expired), Some(pass), true) = (&outcome, &pass, rejected) else {
            return outcome;
        };
        let Some(renewed) = self.auth.renew_header(pass).await.map_err(AttemptError::Fatal)? else {
            return outcome;
        };
        self.recorder.notify(|| attempt.failed(expired, Some(Duration::ZERO)));
        self.send(call, Some(&renewed)).await
    }

    async fn send(
        &self,
        call: &ApiRequest,
        pass: Option<&AuthHeader>,
    ) -> Result<Response, AttemptError> {
        let policy = self.retry_engine.policy();
        let sent = SystemTime::now();
        let late = |_| AttemptError::NoResponse("no answer in time".to_owned());
        let deadline = policy.header_timeout.saturating_add(call.upload_timeout());
        let response = tokio::time::timeout(deadline, self.build_request(call, pass).send())
            .await
            .map_err(late)??;
        if pass.is_some() {
            self.auth.update_clock_skew(response.headers(), sent, SystemTime::now());
        }
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        // A rejection whose message is cut off or endless is still a rejection.
        let body =
            BodyReader::new(response, policy.idle_timeout).collect(MAX_ERROR_BODY_BYTES).await;
        let body = body.ok().flatten().unwrap_or_default();
        let detail = read_error_message(&body);
        Err(AttemptError::Rejected(Box::new(ErrorResponse { status, headers, body, detail })))
    }

    fn build_request(
        &self,
        call: &ApiRequest,
        pass: Option<&AuthHeader>,
    ) -> reqwest::RequestBuilder {
        let client = match call.operation {
            operation if operation.follows_link() => &self.blob_client,
            operation if operation.uses_pipeline() => &self.pipeline_client,
            _ => &self.api_client,
        };
        let url = call.url.clone();
        let mut request = match &call.body {
            RequestBody::Get => client.get(url),
            // Some proxies reject a POST without this header (411), and `reqwest` does not send it.
            RequestBody::Post => client.post(url).header(CONTENT_LENGTH, 0),
            RequestBody::Json(body) => {
                client.post(url).header(CONTENT_TYPE, "application/json").body(body.clone())
            }
            RequestBody::Image(image) => post_form(client, url, image.multipart_body()),
            RequestBody::Form(parts) => post_form(client, url, raw_request::multipart_body(parts)),
            RequestBody::Media(media) => post_form(client, url, media.multipart_body()),
        };
        if let Some(pass) = pass {
            request = request.header(pass.name.clone(), pass.value.clone());
        }
        request.headers(call.headers.clone())
    }
}

fn post_form(client: &reqwest::Client, url: Url, form: MultipartBody) -> reqwest::RequestBuilder {
    let request = client.post(url).header(CONTENT_TYPE, form.content_type);
    request.header(CONTENT_LENGTH, form.length).body(form.body)
}

fn media_type(response: &Response) -> SafeText {
    let value = response.headers().get(CONTENT_TYPE);
    SafeText::name(value.and_then(|value| value.to_str().ok()).unwrap_or("no type"))
}
