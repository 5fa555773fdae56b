//! Information about the service, and counts of a dataset.

use axum::{Json, extract::State};

use crate::{
    http::{
        AppState,
        openapi::{CommonErrors, CountParams, DatasetErrors, UserConfigParams},
        path_params::DatasetPath,
        problem::Problem,
        query_params::QueryParams,
        service_model::ServiceModel,
    },
    usecase::{ScoredCluster, SearchParams},
};
use tessera_model::{DatasetId, EntityType, Granularity};
use tessera_store::full_text::TextCoverage;
use tessera_wire::{
    compat::{
        ClusterCountBody, FeatureBody, HealthBody, LabelCountBody, ListedModelBody, OverviewBody,
        StatsBody, TextSearchBody, UserConfigBody,
    },
    dataset::DatasetBody,
    paths::query,
};

/// Whether the service is healthy. Clients check this before they log in.
#[utoipa::path(
    get,
    path = "/healthcheck",
    responses((status = 200, description = "It is", body = HealthBody)),
    security(()),
)]
pub async fn healthcheck() -> Json<HealthBody> {
    let version = env!("CARGO_PKG_VERSION");
    Json(HealthBody { status: "Green", message: "none", version })
}

/// Returns which searches are available, in general or for a dataset.
#[utoipa::path(
    get,
    path = "/user_config",
    params(UserConfigParams),
    responses((status = 200, description = "The features", body = UserConfigBody), DatasetErrors),
)]
pub async fn user_config(
    State(state): State<AppState>,
    params: QueryParams,
) -> Result<Json<UserConfigBody>, Problem> {
    let coverage = if params.text(query::DATASET_ID).is_some() {
        let id: DatasetId = params.id(query::DATASET_ID)?;
        state.spawn_blocking(move |deployment| deployment.text_coverage(id)).await?.1
    } else {
        TextCoverage { has_captions: true, has_labels: true, has_model_labels: true }
    };
    let has_labels = coverage.has_labels || coverage.has_model_labels;
    let feature_options = TextSearchBody {
        labels_search: has_labels,
        captions_search: coverage.has_captions,
        semantic_search: coverage.has_captions || has_labels,
    };
    let feature_key = "TEXTUAL_SEARCH_IMAGE";
    Ok(Json(UserConfigBody { features: vec![FeatureBody { feature_key, feature_options }] }))
}

/// Returns the sample datasets: always none.
#[utoipa::path(
    get,
    path = "/datasets/sample_data",
    responses((status = 200, description = "An empty array", body = Vec<DatasetBody>), CommonErrors),
)]
pub async fn sample_data() -> Json<[DatasetBody; 0]> {
    Json([])
}

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
    let (record, n_clusters) = state
        .spawn_blocking(move |deployment| {
            deployment.cluster_count(id, EntityType::Images, Granularity::DEFAULT)
        })
        .await?;
    Ok(Json(StatsBody {
        n_images: record.n_images,
        n_videos: record.n_videos,
        n_objects: record.n_objects,
        n_clusters,
    }))
}

/// Returns how often each label occurs, and a page of the clusters with their number.
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
    let granularity = params.granularity()?;
    let page = params.page()?;
    let (record, clusters_count, labels, clusters) = state
        .spawn_blocking(move |deployment| {
            let level = granularity.unwrap_or_default();
            let (record, count) = deployment.cluster_count(id, entity, level)?;
            let browse =
                SearchParams { entity: Some(entity), granularity, ..SearchParams::default() };
            let clusters = deployment.find_clusters(id, &browse, page)?.clusters;
            Ok((record, count, deployment.label_counts(id, entity)?, clusters))
        })
        .await?;
    let label = |(name, count)| LabelCountBody { name, count };
    let cluster = |ScoredCluster { cluster, .. }| ClusterCountBody {
        cluster_id: cluster.id,
        n_images: cluster.counts.images,
        n_videos: cluster.counts.videos,
        n_objects: cluster.counts.objects,
    };
    Ok(Json(OverviewBody {
        dataset_name: record.name,
        clusters_count,
        media_count: match entity {
            EntityType::Images => record.n_images + record.n_frames,
            EntityType::Objects => record.n_objects,
        },
        labels: labels.into_iter().map(label).collect(),
        clusters: clusters.into_iter().map(cluster).collect(),
    }))
}

/// Returns the models that datasets of this service can have.
#[utoipa::path(
    get,
    path = "/enrichment/{dataset_id}/list_models",
    params(DatasetPath),
    responses((status = 200, description = "The models", body = Vec<ListedModelBody>), DatasetErrors),
)]
pub async fn list_models(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<Vec<ListedModelBody>>, Problem> {
    state.spawn_blocking(move |deployment| deployment.require_dataset(id)).await?;
    let is_available = |model: &ServiceModel| model.is_available(&state.deployment);
    let listed = |model: ServiceModel| ListedModelBody {
        id: model.id(),
        name: model.name(),
        r#type: model.enrichment(),
        status: "Active",
        vendor: "tessera",
        description: model.description(),
        dependencies: None,
    };
    Ok(Json(ServiceModel::ALL.into_iter().filter(is_available).map(listed).collect()))
}
