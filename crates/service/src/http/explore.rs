//! `GET explore/{id}`: the clusters of a dataset, largest first, or those that match a query.

use axum::{Json, extract::State};

use super::{
    AppState, RequestCost,
    cluster_body::cluster_body,
    openapi::{BusyError, ExploreParams, PageParams, StatusErrors},
    origin_check::RequestOrigin,
    problem::Problem,
    query_params::{DatasetPath, QueryParams},
    search_params,
};
use tessera_wire::{
    error_body::ProblemBody,
    explore::{ExploreBody, MetadataBody},
    paths::query,
};

/// One page of clusters: all of them, or those that match an anchor, a caption or filters.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}",
    operation_id = "explore",
    params(DatasetPath, ExploreParams, PageParams),
    responses(
        (status = 200, description = "At most 100 clusters", body = ExploreBody),
        (status = 400, description = "A parameter differs from the anchor's registration", body = ProblemBody),
        StatusErrors,
        BusyError,
    ),
)]
pub async fn explore(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    origin: RequestOrigin,
    params: QueryParams,
) -> Result<Json<ExploreBody>, Problem> {
    let query = search_params::parse(&state, &params)?;
    let page = page_number(&params)?;
    let (entity, level) = (query.entity, query.granularity);
    let cost = if query.is_browse() { RequestCost::Cheap } else { RequestCost::Expensive };
    let find = move |deployment: &crate::Deployment| deployment.find_clusters(id, &query, page);
    let found = state.run_blocking(cost, find).await?;
    let links = state.links(&origin);
    let clusters = found.into_iter().map(|found| cluster_body(id, found, entity, level, &links));
    Ok(Json(ExploreBody {
        clusters: clusters.collect(),
        metadata: MetadataBody { used_duckdb: false },
    }))
}

/// `page_number`, 0-based.
pub fn page_number(params: &QueryParams) -> Result<u64, Problem> {
    let expected = "Input should be an integer from 0 to 9223372036854775807";
    let read = |raw: &str| u64::try_from(raw.parse::<i64>().ok()?).ok();
    Ok(params.parse(query::PAGE_NUMBER, expected, read)?.unwrap_or(0))
}
