//! Exports: start one, ask where it stands, fetch its archive.

use std::collections::BTreeSet;

use axum::{Json, extract::State, http::HeaderMap, response::Response};
use uuid::Uuid;

use super::{
    Site, Weight,
    describe::{Content, Expiring, Exporting, Gated, OfDataset, Queued, Watching},
    explore::standing,
    file::{Served, answer},
    found,
    guard::Origin,
    links::Links,
    params::{DatasetPath, ExportPath, Params},
    problem::Problem,
    question::Asked,
    ready_for,
    selection::members,
};
use crate::{
    Deployment,
    store::{
        dataset::Record,
        export::{self, Export, Stage},
        now,
    },
};
use tessera_model::{ArchiveName, ClusterId, ExportFormat, ExportSpec, ExportTaskId, Operation};
use tessera_wire::{export::ExportTaskBody, moment::iso, paths::query, problem::ProblemBody};

/// The media of an export.
pub enum Chosen {
    /// All of the dataset.
    Everything,
    /// Those of these rows.
    Only(BTreeSet<i64>),
}

/// Starts an export of the dataset, or of what the parameters of `explore` select from it. A GET by the
/// document, although it starts work.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export_context_async",
    operation_id = "export_context_async",
    params(DatasetPath, Exporting),
    responses(
        (status = 200, description = "The export task", body = ExportTaskBody),
        (status = 400, description = "Not asked as the anchor was registered", body = ProblemBody),
        Gated,
        Queued,
    ),
)]
pub async fn start(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    origin: Origin,
    params: Params,
) -> Result<Json<ExportTaskBody>, Problem> {
    let file_name = match params.text(query::FILE_NAME) {
        None if site.compat => id.to_string(),
        _ => params.required(query::FILE_NAME)?.to_owned(),
    };
    let spec = spec(&params, &file_name)?;
    let asked = Asked::of_export(&site, &params)?;
    let cluster = match params.text(query::CLUSTER_ID) {
        None => None,
        Some(_) => Some(params.id::<ClusterId>(query::CLUSTER_ID)?),
    };
    let plain = cluster.is_none() && asked.is_browsing();
    let weight = if plain { Weight::Light } else { Weight::Heavy };
    site.weighed(weight, move |deployment| {
        let record = ready_for(deployment, id, Operation::Export)?;
        let chosen = if let Some(cluster) = cluster {
            let filters = &asked.question.filters;
            let members = members(deployment, &record, cluster, None, filters)?;
            Chosen::Only(members.into_iter().collect())
        } else if asked.is_browsing() {
            Chosen::Everything
        } else {
            let gallery = deployment.recall.gallery(&deployment.store, &record, asked.entity)?;
            let standing = standing(deployment, &record, &gallery, &asked)?;
            Chosen::Only(standing.rows(&gallery).collect())
        };
        begin(deployment, &origin, &record, spec, &chosen)
    })
    .await
}

/// Stores an export and queues it. One that nothing was chosen for has FAILED at once.
pub fn begin(
    deployment: &Deployment,
    origin: &Origin,
    dataset: &Record,
    spec: ExportSpec,
    chosen: &Chosen,
) -> Result<Json<ExportTaskBody>, Problem> {
    let mut export = Export {
        id: ExportTaskId(Uuid::new_v4()),
        dataset: dataset.id,
        spec,
        origin: origin.0.clone(),
        stage: Stage::Init,
        progress: 0.0,
        entities: dataset.n_images + dataset.n_videos,
        message: None,
        created_at: now(),
        selective: matches!(chosen, Chosen::Only(_)),
    };
    deployment.store.write(|tx| {
        export::put(tx, &export)?;
        if let Chosen::Only(rows) = chosen {
            export.entities = export::choose(tx, export.id, rows.iter().copied())?;
        }
        if export.entities == 0 {
            export.stage = Stage::Failed;
            export.message = Some("nothing is selected by this export".to_owned());
        }
        export::settle(tx, &export)
    })?;
    if export.stage == Stage::Init {
        deployment.work.export(export.id);
    }
    Ok(Json(body(deployment, origin, export)))
}

/// The name of a selective export is the service's choice: the document has no parameter for it.
pub fn spec_of_selection(params: &Params) -> Result<ExportSpec, Problem> {
    spec(params, params.text(query::FILE_NAME).unwrap_or("selection"))
}

fn spec(params: &Params, file_name: &str) -> Result<ExportSpec, Problem> {
    params.required(query::EXPORT_FORMAT)?;
    let words = "Input should be 'json' or 'parquet'";
    let format = params.parsed(query::EXPORT_FORMAT, words, ExportFormat::parse)?;
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
    params(DatasetPath, Watching),
    responses((status = 200, description = "The export task", body = ExportTaskBody), OfDataset),
)]
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
#[utoipa::path(
    get,
    path = "/exports/{export_task_id}",
    operation_id = "archive",
    params(ExportPath, Expiring),
    responses(
        (status = 200, description = "The archive", content_type = "application/zip"),
        (status = 410, description = "The link has expired", body = ProblemBody),
        Content,
    ),
    security(()),
)]
pub async fn archive(
    State(site): State<Site>,
    ExportPath(task): ExportPath,
    origin: Origin,
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let task = task.ok_or_else(missing)?;
    let expires = params.text(query::EXPIRES).and_then(|raw| raw.parse().ok()).unwrap_or(0);
    let signature = params.text(query::SIGNATURE).unwrap_or_default();
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
