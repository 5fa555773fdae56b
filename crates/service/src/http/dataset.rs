//! `GET datasets`, `GET dataset/{id}`, and `GET enrichment/{id}/context` in the hosted format.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use uuid::Uuid;

use super::{
    AppState,
    openapi::{CommonErrors, DatasetErrors},
    path_params::DatasetPath,
    problem::Problem,
    service_model::ServiceModel,
};
use crate::Deployment;
use tessera_store::dataset::DatasetRecord;
use tessera_wire::{
    dataset::{DatasetBody, DatasetExtras, legacy_status},
    enrichment::{EnrichmentBody, ModelBody, ModelsBody},
    fields::format_iso8601,
};

/// Returns the datasets, oldest first, as a bare array.
#[utoipa::path(
    get,
    path = "/datasets",
    responses((status = 200, description = "The datasets", body = Vec<DatasetBody>), CommonErrors),
)]
pub async fn datasets(State(state): State<AppState>) -> Result<Json<Vec<DatasetBody>>, Problem> {
    let records = state.spawn_blocking(Deployment::all_datasets).await?;
    Ok(Json(records.into_iter().map(dataset_body).collect()))
}

/// Returns one dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}",
    params(DatasetPath),
    responses((status = 200, description = "The record", body = DatasetBody), DatasetErrors),
)]
pub async fn dataset(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<DatasetBody>, Problem> {
    let record = state.spawn_blocking(move |deployment| deployment.require_dataset(id)).await?;
    Ok(Json(dataset_body(record)))
}

fn dataset_body(record: DatasetRecord) -> DatasetBody {
    DatasetBody {
        id: record.id,
        display_name: record.name,
        status: Some(legacy_status(&record.status).to_owned()),
        status_new: record.status.as_str().to_owned(),
        progress: Some(record.progress),
        owned_by: Some("local".to_owned()),
        created_at: Some(format_iso8601(record.created_at)),
        n_images: Some(record.n_images),
        n_videos: Some(record.n_videos),
        n_objects: Some(record.n_objects),
        fatal_error_msg: record.fatal_error,
        extras: Some(DatasetExtras::default()),
    }
}

/// Which enrichments a dataset has.
#[utoipa::path(
    get,
    path = "/enrichment/{dataset_id}/context",
    params(DatasetPath),
    responses((status = 200, description = "The enrichments", body = EnrichmentBody), DatasetErrors),
)]
pub async fn enrichment_context(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<EnrichmentBody>, Problem> {
    let dataset = state.spawn_blocking(move |deployment| deployment.enrichments(id)).await?;
    let applied = ServiceModel::ALL.into_iter().filter(|model| model.is_applied(&dataset));
    let applied = applied.map(|model| {
        let metadata = model.metadata(&dataset);
        (model.enrichment(), ModelBody { id: model.id().to_owned(), metadata })
    });
    let models: BTreeMap<_, _> = applied.collect();
    Ok(Json(EnrichmentBody {
        enrichment_context_id: Uuid::new_v5(&id.0, b"enrichment context"),
        status: if models.is_empty() { "NEW" } else { "COMPLETED" },
        dataset_enrichment_models: ModelsBody { enrichment_models: models },
    }))
}
