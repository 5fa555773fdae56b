//! Counts of a dataset: `stats` and `exploration_metadata`.

use axum::{Json, extract::State};

use crate::{
    Deployment,
    http::{
        AppState,
        openapi::{CountParams, DatasetErrors},
        path_params::DatasetPath,
        problem::Problem,
        query_params::QueryParams,
    },
};
use tessera_model::{EntityType, Granularity};
use tessera_wire::compat::{LabelCountBody, OverviewBody, StatsBody};

/// Returns the counts of a dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/stats",
    params(DatasetPath),
    responses((status = 200, description = "Counts", body = StatsBody), DatasetErrors),
)]
pub async fn stats(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<StatsBody>, Problem> {
    let count = move |deployment: &Deployment| {
        deployment.cluster_count(id, EntityType::Images, Granularity::DEFAULT)
    };
    let (record, n_clusters) = state.spawn_blocking(count).await?;
    Ok(Json(StatsBody {
        n_images: record.n_images,
        n_videos: record.n_videos,
        n_objects: record.n_objects,
        n_clusters,
    }))
}

/// Returns how often each label occurs, and the number of clusters.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}/exploration_metadata",
    params(DatasetPath, CountParams),
    responses((status = 200, description = "Counts", body = OverviewBody), DatasetErrors),
)]
pub async fn exploration_metadata(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
) -> Result<Json<OverviewBody>, Problem> {
    let entity = params.entity()?.unwrap_or_default();
    let level = params.granularity()?.unwrap_or_default();
    let count = move |deployment: &Deployment| {
        let (record, clusters) = deployment.cluster_count(id, entity, level)?;
        Ok((record, clusters, deployment.label_counts(id, entity)?))
    };
    let (record, clusters_count, labels) = state.spawn_blocking(count).await?;
    let label = |(name, count)| LabelCountBody { name, count };
    Ok(Json(OverviewBody {
        dataset_name: record.name,
        clusters_count,
        media_count: match entity {
            EntityType::Images => record.n_images + record.n_videos,
            EntityType::Objects => record.n_objects,
        },
        labels: labels.into_iter().map(label).collect(),
    }))
}
