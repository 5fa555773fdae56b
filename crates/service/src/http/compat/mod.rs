//! Routes that public clients use beyond the interface document; only a lenient service has them.

mod cluster_members;
mod direct_export;
mod information;

use utoipa_axum::routes;

use super::{checked_routes::CheckedRoutes, dataset_operations};

pub fn add_authenticated_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes
        .add(routes!(information::user_config))
        .add(routes!(information::sample_data))
        .add(routes!(information::stats))
        .add(routes!(information::exploration_metadata))
        .add(routes!(information::list_models))
        .add(routes!(direct_export::export))
        .add(routes!(direct_export::export_media_id))
        .add(routes!(cluster_members::image))
        .add(routes!(cluster_members::similarity_cluster))
        .add(routes!(dataset_operations::process_add_media_by_post))
}

pub fn add_public_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(information::healthcheck))
}
