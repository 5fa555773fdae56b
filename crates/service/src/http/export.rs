//! Exports: start one, ask where it stands, fetch its archive.

use std::collections::BTreeSet;

use axum::{Json, extract::State, http::HeaderMap, response::Response};
use uuid::Uuid;

use super::{
    AppState, RequestCost,
    explore::rank_clusters,
    file_response::{FileResponse, respond_with_file},
    openapi::{
        BusyError, DatasetErrors, ExpiringLinkParams, ExportParams, ExportStatusParams,
        FileResponses, StatusErrors,
    },
    origin_check::RequestOrigin,
    problem::Problem,
    query_params::{DatasetPath, ExportLinkPath, QueryParams},
    require_dataset, require_ready,
    search_params::SearchParams,
    selection::cluster_members,
    signed_links::SignedLinks,
};
use crate::{
    Deployment,
    store::{
        dataset::DatasetRecord,
        export::{self, ExportRecord, ExportTaskState},
        now_micros,
    },
};
use tessera_model::{ArchiveName, ClusterId, ExportFormat, ExportSpec, ExportTaskId, Operation};
use tessera_wire::{
    error_body::ProblemBody, export::ExportTaskBody, paths::query, timestamp::format_iso8601,
};

/// The media of an export.
pub enum ExportSelection {
    /// All of the dataset.
    All,
    /// Those of these rows.
    Rows(BTreeSet<i64>),
}

/// Starts an export of the dataset, or of what the parameters of `explore` select from it. A GET by the
/// document, although it starts work.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export_context_async",
    operation_id = "export_context_async",
    params(DatasetPath, ExportParams),
    responses(
        (status = 200, description = "The export task", body = ExportTaskBody),
        (status = 400, description = "Not asked as the anchor was registered", body = ProblemBody),
        StatusErrors,
        BusyError,
    ),
)]
pub async fn start(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
    origin: RequestOrigin,
    params: QueryParams,
) -> Result<Json<ExportTaskBody>, Problem> {
    let file_name = match params.text(query::FILE_NAME) {
        None if site.compat => id.to_string(),
        _ => params.required(query::FILE_NAME)?.to_owned(),
    };
    let spec = export_spec(&params, &file_name)?;
    let asked = SearchParams::parse_optional(&site, &params)?;
    let cluster = match params.text(query::CLUSTER_ID) {
        None => None,
        Some(_) => Some(params.id::<ClusterId>(query::CLUSTER_ID)?),
    };
    let plain = cluster.is_none() && asked.is_browsing();
    let weight = if plain { RequestCost::Cheap } else { RequestCost::Expensive };
    site.run_blocking(weight, move |deployment| {
        let record = require_ready(deployment, id, Operation::Export)?;
        let chosen = if let Some(cluster) = cluster {
            let filters = &asked.query.filters;
            let members = cluster_members(deployment, &record, cluster, None, filters)?;
            ExportSelection::Rows(members.into_iter().collect())
        } else if asked.is_browsing() {
            ExportSelection::All
        } else {
            let gallery =
                deployment.indexes.dataset_index(&deployment.store, &record, asked.entity)?;
            let standing = rank_clusters(deployment, &record, &gallery, &asked)?;
            ExportSelection::Rows(standing.rows(&gallery).collect())
        };
        start_export(deployment, &origin, &record, spec, &chosen)
    })
    .await
}

/// Stores an export and queues it. One that nothing was chosen for has FAILED at once.
pub fn start_export(
    deployment: &Deployment,
    origin: &RequestOrigin,
    dataset: &DatasetRecord,
    spec: ExportSpec,
    chosen: &ExportSelection,
) -> Result<Json<ExportTaskBody>, Problem> {
    let mut export = ExportRecord {
        id: ExportTaskId(Uuid::new_v4()),
        dataset: dataset.id,
        spec,
        origin: origin.0.clone(),
        state: ExportTaskState::Init,
        progress: 0.0,
        media_count: dataset.n_images + dataset.n_videos,
        message: None,
        created_at: now_micros(),
        selective: matches!(chosen, ExportSelection::Rows(_)),
    };
    deployment.store.write(|tx| {
        export::insert(tx, &export)?;
        if let ExportSelection::Rows(rows) = chosen {
            export.media_count = export::select_media(tx, export.id, rows.iter().copied())?;
        }
        if export.media_count == 0 {
            export.state = ExportTaskState::Failed;
            export.message = Some("nothing is selected by this export".to_owned());
        }
        export::update_outcome(tx, &export)
    })?;
    if export.state == ExportTaskState::Init {
        deployment.tasks.queue_export(export.id);
    }
    Ok(Json(export_task_body(deployment, origin, export)))
}

/// The name of a selective export is the service's choice: the document has no parameter for it.
pub fn selection_export_spec(params: &QueryParams) -> Result<ExportSpec, Problem> {
    export_spec(params, params.text(query::FILE_NAME).unwrap_or("selection"))
}

fn export_spec(params: &QueryParams, file_name: &str) -> Result<ExportSpec, Problem> {
    params.required(query::EXPORT_FORMAT)?;
    let words = "Input should be 'json' or 'parquet'";
    let format = params.parse(query::EXPORT_FORMAT, words, ExportFormat::parse)?;
    Ok(ExportSpec {
        file_name: ArchiveName::new(file_name),
        format: format.unwrap_or_default(),
        include_images: params.boolean(query::INCLUDE_IMAGES)?.unwrap_or(false),
    })
}

/// Where an export stands.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export_status",
    operation_id = "export_status",
    params(DatasetPath, ExportStatusParams),
    responses((status = 200, description = "The export task", body = ExportTaskBody), DatasetErrors),
)]
pub async fn status(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
    origin: RequestOrigin,
    params: QueryParams,
) -> Result<Json<ExportTaskBody>, Problem> {
    let task: ExportTaskId = params.id(query::EXPORT_TASK_ID)?;
    site.spawn_blocking(move |deployment| {
        require_dataset(deployment, id)?;
        let export = deployment.store.read(|c| export::find(c, task))?;
        let export = export.filter(|export| export.dataset == id).ok_or_else(export_not_found)?;
        Ok(Json(export_task_body(deployment, &origin, export)))
    })
    .await
}

fn export_task_body(
    deployment: &Deployment,
    origin: &RequestOrigin,
    export: ExportRecord,
) -> ExportTaskBody {
    let links = SignedLinks::new(deployment.store.link_key(), origin);
    let complete = export.state == ExportTaskState::Completed;
    ExportTaskBody {
        id: export.id,
        dataset_id: export.dataset,
        status: export.state.as_str().to_owned(),
        progress: export.progress,
        download_uri: complete.then(|| links.archive_link(export.id, unix_seconds())),
        entities_count: export.media_count,
        result_message: export.message,
        created_at: format_iso8601(export.created_at),
    }
}

/// The archive, by its signed link.
#[utoipa::path(
    get,
    path = "/exports/{export_task_id}",
    operation_id = "archive",
    params(ExportLinkPath, ExpiringLinkParams),
    responses(
        (status = 200, description = "The archive", content_type = "application/zip"),
        (status = 410, description = "The link has expired", body = ProblemBody),
        FileResponses,
    ),
    security(()),
)]
pub async fn archive(
    State(site): State<AppState>,
    ExportLinkPath(task): ExportLinkPath,
    origin: RequestOrigin,
    params: QueryParams,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let task = task.ok_or_else(export_not_found)?;
    let expires = params.text(query::EXPIRES).and_then(|raw| raw.parse().ok()).unwrap_or(0);
    let signature = params.text(query::SIGNATURE).unwrap_or_default();
    SignedLinks::new(site.deployment.store.link_key(), &origin).check_archive_link(
        task,
        expires,
        signature,
        unix_seconds(),
    )?;
    let served = site
        .spawn_blocking(move |deployment| {
            let export =
                deployment.store.read(|c| export::find(c, task))?.ok_or_else(export_not_found)?;
            let file = std::fs::File::open(deployment.store.archive_path(task.0));
            let file = file.map_err(|_| export_not_found())?;
            let length = file.metadata().map_err(|_| export_not_found())?.len();
            Ok(FileResponse {
                content: tokio::fs::File::from_std(file),
                length,
                content_type: "application/zip",
                etag: task.to_string(),
                disposition: "attachment",
                name: export.spec.file_name.as_str().to_owned(),
                cache_control: "private, no-store",
            })
        })
        .await?;
    respond_with_file(served, &headers).await
}

fn export_not_found() -> Problem {
    Problem::not_found("Export task not found")
}

/// Unix seconds.
fn unix_seconds() -> u64 {
    now_micros().unsigned_abs() / 1_000_000
}
