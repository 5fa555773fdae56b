//! The response of `GET /`, which names the description of the API.

use serde::Serialize;
use utoipa::ToSchema;

/// What a service says about itself.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ServiceBody {
    /// Name of the API.
    pub name: &'static str,
    /// Version of the service.
    pub version: &'static str,
    /// URL of the `OpenAPI` description.
    pub openapi: String,
}
