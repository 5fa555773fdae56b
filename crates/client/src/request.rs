//! Requests as values that can be sent any number of times. Custom requests, whose path and body the user writes, are
//! at the end of the file.

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{Url, header::HeaderMap};

use crate::{
    errors::origin_of,
    media_form::MediaForm,
    multipart::{self, FormField, MultipartBody, OCTET_STREAM, PartHeader, escape_file_name},
    query_image::QueryImageUpload,
    service_config::BaseUrl,
};
use tessera_model::SafeText;
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
    Image(QueryImageUpload),
    /// A media upload, which its sender monitors.
    Media(Arc<MediaForm>),
    Form(Vec<RawPart>),
}

#[derive(Clone, Debug)]
pub struct RawPart {
    pub name: String,
    /// The path of the file that contains the content. Only its file name is sent.
    pub file: Option<PathBuf>,
    pub content: Bytes,
}

impl RawPart {
    pub(super) fn form_field(&self) -> FormField {
        if let (Some(path), Some(name)) = (&self.file, self.sent_file_name()) {
            return FormField::File { field: self.name.clone(), path: path.clone(), name };
        }
        let value = String::from_utf8_lossy(&self.content);
        FormField::Text(format!("{}={value}", self.name))
    }

    /// Returns the file name as it is sent.
    fn sent_file_name(&self) -> Option<String> {
        let path = self.file.as_deref()?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Some(escape_file_name(&name.to_string_lossy()))
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

    /// Returns the method and the path. The query is omitted because a link may contain a signature.
    pub(super) fn method_and_path(&self) -> SafeText {
        SafeText::file_name(&format!("{} {}", self.method(), self.url.path()))
    }

    pub(super) fn origin(&self) -> String {
        origin_of(&self.url)
    }
}

/// Encodes the form. Names are escaped so that they cannot break out of a part header.
pub(super) fn multipart_of_parts(parts: &[RawPart]) -> MultipartBody {
    let escaped = parts
        .iter()
        .map(|part| (escape_file_name(&part.name), part.sent_file_name(), &part.content));
    let escaped: Vec<_> = escaped.collect();
    let parts = escaped.iter().map(|(field, file, content)| {
        let file = file.as_deref().map(|file| (file, OCTET_STREAM));
        (PartHeader { field, file }, Bytes::clone(content))
    });
    multipart::in_memory(parts)
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
