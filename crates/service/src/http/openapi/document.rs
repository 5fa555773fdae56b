//! The description as a document, and the route that serves it.

use axum::{
    Extension,
    body::Bytes,
    http::header,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Server,
    security::{
        ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
    },
};

use super::schemas::input_schemas;
use tessera_wire::error_body::{InvalidBody, InvalidParameter, ProblemBody};

pub const OPENAPI_PATH: &str = "/api/v1/openapi.json";

#[derive(Clone)]
pub struct OpenApiDocument(Bytes);

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

/// The parts that routes do not describe.
fn base_document(login: bool) -> OpenApi {
    let about = "Datasets of images and videos: read, search, export, and add media.";
    let info = InfoBuilder::new()
        .title("Dataset Media Service")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(about));
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

/// Returns this description.
#[utoipa::path(
    get,
    path = "/openapi.json",
    responses((status = 200, description = "An `OpenAPI` document", content_type = "application/json")),
    security(()),
)]
pub async fn openapi(Extension(OpenApiDocument(bytes)): Extension<OpenApiDocument>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], bytes).into_response()
}
