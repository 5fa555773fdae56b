//! All routes, each with its description: the interface below `/api/v1`, media and archives by link.

use axum::{
    Extension, Router,
    http::StatusCode,
    middleware::{from_fn, from_fn_with_state},
};
use utoipa::openapi::OpenApi;
use utoipa_axum::{
    router::{OpenApiRouter, UtoipaMethodRouter},
    routes,
};

use super::{
    AppState, auth, compat, connection_monitor, credentials, dataset, dataset_operations, explore,
    export, media,
    openapi::document::{self, OpenApiDocument},
    origin_check,
    problem::Problem,
    query_image, selection,
};
use tessera_wire::paths::API_PREFIX;

pub fn build_router(state: AppState) -> Router {
    let (authenticated, authenticated_api) = authenticated_routes(&state).split_for_parts();
    let (public, public_api) = public_routes(&state).split_for_parts();
    let (link_routes, link_api) = signed_link_routes().split_for_parts();
    let nested =
        OpenApi::default().nest(API_PREFIX, authenticated_api).nest(API_PREFIX, public_api);
    let description = OpenApiDocument::new(
        link_api.merge_from(nested),
        state.authenticator.requires_login(),
        state.compat,
    );
    let interface = authenticated
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(state.authenticator.clone(), auth::require_login))
        .merge(public);
    link_routes
        .nest(API_PREFIX, interface)
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(state.clone(), origin_check::check_origin))
        .layer(Extension(description))
        .layer(from_fn(connection_monitor::monitor_response))
        .with_state(state)
}

fn authenticated_routes(state: &AppState) -> OpenApiRouter<AppState> {
    let interface = OpenApiRouter::new()
        .routes(routes!(dataset::datasets))
        .routes(routes!(dataset::dataset))
        .routes(routes!(explore::explore))
        .routes(routes!(query_image::search_image_similarity))
        .routes(unsafe_get(state, routes!(export::export_context_async)))
        .routes(routes!(export::export_status))
        .routes(routes!(selection::export_entities_async))
        .routes(routes!(dataset_operations::reindex))
        .routes(routes!(dataset_operations::add_media))
        .routes(unsafe_get(state, routes!(dataset_operations::process_add_media)))
        .routes(routes!(dataset::enrichment_context));
    if state.compat { interface.merge(compat::authenticated_routes()) } else { interface }
}

/// Routes without a token: the credentials check the session themselves.
fn public_routes(state: &AppState) -> OpenApiRouter<AppState> {
    let interface = OpenApiRouter::new()
        .routes(without_head(routes!(credentials::api_credentials)))
        .routes(routes!(document::openapi));
    if state.compat { interface.merge(compat::public_routes()) } else { interface }
}

fn signed_link_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(media::original))
        .routes(routes!(media::thumbnail))
        .routes(routes!(export::archive))
}

/// A GET that changes something also without login must not be reachable by pages of other sites.
fn unsafe_get(
    state: &AppState,
    (schemas, paths, route): UtoipaMethodRouter<AppState>,
) -> UtoipaMethodRouter<AppState> {
    let route = route.layer(from_fn_with_state(state.clone(), origin_check::check_unsafe_get));
    without_head((schemas, paths, route))
}

/// A GET with side effects must not be reachable by HEAD.
fn without_head(
    (schemas, paths, route): UtoipaMethodRouter<AppState>,
) -> UtoipaMethodRouter<AppState> {
    (schemas, paths, route.head(method_not_allowed))
}

async fn not_found() -> Problem {
    Problem::not_found("Not Found")
}

async fn method_not_allowed() -> Problem {
    Problem::Plain(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed".to_owned())
}
