//! Every route in one place, each with its description. The interface lies below `/api/v1` behind the
//! login; pictures and archives are reached by signed links.

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
    Site, auth, compat, credentials, dataset,
    describe::{self, Description},
    enrichment, explore, export, guard, media, operation,
    problem::Problem,
    pulse, selection, similarity,
};
use tessera_wire::paths::PREFIX;

/// The whole service.
pub fn router(site: Site) -> Router {
    let (behind, described) = behind_login(site.compat).split_for_parts();
    let (before, also) = before_login(site.compat).split_for_parts();
    let (links, linked) = by_links().split_for_parts();
    let below = OpenApi::default().nest(PREFIX, described).nest(PREFIX, also);
    let description = Description::new(linked.merge_from(below), &site);
    let interface = behind
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(site.clone(), auth::login))
        .merge(before);
    links
        .nest(PREFIX, interface)
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn(guard::guard))
        .layer(Extension(description))
        .layer(from_fn(pulse::beat))
        .with_state(site)
}

fn behind_login(compat: bool) -> OpenApiRouter<Site> {
    let interface = OpenApiRouter::new()
        .routes(routes!(dataset::list))
        .routes(routes!(dataset::one))
        .routes(routes!(explore::explore))
        .routes(routes!(similarity::register))
        .routes(without_head(routes!(export::start)))
        .routes(routes!(export::status))
        .routes(routes!(selection::export))
        .routes(routes!(operation::reindex))
        .routes(routes!(operation::add_media))
        .routes(without_head(routes!(operation::process)))
        .routes(routes!(enrichment::context));
    if compat { interface.merge(compat::behind_login()) } else { interface }
}

/// What needs no token: the credentials have a login of their own.
fn before_login(compat: bool) -> OpenApiRouter<Site> {
    let interface = OpenApiRouter::new()
        .routes(without_head(routes!(credentials::credentials)))
        .routes(routes!(describe::openapi));
    if compat { interface.merge(compat::before_login()) } else { interface }
}

fn by_links() -> OpenApiRouter<Site> {
    OpenApiRouter::new()
        .routes(routes!(media::original))
        .routes(routes!(media::thumbnail))
        .routes(routes!(export::archive))
}

/// A GET that starts or gives away something, so a HEAD must not reach it.
fn without_head((schemas, paths, route): UtoipaMethodRouter<Site>) -> UtoipaMethodRouter<Site> {
    (schemas, paths, route.head(not_allowed))
}

async fn not_found() -> Problem {
    Problem::not_found("Not Found")
}

async fn not_allowed() -> Problem {
    Problem::Plain(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed".to_owned())
}
