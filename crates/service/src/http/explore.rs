//! `GET explore/{id}`: the clusters of a dataset, largest first, or those that match a query.

use axum::{Json, extract::State};

use super::{
    AppState, RequestCost,
    cluster_body::cluster_body,
    openapi::{BusyError, ExploreParams, PageParams, StatusErrors},
    path_params::DatasetPath,
    problem::Problem,
    query_params::QueryParams,
    search_params,
    signed_links::SignedLinks,
};
use crate::usecase::ClusterPage;
use tessera_wire::{
    error_body::ProblemBody,
    explore::{ExploreBody, MetadataBody},
};

/// One page of clusters: all of them, or those that match an anchor, a caption or filters.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}",
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
    links: SignedLinks,
    params: QueryParams,
) -> Result<Json<ExploreBody>, Problem> {
    let search = search_params::parse(&state, &params)?;
    let page = params.page()?;
    let cost = if search.is_browse() { RequestCost::Cheap } else { RequestCost::Expensive };
    let found = state
        .run_blocking(cost, move |deployment| deployment.find_clusters(id, &search, page))
        .await?;
    let ClusterPage { clusters, is_bounded: bounded } = found;
    let clusters = clusters.into_iter().map(|found| cluster_body(id, found, &links));
    Ok(Json(ExploreBody {
        clusters: clusters.collect(),
        metadata: MetadataBody { used_duckdb: false, bounded },
    }))
}
