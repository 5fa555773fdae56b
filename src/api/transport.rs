//! One request and its answer: login, deadlines, size limits, and the loop that tries again as
//! the retry table allows.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    api::{
        call::{Call, Payload, Reply},
        endpoint::{Access, Endpoint, is_local_only},
        failure::Circumstances,
        http::{self, Body},
        policy::Policy,
        rehearsal::Rehearsal,
        retry::{Attempts, Engine},
        setback::{Refusal, Setback},
        token::{Token, Tokens},
        witness::{Attempt, Witness},
    },
    model::{Failure, FailureKind, Link, SafeText},
    wire::problem::read_problem,
};
use reqwest::{
    Response, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE},
};

/// Bytes of an error body that are read.
const PROBLEM_LIMIT: usize = 64 << 10;

/// Everything that requests of one client share.
#[derive(Clone)]
pub(super) struct Transport {
    pub endpoint: Endpoint,
    pub engine: Arc<Engine>,
    pub witness: Witness,
    pub rehearsal: Option<Rehearsal>,
    tokens: Option<Arc<Tokens>>,
    api: reqwest::Client,
    blob: reqwest::Client,
    pipeline: reqwest::Client,
}

impl Transport {
    pub(super) fn new(endpoint: Endpoint, policy: Policy) -> Result<Self, Failure> {
        let tokens = match endpoint.access() {
            Access::Hosted(credentials) => Some(Arc::new(Tokens::new(credentials))),
            Access::OnPremises => None,
        };
        Ok(Self {
            api: http::api_client(&endpoint, &policy)?,
            blob: http::blob_client(&endpoint, &policy)?,
            pipeline: http::pipeline_client(&endpoint, &policy)?,
            engine: Arc::new(Engine::new(policy)),
            witness: Witness::default(),
            rehearsal: None,
            tokens,
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
        Circumstances { operation, method, url: &call.url, hosted: self.tokens.is_some() }
            .explain(setback)
    }

    /// One attempt, answer included.
    async fn whole(&self, call: &Call) -> Result<Reply, Setback> {
        let policy = self.engine.policy();
        // Pictures may be large: they are held by their pace and their size instead.
        let deadline = if call.operation.follows_link() {
            Duration::MAX
        } else {
            policy.total.saturating_add(call.upload_time())
        };
        let answer = async {
            let response = self.head(call).await?;
            let status = response.status();
            let media_type = media_type(&response);
            let body = if call.operation.follows_link() {
                Body::transfer(response, policy.idle)
            } else {
                Body::new(response, policy.idle)
            };
            let body = body.collect(call.limit).await?.ok_or_else(|| call.too_large())?;
            Ok(Reply { status, media_type, body })
        };
        let late = |_| Setback::NoAnswer("the answer took too long".to_owned());
        tokio::time::timeout(deadline, answer).await.map_err(late)?
    }

    /// One attempt up to the head of a successful answer. A 401 is answered by one new token and
    /// one replay: the check precedes every effect.
    pub(super) async fn head(&self, call: &Call) -> Result<Response, Setback> {
        let bare = call.operation.follows_link() || call.operation.asks_pipeline();
        let tokens = self.tokens.as_ref().filter(|_| !bare);
        let rehearsed =
            self.rehearsal.as_ref().and_then(|all| all.intercept(tokens.is_some(), call));
        if let Some(failure) = rehearsed {
            return Err(Setback::Final(failure));
        }
        let Some(tokens) = tokens else {
            return self.send(call, None).await;
        };
        let token = tokens.current().map_err(Setback::Final)?;
        let attempt = Attempt::new(call, 1);
        match self.send(call, Some(&token)).await {
            Err(Setback::Refused(refusal)) if refusal.status == StatusCode::UNAUTHORIZED => {
                let expired = Setback::Refused(refusal);
                self.witness.tell(|| attempt.failed(&expired, Some(Duration::ZERO)));
                tokens.reject(&token);
                let token = tokens.current().map_err(Setback::Final)?;
                self.send(call, Some(&token)).await
            }
            outcome => outcome,
        }
    }

    async fn send(&self, call: &Call, token: Option<&Token>) -> Result<Response, Setback> {
        let policy = self.engine.policy();
        let sent = SystemTime::now();
        let late = |_| Setback::NoAnswer("no answer in time".to_owned());
        let deadline = policy.headers.saturating_add(call.upload_time());
        let response = tokio::time::timeout(deadline, self.request(call, token)?.send())
            .await
            .map_err(late)??;
        if let Some(tokens) = self.tokens.as_ref().filter(|_| token.is_some()) {
            tokens.learn(response.headers(), sent, SystemTime::now());
        }
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        // A refusal whose words are cut off or endless is still a refusal.
        let body = Body::new(response, policy.idle).collect(PROBLEM_LIMIT).await;
        let detail = body.ok().flatten().and_then(|body| read_problem(&body));
        Err(Setback::Refused(Box::new(Refusal { status, headers, detail })))
    }

    fn request(
        &self,
        call: &Call,
        token: Option<&Token>,
    ) -> Result<reqwest::RequestBuilder, Setback> {
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
            Payload::Image(image) => client.post(url).multipart(image.form()?),
            Payload::Media(media) => {
                let form = media.sending();
                let request = client.post(url).header(CONTENT_TYPE, form.content_type);
                request.header(CONTENT_LENGTH, form.length).body(form.body)
            }
        };
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token.header());
        }
        Ok(request.headers(call.headers.clone()))
    }
}

fn media_type(response: &Response) -> SafeText {
    let value = response.headers().get(CONTENT_TYPE);
    SafeText::name(value.and_then(|value| value.to_str().ok()).unwrap_or("no type"))
}
