//! Exports in the response itself: the metadata as JSON, and the media identifiers as CSV.

use std::fs::File;

use axum::{extract::State, http::HeaderMap, response::Response};
use uuid::Uuid;

use crate::http::{
    AppState, RequestCost,
    file_response::{FileContent, FileResponse, respond_with_file},
    openapi::{BusyError, DirectExportParams, StatusErrors},
    path_params::DatasetPath,
    problem::Problem,
    query_params::QueryParams,
    signed_links::SignedLinks,
};
use tessera_model::ExportFormat;
use tessera_wire::paths::query;

/// `metadata.json` of the whole dataset.
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
pub async fn export(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    links: SignedLinks,
    params: QueryParams,
) -> Result<Response, Problem> {
    let read = |raw: &str| (raw == ExportFormat::Json.as_str()).then_some(());
    params.parse(query::EXPORT_FORMAT, "Input should be 'json'", read)?;
    let file = state
        .run_blocking(RequestCost::Expensive, move |deployment| {
            deployment.metadata_file(id, links.origin)
        })
        .await?;
    respond_with_spooled(file, "application/json", "metadata.json")
}

/// File name and identifier of every image and frame.
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
pub async fn export_media_id(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Response, Problem> {
    let file = state
        .run_blocking(RequestCost::Expensive, move |deployment| deployment.media_id_file(id))
        .await?;
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
    // Each response is different, so ranges cannot be resumed.
    Ok(respond_with_file(served, &HeaderMap::new()))
}
