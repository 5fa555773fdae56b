//! The routes that public clients use although the API document does not list them. Only a lenient service has these
//! routes where public clients expect them. The routes describe the service and a dataset, export directly in the
//! response, and show the members of a cluster or a single media item.

use std::fs::File;

use axum::{http::HeaderMap, response::Response};
use uuid::Uuid;

use super::prelude::*;
use super::{
    add_media,
    dataset::{MODELS, ServiceModel},
    explore::{cluster_body, parse_sorted_search, preview_body},
    media::{FileContent, FileResponse, respond_with_file},
    parameters::{
        ClusterPath, CountParams, DirectExportParams, ImagePath, PageParams, SortParams,
        UserConfigParams,
    },
    signed_links::SignedLinks,
};
use crate::usecase::{ScoredCluster, SearchParams};
use tessera_model::{EntityType, ExportFormat, Granularity};
use tessera_store::{captions::TextCoverage, cluster::StoredPreview, extra_columns::ColumnCounts};
use tessera_wire::{
    compat::{
        ClusterCountBody, ColumnCountBody, DistributionBody, FeatureBody, HealthBody,
        LabelCountBody, ListedModelBody, MAX_CAPTION_WORDS, MAX_FOLDERS, OverviewBody, StatsBody,
        TagCountBody, TextSearchBody, UserConfigBody, ValueCountBody,
    },
    dataset::DatasetBody,
    explore::ClusterBody,
    preview::ImageBody,
    vql::write_scalar,
};

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes
        .add(routes!(user_config))
        .add(routes!(sample_data))
        .add(routes!(stats))
        .add(routes!(list_models))
        .add(routes!(export))
        .add(routes!(export_media_id))
        .add(routes!(image))
        .add(routes!(add_media::process_add_media_by_post))
}

/// Adds the routes that the clients of this project cannot do without. A service that is not lenient has them among its
/// own additions, outside of what the API document describes.
pub(crate) fn add_exploration_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(exploration_metadata)).add(routes!(similarity_cluster))
}

pub(crate) fn add_public_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(healthcheck))
}

/// Whether the service is healthy. Clients check this before they log in.
#[utoipa::path(
    get,
    path = "/healthcheck",
    responses((status = 200, description = "It is", body = HealthBody)),
    security(()),
)]
pub(crate) async fn healthcheck() -> Json<HealthBody> {
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
pub(crate) async fn user_config(
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

/// Returns the sample datasets, of which there are always none.
#[utoipa::path(
    get,
    path = "/datasets/sample_data",
    responses((status = 200, description = "An empty array", body = Vec<DatasetBody>), CommonErrors),
)]
pub(crate) async fn sample_data() -> Json<[DatasetBody; 0]> {
    Json([])
}

/// Returns the counts of a dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/stats",
    params(DatasetPath),
    responses((status = 200, description = "Counts", body = StatsBody), DatasetErrors),
)]
pub(crate) async fn stats(
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

/// Returns how often each label, tag and word occurs, and a page of the clusters with their number.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}/exploration_metadata",
    params(DatasetPath, CountParams),
    responses((status = 200, description = "Counts", body = OverviewBody), DatasetErrors),
)]
pub(crate) async fn exploration_metadata(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
) -> Result<Json<OverviewBody>, Problem> {
    let entity = params.entity()?.unwrap_or_default();
    let granularity = params.granularity()?;
    let page = params.page()?;
    let (record, clusters_count, counts, clusters) = state
        .spawn_blocking(move |deployment| {
            let level = granularity.unwrap_or_default();
            let (record, count) = deployment.cluster_count(id, entity, level)?;
            let browse =
                SearchParams { entity: Some(entity), granularity, ..SearchParams::default() };
            let clusters = deployment.find_clusters(id, &browse, page)?.clusters;
            Ok((record, count, deployment.facet_counts(id, entity)?, clusters))
        })
        .await?;
    let label = |(name, count)| LabelCountBody { name, count };
    let tag = |(id, name, count)| TagCountBody { id, name, count };
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
        labels: counts.labels.into_iter().map(label).collect(),
        user_tags: counts.tags.into_iter().map(tag).collect(),
        caption_words: counts.words.into_iter().take(MAX_CAPTION_WORDS).map(label).collect(),
        folders: counts.folders.into_iter().take(MAX_FOLDERS).map(label).collect(),
        columns: counts.columns.into_iter().map(column_body).collect(),
        distributions: counts.distributions.iter().map(DistributionBody::from).collect(),
        clusters: clusters.into_iter().map(cluster).collect(),
    }))
}

fn column_body(ColumnCounts { name, values }: ColumnCounts) -> ColumnCountBody {
    let value = |(value, count)| ValueCountBody { value: write_scalar(&value), count };
    ColumnCountBody { name, values: values.into_iter().map(value).collect() }
}

/// Returns the models that datasets of this service can have.
#[utoipa::path(
    get,
    path = "/enrichment/{dataset_id}/list_models",
    params(DatasetPath),
    responses((status = 200, description = "The models", body = Vec<ListedModelBody>), DatasetErrors),
)]
pub(crate) async fn list_models(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<Vec<ListedModelBody>>, Problem> {
    let user_model = state.spawn_blocking(move |deployment| deployment.user_model(id)).await?;
    let available = MODELS.iter().filter(|model| (model.is_available)(user_model.as_deref()));
    let listed = |model: &ServiceModel| ListedModelBody {
        id: model.id,
        name: model.name,
        r#type: model.enrichment,
        status: "Active",
        vendor: "tessera",
        description: model.description,
        dependencies: None,
    };
    Ok(Json(available.map(listed).collect()))
}

/// Returns `metadata.json` for the whole dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export",
    params(DatasetPath, DirectExportParams),
    responses(
        (status = 200, description = "As metadata.json of an export", content_type = "application/json"),
        StatusErrors,
        BusyError,
    ),
)]
pub(crate) async fn export(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    links: SignedLinks,
    params: QueryParams,
) -> Result<Response, Problem> {
    let read = |raw: &str| (raw == ExportFormat::Json.as_str()).then_some(());
    params.parse(query::EXPORT_FORMAT, "Input should be 'json'", read)?;
    let file =
        state.run_expensive(move |deployment| deployment.metadata_file(id, links.origin)).await?;
    respond_with_spooled(file, "application/json", "metadata.json")
}

/// Returns the file name and identifier of every image and frame.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export_media_id",
    params(DatasetPath),
    responses(
        (status = 200, description = "CSV: filename,media_id", content_type = "text/csv"),
        StatusErrors,
        BusyError,
    ),
)]
pub(crate) async fn export_media_id(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Response, Problem> {
    let file = state.run_expensive(move |deployment| deployment.media_id_file(id)).await?;
    respond_with_spooled(file, "text/csv", "media_id.csv")
}

fn respond_with_spooled(
    file: File,
    content_type: &'static str,
    name: &str,
) -> Result<Response, Problem> {
    let served = FileResponse {
        length: file.metadata().map_err(|_| Problem::internal())?.len(),
        content: FileContent::File(Box::new(file)),
        content_type,
        etag: Uuid::new_v4().to_string(),
        disposition: "inline",
        name: name.to_owned(),
        cache_control: "no-store",
    };
    // Each response is different, so a range of it cannot be resumed.
    Ok(respond_with_file(served, &HeaderMap::new()))
}

/// Returns one page of the members of a cluster, as previews, or `null` past the end.
#[utoipa::path(
    get,
    path = "/explore/{dataset_id}/similarity_cluster/{cluster_id}",
    params(ClusterPath, ExploreParams, SortParams, PageParams),
    responses(
        (status = 200, description = "At most 100 members, or null", body = Option<ClusterBody>),
        (status = 400, description = "A parameter differs from the anchor's registration", body = ProblemBody),
        StatusErrors,
        BusyError,
    ),
)]
pub(crate) async fn similarity_cluster(
    State(state): State<AppState>,
    ClusterPath(id, cluster): ClusterPath,
    links: SignedLinks,
    params: QueryParams,
) -> Result<LongJson<Option<ClusterBody>>, Problem> {
    let search = parse_sorted_search(&state, &params)?;
    let page = params.page()?;
    let members = state
        .run_expensive(move |deployment| deployment.member_page(id, cluster, &search, page))
        .await?;
    Ok(LongJson(members.map(|members| cluster_body(members, &links))))
}

/// Returns one media item: names, links, labels.
#[utoipa::path(
    get,
    path = "/image/{media_id}",
    params(ImagePath),
    responses((status = 200, description = "The record", body = ImageBody), DatasetErrors),
)]
pub(crate) async fn image(
    State(state): State<AppState>,
    ImagePath(id): ImagePath,
    links: SignedLinks,
) -> Result<Json<ImageBody>, Problem> {
    let media = state.spawn_blocking(move |deployment| deployment.media_item(id)).await?;
    let preview = preview_body(StoredPreview::from(&media), &links);
    let labels = media.all_labels().cloned().collect();
    let tags = media.all_tags().cloned().collect();
    Ok(Json(ImageBody::new(preview, labels, tags)))
}
