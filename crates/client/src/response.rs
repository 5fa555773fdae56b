//! Complete responses. This file decides for every endpoint whether the response shows that the request has succeeded,
//! and warns once about each field that is needed and cannot be read.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;
use reqwest::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;

use crate::{
    auth::LoginMask,
    request::{ApiRequest, MAX_ERROR_BODY_BYTES},
};
use tessera_model::{Failure, FailureKind, SafeText};
use tessera_wire::{
    add_media::{ACCEPTED_STATUS, Accepted, read_accepted},
    endpoints::Endpoint,
    error_body::{read_error_message, read_reported_error},
    fields::{Fields, UnreadableField, UnreadableFields},
    tolerant_json::{self, Repairs},
};

/// The memory limit for a response: for its text, for its values, and for what is read from them, which takes no more
/// memory than the values.
const MAX_RESPONSE_MEMORY: usize = 60 << 20;
/// The number of characters of an unexpected response that are shown.
const MAX_EXCERPT_CHARS: usize = 200;

/// A response with a status of success. Its body is available only to the readers below.
pub(super) struct ApiResponse {
    endpoint: Endpoint,
    /// The method and the path of the request.
    request: SafeText,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    mask: LoginMask,
}

/// A response to a request that the user wrote, whose body nothing has to confirm.
#[derive(Clone, Debug)]
pub struct RawResponse {
    pub status: u16,
    /// The names in lower case, and the values as text.
    pub headers: Vec<(String, String)>,
    /// The decoded bytes. The body of an error response is cut off after 64 KiB.
    pub body: Bytes,
    /// The value of the body, which is read as tolerantly as for every other request, or why it cannot be read.
    pub value: Result<(Value, Repairs), &'static str>,
    /// The failure, which the body may report even under a status of success.
    pub failure: Option<Failure>,
}

impl RawResponse {
    pub(super) fn new(
        status: StatusCode,
        headers: &HeaderMap,
        body: Bytes,
        failure: Option<Failure>,
    ) -> Self {
        let value = parse(headers, &body);
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let header =
            |(name, value): (&HeaderName, &HeaderValue)| (name.to_string(), text(value.as_bytes()));
        Self {
            status: status.as_u16(),
            headers: headers.iter().map(header).collect(),
            body,
            value,
            failure,
        }
    }
}

fn parse(headers: &HeaderMap, body: &[u8]) -> Result<(Value, Repairs), &'static str> {
    let limit = MAX_RESPONSE_MEMORY.saturating_sub(body.len()) / 2;
    tolerant_json::parse(body, charset(headers), limit)
        .map_err(|error| if error.is_data() { "contains too many values" } else { "is not JSON" })
}

fn media_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_TYPE)?.to_str().ok()
}

/// Returns the encoding that the service declares.
pub(super) fn charset(headers: &HeaderMap) -> Option<&str> {
    let mut parameters =
        media_type(headers)?.split(';').skip(1).filter_map(|one| one.split_once('='));
    let charset = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charset.map(|(_, value)| value.trim().trim_matches('"'))
}

impl ApiResponse {
    pub(super) fn new(
        request: &ApiRequest,
        status: StatusCode,
        headers: HeaderMap,
        body: Bytes,
        mask: LoginMask,
    ) -> Self {
        Self {
            endpoint: request.endpoint,
            request: request.method_and_path(),
            status,
            headers,
            body,
            mask,
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn bytes(&self) -> u64 {
        self.body.len() as u64
    }

    /// Reads a JSON body. `read` returns `None` if the evidence of success is missing.
    pub(super) fn read<T>(
        &self,
        warnings: &FieldWarnings,
        read: impl FnOnce(Fields<'_>) -> Option<T>,
    ) -> Result<T, Failure> {
        let (value, repairs) = self.parse().map_err(|problem| self.unexpected(problem))?;
        self.reported_error(&value).map_or(Ok(()), Err)?;
        let unreadable = UnreadableFields::default();
        let read = read(Fields::noting(&value, &unreadable));
        let unreadable = unreadable.into_fields();
        let Some(read) = read else {
            let problem = "does not match the API";
            return Err(match describe(&unreadable).as_str() {
                "" => self.unexpected(problem),
                fields => self.unexpected(&format!("{problem}: {fields}")),
            });
        };
        warnings.report(self.endpoint, &self.request, unreadable);
        warnings.report_repairs(self.endpoint, &self.request, repairs);
        Ok(read)
    }

    /// Reads the acceptance of a change, whose body the API document does not show.
    pub(super) fn read_accepted(&self) -> Result<Accepted, Failure> {
        let error = self.parse().ok().and_then(|(value, _)| self.reported_error(&value));
        error.map_or(Ok(()), Err)?;
        read_accepted(self.status.as_u16())
            .ok_or_else(|| self.unexpected(&format!("is not the {ACCEPTED_STATUS} of acceptance")))
    }

    /// Returns the bytes of a picture. Its decoder decides whether they are valid.
    pub(super) fn into_picture(self) -> Bytes {
        self.body
    }

    pub(super) fn into_raw(self) -> RawResponse {
        let raw = RawResponse::new(self.status, &self.headers, self.body.clone(), None);
        let failure = raw.value.as_ref().ok().and_then(|(value, _)| self.reported_error(value));
        RawResponse { failure, ..raw }
    }

    /// Whether the service has accepted a query image that it has not registered yet.
    pub(super) fn is_pending_anchor(&self) -> bool {
        self.status == StatusCode::ACCEPTED && self.body.is_empty()
    }

    fn parse(&self) -> Result<(Value, Repairs), &'static str> {
        parse(&self.headers, &self.body)
    }

    fn reported_error(&self, value: &Value) -> Option<Failure> {
        let message = read_reported_error(value, self.endpoint.status_field())?;
        let purpose = self.endpoint.retry_rule().purpose;
        let sentence = format!("cannot {purpose}: the service reported an error");
        let failure = Failure::new(FailureKind::Rejected, sentence)
            .with_detail(Some(self.mask.apply(&message)));
        Some(self.identified(failure))
    }

    /// Describes a response that does not show that the request has succeeded.
    fn unexpected(&self, problem: &str) -> Failure {
        let rule = self.endpoint.retry_rule();
        let (request, status) = (&self.request, self.status.as_u16());
        let media_type = SafeText::name(media_type(&self.headers).unwrap_or("no type"));
        let response = format!("the response of {request} ({status}, {media_type}) {problem}");
        let failure = if rule.has_side_effect() {
            let sentence =
                format!("it is unknown whether the service could {}: {response}", rule.purpose);
            Failure::new(FailureKind::Unconfirmed, sentence)
                .with_remedy("It may have started; check before sending it again")
        } else {
            let sentence = format!("cannot {}: {response}", rule.purpose);
            Failure::new(FailureKind::Unexpected, sentence)
                .with_remedy("Check that the base URL leads to a dataset service")
        };
        let body = &self.body[..self.body.len().min(MAX_ERROR_BODY_BYTES)];
        let message = read_error_message(body, charset(&self.headers));
        let message = message.map(|text| self.mask.apply(&text));
        let excerpt = message.map(|text| SafeText::new(text.as_str(), MAX_EXCERPT_CHARS));
        self.identified(failure.with_detail(excerpt))
    }

    fn identified(&self, failure: Failure) -> Failure {
        let (status, request) = (Some(self.status.as_u16()), Some(self.request.clone()));
        Failure { status, request, ..failure }
    }
}

/// Receives one sentence for each response with fields or values that were not reported before. The default does
/// nothing.
#[derive(Clone, Default)]
pub(super) struct FieldWarnings {
    listener: Option<Arc<dyn Fn(SafeText) + Send + Sync>>,
    /// The size is bounded by the number of fields that the readers know.
    reported: Arc<Mutex<HashSet<(Endpoint, String)>>>,
}

impl FieldWarnings {
    pub(super) fn new(listener: impl Fn(SafeText) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), reported: Arc::default() }
    }

    /// Reports unreadable fields. `request` is the method and the path.
    pub(super) fn report(
        &self,
        endpoint: Endpoint,
        request: &SafeText,
        fields: Vec<UnreadableField>,
    ) {
        let Some(listener) = &self.listener else { return };
        let is_new = |field: &UnreadableField| self.is_new(endpoint, &field.name);
        let new: Vec<_> = fields.into_iter().filter(is_new).collect();
        if !new.is_empty() {
            let fields = describe(&new);
            let sentence =
                format!("the response of {request} has fields that cannot be read: {fields}");
            listener(SafeText::detail(&sentence));
        }
    }

    /// Reports what was changed so that a response could be read.
    fn report_repairs(&self, endpoint: Endpoint, request: &SafeText, repairs: Repairs) {
        let Some(listener) = &self.listener else { return };
        let repairs = repairs.to_string();
        if !repairs.is_empty() && self.is_new(endpoint, &repairs) {
            listener(SafeText::detail(&format!("the response of {request} contains {repairs}")));
        }
    }

    /// Whether a problem of an endpoint was not reported before.
    fn is_new(&self, endpoint: Endpoint, problem: &str) -> bool {
        let mut reported = self.reported.lock();
        reported.insert((endpoint, problem.to_owned()))
    }
}

pub(super) fn describe(fields: &[UnreadableField]) -> String {
    fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
