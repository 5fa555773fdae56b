//! A request that a person has put together: any path below `/api/v1`, with the login, sent once. What
//! comes back is given back, whatever it is.

use bytes::Bytes;
use reqwest::{StatusCode, Url, header::HeaderMap};

use crate::{
    attempt_error::AttemptError,
    client::Client,
    multipart::{self, MultipartBody, OCTET_STREAM, PartHeader, escape_file_name},
    recorder::Attempt,
    request::{ApiRequest, RequestBody},
    retry_table::ApiOperation,
};
use tessera_model::Failure;

/// A request.
#[derive(Clone, Debug)]
pub struct RawRequest {
    /// The path, with or without `/api/v1` before it; it may hold a query.
    pub path: String,
    /// Further parameters of the query, not yet encoded.
    pub parameters: Vec<(String, String)>,
    /// What is sent.
    pub body: RawBody,
}

/// What a request carries, and so its method.
#[derive(Clone, Debug)]
pub enum RawBody {
    /// A GET.
    Get,
    /// A POST without anything.
    Post,
    /// A POST of JSON.
    Json(Bytes),
    /// A POST of a form.
    Form(Vec<RawPart>),
}

/// A field of a form.
#[derive(Clone, Debug)]
pub struct RawPart {
    /// Its name.
    pub name: String,
    /// The name of the file it is the content of.
    pub file: Option<String>,
    /// The content.
    pub content: Bytes,
}

impl RawPart {
    /// The field as `curl` takes it.
    pub(super) fn curl_field(&self) -> String {
        let value = match &self.file {
            Some(file) => format!("@{file}"),
            None => String::from_utf8_lossy(&self.content).into_owned(),
        };
        format!("{}={value}", self.name)
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub struct RawResponse {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case, with their values as text.
    pub headers: Vec<(String, String)>,
    /// Decoded bytes; of a refusal the first 64 KiB.
    pub body: Bytes,
    /// What the status means, when it is no success.
    pub failure: Option<Failure>,
}

impl Client {
    /// Sends a request of a person's own, once.
    ///
    /// # Errors
    /// The path leads out of `/api/v1`, or no whole answer came.
    pub async fn send_raw(&self, request: RawRequest) -> Result<RawResponse, Failure> {
        let mut url: Url = self.endpoint().base_url().resolve_path(&request.path)?;
        if !request.parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.parameters);
        }
        let payload = match request.body {
            RawBody::Get => RequestBody::Get,
            RawBody::Post => RequestBody::Post,
            RawBody::Json(body) => RequestBody::Json(body),
            RawBody::Form(parts) => RequestBody::Form(parts),
        };
        let call = ApiRequest::new(ApiOperation::Raw, url, payload);
        let attempt = Attempt::new(&call, 1);
        let setback = match self.transport.fetch_once(&call).await {
            Ok(reply) => {
                let bytes = reply.body.len() as u64;
                self.transport.recorder.notify(|| attempt.succeeded(reply.status, bytes));
                return Ok(raw_response(reply.status, &reply.headers, reply.body, None));
            }
            Err(setback) => setback,
        };
        self.transport.recorder.notify(|| attempt.failed(&setback, None));
        let AttemptError::Rejected(refusal) = setback else {
            return Err(self.transport.explain(&call, setback));
        };
        let (status, headers, body) =
            (refusal.status, refusal.headers.clone(), refusal.body.clone());
        let failure = self.transport.explain(&call, AttemptError::Rejected(refusal));
        Ok(raw_response(status, &headers, body, Some(failure)))
    }
}

fn raw_response(
    status: StatusCode,
    headers: &HeaderMap,
    body: Bytes,
    failure: Option<Failure>,
) -> RawResponse {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
        .collect();
    RawResponse { status: status.as_u16(), headers, body, failure }
}

/// The form of these parts. What a person typed cannot break out of the head of a part (M8).
pub(super) fn multipart_body(parts: &[RawPart]) -> MultipartBody {
    let safe = parts.iter().map(|part| {
        let file = part.file.as_deref().map(escape_file_name);
        (escape_file_name(&part.name), file, part.content.clone())
    });
    let safe: Vec<_> = safe.collect();
    let parts = safe.iter().map(|(name, file, content)| {
        let file = file.as_deref().map(|file| (file, OCTET_STREAM));
        (PartHeader { field: name, file }, content.clone())
    });
    multipart::in_memory(&parts.collect::<Vec<_>>())
}
