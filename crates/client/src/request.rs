//! Requests as values that can be sent any number of times. Custom requests, whose path and body the user writes, are
//! at the end of the file.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use reqwest::{Url, header::HeaderMap};
use serde_json::Value;

use crate::{
    errors::origin_of,
    multipart::{Form, FormContent, FormPart, OCTET_STREAM, escape_file_name},
    service_config::BaseUrl,
};
use tessera_model::{Failure, SafeText, vql::MAX_URL_CHARS};
use tessera_wire::endpoints::{Endpoint, is_unsafe_get};

const MAX_JSON_BYTES: usize = 32 << 20;
pub(super) const MAX_ERROR_BODY_BYTES: usize = 64 << 10;
/// The minimum upload rate in bytes per second, from which timeouts are computed.
const MIN_UPLOAD_RATE: u64 = 64 << 10;

pub(super) struct ApiRequest {
    pub endpoint: Endpoint,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: RequestBody,
    /// The maximum size of the decoded response.
    pub max_bytes: usize,
}

/// The body, which also determines the method.
pub(super) enum RequestBody {
    Get,
    Post,
    Json(Bytes),
    Form(Form),
}

impl RequestBody {
    pub(super) fn json(value: &Value) -> Self {
        Self::Json(value.to_string().into())
    }
}

#[derive(Clone, Debug)]
pub struct RawPart {
    pub name: String,
    /// The path of the file that contains the content. Only its file name is sent.
    pub file: Option<PathBuf>,
    pub content: Bytes,
}

impl From<RawPart> for FormPart {
    fn from(RawPart { name, file, content }: RawPart) -> Self {
        let content = match file {
            None => FormContent::Text(content),
            Some(path) => {
                let file_name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                FormContent::File {
                    name: escape_file_name(&file_name),
                    path,
                    media_type: OCTET_STREAM,
                    bytes: content,
                }
            }
        };
        Self { field: name.into(), content }
    }
}

impl ApiRequest {
    pub(super) fn get(endpoint: Endpoint, url: Url) -> Self {
        Self::new(endpoint, url, RequestBody::Get)
    }

    pub(super) fn new(endpoint: Endpoint, url: Url, body: RequestBody) -> Self {
        Self { endpoint, url, headers: HeaderMap::new(), body, max_bytes: MAX_JSON_BYTES }
    }

    /// Fails if the URL is longer than the HTTP library sends.
    pub(super) fn check_length(&self) -> Result<(), Failure> {
        let characters = self.url.as_str().len();
        if characters <= MAX_URL_CHARS {
            return Ok(());
        }
        let sentence = format!(
            "the request is too long: its URL has {characters} characters, and a URL has at most {MAX_URL_CHARS}"
        );
        let remedy =
            "Use fewer or shorter filters; a letter outside ASCII takes 6 to 12 characters";
        Err(Failure::local(sentence).with_remedy(remedy))
    }

    pub(super) fn upload_timeout(&self) -> Duration {
        if self.endpoint == Endpoint::AddMedia {
            // The sender of a media upload monitors its progress.
            return Duration::MAX;
        }
        Duration::from_secs(self.body_bytes().div_ceil(MIN_UPLOAD_RATE))
    }

    pub(super) fn body_bytes(&self) -> u64 {
        match &self.body {
            RequestBody::Get | RequestBody::Post => 0,
            RequestBody::Json(body) => body.len() as u64,
            RequestBody::Form(form) => form.content_bytes,
        }
    }

    pub(super) fn method(&self) -> &'static str {
        if matches!(self.body, RequestBody::Get) { "GET" } else { "POST" }
    }

    /// Returns the method and the path. The query is omitted because a link may contain a signature.
    pub(super) fn method_and_path(&self) -> SafeText {
        SafeText::file_name(&format!("{} {}", self.method(), self.url.path()))
    }

    pub(super) fn origin(&self) -> String {
        origin_of(&self.url)
    }
}

#[derive(Clone, Debug)]
pub struct RawRequest {
    /// The path, with or without `/api/v1`. The path may contain a query.
    pub path: String,
    /// Additional query parameters, not encoded yet.
    pub parameters: Vec<(String, String)>,
    pub body: RawBody,
}

impl RawRequest {
    /// Whether the request may change something. Some GETs of the API do.
    pub fn may_change(&self) -> bool {
        // The path is resolved as for sending, because it may contain dots and escapes. A path that cannot be resolved
        // is not sent.
        let resolve = || BaseUrl::parse("http://localhost")?.resolve_path(&self.path);
        // Some proxies merge slashes.
        let merged = |path: &str| {
            let parts = path.split('/').filter(|part| !part.is_empty());
            parts.fold(String::new(), |path, part| path + "/" + part)
        };
        match self.body {
            RawBody::Get => resolve().is_ok_and(|url| is_unsafe_get(&merged(url.path()))),
            RawBody::Post | RawBody::Json(_) | RawBody::Form(_) => true,
        }
    }
}

/// The body, which also determines the method.
#[derive(Clone, Debug)]
pub enum RawBody {
    Get,
    Post,
    Json(Bytes),
    Form(Vec<RawPart>),
}
