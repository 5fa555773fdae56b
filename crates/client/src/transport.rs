//! Sends one request: authentication, timeouts, size limits and retries.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    attempt_error::{AttemptError, ErrorResponse},
    auth_provider::{AuthHeader, AuthProvider},
    dry_run::DryRun,
    endpoint::Endpoint,
    failure_text::FailureContext,
    field_warnings::FieldWarnings,
    http_clients::{self, BodyReader},
    multipart::MultipartBody,
    policy::ClientPolicy,
    recorder::{Attempt, RequestRecorder},
    request::{self, ApiRequest, MAX_ERROR_BODY_BYTES, RequestBody},
    response::ApiResponse,
    retry::{RetryEngine, RetryState},
    retry_table::ApiOperation,
};
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use tessera_model::{Failure, FailureKind, Link, SafeText};
use tessera_wire::{error_body::read_error_message, paths::REQUESTED_WITH};

/// Shared by all requests of one client.
#[derive(Clone)]
pub(super) struct Transport {
    pub endpoint: Endpoint,
    pub retry_engine: Arc<RetryEngine>,
    pub recorder: RequestRecorder,
    pub field_warnings: FieldWarnings,
    pub dry_run: Option<DryRun>,
    pub auth: AuthProvider,
    /// The session of a browser, which uploads carry in place of the token.
    pub upload_session: Option<AuthHeader>,
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
            field_warnings: FieldWarnings::default(),
            dry_run: None,
            upload_session: None,
            endpoint,
        })
    }

    /// Resolves a link of the service to a URL that is safe to fetch.
    pub(super) fn resolve(&self, link: &Link) -> Result<Url, Failure> {
        let base = self.endpoint.base_url();
        let refused = |reason: &str| {
            let sentence =
                format!("the service sent a link that is not allowed ({reason}): {link}");
            Failure::new(FailureKind::Unexpected, sentence)
        };
        let url = base.join(link.expose()).ok_or_else(|| refused("not a URL"))?;
        match base.target_error(&url) {
            Some(reason) => Err(refused(reason)),
            None => Ok(url),
        }
    }

    /// Sends `request` until it succeeds or the retry table forbids another attempt.
    pub(super) async fn fetch(&self, request: &ApiRequest) -> Result<ApiResponse, Failure> {
        let mut attempts = RetryState::new(request.operation, request.origin());
        loop {
            let attempt = Attempt::new(request, attempts.number());
            let error = match self.fetch_once(request).await {
                Ok(reply) => {
                    self.recorder.notify(|| attempt.succeeded(reply.status(), reply.bytes()));
                    self.retry_engine.succeeded(&mut attempts);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let pause = self.retry_engine.next_pause(&mut attempts, &error);
            self.recorder.notify(|| attempt.failed(&error, pause));
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(self.explain(request, error)),
            }
        }
    }

    /// Turns an error of `request` into a failure for the user.
    pub(super) fn explain(&self, request: &ApiRequest, error: AttemptError) -> Failure {
        FailureContext {
            request,
            hosted: !self.auth.is_anonymous(),
            by_session: request.operation == ApiOperation::Credentials
                || self.session_for(request).is_some(),
        }
        .explain(error)
    }

    fn session_for(&self, request: &ApiRequest) -> Option<&AuthHeader> {
        self.upload_session.as_ref().filter(|_| request.operation == ApiOperation::AddMedia)
    }

    /// The login of a request: a session or a token, never both.
    fn auth_header(&self, request: &ApiRequest) -> Result<Option<AuthHeader>, Failure> {
        if request.operation.follows_link() || request.operation.uses_pipeline() {
            return Ok(None);
        }
        match self.session_for(request) {
            Some(session) => Ok(Some(session.clone())),
            None => self.auth.current_header(),
        }
    }

    /// Makes one attempt, including the response body.
    pub(super) async fn fetch_once(
        &self,
        request: &ApiRequest,
    ) -> Result<ApiResponse, AttemptError> {
        let policy = self.retry_engine.policy();
        // Pictures may be large: rate and size limits replace the deadline.
        let deadline = if request.operation.follows_link() {
            Duration::MAX
        } else {
            policy.total_timeout.saturating_add(request.upload_timeout())
        };
        let response = async {
            let response = self.open_response(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let media_type = media_type(&response);
            let body = if request.operation.follows_link() {
                BodyReader::transfer(response, policy.idle_timeout)
            } else {
                BodyReader::new(response, policy.idle_timeout)
            };
            let body = body
                .collect(request.max_bytes)
                .await?
                .ok_or_else(|| request.response_too_large())?;
            Ok(ApiResponse::new(request, (status, headers), media_type, body))
        };
        let late = |_| AttemptError::NoResponse("the response took too long".to_owned());
        tokio::time::timeout(deadline, response).await.map_err(late)?
    }

    /// Makes one attempt up to the headers of a success response. After a 401 it is repeated once
    /// with a new token, because the check precedes every effect.
    pub(super) async fn open_response(
        &self,
        request: &ApiRequest,
    ) -> Result<Response, AttemptError> {
        let auth_header = self.auth_header(request).map_err(AttemptError::Fatal)?;
        let login = auth_header.as_ref().map(|header| &header.name);
        let intercepted = self.dry_run.as_ref().and_then(|run| run.intercept(login, request));
        if let Some(failure) = intercepted {
            return Err(AttemptError::Fatal(failure));
        }
        let attempt = Attempt::new(request, 1);
        let outcome = self.send(request, auth_header.as_ref()).await;
        let rejected = matches!(&outcome, Err(AttemptError::Rejected(rejection))
            if rejection.status == StatusCode::UNAUTHORIZED);
        let (Err(expired), Some(auth_header), true) = (&outcome, &auth_header, rejected) else {
            return outcome;
        };
        let Some(renewed) =
            self.auth.renew_header(auth_header).await.map_err(AttemptError::Fatal)?
        else {
            return outcome;
        };
        self.recorder.notify(|| attempt.failed(expired, Some(Duration::ZERO)));
        self.send(request, Some(&renewed)).await
    }

    async fn send(
        &self,
        request: &ApiRequest,
        auth_header: Option<&AuthHeader>,
    ) -> Result<Response, AttemptError> {
        let policy = self.retry_engine.policy();
        let sent = SystemTime::now();
        let late = |_| AttemptError::NoResponse("no response in time".to_owned());
        let deadline = policy.header_timeout.saturating_add(request.upload_timeout());
        let response =
            tokio::time::timeout(deadline, self.build_request(request, auth_header).send())
                .await
                .map_err(late)??;
        if auth_header.is_some() {
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
        request: &ApiRequest,
        auth_header: Option<&AuthHeader>,
    ) -> reqwest::RequestBuilder {
        let client = match request.operation {
            operation if operation.follows_link() => &self.blob_client,
            operation if operation.uses_pipeline() => &self.pipeline_client,
            _ => &self.api_client,
        };
        let url = request.url.clone();
        let mut builder = match &request.body {
            RequestBody::Get => client.get(url),
            // Some proxies reject a POST without this header (411), and `reqwest` does not send it.
            RequestBody::Post => client.post(url).header(CONTENT_LENGTH, 0),
            RequestBody::Json(body) => {
                client.post(url).header(CONTENT_TYPE, "application/json").body(body.clone())
            }
            RequestBody::Image(image) => post_form(client, url, image.multipart_body()),
            RequestBody::Form(parts) => post_form(client, url, request::multipart_of_parts(parts)),
            RequestBody::Media(media) => post_form(client, url, media.multipart_body()),
        };
        if let Some(auth_header) = auth_header {
            builder = builder.header(auth_header.name.clone(), auth_header.value.clone());
        } else if request.is_unsafe_get() {
            builder = builder.header(REQUESTED_WITH, "tessera");
        }
        builder.headers(request.headers.clone())
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
