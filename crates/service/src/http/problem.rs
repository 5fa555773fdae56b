//! Refusals, as `{"detail": ...}` with the codes of the interface document. None of them carries
//! a path of this machine or a word of SQL.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::query_params::invalid_parameter;
use crate::store::StoreError;
use tessera_wire::error_body::{InvalidBody, InvalidParameter, ProblemBody};

/// Seconds after which it is worth trying again.
const RETRY_AFTER: &str = "5";

/// An answer that is no success.
#[derive(Debug)]
pub enum Problem {
    /// A code with words.
    Plain(StatusCode, String),
    /// 422: a parameter is wrong.
    Invalid(InvalidParameter),
}

impl Problem {
    /// 400: a bad parameter or body where the document says 400.
    pub fn bad_request(words: impl Into<String>) -> Self {
        Self::Plain(StatusCode::BAD_REQUEST, words.into())
    }

    /// 401: no good token. Always the same words.
    pub fn unauthorized() -> Self {
        Self::Plain(StatusCode::UNAUTHORIZED, "Invalid or expired token".to_owned())
    }

    /// 403.
    pub fn forbidden(words: impl Into<String>) -> Self {
        Self::Plain(StatusCode::FORBIDDEN, words.into())
    }

    /// 404.
    pub fn not_found(words: impl Into<String>) -> Self {
        Self::Plain(StatusCode::NOT_FOUND, words.into())
    }

    /// 409: the status of the dataset forbids it.
    pub fn conflict(words: impl Into<String>) -> Self {
        Self::Plain(StatusCode::CONFLICT, words.into())
    }

    /// 410: the link has expired.
    pub fn gone(words: impl Into<String>) -> Self {
        Self::Plain(StatusCode::GONE, words.into())
    }

    /// 413.
    pub fn too_large(words: impl Into<String>) -> Self {
        Self::Plain(StatusCode::PAYLOAD_TOO_LARGE, words.into())
    }

    /// 422: a parameter of the query is wrong.
    pub fn invalid_query(name: &'static str, words: &str) -> Self {
        invalid_parameter("query", name, "value_error", words, None)
    }

    /// 422: a field of the body is wrong.
    pub fn invalid_body(name: &'static str, words: &str) -> Self {
        invalid_parameter("body", name, "value_error", words, None)
    }

    /// 503: too much is being asked at once.
    pub fn busy() -> Self {
        let words = "Too many searches are running; try again in a moment".to_owned();
        Self::Plain(StatusCode::SERVICE_UNAVAILABLE, words)
    }

    /// 500: a part of the service failed that may be named.
    pub fn server_error(words: &str) -> Self {
        Self::Plain(StatusCode::INTERNAL_SERVER_ERROR, words.to_owned())
    }

    /// 500, whatever the cause.
    pub fn internal() -> Self {
        Self::server_error("The service could not do this because of a fault of its own")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, mut response) = match self {
            Self::Plain(status, detail) => (status, Json(ProblemBody { detail }).into_response()),
            Self::Invalid(parameter) => {
                let body = InvalidBody { detail: vec![parameter] };
                (StatusCode::UNPROCESSABLE_ENTITY, Json(body).into_response())
            }
        };
        *response.status_mut() = status;
        let told = match status {
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, "Bearer")),
            StatusCode::SERVICE_UNAVAILABLE => Some((header::RETRY_AFTER, RETRY_AFTER)),
            _ => None,
        };
        if let Some((name, value)) = told {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(_: StoreError) -> Self {
        Self::internal()
    }
}
