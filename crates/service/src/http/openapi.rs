//! The `OpenAPI` description. The router collects it, and cannot route anything that is not described. This file has
//! the document and its route, the schemas of input, and the error responses that endpoints share.

use std::collections::BTreeMap;

use axum::{Extension, Json, body::Bytes, http::header, response::IntoResponse};
use serde_json::{Map, Value, json};
use utoipa::{
    IntoResponses, ToSchema,
    openapi::{
        ComponentsBuilder, Content as Body, InfoBuilder, OpenApi, OpenApiBuilder, RefOr, Response,
        ResponseBuilder, Server,
        header::HeaderBuilder,
        schema::{ObjectBuilder, Ref, Type},
        security::{
            ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
        },
    },
};
use utoipa_axum::routes;

use super::{checked_routes::CheckedRoutes, origin_check::RequestOrigin};
use tessera_wire::{
    add_media,
    error_body::{InvalidBody, InvalidParameter, ProblemBody},
    local_dataset, preview, query_image, selection,
    service::ServiceBody,
    tags, vql,
};

pub const OPENAPI_PATH: &str = "/api/v1/openapi.json";
const SERVICE_NAME: &str = "Dataset Media Service";

#[derive(Clone)]
pub(crate) struct OpenApiDocument(Bytes);

impl OpenApiDocument {
    pub fn new(routes: OpenApi, login: bool) -> Self {
        let whole = base_document(login).merge_from(routes);
        let mut whole = json!(whole);
        if let Some(Value::Object(schemas)) = whole.pointer_mut("/components/schemas") {
            schemas.extend(input_schemas());
        }
        Self(whole.to_string().into())
    }
}

/// Returns the parts of the document that routes do not describe.
fn base_document(login: bool) -> OpenApi {
    let summary = "Datasets of images and videos: read, search, export, and add media.";
    let info = InfoBuilder::new()
        .title(SERVICE_NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(summary));
    let mut whole = OpenApiBuilder::new().info(info).servers(Some([Server::new("/")])).build();
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
    let session = ApiKey::Cookie(ApiKeyValue::new("SESSION"));
    whole.components = Some(
        ComponentsBuilder::new()
            .schema_from::<ProblemBody>()
            .schema_from::<InvalidBody>()
            .schema_from::<InvalidParameter>()
            .security_scheme("token", SecurityScheme::Http(token))
            .security_scheme("session", SecurityScheme::ApiKey(session))
            .build(),
    );
    if login {
        let nothing: [&str; 0] = [];
        whole.security = Some(vec![SecurityRequirement::new("token", nothing)]);
    }
    whole
}

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(openapi))
}

pub(crate) fn add_root_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(root))
}

/// Returns where this description is.
#[utoipa::path(
    get,
    path = "/",
    responses((status = 200, description = "The service", body = ServiceBody), CommonErrors),
    security(()),
)]
pub(crate) async fn root(
    Extension(RequestOrigin(origin)): Extension<RequestOrigin>,
) -> Json<ServiceBody> {
    let (version, openapi) = (env!("CARGO_PKG_VERSION"), format!("{origin}{OPENAPI_PATH}"));
    Json(ServiceBody { name: SERVICE_NAME, version, openapi })
}

/// Returns this description.
#[utoipa::path(
    get,
    path = "/openapi.json",
    responses((status = 200, description = "An `OpenAPI` document", content_type = "application/json")),
    security(()),
)]
pub(crate) async fn openapi(
    Extension(OpenApiDocument(bytes)): Extension<OpenApiDocument>,
) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], bytes)
}

pub(crate) fn input_schemas() -> Map<String, Value> {
    let schemas = [
        ("AddMediaForm", add_media::form_schema()),
        ("QueryImageForm", query_image::query_image_schema()),
        ("MediaSelection", selection::schema()),
        ("BoundingBox", preview::region_schema()),
        ("DatasetName", local_dataset::rename_schema()),
    ];
    let named = |(name, schema): (&str, Value)| (name.to_owned(), schema);
    let schemas = schemas.map(named).into_iter();
    schemas.chain(vql::schemas()).chain(tags::schemas().map(named)).collect()
}

type ResponseMap = BTreeMap<String, RefOr<Response>>;

/// Defines sets of responses that endpoints share. A set is an expression of the responses by their codes.
macro_rules! responses {
    ($($(#[$doc:meta])* $name:ident => $responses:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> ResponseMap {
                $responses
            }
        }
    )*};
}

responses! {
    CommonErrors => error_responses(&[
        (401, "The token or session is not valid"),
        (403, "Not allowed, or sent by a page of another site"),
        (414, "The address is longer than 64 KiB"),
        (500, "A fault of the service"),
    ])
    .into_iter()
    .chain([retry_response(503, "The service is shutting down, or has too many requests")])
    .collect();
    /// The errors of an endpoint of a dataset, including the common errors.
    DatasetErrors => with_errors::<CommonErrors>(&[
        (404, "Not found"),
        (422, "A parameter or body is wrong"),
    ]);
    /// The errors of an endpoint that needs permission or a status, including those of a dataset.
    StatusErrors => with_errors::<DatasetErrors>(&[(409, "The status of the dataset forbids it")]);
    UploadErrors => error_responses(&[
        (400, "A parameter or the form is wrong, or a file is missing or cannot be read"),
        (408, "The body did not arrive in time"),
        (413, "The body or a part of it is too large"),
        (415, "The body is compressed"),
    ]);
    /// The errors of an endpoint that reads a selection or another body of JSON.
    JsonErrors => error_responses(&[
        (400, "A parameter differs from the anchor's registration, or the body broke off"),
        (408, "The body did not arrive in time"),
        (413, "The body is larger than 32 MiB"),
        (415, "The body is compressed"),
    ]);
    BusyError => BTreeMap::from([retry_response(
        503,
        "Too many searches are running, or object storage cannot be reached",
    )]);
    NotReadyError => BTreeMap::from([retry_response(503, "The service cannot serve requests now")]);
    /// The errors of a service that has no room for another export.
    ExportErrors => BTreeMap::from([
        retry_response(429, "Too many exports are waiting"),
        retry_response(503, "Too many searches are running, or the disk is full"),
    ]);
    FileResponses => error_responses(&[
        (206, "The requested range"),
        (304, "The client has it already"),
        (403, "The link is not valid, or opened by a page of another site"),
        (404, "The file does not exist"),
        (412, "The file is not the one that If-Match names"),
        (414, "The address is longer than 64 KiB"),
        (416, "The range is outside"),
        (500, "A fault of the service"),
    ])
    .into_iter()
    .chain([retry_response(503, "Object storage cannot be reached")])
    .collect();
    /// The errors of a file that a token or a signed link opens, including those of any file.
    MediaResponses => with_errors::<FileResponses>(&[
        (401, "No signature and no token"),
        (410, "The file has changed since it was indexed"),
    ]);
}

/// Returns the responses of a set, and further errors.
fn with_errors<T: IntoResponses>(further: &[(u16, &str)]) -> ResponseMap {
    T::responses().into_iter().chain(error_responses(further)).collect()
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
        // The bodies of these responses are not ours.
        206 | 304 | 414 | 416 => return response,
        422 => InvalidBody::name(),
        _ => ProblemBody::name(),
    };
    let body = Body::new(Some(Ref::from_schema_name(schema)));
    response.content("application/json", body)
}
