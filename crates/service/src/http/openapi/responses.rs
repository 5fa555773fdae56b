//! Error responses that operations share.

use std::collections::BTreeMap;

use utoipa::{
    IntoResponses, ToSchema,
    openapi::{
        Content as Body, RefOr, Response, ResponseBuilder,
        header::HeaderBuilder,
        schema::{ObjectBuilder, Ref, Type},
    },
};

use tessera_wire::error_body::{InvalidBody, ProblemBody};

/// Responses by status.
type ResponseMap = BTreeMap<String, RefOr<Response>>;

/// Errors of every operation.
pub struct CommonErrors;
/// Also those of an operation on a dataset.
pub struct DatasetErrors;
/// Also those of an operation that needs permission or a status.
pub struct StatusErrors;
/// Errors of an operation with a form.
pub struct UploadErrors;
/// The error when no slot is free.
pub struct BusyError;
/// Responses of a file behind a link.
pub struct FileResponses;

impl IntoResponses for CommonErrors {
    fn responses() -> ResponseMap {
        let mut all = error_responses([
            (401, "The token or session is not valid"),
            (403, "Not allowed, or sent by a page of another site"),
            (500, "A fault of the service"),
        ]);
        all.extend(empty_responses([(414, "The address is longer than 64 KiB")]));
        all
    }
}

impl IntoResponses for DatasetErrors {
    fn responses() -> ResponseMap {
        let mut all = CommonErrors::responses();
        all.extend(error_responses([
            (404, "There is no such thing"),
            (422, "A parameter or body is wrong"),
        ]));
        all
    }
}

impl IntoResponses for StatusErrors {
    fn responses() -> ResponseMap {
        let mut all = DatasetErrors::responses();
        all.extend(error_responses([(409, "The status of the dataset forbids it")]));
        all
    }
}

impl IntoResponses for UploadErrors {
    fn responses() -> ResponseMap {
        error_responses([
            (400, "A parameter or the form is wrong, or a file is missing or cannot be read"),
            (408, "The body did not arrive in time"),
            (413, "The body or a part of it is too large"),
        ])
    }
}

impl IntoResponses for BusyError {
    fn responses() -> ResponseMap {
        let seconds = ObjectBuilder::new().schema_type(Type::Integer);
        let after = HeaderBuilder::new().schema(Some(seconds)).description(Some("Seconds"));
        let busy =
            problem_response("Too many searches are running").header("Retry-After", after.build());
        BTreeMap::from([("503".to_owned(), busy.build().into())])
    }
}

impl IntoResponses for FileResponses {
    fn responses() -> ResponseMap {
        let mut all = error_responses([
            (403, "The link is not valid, or opened by a page of another site"),
            (404, "There is no such file"),
            (500, "A fault of the service"),
        ]);
        all.extend(empty_responses([
            (206, "The range that was asked for"),
            (304, "The client has it already"),
            (414, "The address is longer than 64 KiB"),
            (416, "The range is outside"),
        ]));
        all
    }
}

fn error_responses<const N: usize>(codes: [(u16, &str); N]) -> ResponseMap {
    let answer = |(code, description): (u16, &str)| {
        let body = if code == 422 {
            json_response(description, &InvalidBody::name())
        } else {
            problem_response(description)
        };
        (code.to_string(), body.build().into())
    };
    codes.into_iter().map(answer).collect()
}

/// Responses without a body of ours.
fn empty_responses<const N: usize>(codes: [(u16, &str); N]) -> ResponseMap {
    let answer = |(code, description): (u16, &str)| {
        (code.to_string(), ResponseBuilder::new().description(description).build().into())
    };
    codes.into_iter().map(answer).collect()
}

fn problem_response(description: &str) -> ResponseBuilder {
    json_response(description, &ProblemBody::name())
}

fn json_response(description: &str, schema: &str) -> ResponseBuilder {
    let body = Body::new(Some(Ref::from_schema_name(schema)));
    ResponseBuilder::new().description(description).content("application/json", body)
}
