//! Exports: start one, ask where it stands, fetch its archive.

use axum::{
    Json,
    extract::{Path, State},
    http::HeaderMap,
    response::Response,
};
use uuid::Uuid;

use super::{
    Site,
    file::{Served, answer},
    found,
    guard::Origin,
    links::Links,
    params::{DatasetPath, Params},
    problem::Problem,
    ready_for,
};
use crate::{
    local::{
        Deployment,
        store::{
            export::{self, Export, Stage},
            now,
        },
    },
    model::{ArchiveName, ExportFormat, ExportSpec, ExportTaskId, Operation},
    wire::{export::ExportTaskBody, moment::iso, paths::query},
};

/// Starts an export of the whole dataset. A GET by the document, although it starts work.
pub async fn start(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    origin: Origin,
    params: Params,
) -> Result<Json<ExportTaskBody>, Problem> {
    let spec = spec(&params)?;
    site.blocking(move |deployment| {
        let dataset = ready_for(deployment, id, Operation::Export)?;
        let export = Export {
            id: ExportTaskId(Uuid::new_v4()),
            dataset: id,
            spec,
            origin: origin.0.clone(),
            stage: Stage::Init,
            progress: 0.0,
            entities: dataset.n_images,
            message: None,
            created_at: now(),
        };
        deployment.store.write(|tx| export::put(tx, &export))?;
        deployment.work.export(export.id);
        Ok(Json(body(deployment, &origin, export)))
    })
    .await
}

fn spec(params: &Params) -> Result<ExportSpec, Problem> {
    let file_name = ArchiveName::new(params.required(query::FILE_NAME)?);
    params.required(query::EXPORT_FORMAT)?;
    let words = "Input should be 'json' or 'parquet'";
    let format = params.parsed(query::EXPORT_FORMAT, words, ExportFormat::parse)?;
    Ok(ExportSpec {
        file_name,
        format: format.unwrap_or_default(),
        include_images: params.boolean(query::INCLUDE_IMAGES)?.unwrap_or(false),
    })
}

/// Where an export stands.
pub async fn status(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    origin: Origin,
    params: Params,
) -> Result<Json<ExportTaskBody>, Problem> {
    let task: ExportTaskId = params.id(query::EXPORT_TASK_ID)?;
    site.blocking(move |deployment| {
        found(deployment, id)?;
        let export = deployment.store.read(|c| export::find(c, task))?;
        let export = export.filter(|export| export.dataset == id).ok_or_else(missing)?;
        Ok(Json(body(deployment, &origin, export)))
    })
    .await
}

fn body(deployment: &Deployment, origin: &Origin, export: Export) -> ExportTaskBody {
    let links = Links::new(deployment.store.link_key(), origin);
    let complete = export.stage == Stage::Completed;
    ExportTaskBody {
        id: export.id,
        dataset_id: export.dataset,
        status: export.stage.word().to_owned(),
        progress: export.progress,
        download_uri: complete.then(|| links.archive(export.id, seconds())),
        entities_count: export.entities,
        result_message: export.message,
        created_at: iso(export.created_at),
    }
}

/// The archive, by its signed link.
pub async fn archive(
    State(site): State<Site>,
    Path(task): Path<String>,
    origin: Origin,
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let task: ExportTaskId = task.parse().map_err(|_| missing())?;
    let expires = params.text("expires").and_then(|raw| raw.parse().ok()).unwrap_or(0);
    let signature = params.text("signature").unwrap_or_default();
    Links::new(site.deployment.store.link_key(), &origin).check_archive(
        task,
        expires,
        signature,
        seconds(),
    )?;
    let served = site
        .blocking(move |deployment| {
            let export = deployment.store.read(|c| export::find(c, task))?.ok_or_else(missing)?;
            let file = std::fs::File::open(deployment.store.archive(task.0));
            let file = file.map_err(|_| missing())?;
            let length = file.metadata().map_err(|_| missing())?.len();
            Ok(Served {
                content: tokio::fs::File::from_std(file),
                length,
                kind: "application/zip",
                tag: task.to_string(),
                disposition: "attachment",
                name: export.spec.file_name.as_str().to_owned(),
                caching: "private, no-store",
            })
        })
        .await?;
    answer(served, &headers).await
}

fn missing() -> Problem {
    Problem::not_found("Export task not found")
}

/// Unix seconds.
fn seconds() -> u64 {
    now().unsigned_abs() / 1_000_000
}
