//! What public clients are seen to use beyond the interface document: answered only by a lenient
//! service, and otherwise 404 like any path that is none.

mod about;
mod at_once;
mod counts;
mod members;
mod process;

use utoipa::openapi::{RefOr, Required, path::Operation};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::Site;
use tessera_wire::paths::query;

/// The parameters that a lenient service can do without.
const NOT_NEEDED: [&str; 2] = [query::ENTITY_TYPE, query::FILE_NAME];

/// The calls behind the login.
pub fn behind_login() -> OpenApiRouter<Site> {
    OpenApiRouter::new()
        .routes(routes!(about::user_config))
        .routes(routes!(about::sample_data))
        .routes(routes!(counts::stats))
        .routes(routes!(counts::overview))
        .routes(routes!(at_once::export))
        .routes(routes!(at_once::media_ids))
        .routes(routes!(members::image))
        .routes(routes!(members::cluster))
        .routes(routes!(process::process))
}

/// The call that clients make before they log in.
pub fn before_login() -> OpenApiRouter<Site> {
    OpenApiRouter::new().routes(routes!(about::healthcheck))
}

/// Describes a call as a lenient service takes it.
pub fn relax(operation: &mut Operation) {
    let parameters = operation.parameters.iter_mut().flatten();
    for parameter in parameters {
        if let RefOr::T(parameter) = parameter
            && NOT_NEEDED.contains(&parameter.name.as_str())
        {
            parameter.required = Required::False;
        }
    }
}
