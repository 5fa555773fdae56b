//! Custom requests: any path below `/api/v1`, with the login, sent once. The response is returned
//! as it is.

use bytes::Bytes;
use reqwest::Url;

use crate::{
    attempt_error::AttemptError,
    client::Client,
    recorder::Attempt,
    request::{ApiRequest, RawPart, RequestBody},
    response::ResponseParts,
    retry_table::ApiOperation,
};
use tessera_model::Failure;

#[derive(Clone, Debug)]
pub struct RawRequest {
    /// With or without `/api/v1`; may contain a query.
    pub path: String,
    /// Additional query parameters, not yet encoded.
    pub parameters: Vec<(String, String)>,
    pub body: RawBody,
}

/// The body, which also selects the method.
#[derive(Clone, Debug)]
pub enum RawBody {
    Get,
    Post,
    Json(Bytes),
    Form(Vec<RawPart>),
}

#[derive(Clone, Debug)]
pub struct RawResponse {
    pub status: u16,
    /// Lower-case names and values as text.
    pub headers: Vec<(String, String)>,
    /// Decoded bytes; of an error response, the first 64 KiB.
    pub body: Bytes,
    /// Also that of a body that reports an error under a status of success.
    pub failure: Option<Failure>,
}

impl Client {
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
        let request = ApiRequest::new(ApiOperation::Raw, url, payload);
        let attempt = Attempt::new(&request, 1);
        let error = match self.transport.fetch_once(&request).await {
            Ok(reply) => {
                let record = || attempt.succeeded(reply.status(), reply.bytes());
                self.transport.recorder.notify(record);
                return Ok(reply.into_parts().into());
            }
            Err(error) => error,
        };
        self.transport.recorder.notify(|| attempt.failed(&error, None));
        let AttemptError::Rejected(rejection) = error else {
            return Err(self.transport.explain(&request, error));
        };
        let (status, headers, body) =
            (rejection.status, rejection.headers.clone(), rejection.body.clone());
        let failure = Some(self.transport.explain(&request, AttemptError::Rejected(rejection)));
        Ok(ResponseParts { status, headers, body, failure }.into())
    }
}

impl From<ResponseParts> for RawResponse {
    fn from(ResponseParts { status, headers, body, failure }: ResponseParts) -> Self {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let headers = headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
            .collect();
        Self { status: status.as_u16(), headers, body, failure }
    }
}
