//! Sends single requests with authentication, timeouts, size limits and retries.
//!
//! The API client sends the login and follows no redirects. The blob client follows links to any host that stores
//! pictures and archives, so it sends no login, cookie or referrer. Neither of the two retries on its own. Both bypass
//! the proxy if the service is local, because a proxy would see the token.

use std::{
    cell::RefCell,
    error::Error as _,
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant, SystemTime},
};

use crate::{
    auth::{AuthHeader, AuthProvider, LoginMask},
    bounded_unpack::decode_body,
    dry_run::DryRun,
    errors::{AttemptError, Cause, ErrorResponse, FailureContext, SentLogin},
    multipart::MultipartBody,
    reach::{LinkResolver, target_error},
    recorder::{Attempt, RequestRecorder},
    request::{ApiRequest, MAX_ERROR_BODY_BYTES, RequestBody},
    response::{ApiResponse, FieldWarnings, charset},
    retry::{ClientPolicy, RetryEngine, RetryState},
    service_config::{BaseUrl, ServiceConfig},
    tls_problem::TlsProblem,
};
use bytes::{Bytes, BytesMut};
use reqwest::{
    ClientBuilder, Response, StatusCode, Url,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    redirect,
};
use tessera_crypto::{ClientConfig, http_tls_config};
use tessera_model::{Failure, FailureKind, Link, text::format_wait};
use tessera_wire::{endpoints::Endpoint, error_body::read_error_message};

/// Receives a sentence about each request that the service has not responded to for some time, and about each long pause
/// before a request is repeated.
pub(super) type SlowListener = Arc<dyn Fn(String) + Send + Sync>;

/// The parts of a client that all its requests share.
#[derive(Clone)]
pub(super) struct Transport {
    pub service: ServiceConfig,
    pub retry_engine: Arc<RetryEngine>,
    pub recorder: RequestRecorder,
    pub field_warnings: FieldWarnings,
    pub dry_run: Option<DryRun>,
    pub slow_listener: Option<SlowListener>,
    pub auth: AuthProvider,
    /// The session of a browser, which uploads carry instead of the token.
    pub upload_session: Option<AuthHeader>,
    /// Whether the service is known to be a local one. It never becomes another one.
    pub is_local_service: Arc<AtomicBool>,
    /// Whether the members of clusters and the counts of a dataset are below the prefix of local services.
    pub explores_locally: Arc<AtomicBool>,
    api_client: reqwest::Client,
    blob_client: reqwest::Client,
    pipeline_client: reqwest::Client,
}

impl Transport {
    pub(super) fn new(service: ServiceConfig, policy: ClientPolicy) -> Result<Self, Failure> {
        let clients = ClientFactory::new(&service, &policy)?;
        Ok(Self {
            auth: AuthProvider::new(&service)?,
            api_client: clients.api_client()?,
            blob_client: clients.blob_client()?,
            pipeline_client: clients.pipeline_client()?,
            retry_engine: Arc::new(RetryEngine::new(policy)),
            recorder: RequestRecorder::default(),
            field_warnings: FieldWarnings::default(),
            dry_run: None,
            slow_listener: None,
            upload_session: None,
            is_local_service: Arc::new(AtomicBool::new(service.is_local)),
            explores_locally: Arc::default(),
            service,
        })
    }

    /// Resolves a link of the service to a URL that is safe to fetch.
    pub(super) fn resolve(&self, link: &Link) -> Result<Url, Failure> {
        let base = self.service.base_url();
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
        request.check_length()?;
        let mut attempts = RetryState::new(request.endpoint, request.origin());
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
                Some(pause) => self.pause(&error, pause).await,
                None => return Err(self.explain(request, error)),
            }
        }
    }

    /// Waits before the next attempt, and reports a long pause.
    pub(super) async fn pause(&self, error: &AttemptError, pause: Duration) {
        if let Some(listener) = &self.slow_listener
            && pause >= self.retry_engine.policy().slow_response
        {
            listener(format!("{}; trying again in {}", error.reason(), format_wait(pause)));
        }
        tokio::time::sleep(pause).await;
    }

    /// Turns an error of `request` into a failure for the user.
    pub(super) fn explain(&self, request: &ApiRequest, error: AttemptError) -> Failure {
        let by_session =
            request.endpoint == Endpoint::Credentials || self.session_for(request).is_some();
        let login = if by_session { SentLogin::Session } else { self.auth.sent_login() };
        FailureContext { request, login }.explain(error)
    }

    pub(super) fn login_mask(&self, sent: Option<&AuthHeader>) -> LoginMask {
        LoginMask::new(&self.auth, self.upload_session.iter().chain(sent))
    }

    fn session_for(&self, request: &ApiRequest) -> Option<&AuthHeader> {
        self.upload_session.as_ref().filter(|_| request.endpoint == Endpoint::AddMedia)
    }

    /// Returns the login of a request, which is a session or a token but never both.
    fn auth_header(&self, request: &ApiRequest) -> Result<Option<AuthHeader>, Failure> {
        if request.endpoint.follows_link() || request.endpoint.uses_pipeline() {
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
        // Pictures may be large, so limits for rate and size replace the deadline.
        let deadline = if request.endpoint.follows_link() {
            Duration::MAX
        } else {
            policy.total_timeout.saturating_add(request.upload_timeout())
        };
        let response = async {
            let response = self.open_response(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = if request.endpoint.follows_link() {
                BodyReader::transfer(response, policy.idle_timeout)
            } else {
                BodyReader::new(response, policy.idle_timeout)
            };
            let body = body.collect(request.max_bytes).await?;
            let body = body.ok_or_else(|| response_too_large(request))?;
            // The API client has decoded what it requested, and removed the header.
            let body = decode_body(&headers, body, request.max_bytes)?
                .ok_or_else(|| response_too_large(request))?;
            Ok(ApiResponse::new(request, status, headers, body, self.login_mask(None)))
        };
        let late = |_| AttemptError::NoResponse("the response took too long".into());
        tokio::time::timeout(deadline, response).await.map_err(late)?
    }

    /// Makes one attempt up to the headers of a successful response. After a 401, the attempt is repeated once with a
    /// new token, because the service checks the token before it does anything.
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
        let deadline = policy.header_timeout.saturating_add(request.upload_timeout());
        let response = self.build_request(request, auth_header).send();
        let response = REDIRECTED_TO
            .scope(RefCell::default(), async {
                let response = self.report_if_slow(request, response);
                let sent = tokio::time::timeout(deadline, response).await;
                let peer = REDIRECTED_TO.with(RefCell::take);
                match sent {
                    Ok(sent) => sent.map_err(|error| AttemptError::of(error, peer)),
                    Err(_) => Err(AttemptError::NoResponse(Cause {
                        text: "no response in time".to_owned(),
                        peer,
                    })),
                }
            })
            .await?;
        if let Some(tokens) = self.auth.tokens().filter(|_| auth_header.is_some()) {
            tokens.update_clock_skew(response.headers(), sent, SystemTime::now());
        }
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        // A rejection is still a rejection if its message is cut off, endless or slow.
        let body = BodyReader::new(response, policy.idle_timeout).collect(MAX_ERROR_BODY_BYTES);
        let body = tokio::time::timeout(policy.idle_timeout, body).await;
        let body = body.ok().and_then(Result::ok).flatten().unwrap_or_default();
        let mask = self.login_mask(auth_header);
        let detail =
            read_error_message(&body, charset(&headers)).map(|message| mask.apply(&message));
        Err(AttemptError::Rejected(Box::new(ErrorResponse { status, headers, body, detail })))
    }

    /// Waits for a response, and reports once if the service does not begin to respond soon.
    async fn report_if_slow<T>(
        &self,
        request: &ApiRequest,
        response: impl Future<Output = T>,
    ) -> T {
        let Some(listener) = &self.slow_listener else { return response.await };
        let limit = self.retry_engine.policy().slow_response;
        let limit = limit.saturating_add(request.upload_timeout());
        let mut response = std::pin::pin!(response);
        if let Ok(response) = tokio::time::timeout(limit, &mut response).await {
            return response;
        }
        let purpose = request.endpoint.retry_rule().purpose;
        listener(format!("the service has not responded yet; still trying to {purpose}"));
        response.await
    }

    fn build_request(
        &self,
        request: &ApiRequest,
        auth_header: Option<&AuthHeader>,
    ) -> reqwest::RequestBuilder {
        let client = match request.endpoint {
            endpoint if endpoint.follows_link() => &self.blob_client,
            endpoint if endpoint.uses_pipeline() => &self.pipeline_client,
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
            RequestBody::Form(form) => {
                let MultipartBody { content_type, length, body } = form.multipart_body();
                let request = client.post(url).header(CONTENT_TYPE, content_type);
                request.header(CONTENT_LENGTH, length).body(body)
            }
        };
        if let Some(auth_header) = auth_header {
            builder = builder.header(auth_header.name.clone(), auth_header.value.clone());
        }
        builder.headers(request.headers.clone())
    }
}

fn response_too_large(request: &ApiRequest) -> AttemptError {
    let sentence = format!(
        "cannot {}: the response is larger than {} MiB",
        request.endpoint.retry_rule().purpose,
        request.max_bytes >> 20
    );
    AttemptError::Fatal(Failure::new(FailureKind::Unexpected, sentence))
}

tokio::task_local! {
    /// The target of the redirect that a request has followed last. The error of the request does not name it.
    static REDIRECTED_TO: RefCell<Option<Url>>;
}

const MAX_REDIRECTS: usize = 5;
/// The rate below which a transfer counts as stalled.
const MIN_BYTES_PER_SECOND: f64 = 1_024.0;

/// Idle connections are closed earlier than servers close them, so that a request that must not be sent twice never
/// uses a connection that is being closed.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(8);

/// Makes the clients of a service, which share the certificate authorities.
struct ClientFactory<'a> {
    service: &'a ServiceConfig,
    policy: &'a ClientPolicy,
    encryption: ClientConfig,
}

impl<'a> ClientFactory<'a> {
    fn new(service: &'a ServiceConfig, policy: &'a ClientPolicy) -> Result<Self, Failure> {
        let is_encrypted = service.base_url().as_url().scheme() == "https";
        let encryption = http_tls_config(service.authorities.certificates(), is_encrypted)
            .map_err(|error| TlsProblem::of(&error))
            .map_err(|problem| no_client(problem.cause).with_remedy(problem.remedy))?;
        Ok(Self { service, policy, encryption })
    }

    fn api_client(&self) -> Result<reqwest::Client, Failure> {
        build(self.builder()?.redirect(redirect::Policy::none()))
    }

    /// Returns the client for the local pipeline. The client uses no proxy, because a proxy could send a request twice.
    fn pipeline_client(&self) -> Result<reqwest::Client, Failure> {
        build(self.builder()?.redirect(redirect::Policy::none()).no_proxy())
    }

    fn blob_client(&self) -> Result<reqwest::Client, Failure> {
        let base = self.service.base_url().clone();
        let follow = redirect::Policy::custom(move |attempt| {
            if let Some(reason) = redirect_error(&base, attempt.previous(), attempt.url()) {
                return attempt.error(reason);
            }
            let target = Some(attempt.url().clone());
            // This cannot fail, because every request is sent in the scope of the value.
            let _ = REDIRECTED_TO.try_with(|peer| peer.replace(target));
            attempt.follow()
        });
        // Compression is off because byte ranges refer to the bytes of the file, so a compressed response could not be
        // resumed.
        let resolver = LinkResolver::new(self.service.base_url().as_url().clone());
        build(self.builder()?.redirect(follow).no_gzip().dns_resolver(Arc::new(resolver)))
    }

    fn builder(&self) -> Result<ClientBuilder, Failure> {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.policy.connect_timeout)
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .pool_max_idle_per_host(8)
            .http2_keep_alive_interval(self.policy.ping_interval)
            .http2_keep_alive_timeout(self.policy.ping_timeout)
            .tcp_nodelay(true)
            .referer(false)
            .retry(reqwest::retry::never())
            .tls_backend_preconfigured(self.encryption.clone());
        if self.service.base_url().is_loopback() {
            return Ok(builder.no_proxy());
        }
        tessera_proxy::use_proxies(builder).map_err(Failure::local)
    }
}

fn build(builder: ClientBuilder) -> Result<reqwest::Client, Failure> {
    builder.build().map_err(|error| {
        no_client(error.source().map_or_else(|| error.to_string(), ToString::to_string))
    })
}

fn no_client(cause: impl fmt::Display) -> Failure {
    Failure::local(format!("cannot create the HTTP client: {cause}"))
}

/// Returns the reason why a redirect to `next` is not followed, if there is one.
fn redirect_error(base: &BaseUrl, previous: &[Url], next: &Url) -> Option<&'static str> {
    if previous.len() > MAX_REDIRECTS {
        return Some("more than 5 redirects");
    }
    // A link of an unencrypted service may be encrypted. A redirect must not undo that.
    let since_last = previous.last().and_then(|last| target_error(last, next));
    base.target_error(next).or(since_last)
}

/// A response body, read in chunks and checked for stalls.
pub(super) struct BodyReader {
    response: Response,
    idle: Duration,
    /// The start of the current measurement window, and the number of bytes received in it.
    window: (Instant, u64),
    min_bytes_per_second: f64,
}

impl BodyReader {
    /// Creates a reader of a body that may arrive at any rate, as long as something arrives within `idle`.
    pub(super) fn new(response: Response, idle: Duration) -> Self {
        Self { response, idle, window: (Instant::now(), 0), min_bytes_per_second: 0.0 }
    }

    /// Creates a reader of a long transfer with a minimum rate.
    pub(super) fn transfer(response: Response, idle: Duration) -> Self {
        Self { min_bytes_per_second: MIN_BYTES_PER_SECOND, ..Self::new(response, idle) }
    }

    /// Returns the next decoded chunk, or `None` at the end.
    pub(super) async fn next_chunk(&mut self) -> Result<Option<Bytes>, AttemptError> {
        let stalled = || AttemptError::NoResponse("the response stalled".into());
        let chunk = tokio::time::timeout(self.idle, self.response.chunk())
            .await
            .map_err(|_| stalled())?
            .map_err(|error| AttemptError::of(error, Some(self.response.url().clone())))?;
        let (since, arrived) = &mut self.window;
        *arrived += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if since.elapsed() >= self.idle {
            #[expect(clippy::cast_precision_loss, reason = "a rate, not a count")]
            if (*arrived as f64) < self.min_bytes_per_second * since.elapsed().as_secs_f64()
                && chunk.is_some()
            {
                return Err(stalled());
            }
            self.window = (Instant::now(), 0);
        }
        Ok(chunk)
    }

    /// Returns the whole body, or `None` if it exceeds `limit` decoded bytes.
    pub(super) async fn collect(mut self, limit: usize) -> Result<Option<Bytes>, AttemptError> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.next_chunk().await? {
            if whole.len() + chunk.len() > limit {
                return Ok(None);
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(Some(whole.freeze()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_redirects_are_not_followed() {
        let url = |raw: &str| Url::parse(raw).unwrap();
        let refuses = |base: &str, from: &str, to: &str| {
            redirect_error(&BaseUrl::parse(base).unwrap(), &[url(from)], &url(to)).is_some()
        };
        let service = "https://vl.example";
        for to in [
            "http://cdn.example/x",
            "https://127.0.0.1/x",
            "https://169.254.169.254/latest",
            "https://localhost/x",
            "file:///etc/passwd",
        ] {
            assert!(refuses(service, "https://vl.example/x", to), "{to}");
        }
        let local = "http://127.0.0.1:8080";
        for (base, from, to, refused) in [
            (service, "https://vl.example/x", "https://cdn.example/x", false),
            (local, "http://127.0.0.1/x", "http://127.0.0.1:81/x", false),
            (local, "http://127.0.0.1/x", "http://169.254.169.254/", true),
            (local, "https://cdn.example/x", "https://127.0.0.1/x", true),
            ("http://lab.example", "https://cdn.example/x", "http://cdn.example/x", true),
        ] {
            assert_eq!(refuses(base, from, to), refused, "{base}: {from} to {to}");
        }
        let loop_of_six = vec![url("https://vl.example/"); 6];
        let base = BaseUrl::parse(service).unwrap();
        assert!(redirect_error(&base, &loop_of_six, &url("https://vl.example/")).is_some());
    }
}
