//! Collects routes. A route refuses query parameters that its description does not list, because ignoring them would
//! silently change the result. A lenient service accepts more parameters than the API document lists, and requires
//! fewer.

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Router,
    extract::{Query, Request, State},
    http::{StatusCode, Uri, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};
use utoipa::openapi::{
    OpenApi, Paths, RefOr, Required,
    path::{Parameter, ParameterIn},
};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::{AppState, origin_check, problem::Problem};
use tessera_wire::endpoints::query;

/// Routes that check their query parameters.
pub(crate) struct CheckedRoutes {
    router: OpenApiRouter<AppState>,
    state: AppState,
}

impl CheckedRoutes {
    pub fn new(state: &AppState) -> Self {
        Self { router: OpenApiRouter::new(), state: state.clone() }
    }

    /// Adds a route with the check of its parameters. Routes can be added only here, so every route has the check.
    pub fn add(self, (schemas, mut paths, route): UtoipaMethodRouter<AppState>) -> Self {
        adapt_parameters(&mut paths, self.state.compat);
        let known = KnownParameters::new(&paths, self.state.compat);
        let route = route.layer(from_fn_with_state(known, check_parameters));
        Self { router: self.router.routes((schemas, paths, route)), ..self }
    }

    /// Adds a GET that changes something even without login, so pages of other sites must not be able to send it.
    pub(crate) fn add_unsafe_get(
        self,
        (schemas, paths, route): UtoipaMethodRouter<AppState>,
    ) -> Self {
        let check = from_fn_with_state(self.state.clone(), origin_check::check_unsafe_get);
        self.add_without_head((schemas, paths, route.layer(check)))
    }

    /// Adds a GET that changes something for a browser with a session. A browser sends the session with requests of
    /// pages of other sites as well, so these must not be able to send the request, with and without login.
    pub(crate) fn add_session_get(
        self,
        (schemas, paths, route): UtoipaMethodRouter<AppState>,
    ) -> Self {
        self.add_without_head((
            schemas,
            paths,
            route.layer(from_fn(origin_check::check_session_get)),
        ))
    }

    /// Adds a GET with side effects, which must not be reachable by HEAD.
    fn add_without_head(self, (schemas, paths, route): UtoipaMethodRouter<AppState>) -> Self {
        let refuse = async || ([(header::ALLOW, "GET")], method_not_allowed().await);
        self.add((schemas, paths, route.head(refuse)))
    }

    pub(crate) fn split_for_parts(self) -> (Router<AppState>, OpenApi) {
        self.router.split_for_parts()
    }
}

/// The query parameters that a route accepts.
#[derive(Clone)]
struct KnownParameters {
    names: Arc<BTreeSet<String>>,
    compat: bool,
}

impl KnownParameters {
    fn new(paths: &Paths, compat: bool) -> Self {
        let items = paths.paths.values();
        let operations = items.flat_map(|item| [&item.get, &item.post]).flatten();
        let parameters = operations.filter_map(|operation| operation.parameters.as_ref()).flatten();
        let name_in_query = |parameter: &RefOr<Parameter>| match parameter {
            RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
                Some(parameter.name.clone())
            }
            _ => None,
        };
        Self { names: Arc::new(parameters.filter_map(name_in_query).collect()), compat }
    }

    /// Fails with 422 if a parameter is unknown, or is given more than once, because only one of its values could be
    /// used.
    fn check(&self, uri: &Uri) -> Result<(), Problem> {
        let unreadable = |_| Problem::invalid_query("query", "The query cannot be read");
        let Query(pairs): Query<Vec<(String, String)>> =
            Query::try_from_uri(uri).map_err(unreadable)?;
        let mut seen = BTreeSet::new();
        for (name, value) in pairs {
            let is_harmless = || HARMLESS_PARAMETERS.contains(&name.as_str());
            let refused = if self.names.contains(&name) {
                (!seen.insert(name.clone())).then(|| "Give this parameter only once".to_owned())
            } else {
                (!self.compat || !is_harmless()).then(|| self.describe())
            };
            if let Some(message) = refused {
                return Err(Problem::invalid(
                    "query",
                    &name,
                    "extra_forbidden",
                    &message,
                    Some(value),
                ));
            }
        }
        Ok(())
    }

    fn describe(&self) -> String {
        if self.names.is_empty() {
            return "Unknown parameter: this endpoint has no query parameters".to_owned();
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        format!("Unknown parameter; known ones: {}", names.join(", "))
    }
}

pub(crate) async fn method_not_allowed() -> Problem {
    Problem::Plain(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed".to_owned())
}

async fn check_parameters(
    State(known): State<KnownParameters>,
    request: Request,
    next: Next,
) -> Response {
    match known.check(request.uri()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Query parameters that a lenient service accepts on every endpoint, and that have no effect. `docs/compatibility.md`
/// explains why none of them can change the result.
const HARMLESS_PARAMETERS: [&str; 4] =
    ["verbose", "allow_deleted", "include_hidden", query::DATASET_ID];

/// Parameters that only a strict service requires.
const OPTIONAL_IN_COMPAT: [&str; 2] = [query::ENTITY_TYPE, query::FILE_NAME];

/// Parameters that only a lenient service has.
const ONLY_IN_COMPAT: [&str; 1] = [query::CAPTION_ONLY_FILTER];

/// Adapts the descriptions, which list the parameters of both kinds of services and mark as required what a strict
/// service requires.
pub(crate) fn adapt_parameters(paths: &mut Paths, compat: bool) {
    let items = paths.paths.values_mut();
    let operations = items.flat_map(|item| [&mut item.get, &mut item.post]).flatten();
    for parameters in operations.filter_map(|operation| operation.parameters.as_mut()) {
        parameters.retain_mut(|parameter| {
            let RefOr::T(parameter) = parameter else { return true };
            let name = parameter.name.as_str();
            if compat && OPTIONAL_IN_COMPAT.contains(&name) {
                parameter.required = Required::False;
            }
            compat || !ONLY_IN_COMPAT.contains(&parameter.name.as_str())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::HARMLESS_PARAMETERS;

    #[test]
    fn the_harmless_parameters_are_the_documented_ones() {
        let page = include_str!("../../../../docs/compatibility.md");
        let (_, section) = page.split_once("## Parameters without effect").unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
        let documented = rows.filter_map(|row| row.split('`').next());
        assert!(documented.eq(HARMLESS_PARAMETERS));
    }
}
