//! Error responses, which are `{"detail": ...}` with the status codes of the API document. An error response never
//! contains a local path or SQL.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::usecase::ServiceError;
use tessera_retrieval::RetrievalError;
use tessera_wire::{
    endpoints::query,
    error_body::{InvalidBody, InvalidParameter, ProblemBody},
};

/// The number of seconds after which a client may try again.
const RETRY_AFTER: &str = "5";

#[derive(Debug)]
pub(crate) enum Problem {
    Plain(StatusCode, String),
    /// 422: a parameter is wrong.
    Invalid(InvalidParameter),
}

impl Problem {
    pub fn plain(status: StatusCode, message: impl Into<String>) -> Self {
        Self::Plain(status, message.into())
    }

    /// Creates a 400 for a wrong parameter or body, where the API document says 400.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::BAD_REQUEST, message)
    }

    /// Creates a 401, which always has the same message.
    pub(crate) fn unauthorized() -> Self {
        Self::plain(StatusCode::UNAUTHORIZED, "Invalid or expired token")
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::FORBIDDEN, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::NOT_FOUND, message)
    }

    pub fn too_large(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    pub fn body_timeout() -> Self {
        Self::plain(StatusCode::REQUEST_TIMEOUT, "The request body did not arrive in time")
    }

    pub fn invalid(
        location: &str,
        name: &str,
        kind: &'static str,
        expected: &str,
        input: Option<String>,
    ) -> Self {
        let (loc, msg) = ([location.to_owned(), name.to_owned()], expected.to_owned());
        Self::Invalid(InvalidParameter { r#type: kind, loc, msg, input })
    }

    pub(crate) fn invalid_query(name: &str, message: &str) -> Self {
        Self::invalid("query", name, "value_error", message, None)
    }

    pub(crate) fn invalid_body(name: &str, message: &str) -> Self {
        Self::invalid("body", name, "value_error", message, None)
    }

    pub(crate) fn invalid_id(location: &str, name: &str, raw: &str) -> Self {
        let expected = "Input should be a valid UUID";
        Self::invalid(location, name, "uuid_parsing", expected, Some(raw.to_owned()))
    }

    /// Creates a 503: the request can be sent again later.
    pub(crate) fn unavailable(message: &'static str) -> Self {
        Self::plain(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    pub fn internal() -> Self {
        ServiceError::internal().into()
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
        let extra = match status {
            StatusCode::UNAUTHORIZED => Some((header::WWW_AUTHENTICATE, "Bearer")),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                Some((header::RETRY_AFTER, RETRY_AFTER))
            }
            _ => None,
        };
        if let Some((name, value)) = extra {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

impl From<ServiceError> for Problem {
    fn from(cause: ServiceError) -> Self {
        match cause {
            ServiceError::NotFound(message) => Self::not_found(message),
            ServiceError::ChangedFile => Self::plain(
                StatusCode::GONE,
                "The file has changed since it was indexed; rescan its dataset",
            ),
            ServiceError::Forbidden(message) => Self::forbidden(message),
            ServiceError::Conflict(message) => Self::plain(StatusCode::CONFLICT, message),
            ServiceError::Invalid(message) => Self::bad_request(message),
            ServiceError::RelativePath => {
                Self::invalid_query(query::PATH, "Input should be an absolute path")
            }
            ServiceError::Selection(cause) => {
                Self::invalid_body("media_selection", &cause.to_string())
            }
            ServiceError::Retrieval(cause) => cause.into(),
            ServiceError::TooMany(message) => Self::plain(StatusCode::TOO_MANY_REQUESTS, message),
            ServiceError::Unavailable(message) => Self::unavailable(message),
            ServiceError::Refused(message) => Self::plain(StatusCode::SERVICE_UNAVAILABLE, message),
            ServiceError::Failed(message) => {
                Self::plain(StatusCode::INTERNAL_SERVER_ERROR, message)
            }
        }
    }
}

impl From<RetrievalError> for Problem {
    fn from(cause: RetrievalError) -> Self {
        match cause {
            RetrievalError::AnchorNotFound => Self::not_found("Anchor not found"),
            RetrievalError::NoSimilarity => Self::invalid_query(
                query::TEXTUAL_SIMILARITY_THRESHOLD,
                "Nothing is ranked by similarity: add caption, an anchor, or such a filter",
            ),
            RetrievalError::NoFileOrder => Self::invalid_query(
                query::SORT,
                "The database searches this dataset, and cannot sort it by files: leave sort out",
            ),
            RetrievalError::UnencodableText(message) => {
                Self::invalid_query(query::CAPTION, &message)
            }
            RetrievalError::FullText(cause) => {
                Self::invalid_query(query::VQL, &format!("text.value: {cause}"))
            }
            RetrievalError::UnknownColumn { name, known } => {
                let known = match &known[..] {
                    [] => "has no columns of its own".to_owned(),
                    known => format!("has the columns {}", known.join(", ")),
                };
                let reason =
                    format!("column.name: no media item has {name:?}; the dataset {known}");
                Self::invalid_query(query::VQL, &reason)
            }
            RetrievalError::UnknownTag(id) => {
                let reason = format!(
                    "tags.value: the dataset has no tag with the ID {id}; `tag list` shows the IDs of its tags"
                );
                Self::invalid_query(query::VQL, &reason)
            }
            RetrievalError::UnusablePattern(reason) => {
                Self::invalid_query(query::VQL, &format!("path.value: {reason}"))
            }
            RetrievalError::InFilter(filter, cause) => {
                let mut problem = Self::from(*cause);
                if let Self::Invalid(parameter) = &mut problem {
                    parameter.msg = format!("filter {filter}, {}", parameter.msg);
                }
                problem
            }
            RetrievalError::Outdated => Self::unavailable(
                "Tasks on this dataset end faster than it is searched; try again later",
            ),
            RetrievalError::Store(_)
            | RetrievalError::UnreadableThumbnail(_)
            | RetrievalError::UnreadableModel(_) => Self::internal(),
        }
    }
}
