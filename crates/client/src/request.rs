//! Requests as values that can be sent any number of times, and custom requests, whose path and body the user wrote.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{Url, header::HeaderMap};

use crate::{
    add_media::MediaForm,
    client::Client,
    curl::FormField,
    errors::AttemptError,
    multipart::{self, MultipartBody, OCTET_STREAM, PartHeader, escape_file_name},
    query_image::QueryImageUpload,
    recorder::Attempt,
    response::ResponseParts,
};
use tessera_model::{Failure, FailureKind, SafeText};
use tessera_wire::{endpoints::Endpoint, explore::FILE_FIELD};

const MAX_JSON_BYTES: usize = 32 << 20;
pub(super) const MAX_ERROR_BODY_BYTES: usize = 64 << 10;
/// Minimum upload rate in bytes per second, for timeouts.
const MIN_UPLOAD_RATE: u64 = 64 << 10;

pub(super) struct ApiRequest {
    pub endpoint: Endpoint,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: RequestBody,
    /// Limit of the decoded response.
    pub max_bytes: usize,
}

/// The body, which also selects the method.
pub(super) enum RequestBody {
    Get,
    Post,
    Json(Bytes),
    Image(QueryImageUpload),
    /// A media upload, monitored by its sender.
    Media(Arc<MediaForm>),
    Form(Vec<RawPart>),
}

#[derive(Clone, Debug)]
pub struct RawPart {
    pub name: String,
    /// The name of the file that contains the content.
    pub file: Option<String>,
    pub content: Bytes,
}

impl RawPart {
    pub(super) fn form_field(&self) -> FormField {
        if let Some(file) = &self.file {
            return FormField::File(self.name.clone(), file.into());
        }
        let value = String::from_utf8_lossy(&self.content);
        FormField::Text(format!("{}={value}", self.name))
    }
}

impl ApiRequest {
    pub(super) fn get(endpoint: Endpoint, url: Url) -> Self {
        Self::new(endpoint, url, RequestBody::Get)
    }

    pub(super) fn new(endpoint: Endpoint, url: Url, body: RequestBody) -> Self {
        Self { endpoint, url, headers: HeaderMap::new(), body, max_bytes: MAX_JSON_BYTES }
    }

    pub(super) fn upload_timeout(&self) -> Duration {
        match &self.body {
            RequestBody::Media(_) => Duration::MAX,
            _ => Duration::from_secs(self.body_bytes().div_ceil(MIN_UPLOAD_RATE)),
        }
    }

    pub(super) fn body_bytes(&self) -> u64 {
        match &self.body {
            RequestBody::Get | RequestBody::Post => 0,
            RequestBody::Json(body) => body.len() as u64,
            RequestBody::Image(image) => image.bytes.len() as u64,
            RequestBody::Media(media) => media.total_bytes,
            RequestBody::Form(parts) => parts.iter().map(|part| part.content.len() as u64).sum(),
        }
    }

    pub(super) fn method(&self) -> &'static str {
        if matches!(self.body, RequestBody::Get) { "GET" } else { "POST" }
    }

    /// Whether it is a GET that changes something, which a service without login accepts only with a
    /// header that no web page can send.
    pub(super) fn is_unsafe_get(&self) -> bool {
        use Endpoint::{ProcessMedia, Raw, StartExport};
        matches!(self.body, RequestBody::Get)
            && matches!(self.endpoint, StartExport | ProcessMedia | Raw)
    }

    /// The method and the path. Without the query: a link may contain a signature.
    pub(super) fn method_and_path(&self) -> SafeText {
        SafeText::file_name(&format!("{} {}", self.method(), self.url.path()))
    }

    pub(super) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub(super) fn response_too_large(&self) -> AttemptError {
        let sentence = format!(
            "cannot {}: the response is larger than {} MiB",
            self.endpoint.retry_rule().purpose,
            self.max_bytes >> 20
        );
        AttemptError::Fatal(Failure::new(FailureKind::Unexpected, sentence))
    }
}

impl QueryImageUpload {
    /// The form of a query image. Name and type are generated: a file name could break out of the
    /// part header.
    pub(super) fn multipart_body(&self) -> MultipartBody {
        let name = self.name();
        let file = Some((name.as_str(), self.format.media_type()));
        let head = PartHeader { field: FILE_FIELD, file };
        multipart::in_memory([(head, self.bytes.clone())])
    }
}

/// Encodes the form. Names are escaped so that they cannot break out of a part header.
pub(super) fn multipart_of_parts(parts: &[RawPart]) -> MultipartBody {
    let escaped = parts.iter().map(|part| {
        (escape_file_name(&part.name), part.file.as_deref().map(escape_file_name), &part.content)
    });
    let escaped: Vec<_> = escaped.collect();
    let parts = escaped.iter().map(|(field, file, content)| {
        let file = file.as_deref().map(|file| (file, OCTET_STREAM));
        (PartHeader { field, file }, Bytes::clone(content))
    });
    multipart::in_memory(parts)
}

#[derive(Clone, Debug)]
pub struct RawRequest {
    /// The path with or without `/api/v1`; may contain a query.
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
    /// The failure, which a body can report under a status of success, too.
    pub failure: Option<Failure>,
}

impl Client {
    pub async fn send_raw(&self, request: RawRequest) -> Result<RawResponse, Failure> {
        let mut url: Url = self.service().base_url().resolve_path(&request.path)?;
        if !request.parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.parameters);
        }
        let payload = match request.body {
            RawBody::Get => RequestBody::Get,
            RawBody::Post => RequestBody::Post,
            RawBody::Json(body) => RequestBody::Json(body),
            RawBody::Form(parts) => RequestBody::Form(parts),
        };
        let request = ApiRequest::new(Endpoint::Raw, url, payload);
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
