//! `GET datasets` and `GET dataset/{id}`.

use axum::{Json, extract::State};

use super::{
    Site,
    describe::{OfDataset, Refused},
    found,
    params::DatasetPath,
    problem::Problem,
};
use crate::store::dataset::{self, Record};
use tessera_wire::{
    dataset::{DatasetBody, DatasetExtras, legacy_word},
    moment::iso,
};

/// The datasets, oldest first, as a bare array.
#[utoipa::path(
    get,
    path = "/datasets",
    operation_id = "datasets",
    responses((status = 200, description = "The datasets", body = Vec<DatasetBody>), Refused),
)]
pub async fn list(State(site): State<Site>) -> Result<Json<Vec<DatasetBody>>, Problem> {
    let records = site.blocking(|deployment| Ok(deployment.store.read(dataset::all)?)).await?;
    Ok(Json(records.into_iter().map(body).collect()))
}

/// One dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}",
    operation_id = "dataset",
    params(DatasetPath),
    responses((status = 200, description = "The record", body = DatasetBody), OfDataset),
)]
pub async fn one(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<DatasetBody>, Problem> {
    let record = site.blocking(move |deployment| found(deployment, id)).await?;
    Ok(Json(body(record)))
}

fn body(record: Record) -> DatasetBody {
    DatasetBody {
        id: record.id,
        display_name: record.name,
        status: legacy_word(&record.status).to_owned(),
        status_new: record.status.word().to_owned(),
        progress: record.progress,
        owned_by: "local".to_owned(),
        created_at: iso(record.created_at),
        n_images: record.n_images,
        n_videos: record.n_videos,
        n_objects: record.n_objects,
        fatal_error_msg: record.fatal_error,
        extras: DatasetExtras::default(),
    }
}
