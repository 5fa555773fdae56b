//! Adds media and reindexes. The transaction that starts an indexing task also checks that it is allowed, so that
//! exactly one of many concurrent requests succeeds.

use std::{
    cell::Cell,
    io,
    path::{Path, PathBuf},
};

use super::{ServiceError, dataset::check_status};
use crate::{Deployment, InjectedFailure};
use tessera_files::staging::StagingDir;
use tessera_media::{
    ingest::{archive_readers::ArchiveKind, is_refused, is_temporary, is_unavailable},
    object_storage::{ObjectStorage, ObjectUri, RoleArn, StorageError},
};
use tessera_model::{DatasetId, Operation};
use tessera_store::{
    indexing_task::{self, Batch, BatchOrigin, IndexingTaskKind},
    is_storage_full, source,
    upload::UploadRecord,
};

#[derive(Debug)]
pub(crate) struct AddMediaRequest {
    pub source: AddMediaSource,
    pub auto_reindex: bool,
    pub assume_role: Option<RoleArn>,
}

#[derive(Debug)]
pub(crate) enum AddMediaSource {
    Files(StagingDir),
    Archive(StagingDir, ArchiveKind),
    /// A folder or manifest in object storage, as given by the client. The text is not empty.
    Storage(String),
}

enum BatchFolder {
    None,
    Uploaded(PathBuf, BatchOrigin),
    /// The folder is used where it is. It may be inside another folder of the dataset.
    InPlace(PathBuf, BatchOrigin),
}

impl Deployment {
    pub(crate) fn reindex(&self, id: DatasetId) -> Result<(), ServiceError> {
        self.require_write_access(&self.require_dataset(id)?)?;
        let (kind, batch) = (IndexingTaskKind::Reindex, BatchFolder::None);
        self.start_operation(id, kind, false, batch, &Cell::default())
    }

    pub(crate) fn require_can_add(&self, id: DatasetId) -> Result<(), ServiceError> {
        let record = self.require_dataset(id)?;
        if !self.settings.add_media {
            return Err(ServiceError::Forbidden("Add media feature is not enabled".to_owned()));
        }
        self.require_write_access(&record)?;
        let running = self.store.read(|c| indexing_task::find_running(c, id))?;
        // A dataset that is indexed for the first time will have one, so its status refuses the request.
        if record.generation == 0 && running.is_none() {
            return Err(ServiceError::Invalid(format!(
                "Dataset {id} has no embedding_config: it was never indexed with an embedding model"
            )));
        }
        check_status(&record, Operation::AddMedia, running.as_ref())
    }

    /// Checks that object storage lists something at the address in a request.
    pub(crate) async fn check_source(&self, request: &AddMediaRequest) -> Result<(), ServiceError> {
        self.inject(InjectedFailure::Upload, "The upload to storage failed")?;
        if let AddMediaSource::Storage(uri) = &request.source {
            let storage = ObjectStorage::new(self.settings.storage.clone()).map_err(|_| {
                ServiceError::Failed(
                    "The client for object storage cannot start; check the settings of the service, its certificates and the variables of its proxy",
                )
            })?;
            let listed = storage.list(uri, request.assume_role.as_ref(), 1).await;
            listed.map_err(|error| match error {
                StorageError::Temporary(_) => ServiceError::storage_unreachable(),
                error => ServiceError::Invalid(error.to_string()),
            })?;
        }
        Ok(())
    }

    pub(crate) fn add_media(
        &self,
        id: DatasetId,
        request: AddMediaRequest,
    ) -> Result<(), ServiceError> {
        let (staging, origin) = match request.source {
            AddMediaSource::Files(staging) => (staging, BatchOrigin::InPlace),
            AddMediaSource::Archive(staging, kind) => {
                (staging, BatchOrigin::Archive(kind.as_str().to_owned()))
            }
            AddMediaSource::Storage(uri) => {
                let staging =
                    StagingDir::create(&self.store.uploads_dir()).map_err(failed_upload)?;
                (staging, BatchOrigin::ObjectStorage(location_of(&uri).to_owned()))
            }
        };
        let record = UploadRecord { dataset: id, origin };
        let uploads = &self.originals.uploads;
        let folder = uploads.accept(staging.path(), &record).map_err(failed_upload)?;
        let location = folder.clone();
        let batch = match record.origin {
            BatchOrigin::ObjectStorage(uri) if !is_manifest(&uri) => {
                BatchFolder::InPlace(folder, BatchOrigin::ObjectStorage(uri))
            }
            origin => BatchFolder::Uploaded(folder, origin),
        };
        let is_ready = Cell::new(false);
        let kind = IndexingTaskKind::Addition;
        let started = self.start_operation(id, kind, request.auto_reindex, batch, &is_ready);
        let is_accepted = match &started {
            Ok(()) => true,
            // The response to a commit may have been lost.
            Err(ServiceError::Unavailable(_) | ServiceError::Failed(_)) if is_ready.get() => {
                let sources = self.store.read(|c| source::of_dataset(c, id));
                sources.map_or(true, |all| all.iter().any(|source| source.folder == location))
            }
            Err(_) => false,
        };
        if is_accepted {
            uploads.settle(staging);
        } else {
            uploads.withdraw(staging.path());
        }
        started
    }

    pub(crate) fn add_folder_media(
        &self,
        id: DatasetId,
        folder: &Path,
        auto_reindex: bool,
    ) -> Result<(), ServiceError> {
        self.require_can_add(id)?;
        let batch = BatchFolder::InPlace(self.readable_folder(folder)?, BatchOrigin::InPlace);
        let kind = IndexingTaskKind::Addition;
        self.start_operation(id, kind, auto_reindex, batch, &Cell::default())
    }

    /// Returns the canonical path of a folder, if this deployment may read the folder.
    fn readable_folder(&self, folder: &Path) -> Result<PathBuf, ServiceError> {
        let message = "The path is not a folder at or below one this deployment may read";
        let forbidden = || ServiceError::Forbidden(message.to_owned());
        if !folder.is_absolute() {
            return Err(ServiceError::RelativePath);
        }
        let folder = folder.canonicalize().map_err(|_| forbidden())?;
        let datasets = self.offered_datasets()?;
        let dataset_folders = datasets.iter().map(|dataset| &dataset.folder);
        let inside = dataset_folders
            .chain(&self.settings.readable_roots)
            .any(|root| folder.starts_with(root));
        if inside && folder.is_dir() { Ok(folder) } else { Err(forbidden()) }
    }

    /// Starts an indexing task. `is_ready` is set when only the commit is missing, whose outcome may remain unknown.
    fn start_operation(
        &self,
        id: DatasetId,
        kind: IndexingTaskKind,
        reindex: bool,
        batch: BatchFolder,
        is_ready: &Cell<bool>,
    ) -> Result<(), ServiceError> {
        let needed = match kind {
            IndexingTaskKind::Reindex => Operation::Reindex,
            IndexingTaskKind::Creation | IndexingTaskKind::Addition => Operation::AddMedia,
        };
        self.write_dataset(id, |tx, record, running| {
            let allowed = check_status(&record, needed, running.as_ref()).and_then(|()| {
                self.inject(InjectedFailure::Trigger, "The pipeline could not be triggered")
            });
            if let Err(cause) = allowed {
                return Ok(Err(cause));
            }
            let batch = match batch {
                BatchFolder::None => None,
                BatchFolder::Uploaded(folder, origin) => {
                    Some(Batch { source: source::upsert(tx, id, &folder)?, below: None, origin })
                }
                BatchFolder::InPlace(folder, origin) => {
                    let (source, below) = source::find_or_insert_for_folder(tx, id, &folder)?;
                    let below = below.to_str().filter(|below| !below.is_empty());
                    Some(Batch { source, below: below.map(str::to_owned), origin })
                }
            };
            indexing_task::begin(tx, id, kind, batch.as_ref(), reindex)?;
            is_ready.set(true);
            Ok(Ok(()))
        })?;
        self.tasks.wake();
        Ok(())
    }
}

/// Converts an error of storing an upload. The API document says 500 for it, also if another attempt may succeed.
#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn failed_upload(cause: io::Error) -> ServiceError {
    ServiceError::Failed(if is_storage_full(&cause) {
        "The upload to storage failed: the disk is full"
    } else if is_temporary(&cause) {
        "The upload to storage failed: the object storage cannot be reached; try again later"
    } else if is_unavailable(&cause) || is_refused(&cause) {
        "The upload to storage failed: the object storage refuses it; check the access key of the service, and its bucket"
    } else {
        "The upload to storage failed"
    })
}

/// Returns the address of a folder without a slash at its end. Only folders that are named like manifests need the
/// slash.
fn location_of(uri: &str) -> &str {
    let trimmed = uri.trim_end_matches('/');
    if is_manifest(trimmed) { uri } else { trimmed }
}

fn is_manifest(uri: &str) -> bool {
    ObjectUri::parse(uri).is_ok_and(|uri| uri.manifest_format().is_some())
}
