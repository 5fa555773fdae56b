//! Routes that public clients use beyond the interface document; only a lenient service has them.

mod cluster_members;
mod direct_export;
mod information;

use utoipa_axum::{router::OpenApiRouter, routes};

use super::{AppState, dataset_operations};

pub fn authenticated_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(information::user_config))
        .routes(routes!(information::sample_data))
        .routes(routes!(information::stats))
        .routes(routes!(information::exploration_metadata))
        .routes(routes!(direct_export::export))
        .routes(routes!(direct_export::export_media_id))
        .routes(routes!(cluster_members::image))
        .routes(routes!(cluster_members::similarity_cluster))
        .routes(routes!(dataset_operations::process_add_media_by_post))
}

pub fn public_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(information::healthcheck))
}
