//! One request and its answer: login, deadlines, size limits, and the loop that tries again as
//! the retry table allows.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    base_url::is_local_only,
    call::{Call, Payload, Reply},
    endpoint::Endpoint,
    failure::Circumstances,
    http::{self, Body},
    login::{Login, Pass},
    multipart::Sending,
    policy::Policy,
    raw,
    rehearsal::Rehearsal,
    retry::{Attempts, Engine},
    setback::{Refusal, Setback},
    witness::{Attempt, Witness},
};
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use tessera_model::{Failure, FailureKind, Link, SafeText};
use tessera_wire::problem::read_problem;

/// Bytes of an error body that are read.
const PROBLEM_LIMIT: usize = 64 << 10;

/// Everything that requests of one client share.
#[derive(Clone)]
pub(super) struct Transport {
    pub endpoint: Endpoint,
    pub engine: Arc<Engine>,
    pub witness: Witness,
    pub rehearsal: Option<Rehearsal>,
    pub login: Login,
    api: reqwest::Client,
    blob: reqwest::Client,
    pipeline: reqwest::Client,
}

impl Transport {
    pub(super) fn new(endpoint: Endpoint, policy: Policy) -> Result<Self, Failure> {
        Ok(Self {
            login: Login::new(&endpoint)?,
            api: http::api_client(&endpoint, &policy)?,
            blob: http::blob_client(&endpoint, &policy)?,
            pipeline: http::pipeline_client(&endpoint, &policy)?,
            engine: Arc::new(Engine::new(policy)),
            witness: Witness::default(),
            rehearsal: None,
            endpoint,
        })
    }

    /// Turns a link of the service into a URL that may be fetched (D07-D09).
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

    /// Sends `call`, again where the table allows it, until there is an answer or no hope.
    pub(super) async fn fetch(&self, call: &Call) -> Result<Reply, Failure> {
        let mut attempts = Attempts::new(call.operation, call.origin());
        loop {
            let attempt = Attempt::new(call, attempts.number());
            let setback = match self.whole(call).await {
                Ok(reply) => {
                    let bytes = reply.body.len() as u64;
                    self.witness.tell(|| attempt.answered(reply.status, bytes));
                    self.engine.succeeded(&mut attempts);
                    return Ok(reply);
                }
                Err(setback) => setback,
            };
            let pause = self.engine.after(&mut attempts, &setback);
            self.witness.tell(|| attempt.failed(&setback, pause));
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(self.explain(call, setback)),
            }
        }
    }

    /// What a setback of `call` means to people.
    pub(super) fn explain(&self, call: &Call, setback: Setback) -> Failure {
        let (operation, method) = (call.operation, call.method());
        Circumstances { operation, method, url: &call.url, hosted: !self.login.is_open() }
            .explain(setback)
    }

    /// One attempt, answer included.
    pub(super) async fn whole(&self, call: &Call) -> Result<Reply, Setback> {
        let policy = self.engine.policy();
        // Pictures may be large: they are held by their pace and their size instead.
        let deadline = if call.operation.follows_link() {
            Duration::MAX
        } else {
            policy.total.saturating_add(call.upload_time())
        };
        let answer = async {
            let response = self.head(call).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let media_type = media_type(&response);
            let body = if call.operation.follows_link() {
                Body::transfer(response, policy.idle)
            } else {
                Body::new(response, policy.idle)
            };
            let body = body.collect(call.limit).await?.ok_or_else(|| call.too_large())?;
            Ok(Reply { status, headers, media_type, body })
        };
        let late = |_| Setback::NoAnswer("the answer took too long".to_owned());
        tokio::time::timeout(deadline, answer).await.map_err(late)?
    }

    /// One attempt up to the head of a successful answer. A 401 is answered by one new token and
    /// one replay: the check precedes every effect.
    pub(super) async fn head(&self, call: &Call) -> Result<Response, Setback> {
        let bare = call.operation.follows_link() || call.operation.asks_pipeline();
        let pass = if bare { None } else { self.login.current().map_err(Setback::Final)? };
        let rehearsed = self.rehearsal.as_ref().and_then(|all| all.intercept(pass.is_some(), call));
        if let Some(failure) = rehearsed {
            return Err(Setback::Final(failure));
        }
        let attempt = Attempt::new(call, 1);
        let outcome = self.send(call, pass.as_ref()).await;
        let rejected = matches!(&outcome, Err(Setback::Refused(refusal))
            if refusal.status == StatusCode::UNAUTHORIZED);
        let (Err(expired), Some(pass), true) = (&outcome, &pass, rejected) else {
            return outcome;
        };
        let Some(renewed) = self.login.renewed(pass).await.map_err(Setback::Final)? else {
            return outcome;
        };
        self.witness.tell(|| attempt.failed(expired, Some(Duration::ZERO)));
        self.send(call, Some(&renewed)).await
    }

    async fn send(&self, call: &Call, pass: Option<&Pass>) -> Result<Response, Setback> {
        let policy = self.engine.policy();
        let sent = SystemTime::now();
        let late = |_| Setback::NoAnswer("no answer in time".to_owned());
        let deadline = policy.headers.saturating_add(call.upload_time());
        let response = tokio::time::timeout(deadline, self.request(call, pass).send())
            .await
            .map_err(late)??;
        if pass.is_some() {
            self.login.learn(response.headers(), sent, SystemTime::now());
        }
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        // A refusal whose words are cut off or endless is still a refusal.
        let body = Body::new(response, policy.idle).collect(PROBLEM_LIMIT).await;
        let body = body.ok().flatten().unwrap_or_default();
        let detail = read_problem(&body);
        Err(Setback::Refused(Box::new(Refusal { status, headers, body, detail })))
    }

    fn request(&self, call: &Call, pass: Option<&Pass>) -> reqwest::RequestBuilder {
        let client = match call.operation {
            operation if operation.follows_link() => &self.blob,
            operation if operation.asks_pipeline() => &self.pipeline,
            _ => &self.api,
        };
        let url = call.url.clone();
        let mut request = match &call.payload {
            Payload::Get => client.get(url),
            // Said by nobody else, and asked for by some servers in front of services (411).
            Payload::Post => client.post(url).header(CONTENT_LENGTH, 0),
            Payload::Json(body) => {
                client.post(url).header(CONTENT_TYPE, "application/json").body(body.clone())
            }
            Payload::Image(image) => post(client, url, image.form()),
            Payload::Form(parts) => post(client, url, raw::form(parts)),
            Payload::Media(media) => post(client, url, media.sending()),
        };
        if let Some(pass) = pass {
            request = request.header(pass.name.clone(), pass.value.clone());
        }
        request.headers(call.headers.clone())
    }
}

/// A POST of a form.
fn post(client: &reqwest::Client, url: Url, form: Sending) -> reqwest::RequestBuilder {
    let request = client.post(url).header(CONTENT_TYPE, form.content_type);
    request.header(CONTENT_LENGTH, form.length).body(form.body)
}

fn media_type(response: &Response) -> SafeText {
    let value = response.headers().get(CONTENT_TYPE);
    SafeText::name(value.and_then(|value| value.to_str().ok()).unwrap_or("no type"))
}
