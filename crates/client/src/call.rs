//! A request as a value, which can be sent any number of times, and its whole answer.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{StatusCode, Url, header::HeaderMap};
use serde_json::Value;

use crate::{
    ingest::MediaForm,
    multipart::{self, Head, Sending},
    operation::Operation,
    query_image::QueryImage,
    raw::RawPart,
    setback::Setback,
};
use tessera_model::{Failure, FailureKind, SafeText};
use tessera_wire::{paths, problem::read_problem};

/// Decoded bytes of a JSON answer.
const JSON_LIMIT: usize = 32 << 20;
/// Characters shown of an answer that was not understood.
const EXCERPT: usize = 200;
/// Bytes a second an upload is given time for, on top of the other deadlines.
const UPLOAD_PACE: u64 = 64 << 10;

/// A request, ready to be sent any number of times.
pub(super) struct Call {
    pub operation: Operation,
    pub url: Url,
    pub headers: HeaderMap,
    pub payload: Payload,
    /// Decoded bytes of the answer.
    pub limit: usize,
}

/// What a request carries, and so its method.
pub(super) enum Payload {
    /// Nothing: a GET.
    Get,
    /// Nothing: a POST.
    Post,
    /// A POST of JSON.
    Json(Bytes),
    /// A POST of a form with a query image.
    Image(QueryImage),
    /// A POST of a form with media, watched by who sends it.
    Media(Arc<MediaForm>),
    /// A POST of a form that a person has put together.
    Form(Vec<RawPart>),
}

/// A whole, successful answer.
pub(super) struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub media_type: SafeText,
    pub body: Bytes,
}

impl Call {
    /// A GET of a path of the interface.
    pub(super) fn get(operation: Operation, url: Url) -> Self {
        Self::new(operation, url, Payload::Get)
    }

    /// A request of a path of the interface.
    pub(super) fn new(operation: Operation, url: Url, payload: Payload) -> Self {
        Self { operation, url, headers: HeaderMap::new(), payload, limit: JSON_LIMIT }
    }

    /// Time an upload may take for its own bytes.
    pub(super) fn upload_time(&self) -> Duration {
        match &self.payload {
            Payload::Media(_) => Duration::MAX,
            _ => Duration::from_secs(self.payload_bytes().div_ceil(UPLOAD_PACE)),
        }
    }

    /// Bytes of what it carries.
    pub(super) fn payload_bytes(&self) -> u64 {
        match &self.payload {
            Payload::Get | Payload::Post => 0,
            Payload::Json(body) => body.len() as u64,
            Payload::Image(image) => image.bytes.len() as u64,
            Payload::Media(media) => media.total(),
            Payload::Form(parts) => parts.iter().map(|part| part.content.len() as u64).sum(),
        }
    }

    /// The HTTP method.
    pub(super) fn method(&self) -> &'static str {
        match &self.payload {
            Payload::Get => "GET",
            Payload::Post
            | Payload::Json(_)
            | Payload::Image(_)
            | Payload::Media(_)
            | Payload::Form(_) => "POST",
        }
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// The answer has more than `limit` bytes.
    pub(super) fn too_large(&self) -> Setback {
        let sentence = format!(
            "cannot {}: the answer is larger than {} MiB",
            self.operation.rule().purpose,
            self.limit >> 20
        );
        Setback::Final(Failure::new(FailureKind::Unexpected, sentence))
    }
}

impl QueryImage {
    /// The multipart form that carries it. Its name and type are of our own making: the name of a
    /// file could carry line breaks into the head of the part (M8).
    pub(super) fn form(&self) -> Sending {
        let head = Head { field: paths::FILE_FIELD, file: Some((self.name, self.media_type)) };
        multipart::in_memory(&[(head, self.bytes.clone())])
    }
}

impl Reply {
    /// Reads the body as JSON with `read`.
    ///
    /// # Errors
    /// [`FailureKind::Unexpected`] with the status, the type and the first words of what came
    /// instead (N20).
    pub(super) fn read<T>(
        &self,
        operation: Operation,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Failure> {
        let value: Option<Value> = serde_json::from_slice(&self.body).ok();
        value.as_ref().and_then(read).ok_or_else(|| {
            let sentence = format!(
                "cannot {}: the answer ({}, {}) is not what the interface describes",
                operation.rule().purpose,
                self.status.as_u16(),
                self.media_type,
            );
            let words = read_problem(&self.body);
            Failure::new(FailureKind::Unexpected, sentence)
                .detail(words.map(|words| SafeText::new(words.as_str(), EXCERPT)))
                .remedy("Check that the base URL leads to a dataset service")
        })
    }
}
