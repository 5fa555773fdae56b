//! All routes, each with its description: the interface below `/api/v1`, media and archives by link.

use axum::{
    Extension, Router,
    http::StatusCode,
    middleware::{from_fn, from_fn_with_state},
};
use utoipa::openapi::OpenApi;
use utoipa_axum::{router::UtoipaMethodRouter, routes};

use super::{
    AppState, auth,
    checked_routes::CheckedRoutes,
    compat, connection_monitor, credentials, dataset, dataset_operations, explore, export, media,
    openapi::document::{self, OpenApiDocument},
    origin_check, probes,
    problem::Problem,
    query_image, selection, server_phase,
};
use tessera_wire::paths::API_PREFIX;

pub fn build_router(state: AppState) -> Router {
    let (authenticated, authenticated_api) = authenticated_routes(&state).split_for_parts();
    let (public, public_api) = public_routes(&state).split_for_parts();
    let (link_routes, link_api) = signed_link_routes(&state).split_for_parts();
    let (probe_routes, probe_api) = probe_routes(&state).split_for_parts();
    let nested =
        OpenApi::default().nest(API_PREFIX, authenticated_api).nest(API_PREFIX, public_api);
    let description = OpenApiDocument::new(
        link_api.merge_from(probe_api).merge_from(nested),
        state.authenticator.requires_login(),
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
        .layer(from_fn_with_state(state.phase.clone(), server_phase::refuse_while_closing))
        .merge(probe_routes.method_not_allowed_fallback(method_not_allowed))
        .layer(from_fn(origin_check::add_security_headers))
        .layer(Extension(description))
        .layer(from_fn_with_state(state.observer.clone(), connection_monitor::monitor_response))
        .with_state(state)
}

fn authenticated_routes(state: &AppState) -> CheckedRoutes {
    let interface = CheckedRoutes::new(state)
        .add(routes!(dataset::datasets))
        .add(routes!(dataset::dataset))
        .add(routes!(explore::explore))
        .add(routes!(query_image::search_image_similarity))
        .add(unsafe_get(state, routes!(export::export_context_async)))
        .add(routes!(export::export_status))
        .add(routes!(selection::export_entities_async))
        .add(routes!(dataset_operations::reindex))
        .add(routes!(dataset_operations::add_media))
        .add(unsafe_get(state, routes!(dataset_operations::process_add_media)))
        .add(routes!(dataset::enrichment_context));
    if state.compat { compat::add_authenticated_routes(interface) } else { interface }
}

/// Routes without a token: the credentials check the session themselves.
fn public_routes(state: &AppState) -> CheckedRoutes {
    let interface = CheckedRoutes::new(state)
        .add(without_head(routes!(credentials::api_credentials)))
        .add(routes!(document::openapi));
    if state.compat { compat::add_public_routes(interface) } else { interface }
}

fn signed_link_routes(state: &AppState) -> CheckedRoutes {
    CheckedRoutes::new(state)
        .add(routes!(media::original))
        .add(routes!(media::video))
        .add(routes!(media::thumbnail))
        .add(routes!(export::archive))
}

/// Routes for any host name and in every phase.
fn probe_routes(state: &AppState) -> CheckedRoutes {
    CheckedRoutes::new(state).add(routes!(probes::healthz)).add(routes!(probes::readyz))
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
