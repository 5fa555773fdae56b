//! What changes a dataset: `reindex`, and the ways to add media.

use std::path::PathBuf;

use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
};

use super::{
    AppState, add_media_form,
    multipart_form::drain,
    openapi::{ProcessParams, StatusErrors, UploadErrors},
    path_params::DatasetPath,
    problem::Problem,
    query_params::QueryParams,
};
use tessera_model::DatasetId;
use tessera_wire::{add_media::ProcessBody, error_body::ProblemBody, paths::query};

/// Clusters the dataset again, with all media added since.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/reindex",
    params(DatasetPath),
    responses((status = 202, description = "Accepted; watch the status"), StatusErrors),
)]
pub async fn reindex(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<StatusCode, Problem> {
    state.spawn_blocking(move |deployment| deployment.reindex(id)).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Adds media: uploaded files, an uploaded archive, or a folder of object storage. Whether that is
/// allowed is checked before the body is read, and again when the operation starts.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/add_media",
    params(DatasetPath),
    request_body(
        content = ref("#/components/schemas/AddMediaForm"),
        content_type = "multipart/form-data",
    ),
    responses((status = 202, description = "Accepted; watch the status"), UploadErrors, StatusErrors),
    security(("token" = []), ("session" = [])),
)]
pub async fn add_media(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    request: Request,
) -> Result<StatusCode, Problem> {
    let allowed = state.spawn_blocking(move |deployment| deployment.require_can_add(id)).await;
    if let Err(problem) = allowed {
        drain(request).await;
        return Err(problem);
    }
    let uploads = state.deployment.store.uploads_dir();
    let disk = &state.deployment.settings.disk;
    let request = add_media_form::read_form(request, &uploads, disk).await?;
    state.deployment.check_source(&request).await?;
    state.spawn_blocking(move |deployment| deployment.add_media(id, request)).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Adds the media of a folder that this deployment may read.
#[utoipa::path(
    get,
    path = "/process/add_media",
    params(ProcessParams),
    responses(
        (status = 200, description = "Accepted; watch the status", body = ProcessBody),
        (status = 400, description = "The dataset has no embedding_config", body = ProblemBody),
        StatusErrors,
    ),
)]
pub async fn process_add_media(
    State(state): State<AppState>,
    params: QueryParams,
) -> Result<Json<ProcessBody>, Problem> {
    let id: DatasetId = params.id(query::DATASET_ID)?;
    let folder = PathBuf::from(params.required(query::PATH)?);
    let auto_reindex = params.boolean(query::AUTO_REINDEX)?.unwrap_or(false);
    state
        .spawn_blocking(move |deployment| deployment.add_folder_media(id, &folder, auto_reindex))
        .await?;
    let message = "add_media was accepted; watch the status of the dataset";
    Ok(Json(ProcessBody { status: "success", message, dataset_id: id }))
}

/// Same as the GET.
#[utoipa::path(
    post,
    path = "/process/add_media",
    params(ProcessParams),
    responses(
        (status = 200, description = "Accepted; watch the status", body = ProcessBody),
        (status = 400, description = "The dataset has no embedding_config", body = ProblemBody),
        StatusErrors,
    ),
)]
pub async fn process_add_media_by_post(
    state: State<AppState>,
    params: QueryParams,
) -> Result<Json<ProcessBody>, Problem> {
    process_add_media(state, params).await
}
