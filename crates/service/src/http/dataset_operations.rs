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
    AppState,
    add_media_form::{self, AddMediaSource},
    check_status,
    multipart_form::drain,
    openapi::{ProcessParams, StatusErrors, UploadErrors},
    problem::Problem,
    query_params::{DatasetPath, QueryParams},
    require_dataset,
};
use crate::{
    Deployment,
    ingest::staging::{StagingDir, UNPACKED_DIR_NAME},
    object_storage::ObjectStorage,
    settings::InjectedFailure,
    store::{
        dataset::{self, DatasetRecord},
        operation::{self, Batch, BatchOrigin, OperationKind},
        source,
    },
};
use tessera_model::{DatasetId, Operation};
use tessera_wire::{error_body::ProblemBody, paths::query, pipeline::ProcessBody};

/// Re-clusters a dataset that is in PARTIAL INDEX.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/reindex",
    operation_id = "reindex",
    params(DatasetPath),
    responses((status = 202, description = "Accepted; watch the status"), StatusErrors),
)]
pub async fn reindex(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<StatusCode, Problem> {
    site.spawn_blocking(move |deployment| {
        require_write_access(deployment, &require_dataset(deployment, id)?)?;
        start_operation(deployment, id, OperationKind::Reindex, false, |_| Ok(None))
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
    responses((status = 202, description = "Accepted; watch the status"), UploadErrors, StatusErrors),
    security(("token" = []), ("session" = [])),
)]
pub async fn add_media(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
    request: Request,
) -> Result<StatusCode, Problem> {
    let granted =
        site.spawn_blocking(move |deployment| require_can_add(deployment, id).map(drop)).await;
    if let Err(problem) = granted {
        drain(request).await;
        return Err(problem);
    }
    let submission =
        add_media_form::read_form(request, &site.deployment.store.uploads_dir()).await?;
    if site.deployment.settings.injected_failures.contains(&InjectedFailure::Upload) {
        return Err(Problem::server_error("The upload to storage failed"));
    }
    let role = submission.assume_role;
    let (staged, origin) = match submission.source {
        AddMediaSource::Files(staged) => (staged, BatchOrigin::InPlace),
        AddMediaSource::Archive(staged, kind) => {
            (staged, BatchOrigin::Archive(kind.extension().to_owned()))
        }
        AddMediaSource::Storage(uri) => {
            let storage = site.deployment.settings.storage.clone();
            let storage = ObjectStorage::new(storage)
                .map_err(|_| Problem::server_error("The storage failed"))?;
            let found = storage.list(&uri, role.as_ref(), 1).await;
            found.map_err(|refusal| Problem::bad_request(refusal.to_string()))?;
            let staged = StagingDir::create(&site.deployment.store.uploads_dir());
            (
                staged.map_err(|_| Problem::server_error("The upload to storage failed"))?,
                BatchOrigin::ObjectStorage(uri),
            )
        }
    };
    let folder = match origin {
        BatchOrigin::InPlace | BatchOrigin::ObjectStorage(_) => staged.path().to_owned(),
        BatchOrigin::Archive(_) => staged.path().join(UNPACKED_DIR_NAME),
    };
    site.spawn_blocking(move |deployment| {
        start_operation(deployment, id, OperationKind::Addition, submission.auto_reindex, |tx| {
            let source = source::upsert(tx, id, &folder)?;
            Ok(Some(Batch { source, origin }))
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
    params(ProcessParams),
    responses(
        (status = 200, description = "Accepted; watch the status", body = ProcessBody),
        (status = 400, description = "The dataset has no embedding_config", body = ProblemBody),
        StatusErrors,
    ),
)]
pub async fn process(
    State(site): State<AppState>,
    params: QueryParams,
) -> Result<Json<ProcessBody>, Problem> {
    let id: DatasetId = params.id(query::DATASET_ID)?;
    let folder = PathBuf::from(params.required(query::PATH)?);
    let auto_reindex = params.boolean(query::AUTO_REINDEX)?.unwrap_or(false);
    site.spawn_blocking(move |deployment| {
        require_can_add(deployment, id)?;
        let folder = resolve_readable_folder(deployment, &folder)?;
        start_operation(deployment, id, OperationKind::Addition, auto_reindex, |tx| {
            let source = source::find_or_insert_for_folder(tx, id, &folder)?;
            Ok(Some(Batch { source, origin: BatchOrigin::InPlace }))
        })
    })
    .await?;
    let message = "add_media was accepted; watch the status of the dataset";
    Ok(Json(ProcessBody { status: "success", message, dataset_id: id }))
}

/// A folder that may be read: absolute, there, and at or below one of the allowed ones. What is outside
/// is refused in the same words whether it exists or not.
fn resolve_readable_folder(deployment: &Deployment, folder: &Path) -> Result<PathBuf, Problem> {
    let refused =
        || Problem::forbidden("The path is not a folder at or below one this deployment may read");
    if !folder.is_absolute() {
        return Err(Problem::invalid_query(query::PATH, "Input should be an absolute path"));
    }
    let folder = folder.canonicalize().map_err(|_| refused())?;
    let datasets = deployment.store.read(dataset::all)?;
    let own = datasets.iter().map(|dataset| &dataset.folder);
    let inside =
        own.chain(&deployment.settings.readable_roots).any(|root| folder.starts_with(root));
    if inside && folder.is_dir() { Ok(folder) } else { Err(refused()) }
}

/// Whether media may be added to a dataset, as far as that can be told before their bytes are read.
///
/// # Errors
/// In the order of the document: no dataset, the feature or write access is missing, no embedding
/// configuration, the status.
pub fn require_can_add(deployment: &Deployment, id: DatasetId) -> Result<DatasetRecord, Problem> {
    let record = require_dataset(deployment, id)?;
    if !deployment.settings.add_media {
        return Err(Problem::forbidden("Add media feature is not enabled"));
    }
    require_write_access(deployment, &record)?;
    if record.generation == 0 {
        return Err(Problem::bad_request(format!(
            "Dataset {id} has no embedding_config: it was never indexed with an embedding model"
        )));
    }
    let running = deployment.store.read(|c| operation::find_running(c, id))?;
    check_status(&record, Operation::AddMedia, running.as_ref())?;
    Ok(record)
}

fn require_write_access(deployment: &Deployment, record: &DatasetRecord) -> Result<(), Problem> {
    if deployment.settings.write_access {
        return Ok(());
    }
    let words = format!("You do not have write access to dataset {}", record.id);
    Err(Problem::forbidden(words))
}

/// Begins an operation, if the status of the dataset allows it, and queues it.
pub fn start_operation(
    deployment: &Deployment,
    id: DatasetId,
    kind: OperationKind,
    reindex: bool,
    batch: impl FnOnce(&Transaction) -> rusqlite::Result<Option<Batch>>,
) -> Result<(), Problem> {
    let wanted = match kind {
        OperationKind::Reindex => Operation::Reindex,
        OperationKind::Creation | OperationKind::Addition => Operation::AddMedia,
    };
    let begun = deployment.store.write(|tx| {
        let Some(record) = dataset::find(tx, id)? else {
            return Ok(Err(Problem::not_found("Dataset not found")));
        };
        if let Err(problem) =
            check_status(&record, wanted, operation::find_running(tx, id)?.as_ref())
        {
            return Ok(Err(problem));
        }
        if deployment.settings.injected_failures.contains(&InjectedFailure::Trigger) {
            return Ok(Err(Problem::server_error("The pipeline could not be triggered")));
        }
        let batch = batch(tx)?;
        operation::begin(tx, id, kind, batch.as_ref(), reindex).map(Ok)
    })?;
    deployment.tasks.queue_operation(begun?);
    Ok(())
}
