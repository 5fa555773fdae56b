//! Every route in one place. The interface lies below `/api/v1` behind the login; pictures and
//! archives are reached by signed links.

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};

use super::{
    Site, auth, credentials, dataset, enrichment, explore, export, guard, media, operation,
    problem::Problem, selection, similarity,
};
use crate::wire::paths::PREFIX;

/// The whole service.
pub fn router(site: Site) -> Router {
    let interface = Router::new()
        .route("/datasets", get(dataset::list))
        .route("/dataset/{dataset_id}", get(dataset::one))
        .route("/explore/{dataset_id}", get(explore::explore))
        .route("/dataset/{dataset_id}/search-image-similarity", post(similarity::register))
        .route(
            "/dataset/{dataset_id}/export_context_async",
            // It starts work, so a HEAD must not reach it.
            get(export::start).head(not_allowed),
        )
        .route("/dataset/{dataset_id}/export_status", get(export::status))
        .route(
            "/dataset/{dataset_id}/export_entities_async",
            post(selection::export).layer(DefaultBodyLimit::max(selection::LARGEST_BODY)),
        )
        .route("/dataset/{dataset_id}/reindex", post(operation::reindex))
        .route(
            "/dataset/{dataset_id}/add_media",
            // The form has limits of its own.
            post(operation::add_media).layer(DefaultBodyLimit::disable()),
        )
        .route("/process/add_media", get(operation::process).head(not_allowed))
        .route("/enrichment/{dataset_id}/context", get(enrichment::context))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(site.clone(), auth::login))
        // Its own login is the session cookie.
        .route("/api_credentials", get(credentials::credentials).head(not_allowed));
    Router::new()
        .nest(PREFIX, interface)
        .route("/media/{media_id}/{version}/original", get(media::original))
        .route("/media/{media_id}/{version}/thumbnail", get(media::thumbnail))
        .route("/exports/{export}", get(export::archive))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn(guard::guard))
        .with_state(site)
}

async fn not_found() -> Problem {
    Problem::not_found("Not Found")
}

async fn not_allowed() -> Problem {
    Problem::Plain(axum::http::StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed".to_owned())
}
