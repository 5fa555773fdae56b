//! Assembles all routes: the API below `/api/v1`, media and archives behind links, and probes. Each file of handlers
//! adds its own routes.

use super::{
    AppState, add_media, app_state, auth,
    checked_routes::{CheckedRoutes, method_not_allowed},
    compat, connections, credentials, dataset, explore, export, local_dataset, map, media,
    monitored_stream,
    openapi::{self, OpenApiDocument},
    origin_check, probes,
    problem::Problem,
    query_image, tags,
};
use axum::{
    Extension, Router,
    middleware::{from_fn, from_fn_with_state},
};
use tessera_wire::endpoints::{API_PREFIX, LOCAL_PREFIX};
use utoipa::openapi::OpenApi;

pub(crate) fn build_router(state: AppState) -> Router {
    let (authenticated, authenticated_api) = authenticated_routes(&state).split_for_parts();
    let (public, public_api) = public_routes(&state).split_for_parts();
    let (root_routes, root_api) = root_routes(&state).split_for_parts();
    let (probe_routes, probe_api) = probe_routes(&state).split_for_parts();
    let (local, local_api) = local_routes(&state).split_for_parts();
    let nested = OpenApi::default()
        .nest(API_PREFIX, authenticated_api)
        .nest(API_PREFIX, public_api)
        .nest(LOCAL_PREFIX, local_api);
    let description = OpenApiDocument::new(
        root_api.merge_from(probe_api).merge_from(nested),
        state.authenticator.requires_login(),
    );
    let require_login = |routes: Router<AppState>| {
        let routes = routes.fallback(not_found).method_not_allowed_fallback(method_not_allowed);
        // A client without a login cannot occupy a slot for requests.
        routes
            .layer(from_fn(connections::limit_requests))
            .layer(from_fn_with_state(state.authenticator.clone(), auth::require_login))
    };
    let public = public.layer(from_fn(connections::limit_requests));
    root_routes
        .layer(from_fn(connections::limit_requests))
        .nest(API_PREFIX, require_login(authenticated).merge(public))
        .nest(LOCAL_PREFIX, require_login(local))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(state.clone(), origin_check::check_origin))
        .layer(from_fn_with_state(state.phase.clone(), app_state::refuse_while_closing))
        .merge(probe_routes.method_not_allowed_fallback(method_not_allowed))
        .layer(from_fn(origin_check::add_security_headers))
        .layer(Extension(description))
        .layer(from_fn_with_state(state.observer.clone(), monitored_stream::monitor_response))
        .with_state(state)
}

fn authenticated_routes(state: &AppState) -> CheckedRoutes {
    let routes = dataset::add_routes(CheckedRoutes::new(state));
    let routes = export::add_routes(query_image::add_routes(explore::add_routes(routes)));
    let routes = add_media::add_routes(routes);
    if state.compat { compat::add_routes(routes) } else { routes }
}

/// Returns the routes without a token. The credentials check the session themselves.
fn public_routes(state: &AppState) -> CheckedRoutes {
    let routes = openapi::add_routes(credentials::add_routes(CheckedRoutes::new(state)));
    if state.compat { compat::add_public_routes(routes) } else { routes }
}

/// Returns the routes outside the API: `/`, and media and archives behind links.
fn root_routes(state: &AppState) -> CheckedRoutes {
    let routes = openapi::add_root_routes(CheckedRoutes::new(state));
    export::add_link_routes(media::add_routes(routes))
}

/// Returns the routes that are not in the API document. They need a token, like those of the API.
fn local_routes(state: &AppState) -> CheckedRoutes {
    map::add_routes(tags::add_routes(local_dataset::add_routes(CheckedRoutes::new(state))))
}

/// Returns the routes that accept any host name, in every phase.
fn probe_routes(state: &AppState) -> CheckedRoutes {
    probes::add_routes(CheckedRoutes::new(state))
}

async fn not_found() -> Problem {
    Problem::not_found("Not Found")
}
