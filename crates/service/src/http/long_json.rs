//! Responses with a body that may be long. The crate `wire` serializes such a body, because it is compiled for speed.

use axum::{
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use tessera_wire::long_body::LongBody;

use super::problem::Problem;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub(crate) struct LongJson<T>(pub T);

impl<T: LongBody> IntoResponse for LongJson<T> {
    fn into_response(self) -> Response {
        match self.0.to_json() {
            Ok(json) => ([(CONTENT_TYPE, JSON)], json).into_response(),
            Err(_) => Problem::internal().into_response(),
        }
    }
}
