//! Routes that public clients use beyond the interface document. Only a lenient service has them;
//! otherwise they are 404.

mod cluster_members;
mod counts;
mod direct_export;
mod process;
mod service_info;

use utoipa::openapi::{RefOr, Required, path::Operation};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::AppState;
use tessera_wire::paths::query;

/// Parameters that are optional in a lenient service.
const OPTIONAL_IN_COMPAT: [&str; 2] = [query::ENTITY_TYPE, query::FILE_NAME];

pub fn authenticated_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(service_info::user_config))
        .routes(routes!(service_info::sample_data))
        .routes(routes!(counts::stats))
        .routes(routes!(counts::overview))
        .routes(routes!(direct_export::export))
        .routes(routes!(direct_export::media_ids))
        .routes(routes!(cluster_members::image))
        .routes(routes!(cluster_members::cluster))
        .routes(routes!(process::process))
}

pub fn public_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(service_info::healthcheck))
}

/// Describes an operation as a lenient service accepts it.
pub fn relax_parameters(operation: &mut Operation) {
    let parameters = operation.parameters.iter_mut().flatten();
    for parameter in parameters {
        if let RefOr::T(parameter) = parameter
            && OPTIONAL_IN_COMPAT.contains(&parameter.name.as_str())
        {
            parameter.required = Required::False;
        }
    }
}
