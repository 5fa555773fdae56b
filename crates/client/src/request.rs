//! A request as a value, which can be sent any number of times, and its whole answer.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{StatusCode, Url, header::HeaderMap};
use serde_json::Value;

use crate::{
    attempt_error::AttemptError,
    multipart::{self, MultipartBody, PartHeader},
    query_image::QueryImageUpload,
    raw_request::RawPart,
    retry_table::ApiOperation,
    upload::MediaForm,
};
use tessera_model::{Failure, FailureKind, SafeText};
use tessera_wire::{error_body::read_error_message, paths};

/// Decoded bytes of a JSON answer.
const MAX_JSON_BYTES: usize = 32 << 20;
/// Characters shown of an answer that was not understood.
const MAX_EXCERPT_CHARS: usize = 200;
/// Bytes a second an upload is given time for, on top of the other deadlines.
const MIN_UPLOAD_RATE: u64 = 64 << 10;

/// A request, ready to be sent any number of times.
pub(super) struct ApiRequest {
    pub operation: ApiOperation,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: RequestBody,
    /// Decoded bytes of the answer.
    pub max_bytes: usize,
}

/// What a request carries, and so its method.
pub(super) enum RequestBody {
    /// Nothing: a GET.
    Get,
    /// Nothing: a POST.
    Post,
    /// A POST of JSON.
    Json(Bytes),
    /// A POST of a form with a query image.
    Image(QueryImageUpload),
    /// A POST of a form with media, watched by who sends it.
    Media(Arc<MediaForm>),
    /// A POST of a form that a person has put together.
    Form(Vec<RawPart>),
}

/// A whole, successful answer.
pub(super) struct ApiResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub media_type: SafeText,
    pub body: Bytes,
}

impl ApiRequest {
    /// A GET of a path of the interface.
    pub(super) fn get(operation: ApiOperation, url: Url) -> Self {
        Self::new(operation, url, RequestBody::Get)
    }

    /// A request of a path of the interface.
    pub(super) fn new(operation: ApiOperation, url: Url, body: RequestBody) -> Self {
        Self { operation, url, headers: HeaderMap::new(), body, max_bytes: MAX_JSON_BYTES }
    }

    /// Time an upload may take for its own bytes.
    pub(super) fn upload_timeout(&self) -> Duration {
        match &self.body {
            RequestBody::Media(_) => Duration::MAX,
            _ => Duration::from_secs(self.body_bytes().div_ceil(MIN_UPLOAD_RATE)),
        }
    }

    /// Bytes of what it carries.
    pub(super) fn body_bytes(&self) -> u64 {
        match &self.body {
            RequestBody::Get | RequestBody::Post => 0,
            RequestBody::Json(body) => body.len() as u64,
            RequestBody::Image(image) => image.bytes.len() as u64,
            RequestBody::Media(media) => media.total_bytes(),
            RequestBody::Form(parts) => parts.iter().map(|part| part.content.len() as u64).sum(),
        }
    }

    /// The HTTP method.
    pub(super) fn method(&self) -> &'static str {
        match &self.body {
            RequestBody::Get => "GET",
            RequestBody::Post
            | RequestBody::Json(_)
            | RequestBody::Image(_)
            | RequestBody::Media(_)
            | RequestBody::Form(_) => "POST",
        }
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// The answer has more than `limit` bytes.
    pub(super) fn response_too_large(&self) -> AttemptError {
        let sentence = format!(
            "cannot {}: the answer is larger than {} MiB",
            self.operation.retry_rule().purpose,
            self.max_bytes >> 20
        );
        AttemptError::Fatal(Failure::new(FailureKind::Unexpected, sentence))
    }
}

impl QueryImageUpload {
    /// The multipart form that carries it. Its name and type are of our own making: the name of a
    /// file could carry line breaks into the head of the part (M8).
    pub(super) fn multipart_body(&self) -> MultipartBody {
        let head =
            PartHeader { field: paths::FILE_FIELD, file: Some((self.name, self.media_type)) };
        multipart::in_memory(&[(head, self.bytes.clone())])
    }
}

impl ApiResponse {
    /// Reads the body as JSON with `read`.
    ///
    /// # Errors
    /// [`FailureKind::Unexpected`] with the status, the type and the first words of what came
    /// instead.
    pub(super) fn parse<T>(
        &self,
        operation: ApiOperation,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Failure> {
        let value: Option<Value> = serde_json::from_slice(&self.body).ok();
        value.as_ref().and_then(read).ok_or_else(|| {
            let sentence = format!(
                "cannot {}: the answer ({}, {}) is not what the interface describes",
                operation.retry_rule().purpose,
                self.status.as_u16(),
                self.media_type,
            );
            let words = read_error_message(&self.body);
            Failure::new(FailureKind::Unexpected, sentence)
                .with_detail(words.map(|words| SafeText::new(words.as_str(), MAX_EXCERPT_CHARS)))
                .with_remedy("Check that the base URL leads to a dataset service")
        })
    }
}
