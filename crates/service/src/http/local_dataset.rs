//! Manages the datasets of this service, below `/local`: the state of a folder, removing, renaming and rescanning a
//! dataset, and cancelling its indexing. The API document has none of this, so nothing of it is below `/api/v1`.

use axum::{
    Extension, Json,
    extract::{Request, State},
    http::header,
};
use utoipa_axum::routes;

use super::{
    AppState,
    checked_routes::CheckedRoutes,
    connections::ClientConnection,
    dataset::dataset_body,
    export::{export_spec, read_json, selection_scope},
    openapi::{DatasetErrors, ExportErrors, JsonErrors, StatusErrors},
    parameters::{DatasetPath, PreviewParams, QueryParams, RestParams},
    problem::Problem,
};
use crate::{
    Deployment,
    usecase::{ExportScope, SearchParams},
};
use tessera_media::ingest::FolderPatterns;
use tessera_model::{ExportSpec, PatternLists};
use tessera_wire::{
    dataset::DatasetBody,
    endpoints::query,
    export::ExportPreviewBody,
    local_dataset::{
        LocalDatasetBody, MAX_NAME_CHARS, PatternsBody, RemovedBody, RenameBody, RescanBody,
    },
};

const NAME: &str = "display_name";
const PATTERNS: &str = "include, exclude";

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    let routes = routes.add(routes!(local_dataset)).add(routes!(remove_dataset));
    let routes = routes.add(routes!(rename_dataset)).add(routes!(rescan));
    routes.add(routes!(cancel_indexing)).add(routes!(export_preview))
}

/// Returns what only this service knows about a dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}",
    params(DatasetPath),
    responses((status = 200, description = "The state of the folder", body = LocalDatasetBody), DatasetErrors),
)]
pub(crate) async fn local_dataset(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<LocalDatasetBody>, Problem> {
    let local = state.spawn_blocking(move |deployment| deployment.local_dataset(id)).await?;
    Ok(Json(local.into()))
}

/// Removes a dataset from the index. The files in its folder and its uploads stay.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/remove",
    params(DatasetPath),
    responses((status = 200, description = "The dataset is removed", body = RemovedBody), StatusErrors),
)]
pub(crate) async fn remove_dataset(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<RemovedBody>, Problem> {
    let uploads = state.spawn_blocking(move |deployment| deployment.remove_dataset(id)).await?;
    Ok(Json(RemovedBody { uploads }))
}

/// Changes the display name of a dataset.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/rename",
    params(DatasetPath),
    request_body(content = ref("#/components/schemas/DatasetName"), content_type = "application/json"),
    responses((status = 200, description = "The record", body = DatasetBody), JsonErrors, StatusErrors),
)]
pub(crate) async fn rename_dataset(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    request: Request,
) -> Result<Json<DatasetBody>, Problem> {
    let body = read_json(connection, request, NAME).await?;
    let invalid = |message: &str| Problem::invalid_body(NAME, message);
    let RenameBody { display_name } = serde_json::from_slice(&body)
        .map_err(|_| invalid("Input should be {\"display_name\": TEXT}"))?;
    let name = display_name.trim().to_owned();
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
        return Err(invalid(&format!("Input should have 1 to {MAX_NAME_CHARS} characters")));
    }
    if name.contains(char::is_control) {
        return Err(invalid("Input should have no control characters"));
    }
    let rename = move |deployment: &Deployment| {
        deployment.rename_dataset(id, &name).and_then(|record| dataset_body(deployment, record))
    };
    Ok(Json(state.spawn_blocking(rename).await?))
}

/// Compares the folder of a dataset with its index, and indexes what has changed in the background. A body replaces the
/// patterns of the files that belong to the dataset.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/rescan",
    params(DatasetPath),
    request_body(content = Option<PatternsBody>, content_type = "application/json"),
    responses((status = 200, description = "What has changed", body = RescanBody), JsonErrors, StatusErrors),
)]
pub(crate) async fn rescan(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    request: Request,
) -> Result<Json<RescanBody>, Problem> {
    let mut patterns = None;
    if request.headers().contains_key(header::CONTENT_TYPE) {
        let body = read_json(connection, request, PATTERNS).await?;
        patterns = Some(
            parse_patterns(&body).map_err(|message| Problem::invalid_body(PATTERNS, &message))?,
        );
    }
    let rescan = move |deployment: &Deployment| deployment.rescan(id, patterns.as_ref());
    Ok(Json(state.run_expensive(rescan).await?.into()))
}

/// Cancels the creation, addition or reindex that is running on a dataset. The dataset then has the status ERROR, until
/// its folder is rescanned or opened again.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/cancel",
    params(DatasetPath),
    responses((status = 200, description = "The record", body = DatasetBody), StatusErrors),
)]
pub(crate) async fn cancel_indexing(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<DatasetBody>, Problem> {
    let cancel = move |deployment: &Deployment| {
        deployment.cancel_indexing(id).and_then(|record| dataset_body(deployment, record))
    };
    Ok(Json(state.spawn_blocking(cancel).await?))
}

/// Says what the format of an export omits or changes, without starting it. A body selects media as in an export
/// of a selection. Without a body, the whole dataset is previewed.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/export_preview",
    params(DatasetPath, PreviewParams, RestParams),
    request_body(content = ref("#/components/schemas/MediaSelection"), content_type = "application/json"),
    responses(
        (status = 200, description = "What is omitted or changed", body = ExportPreviewBody),
        JsonErrors,
        StatusErrors,
        ExportErrors,
    ),
)]
pub(crate) async fn export_preview(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
    request: Request,
) -> Result<Json<ExportPreviewBody>, Problem> {
    let ExportSpec { format, include_images, .. } = export_spec(&params, "preview")?;
    let has_body = request.headers().contains_key(header::CONTENT_TYPE);
    let scope = if has_body || params.text(query::REST).is_some() {
        selection_scope(&state, &params, connection, request).await?
    } else {
        ExportScope::Search(SearchParams::default())
    };
    let preview = move |deployment: &Deployment| {
        deployment.export_preview(id, &scope, format, include_images)
    };
    Ok(Json(state.run_expensive(preview).await?.into()))
}

fn parse_patterns(body: &[u8]) -> Result<PatternLists, String> {
    let wrong = |_| "Input should be {\"include\": [PATTERN], \"exclude\": [PATTERN]}".to_owned();
    let patterns: PatternsBody = serde_json::from_slice(body).map_err(wrong)?;
    let patterns = patterns.into();
    FolderPatterns::new(&patterns)?;
    Ok(patterns)
}
