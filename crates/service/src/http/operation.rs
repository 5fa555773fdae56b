//! What changes a dataset: `reindex`, and the ways to add media. Whether it may begin is decided in the
//! transaction that begins it, so of many at once exactly one does.

use std::path::{Path, PathBuf};

use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
};
use rusqlite::Transaction;

use super::{
    Site, blocked,
    body::swallow,
    describe::{Gated, Processing, Uploaded},
    form::{self, Source},
    found,
    params::{DatasetPath, Params},
    problem::Problem,
};
use crate::{
    Deployment,
    ingest::stage::{Staged, UNPACKED},
    settings::Failing,
    storage::Storage,
    store::{
        dataset::{self, Record},
        operation::{self, Arrival, Batch, Kind},
        source,
    },
};
use tessera_model::{DatasetId, Operation};
use tessera_wire::{paths::query, problem::ProblemBody, process::ProcessBody};

/// Re-clusters a dataset that is in PARTIAL INDEX.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/reindex",
    operation_id = "reindex",
    params(DatasetPath),
    responses((status = 202, description = "Accepted; watch the status"), Gated),
)]
pub async fn reindex(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
) -> Result<StatusCode, Problem> {
    site.blocking(move |deployment| {
        may_write(deployment, &found(deployment, id)?)?;
        begin(deployment, id, Kind::Reindex, false, |_| Ok(None))
    })
    .await?;
    Ok(StatusCode::ACCEPTED)
}

/// Adds media that the form uploads, or that it says where to get. Whether the request can be granted is
/// decided before its body is read.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/add_media",
    operation_id = "add_media",
    params(DatasetPath),
    request_body(
        content = ref("#/components/schemas/AddMediaForm"),
        content_type = "multipart/form-data",
    ),
    responses((status = 202, description = "Accepted; watch the status"), Uploaded, Gated),
    security(("token" = []), ("session" = [])),
)]
pub async fn add_media(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    request: Request,
) -> Result<StatusCode, Problem> {
    let granted = site.blocking(move |deployment| may_add(deployment, id).map(drop)).await;
    if let Err(problem) = granted {
        swallow(request).await;
        return Err(problem);
    }
    let submission = form::read(request, &site.deployment.store.uploads()).await?;
    if site.deployment.settings.failing.contains(&Failing::Upload) {
        return Err(Problem::failed("The upload to storage failed"));
    }
    let role = submission.assume_role;
    let (staged, arrival) = match submission.source {
        Source::Files(staged) => (staged, Arrival::There),
        Source::Archive(staged, kind) => (staged, Arrival::Packed(kind.extension().to_owned())),
        Source::Storage(uri) => {
            let storage = site.deployment.settings.storage.clone();
            let storage =
                Storage::new(storage).map_err(|_| Problem::failed("The storage failed"))?;
            let found = storage.list(&uri, role.as_ref(), 1).await;
            found.map_err(|refusal| Problem::bad_request(refusal.to_string()))?;
            let staged = Staged::open(&site.deployment.store.uploads());
            (
                staged.map_err(|_| Problem::failed("The upload to storage failed"))?,
                Arrival::Stored(uri),
            )
        }
    };
    let folder = match arrival {
        Arrival::There | Arrival::Stored(_) => staged.path().to_owned(),
        Arrival::Packed(_) => staged.path().join(UNPACKED),
    };
    site.blocking(move |deployment| {
        begin(deployment, id, Kind::Addition, submission.auto_reindex, |tx| {
            let source = source::put(tx, id, &folder)?;
            Ok(Some(Batch { source, arrival }))
        })?;
        // It is the dataset's from now on.
        let _ = staged.keep();
        Ok(())
    })
    .await?;
    Ok(StatusCode::ACCEPTED)
}

/// Adds the media of a folder of this machine, as on-premises deployments do. A GET by the document,
/// although it starts work.
#[utoipa::path(
    get,
    path = "/process/add_media",
    operation_id = "process_add_media",
    params(Processing),
    responses(
        (status = 200, description = "Accepted; watch the status", body = ProcessBody),
        (status = 400, description = "The dataset has no embedding_config", body = ProblemBody),
        Gated,
    ),
)]
pub async fn process(
    State(site): State<Site>,
    params: Params,
) -> Result<Json<ProcessBody>, Problem> {
    let id: DatasetId = params.id(query::DATASET_ID)?;
    let folder = PathBuf::from(params.required(query::PATH)?);
    let auto_reindex = params.boolean(query::AUTO_REINDEX)?.unwrap_or(false);
    site.blocking(move |deployment| {
        may_add(deployment, id)?;
        let folder = allowed(deployment, &folder)?;
        begin(deployment, id, Kind::Addition, auto_reindex, |tx| {
            let source = source::of_folder(tx, id, &folder)?;
            Ok(Some(Batch { source, arrival: Arrival::There }))
        })
    })
    .await?;
    let message = "add_media was accepted; watch the status of the dataset";
    Ok(Json(ProcessBody { status: "success", message, dataset_id: id }))
}

/// A folder that may be read: absolute, there, and at or below one of the allowed ones. What is outside
/// is refused in the same words whether it exists or not.
fn allowed(deployment: &Deployment, folder: &Path) -> Result<PathBuf, Problem> {
    let refused =
        || Problem::forbidden("The path is not a folder at or below one this deployment may read");
    if !folder.is_absolute() {
        return Err(Problem::invalid_query(query::PATH, "Input should be an absolute path"));
    }
    let folder = folder.canonicalize().map_err(|_| refused())?;
    let datasets = deployment.store.read(dataset::all)?;
    let own = datasets.iter().map(|dataset| &dataset.folder);
    let inside = own.chain(&deployment.settings.roots).any(|root| folder.starts_with(root));
    if inside && folder.is_dir() { Ok(folder) } else { Err(refused()) }
}

/// Whether media may be added to a dataset, as far as that can be told before their bytes are read.
///
/// # Errors
/// In the order of the document: no dataset, the feature or write access is missing, no embedding
/// configuration, the status.
pub fn may_add(deployment: &Deployment, id: DatasetId) -> Result<Record, Problem> {
    let record = found(deployment, id)?;
    if !deployment.settings.add_media {
        return Err(Problem::forbidden("Add media feature is not enabled"));
    }
    may_write(deployment, &record)?;
    if record.generation == 0 {
        return Err(Problem::bad_request(format!(
            "Dataset {id} has no embedding_config: it was never indexed with an embedding model"
        )));
    }
    let running = deployment.store.read(|c| operation::of(c, id))?;
    blocked(&record, Operation::AddMedia, running.as_ref())?;
    Ok(record)
}

fn may_write(deployment: &Deployment, record: &Record) -> Result<(), Problem> {
    if deployment.settings.write_access {
        return Ok(());
    }
    let words = format!("You do not have write access to dataset {}", record.id);
    Err(Problem::forbidden(words))
}

/// Begins an operation, if the status of the dataset allows it, and queues it.
pub fn begin(
    deployment: &Deployment,
    id: DatasetId,
    kind: Kind,
    reindex: bool,
    batch: impl FnOnce(&Transaction) -> rusqlite::Result<Option<Batch>>,
) -> Result<(), Problem> {
    let wanted = match kind {
        Kind::Reindex => Operation::Reindex,
        Kind::Creation | Kind::Addition => Operation::AddMedia,
    };
    let begun = deployment.store.write(|tx| {
        let Some(record) = dataset::find(tx, id)? else {
            return Ok(Err(Problem::not_found("Dataset not found")));
        };
        if let Err(problem) = blocked(&record, wanted, operation::of(tx, id)?.as_ref()) {
            return Ok(Err(problem));
        }
        if deployment.settings.failing.contains(&Failing::Trigger) {
            return Ok(Err(Problem::failed("The pipeline could not be triggered")));
        }
        let batch = batch(tx)?;
        operation::begin(tx, id, kind, batch.as_ref(), reindex).map(Ok)
    })?;
    deployment.work.operate(begun?);
    Ok(())
}
