//! Collects routes. Each refuses query parameters that its description does not list, because to ignore
//! them would change the result in silence.

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Router,
    extract::{Query, Request, State},
    http::Uri,
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use utoipa::openapi::{
    OpenApi, Paths, RefOr,
    path::{Parameter, ParameterIn},
};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::{
    AppState,
    compat_parameters::{HARMLESS_PARAMETERS, adapt_parameters},
    multipart_form::drain,
    problem::Problem,
};

/// Routes of which each checks its parameters.
pub struct CheckedRoutes {
    router: OpenApiRouter<AppState>,
    compat: bool,
}

impl CheckedRoutes {
    pub fn new(state: &AppState) -> Self {
        Self { router: OpenApiRouter::new(), compat: state.compat }
    }

    /// Adds a route with the check of its parameters. Routes can be added only here, so none lacks it.
    pub fn add(self, (schemas, mut paths, route): UtoipaMethodRouter<AppState>) -> Self {
        adapt_parameters(&mut paths, self.compat);
        let known = KnownParameters::new(&paths, self.compat);
        let route = route.layer(from_fn_with_state(known, check_parameters));
        Self { router: self.router.routes((schemas, paths, route)), ..self }
    }

    pub fn split_for_parts(self) -> (Router<AppState>, OpenApi) {
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

    /// Fails with 422 if a parameter is unknown, or given more than once: only one value could count.
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
            return "Unknown parameter: this operation has no query parameters".to_owned();
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        format!("Unknown parameter; known ones: {}", names.join(", "))
    }
}

async fn check_parameters(
    State(known): State<KnownParameters>,
    request: Request,
    next: Next,
) -> Response {
    match known.check(request.uri()) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            drain(request).await;
            problem.into_response()
        }
    }
}
