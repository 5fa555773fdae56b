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

type ResponseMap = BTreeMap<String, RefOr<Response>>;

pub struct CommonErrors;
/// Also those of an operation on a dataset.
pub struct DatasetErrors;
/// Also those of an operation that needs permission or a status.
pub struct StatusErrors;
pub struct UploadErrors;
pub struct BusyError;
pub struct NotReadyError;
/// What a service without room for another export responds.
pub struct ExportErrors;
pub struct FileResponses;
/// Also that of a file which a token or a signed link opens.
pub struct MediaResponses;

impl IntoResponses for CommonErrors {
    fn responses() -> ResponseMap {
        error_responses(&[
            (401, "The token or session is not valid"),
            (403, "Not allowed, or sent by a page of another site"),
            (414, "The address is longer than 64 KiB"),
            (500, "A fault of the service"),
        ])
        .into_iter()
        .chain([retry_response(503, "The service is shutting down")])
        .collect()
    }
}

impl IntoResponses for DatasetErrors {
    fn responses() -> ResponseMap {
        let own = [(404, "Not found"), (422, "A parameter or body is wrong")];
        CommonErrors::responses().into_iter().chain(error_responses(&own)).collect()
    }
}

impl IntoResponses for StatusErrors {
    fn responses() -> ResponseMap {
        let own = [(409, "The status of the dataset forbids it")];
        DatasetErrors::responses().into_iter().chain(error_responses(&own)).collect()
    }
}

impl IntoResponses for UploadErrors {
    fn responses() -> ResponseMap {
        error_responses(&[
            (400, "A parameter or the form is wrong, or a file is missing or cannot be read"),
            (408, "The body did not arrive in time"),
            (413, "The body or a part of it is too large"),
        ])
    }
}

impl IntoResponses for BusyError {
    fn responses() -> ResponseMap {
        let description = "Too many searches are running, or object storage cannot be reached";
        BTreeMap::from([retry_response(503, description)])
    }
}

impl IntoResponses for NotReadyError {
    fn responses() -> ResponseMap {
        BTreeMap::from([retry_response(503, "The service cannot serve requests now")])
    }
}

impl IntoResponses for ExportErrors {
    fn responses() -> ResponseMap {
        BTreeMap::from([
            retry_response(429, "Too many exports are waiting"),
            retry_response(503, "Too many searches are running, or the disk is full"),
        ])
    }
}

impl IntoResponses for FileResponses {
    fn responses() -> ResponseMap {
        let mut responses = error_responses(&[
            (206, "The requested range"),
            (304, "The client has it already"),
            (403, "The link is not valid, or opened by a page of another site"),
            (404, "The file does not exist"),
            (414, "The address is longer than 64 KiB"),
            (416, "The range is outside"),
            (500, "A fault of the service"),
        ]);
        responses.extend([retry_response(503, "Object storage cannot be reached")]);
        responses
    }
}

impl IntoResponses for MediaResponses {
    fn responses() -> ResponseMap {
        let own = [(401, "No signature and no token")];
        FileResponses::responses().into_iter().chain(error_responses(&own)).collect()
    }
}

fn error_responses(codes: &[(u16, &str)]) -> ResponseMap {
    let response = |&(code, description): &(u16, &str)| {
        (code.to_string(), error_response(code, description).build().into())
    };
    codes.iter().map(response).collect()
}

fn retry_response(code: u16, description: &str) -> (String, RefOr<Response>) {
    let seconds = ObjectBuilder::new().schema_type(Type::Integer);
    let after = HeaderBuilder::new().schema(Some(seconds)).description(Some("Seconds"));
    let response = error_response(code, description).header("Retry-After", after.build());
    (code.to_string(), response.build().into())
}

fn error_response(code: u16, description: &str) -> ResponseBuilder {
    let response = ResponseBuilder::new().description(description);
    let schema = match code {
        // These have no body of ours.
        206 | 304 | 414 | 416 => return response,
        422 => InvalidBody::name(),
        _ => ProblemBody::name(),
    };
    let body = Body::new(Some(Ref::from_schema_name(schema)));
    response.content("application/json", body)
}
