//! `POST export_entities_async`: exports a selection of media items and clusters.

use axum::{
    Json,
    body::Bytes,
    extract::{Request, State},
    http::header,
};
use futures_util::StreamExt as _;

use super::{
    AppState,
    export::{export_spec, start_export},
    multipart_form::{SizeLimit, check_content_length, content_length, drain},
    openapi::{ArchiveParams, ExportErrors, StatusErrors},
    path_params::DatasetPath,
    problem::Problem,
    query_params::QueryParams,
    signed_links::SignedLinks,
    timed_body::body_problem,
};
use crate::usecase::ExportScope;
use tessera_wire::{error_body::ProblemBody, export::ExportTaskBody, paths::query};

/// About half a million identifiers.
const SELECTION_LIMIT: SizeLimit =
    SizeLimit { bytes: 32 << 20, message: "The selection is larger than 32 MiB" };

/// Starts an export of selected media items and clusters.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/export_entities_async",
    params(DatasetPath, ArchiveParams),
    request_body(content = ref("#/components/schemas/MediaSelection"), content_type = "application/json"),
    responses(
        (status = 200, description = "The export task", body = ExportTaskBody),
        (status = 408, description = "The body did not arrive in time", body = ProblemBody),
        (status = 413, description = "The body is larger than 32 MiB", body = ProblemBody),
        StatusErrors,
        ExportErrors,
    ),
)]
pub async fn export_entities_async(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    links: SignedLinks,
    params: QueryParams,
    request: Request,
) -> Result<Json<ExportTaskBody>, Problem> {
    // The interface document has no parameter for the name.
    let spec = export_spec(&params, params.text(query::FILE_NAME).unwrap_or("selection"))?;
    let body = read_json(&state, request).await?;
    start_export(&state, id, ExportScope::Selection(body), spec, &links).await
}

/// Must be JSON: a page of another site can send any body as text, but not as JSON.
async fn read_json(state: &AppState, request: Request) -> Result<Bytes, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        drain(request).await;
        return Err(Problem::invalid_body("media_selection", "Send it as application/json"));
    }
    check_content_length(&request, SELECTION_LIMIT)?;
    let length = content_length(&request).and_then(|length| length.try_into().ok());
    let (request, memory) = state.body_memory.reserve_for(request, SELECTION_LIMIT).await?;
    let mut body = request.into_body().into_data_stream();
    // A list that grows leaves its former copies to the allocator.
    let mut bytes = Vec::with_capacity(length.unwrap_or_default());
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|cause| body_problem(&cause))?;
        SELECTION_LIMIT.check((bytes.len() + chunk.len()) as u64)?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(memory.attach(bytes))
}
