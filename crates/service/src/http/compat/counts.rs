//! Counts of a dataset: `stats` and `exploration_metadata`.

use axum::{Json, extract::State};

use crate::{
    http::{
        AppState,
        openapi::{CountParams, DatasetErrors},
        problem::Problem,
        query_params::{DatasetPath, QueryParams},
        require_dataset,
    },
    store::{cluster, full_text},
};
use tessera_model::{EntityType, Granularity};
use tessera_wire::compat::{LabelCountBody, OverviewBody, StatsBody};

/// How much a dataset holds.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/stats",
    operation_id = "stats",
    params(DatasetPath),
    responses((status = 200, description = "Counts", body = StatsBody), DatasetErrors),
)]
pub async fn stats(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<StatsBody>, Problem> {
    site.spawn_blocking(move |deployment| {
        let record = require_dataset(deployment, id)?;
        let clusters = deployment.store.read(|c| cluster::counts(c, id, EntityType::Images))?;
        Ok(Json(StatsBody {
            n_images: record.n_images,
            n_videos: record.n_videos,
            n_objects: record.n_objects,
            n_clusters: count_at(clusters, Granularity::DEFAULT),
        }))
    })
    .await
}

/// How often each label occurs, and how many clusters there are.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}/exploration_metadata",
    operation_id = "exploration_metadata",
    params(DatasetPath, CountParams),
    responses((status = 200, description = "Counts", body = OverviewBody), DatasetErrors),
)]
pub async fn overview(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
) -> Result<Json<OverviewBody>, Problem> {
    let entity = params.entity()?.unwrap_or_default();
    let level = params.granularity()?.unwrap_or_default();
    site.spawn_blocking(move |deployment| {
        let record = require_dataset(deployment, id)?;
        let (clusters, labels) = deployment.store.read(|c| {
            Ok((cluster::counts(c, id, entity)?, full_text::label_counts(c, id, entity)?))
        })?;
        let label = |(name, count)| LabelCountBody { name, count };
        Ok(Json(OverviewBody {
            dataset_name: record.name,
            clusters_count: count_at(clusters, level),
            media_count: match entity {
                EntityType::Images => record.n_images + record.n_videos,
                EntityType::Objects => record.n_objects,
            },
            labels: labels.into_iter().map(label).collect(),
        }))
    })
    .await
}

fn count_at(counts: [u32; Granularity::LEVELS], level: Granularity) -> u64 {
    counts[usize::from(level.level())].into()
}
