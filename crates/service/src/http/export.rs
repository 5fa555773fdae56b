//! Exports: starts an export of a whole dataset, of a search or of a selection, reports its state, and sends its
//! archive.

use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Request, State},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Redirect, Response},
};
use futures_util::StreamExt as _;
use utoipa_axum::routes;

use super::{
    AppState,
    auth::unix_seconds,
    checked_routes::CheckedRoutes,
    connections::ClientConnection,
    explore::parse_optional_search,
    media::{FileContent, FileResponse, respond_with_file},
    multipart_form::{SizeLimit, check_body_headers, content_length},
    openapi::{DatasetErrors, ExportErrors, FileResponses, JsonErrors, StatusErrors},
    parameters::{
        ArchiveParams, DatasetPath, ExpiringLinkParams, ExportLinkPath, ExportParams,
        ExportStatusParams, QueryParams, RestParams,
    },
    problem::Problem,
    request_body::{BodyBuffer, MAX_BODY, body_problem},
    signed_links::SignedLinks,
};
use crate::{
    Deployment,
    usecase::{ExportArchive, ExportScope, SearchParams, ServiceError},
};
use tessera_model::{ArchiveName, ClusterId, DatasetId, ExportFormat, ExportSpec, ExportTaskId};
use tessera_store::export::{ExportRecord, ExportTaskState};
use tessera_wire::{
    endpoints::query, error_body::ProblemBody, export::ExportTaskBody, fields::format_iso8601,
};

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes
        .add_unsafe_get(routes!(export_context_async))
        .add(routes!(export_status))
        .add(routes!(export_entities_async))
}

/// Adds the endpoints that only local services have.
pub(crate) fn add_local_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(cancel_export))
}

pub(crate) fn add_link_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(archive))
}

/// Starts an export of the dataset, or of the part that the parameters of `explore` select. This is a GET although it
/// starts work, because the API document says so.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export_context_async",
    params(DatasetPath, ExportParams),
    responses(
        (status = 200, description = "The export task", body = ExportTaskBody),
        (status = 400, description = "A parameter differs from the anchor's registration", body = ProblemBody),
        StatusErrors,
        ExportErrors,
    ),
)]
pub(crate) async fn export_context_async(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    links: SignedLinks,
    params: QueryParams,
) -> Result<Json<ExportTaskBody>, Problem> {
    let file_name = match params.text(query::FILE_NAME) {
        None if state.compat => id.to_string(),
        _ => params.required(query::FILE_NAME)?.to_owned(),
    };
    let spec = export_spec(&params, &file_name)?;
    let search = parse_optional_search(&state, &params)?;
    let scope = match params.text(query::CLUSTER_ID) {
        None => ExportScope::Search(search),
        Some(_) => ExportScope::Cluster(params.id::<ClusterId>(query::CLUSTER_ID)?, search),
    };
    start_export(&state, id, scope, spec, &links).await
}

pub(crate) async fn start_export(
    state: &AppState,
    id: DatasetId,
    scope: ExportScope,
    spec: ExportSpec,
    links: &SignedLinks,
) -> Result<Json<ExportTaskBody>, Problem> {
    let (is_cheap, origin) = (scope.is_whole_dataset(), links.origin.clone());
    let start = move |deployment: &Deployment| deployment.start_export(id, &scope, &spec, origin);
    let export = if is_cheap {
        state.spawn_blocking(start).await?
    } else {
        state.run_expensive(start).await?
    };
    Ok(Json(export_task_body(export, links, state.compat)))
}

pub(crate) fn export_spec(params: &QueryParams, file_name: &str) -> Result<ExportSpec, Problem> {
    params.required(query::EXPORT_FORMAT)?;
    let formats = ExportFormat::ALL.map(|format| format!("'{}'", format.as_str()));
    let expected = format!("Input should be one of {}", formats.join(", "));
    let format = params.parse(query::EXPORT_FORMAT, &expected, |raw| raw.parse().ok())?;
    let format: ExportFormat = format.unwrap_or_default();
    let include_images = params.boolean(query::INCLUDE_IMAGES)?.unwrap_or(false);
    Ok(ExportSpec {
        file_name: ArchiveName::new(file_name),
        format,
        include_images: include_images || format.requires_images(),
    })
}

/// Returns the state of an export.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export_status",
    params(DatasetPath, ExportStatusParams),
    responses((status = 200, description = "The export task", body = ExportTaskBody), DatasetErrors),
)]
pub(crate) async fn export_status(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    links: SignedLinks,
    params: QueryParams,
) -> Result<Json<ExportTaskBody>, Problem> {
    let task: ExportTaskId = params.id(query::EXPORT_TASK_ID)?;
    let export = state.spawn_blocking(move |deployment| deployment.export_of(id, task)).await?;
    Ok(Json(export_task_body(export, &links, state.compat)))
}

/// Cancels an export that has not ended. Its status is then `FAILED`. This endpoint is below `/local`, because the API
/// document has none for it.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/cancel_export",
    params(DatasetPath, ExportStatusParams),
    responses((status = 200, description = "The export task", body = ExportTaskBody), StatusErrors),
)]
pub(crate) async fn cancel_export(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    links: SignedLinks,
    params: QueryParams,
) -> Result<Json<ExportTaskBody>, Problem> {
    let task: ExportTaskId = params.id(query::EXPORT_TASK_ID)?;
    let export = state.spawn_blocking(move |deployment| deployment.cancel_export(id, task)).await?;
    Ok(Json(export_task_body(export, &links, state.compat)))
}

/// Describes an export. A lenient service reports an export of nothing as `REJECTED`, like hosted services, because
/// public clients do not stop at `FAILED`.
fn export_task_body(export: ExportRecord, links: &SignedLinks, compat: bool) -> ExportTaskBody {
    let complete = export.state == ExportTaskState::Completed;
    let rejected = compat && export.is_rejected();
    ExportTaskBody {
        id: export.id,
        dataset_id: export.dataset,
        status: if rejected { "REJECTED" } else { export.state.as_str() }.to_owned(),
        progress: export.progress,
        download_uri: complete.then(|| links.archive_link(export.id, unix_seconds())),
        entities_count: export.media_count,
        result_message: export.message,
        created_at: format_iso8601(export.created_at),
    }
}

/// Returns the archive behind a signed link.
#[utoipa::path(
    get,
    path = "/exports/{export_task_id}",
    params(ExportLinkPath, ExpiringLinkParams),
    responses(
        (status = 200, description = "The archive", content_type = "application/zip"),
        (status = 307, description = "The archive is in object storage; the link is valid for 15 minutes"),
        (status = 410, description = "The link has expired", body = ProblemBody),
        FileResponses,
    ),
    security(()),
)]
pub(crate) async fn archive(
    State(state): State<AppState>,
    params: QueryParams,
    ExportLinkPath(task): ExportLinkPath,
    links: SignedLinks,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let expires = params.text(query::EXPIRES).and_then(|raw| raw.parse().ok()).unwrap_or(0);
    let signature = params.text(query::SIGNATURE).unwrap_or_default();
    links.check_archive_link(task, expires, signature, unix_seconds())?;
    let archive = state.spawn_blocking(move |deployment| deployment.find_archive(task)).await?;
    let ExportArchive::OnDisk(export, file) = archive else {
        let link = state.deployment.bucket_link(task).await?;
        let uncached = [(header::CACHE_CONTROL, "private, no-store")];
        return Ok((uncached, Redirect::temporary(&link)).into_response());
    };
    let served = FileResponse {
        length: file.metadata().map_err(|_| ServiceError::internal())?.len(),
        content: FileContent::File(Box::new(file)),
        content_type: "application/zip",
        etag: task.to_string(),
        disposition: "attachment",
        name: export.spec.file_name.as_str().to_owned(),
        cache_control: "private, no-store",
    };
    Ok(respond_with_file(served, &headers))
}

/// The limit allows about half a million identifiers.
const SELECTION_LIMIT: SizeLimit =
    SizeLimit { bytes: MAX_BODY, message: "The selection is larger than 32 MiB" };

/// Starts an export of selected media items and clusters. With `rest=true`, everything else is exported: what the
/// parameters of `explore` find and the body does not select.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/export_entities_async",
    params(DatasetPath, ArchiveParams, RestParams),
    request_body(content = ref("#/components/schemas/MediaSelection"), content_type = "application/json"),
    responses(
        (status = 200, description = "The export task", body = ExportTaskBody),
        JsonErrors,
        StatusErrors,
        ExportErrors,
    ),
)]
pub(crate) async fn export_entities_async(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    links: SignedLinks,
    params: QueryParams,
    request: Request,
) -> Result<Json<ExportTaskBody>, Problem> {
    // The API document has no parameter for the name of this archive.
    let spec = export_spec(&params, params.text(query::FILE_NAME).unwrap_or("selection"))?;
    let scope = selection_scope(&state, &params, connection, request).await?;
    start_export(&state, id, scope, spec, &links).await
}

/// Reads the selection of a body, or the rest of a search that the parameter `rest` asks for.
pub(crate) async fn selection_scope(
    state: &AppState,
    params: &QueryParams,
    connection: ClientConnection,
    request: Request,
) -> Result<ExportScope, Problem> {
    let search = parse_optional_search(state, params)?;
    let rest = params.boolean(query::REST)?.unwrap_or(false);
    if !rest && search != SearchParams::default() {
        let reason = "Give the parameters of a search only together with rest=true";
        return Err(Problem::invalid_query(query::REST, reason));
    }
    let body = read_json(connection, request, "media_selection").await?;
    Ok(if rest { ExportScope::Rest(search, body) } else { ExportScope::Selection(body) })
}

/// Reads a body, which must be JSON. A page of another site can send any body as text, but not as JSON. `name` is the
/// field that an error names.
pub(crate) async fn read_json(
    connection: ClientConnection,
    request: Request,
    name: &str,
) -> Result<Bytes, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Problem::invalid_body(name, "Send it as application/json"));
    }
    check_body_headers(&request, SELECTION_LIMIT)?;
    let mut bytes = BodyBuffer::new(connection, SELECTION_LIMIT, content_length(&request));
    let mut body = request.into_body().into_data_stream();
    while let Some(chunk) = body.next().await {
        bytes.push(&chunk.map_err(|cause| body_problem(&cause))?).await?;
    }
    Ok(bytes.finish())
}
