//! Datasets: whether a dataset exists and allows an operation, and what it contains. The deployment itself is checked
//! here as well: whether it can do its work, and how much of its work is unfinished.

use std::{fs, io, sync::Arc};

use super::{ServiceError, error::UNREADABLE_MODEL};
use crate::{Deployment, InjectedFailure};
use tessera_encoder::Encoder;
use tessera_files::staging::StagingDir;
use tessera_model::{DatasetId, Distribution, EntityType, Granularity, Operation, TagId};
use tessera_store::{
    Connection, QueryError, StoreError, Transaction,
    applied_model::{self, AppliedModel},
    captions::{self, Counts, TextCoverage},
    cluster,
    dataset::{self, DatasetRecord},
    extra_columns::{self, ColumnCounts},
    indexing_task::{self, IndexingTask, UnfinishedTasks},
    is_storage_full,
    lease::{self, LeaseCounts},
    tags, vectors,
};

/// The number of bytes that a check of the disk writes.
const CHECK_BYTES: usize = 16 << 10;

/// The ways in which a dataset can be searched.
pub(crate) struct Enrichments {
    pub record: DatasetRecord,
    pub coverage: TextCoverage,
    /// The number of images and frames with a caption, and of all images and frames.
    pub captions: (u64, u64),
    /// The number of images and frames with a vector of the model, and of all images and frames.
    pub embeddings: (u64, u64),
    /// The user's own model, and when it was applied, in microseconds since 1970.
    pub model: Option<(AppliedModel, i64)>,
}

/// What the images or the objects of a dataset have, each with its count, the most frequent first.
pub(crate) struct FacetCounts {
    pub labels: Counts,
    pub tags: Vec<(TagId, String, u64)>,
    pub words: Counts,
    pub folders: Counts,
    pub columns: Vec<ColumnCounts>,
    pub distributions: Vec<Distribution>,
}

impl Deployment {
    /// Lists the datasets that this service offers.
    pub(crate) fn offered_datasets(&self) -> Result<Vec<DatasetRecord>, StoreError> {
        let mut all = self.store.read(dataset::all)?;
        all.retain(|record| self.offers(record.id));
        Ok(all)
    }

    /// Finds a dataset, unless this service does not offer it.
    pub(super) fn find_dataset(
        &self,
        connection: &Connection,
        id: DatasetId,
    ) -> Result<Option<DatasetRecord>, QueryError> {
        if self.offers(id) { dataset::find(connection, id) } else { Ok(None) }
    }

    pub(crate) fn require_dataset(&self, id: DatasetId) -> Result<DatasetRecord, ServiceError> {
        self.store.read(|c| self.find_dataset(c, id))?.ok_or_else(ServiceError::dataset_not_found)
    }

    /// Returns the model of the user's own that a dataset has, if it has one.
    pub(crate) fn user_model(&self, id: DatasetId) -> Result<Option<Arc<Encoder>>, ServiceError> {
        let model = self.models.of(&self.require_dataset(id)?);
        model.map_err(|_| ServiceError::Failed(UNREADABLE_MODEL))
    }

    pub(crate) fn require_ready(
        &self,
        id: DatasetId,
        needed: Operation,
    ) -> Result<DatasetRecord, ServiceError> {
        let record = self.require_dataset(id)?;
        let running = self.store.read(|c| indexing_task::find_running(c, id))?;
        check_status(&record, needed, running.as_ref())?;
        Ok(record)
    }

    pub(crate) fn enrichments(&self, id: DatasetId) -> Result<Enrichments, ServiceError> {
        let (record, coverage) = self.text_coverage(id)?;
        self.store
            .read(|c| {
                let captions = captions::caption_counts(c, id)?;
                let embeddings = vectors::model_vector_counts(c, id)?;
                let model = applied_model::find(c, id)?;
                Ok(Enrichments { record, coverage, captions, embeddings, model })
            })
            .map_err(ServiceError::from)
    }

    pub(crate) fn text_coverage(
        &self,
        id: DatasetId,
    ) -> Result<(DatasetRecord, TextCoverage), ServiceError> {
        let record = self.require_dataset(id)?;
        Ok((record, self.store.read(|c| captions::text_coverage(c, id))?))
    }

    pub(crate) fn cluster_count(
        &self,
        id: DatasetId,
        entity: EntityType,
        level: Granularity,
    ) -> Result<(DatasetRecord, u64), ServiceError> {
        let record = self.require_dataset(id)?;
        let counts = self.store.read(|c| cluster::counts(c, id, entity))?;
        Ok((record, counts[usize::from(level.level())].into()))
    }

    /// Counts the labels, tags, words in captions, folders, columns, dates and sizes of all images or all objects.
    pub(crate) fn facet_counts(
        &self,
        id: DatasetId,
        entity: EntityType,
    ) -> Result<FacetCounts, ServiceError> {
        let counts = self.store.read(|c| {
            let ids = tags::ids(c, id)?;
            let tags = captions::tag_counts(c, id, entity)?.into_iter();
            Ok(FacetCounts {
                labels: captions::label_counts(c, id, entity)?,
                tags: tags.map(|(name, count)| (ids.of(id, &name), name, count)).collect(),
                words: captions::word_counts(c, id, entity)?,
                folders: extra_columns::folder_counts(c, id, entity)?,
                columns: extra_columns::value_counts(c, id, entity)?,
                distributions: extra_columns::distributions(c, id, entity)?,
            })
        });
        Ok(counts?)
    }

    pub(super) fn require_write_access(&self, record: &DatasetRecord) -> Result<(), ServiceError> {
        if self.settings.write_access {
            return Ok(());
        }
        let id = record.id;
        let message =
            format!("You do not have write access to dataset {id}: the service is read-only");
        Err(ServiceError::Forbidden(message))
    }

    /// Runs a change of a dataset that exists and that this deployment may change, as one transaction. The change gets
    /// the dataset and its running task. The task is read first, because another process may complete it at any time:
    /// a dataset without a task is then never one that was read while the task was still running.
    pub(super) fn write_dataset<T>(
        &self,
        id: DatasetId,
        change: impl FnOnce(
            &Transaction,
            DatasetRecord,
            Option<IndexingTask>,
        ) -> Result<Result<T, ServiceError>, QueryError>,
    ) -> Result<T, ServiceError> {
        self.store.write(|tx| {
            let running = indexing_task::find_running(tx, id)?;
            let Some(record) = self.find_dataset(tx, id)? else {
                return Ok(Err(ServiceError::dataset_not_found()));
            };
            match self.require_write_access(&record) {
                Ok(()) => change(tx, record, running),
                Err(forbidden) => Ok(Err(forbidden)),
            }
        })?
    }

    pub(super) fn inject(
        &self,
        failure: InjectedFailure,
        message: &'static str,
    ) -> Result<(), ServiceError> {
        if self.settings.injected_failures.contains(&failure) {
            return Err(ServiceError::Failed(message));
        }
        Ok(())
    }
}

pub(super) fn check_status(
    record: &DatasetRecord,
    needed: Operation,
    running: Option<&IndexingTask>,
) -> Result<(), ServiceError> {
    let Some(reason) = record.status.allows(needed).denial_reason() else {
        return Ok(());
    };
    let (needed, status) = (needed.code(), record.status.as_str());
    Err(ServiceError::Conflict(match running {
        Some(running) => {
            let kind = running.kind.as_str();
            format!("Operation '{needed}' is blocked while {kind} task is running")
        }
        None => format!("Operation '{needed}' is blocked while the dataset is {status}: {reason}"),
    }))
}

impl Deployment {
    /// Fails if the store cannot be read, or if media may be added but the store cannot be written.
    pub(crate) fn check_store(&self) -> Result<(), ServiceError> {
        self.unfinished_tasks()?;
        if self.settings.add_media && self.settings.write_access {
            self.store.check_writable()?;
            self.check_disk().map_err(|cause| {
                if is_storage_full(&cause) {
                    ServiceError::Unavailable("The disk is full")
                } else {
                    ServiceError::Failed("Uploads cannot be stored; check the index folder")
                }
            })?;
        }
        Ok(())
    }

    /// Fails if no file can be written where uploads arrive.
    fn check_disk(&self) -> io::Result<()> {
        let staging = StagingDir::create(&self.store.uploads_dir())?;
        fs::write(staging.path().join("check"), [0; CHECK_BYTES])
    }

    pub(crate) fn unfinished_tasks(&self) -> Result<Vec<UnfinishedTasks>, ServiceError> {
        Ok(self.store.read(indexing_task::unfinished_tasks)?)
    }

    pub(crate) fn lease_counts(&self) -> Result<LeaseCounts, ServiceError> {
        Ok(self.store.read(lease::counts)?)
    }

    /// Returns the number of bytes that uploads and exports may still write, or `None` if the disk does not report it.
    pub(crate) fn available_disk_space(&self) -> Option<u64> {
        self.settings.disk.available(&self.store.exports_dir())
    }
}
