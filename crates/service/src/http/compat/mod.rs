//! Routes that public clients use beyond the interface document. Only a lenient service has them;
//! otherwise they are 404.

mod cluster_members;
mod counts;
mod direct_export;
mod service_info;

use utoipa_axum::{router::OpenApiRouter, routes};

use super::{AppState, dataset_operations};

pub fn authenticated_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(service_info::user_config))
        .routes(routes!(service_info::sample_data))
        .routes(routes!(counts::stats))
        .routes(routes!(counts::exploration_metadata))
        .routes(routes!(direct_export::export))
        .routes(routes!(direct_export::export_media_id))
        .routes(routes!(cluster_members::image))
        .routes(routes!(cluster_members::similarity_cluster))
        .routes(routes!(dataset_operations::process_add_media_by_post))
}

pub fn public_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(service_info::healthcheck))
}
