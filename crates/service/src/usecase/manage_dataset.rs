//! Manages the datasets of this deployment: removes them from the index, renames them, compares their folders with the
//! index, and cancels their indexing. Files of the user are only read. Each change is checked in the transaction that
//! makes it.

use super::{ServiceError, search::until_current};
use crate::{
    Deployment,
    opened_archive::remove_unpacked,
    originals::{FOLDER_MISSING, storage_location},
};
use tessera_media::ingest::{EXCLUDED, FolderChanges, FolderScan};
use tessera_model::{DatasetId, FileChanges, LocalDataset, PatternLists, RescanResult};
use tessera_retrieval::RetrievalError;
use tessera_store::{
    QueryError, StoreError, Transaction,
    dataset::{self, DatasetRecord},
    export, indexed_files,
    indexing_task::{self, IndexingTaskKind},
    lease::LeasedTask,
    source, tagged_files,
};

/// Why a dataset whose indexing was cancelled is in ERROR.
pub(crate) const CANCELLED: &str =
    "The indexing was cancelled. Rescan the dataset, or open its folder again, to continue it";

impl Deployment {
    /// Whether the folder of a dataset is on this machine and is missing, as [`Originals::is_missing`] says.
    ///
    /// [`Originals::is_missing`]: crate::originals::Originals::is_missing
    pub(crate) fn folder_is_missing(&self, id: DatasetId) -> Result<bool, StoreError> {
        let source = self.store.read(|c| source::dataset_folder(c, id))?;
        source.map_or(Ok(false), |source| self.originals.is_missing(&self.store, &source))
    }

    /// Fails if the folder of a dataset is missing, because an indexing task would fail.
    pub(crate) fn require_folder(&self, id: DatasetId) -> Result<(), ServiceError> {
        if self.folder_is_missing(id)? {
            return Err(ServiceError::Conflict(FOLDER_MISSING.to_owned()));
        }
        Ok(())
    }

    pub(crate) fn local_dataset(&self, id: DatasetId) -> Result<LocalDataset, ServiceError> {
        let record = self.require_dataset(id)?;
        let excluded =
            self.store.read(|c| indexed_files::count_skipped_for_reason(c, id, EXCLUDED))?;
        Ok(LocalDataset {
            folder_missing: self.folder_is_missing(id)?,
            uploads: self.count_uploads(id)?,
            excluded,
            patterns: record.patterns,
            encoding: self.encoding.progress(id),
        })
    }

    /// Returns the number of uploaded files. An upload that could not be indexed counts as one file.
    fn count_uploads(&self, id: DatasetId) -> Result<u64, ServiceError> {
        let sources = self.store.read(|c| source::of_dataset(c, id))?;
        let uploads =
            sources.iter().filter(|source| self.originals.uploads.contains(&source.folder));
        let counts = uploads.map(|source| {
            let count = self.store.read(|c| indexed_files::count_media_files(c, source.row));
            count.map(|count| count.max(1))
        });
        Ok(counts.sum::<Result<_, _>>()?)
    }

    pub(crate) fn rename_dataset(
        &self,
        id: DatasetId,
        name: &str,
    ) -> Result<DatasetRecord, ServiceError> {
        self.change_at_rest(id, "rename", |tx, record| {
            dataset::rename(tx, id, name)?;
            Ok(Ok(DatasetRecord { name: name.to_owned(), ..record }))
        })
    }

    /// Removes a dataset from the index. The folder and the uploads of the dataset stay. They become the same dataset
    /// again when the folder is opened again. The archives of exports are deleted in the background. Returns the number
    /// of uploaded files.
    pub(crate) fn remove_dataset(&self, id: DatasetId) -> Result<u64, ServiceError> {
        let record = self.require_dataset(id)?;
        self.require_write_access(&record)?;
        let uploads = self.count_uploads(id)?;
        // Tags that are not written yet are only in the index. If they cannot be written, each change of tags has
        // already reported this.
        let can_write = self.tag_writer.synchronize(&record)?.is_empty();
        let folder = self.change_at_rest(id, "remove", |tx, record| {
            let tags = tagged_files::state(tx, id)?;
            if can_write && tags.revision > tags.written {
                let message = "The tags of the dataset were changed meanwhile; remove it again";
                return Ok(Err(ServiceError::Conflict(message.to_owned())));
            }
            let exports = export::of_dataset(tx, id)?;
            if exports.iter().any(|(_, has_ended)| !has_ended) {
                let message = "Operation 'remove' is blocked while an export is running";
                return Ok(Err(ServiceError::Conflict(message.to_owned())));
            }
            if self.bucket.is_some() {
                let exports: Vec<_> = exports.into_iter().map(|(export, _)| export).collect();
                export::note_removed(tx, &exports)?;
            }
            dataset::remove(tx, id)?;
            Ok(Ok(record.folder))
        })?;
        remove_unpacked(&self.store.opened_archives_dir(), &folder);
        self.indexes.release(id);
        self.tasks.wake();
        Ok(uploads)
    }

    /// Compares the folder of a dataset with its index, and starts indexing if they are different. `patterns` replace
    /// those that were chosen before.
    pub(crate) fn rescan(
        &self,
        id: DatasetId,
        patterns: Option<&PatternLists>,
    ) -> Result<RescanResult, ServiceError> {
        let record = self.require_dataset(id)?;
        self.require_write_access(&record)?;
        if storage_location(&record.folder).is_some() {
            if patterns.is_some() {
                let message = "A folder in object storage has no patterns; all its pictures belong to the dataset";
                return Err(ServiceError::Conflict(message.to_owned()));
            }
            self.originals.check(&record.folder).map_err(ServiceError::Conflict)?;
            // An indexing that failed or was cancelled goes on, whatever the listing says.
            let is_indexing = self.change_at_rest(id, "rescan", |tx, record| {
                let is_needed = self.needs_indexing(tx, &record, None)?;
                if is_needed {
                    indexing_task::begin(tx, id, IndexingTaskKind::Creation, None, false)?;
                }
                Ok(Ok(is_needed))
            })?;
            if is_indexing {
                self.tasks.wake();
            } else {
                self.tasks.compare_folder(id);
            }
            return Ok(RescanResult { changes: None, is_indexing });
        }
        self.require_folder(id)?;
        let (changes, is_indexing) = until_current(|| self.rescan_folder(id, patterns))?;
        if is_indexing {
            self.tasks.wake();
        }
        Ok(RescanResult { changes: Some(changes), is_indexing })
    }

    /// Compares a folder of this machine with its index. Returns what has changed, and whether it is indexed.
    fn rescan_folder(
        &self,
        id: DatasetId,
        patterns: Option<&PatternLists>,
    ) -> Result<(FileChanges, bool), ServiceError> {
        let record = self.require_dataset(id)?;
        self.tag_writer.synchronize(&record)?;
        let scan = self.originals.scan(&record.folder, patterns.unwrap_or(&record.patterns));
        let scan = scan.map_err(|cause| ServiceError::Conflict(cause.to_string()))?;
        self.change_at_rest(id, "rescan", |tx, current| {
            match patterns {
                Some(patterns) => dataset::set_patterns(tx, id, patterns)?,
                // Another request has replaced the patterns since the scan began.
                None if current.patterns != record.patterns => {
                    return Ok(Err(RetrievalError::Outdated.into()));
                }
                None => {}
            }
            let changes = self.file_changes(tx, &current, &scan)?;
            let is_needed = self.needs_indexing(tx, &current, Some(&scan))?;
            if is_needed {
                indexing_task::begin(tx, id, IndexingTaskKind::Creation, None, false)?;
            }
            Ok(Ok((changes, is_needed)))
        })
    }

    fn file_changes(
        &self,
        tx: &Transaction,
        record: &DatasetRecord,
        scan: &FolderScan,
    ) -> Result<FileChanges, QueryError> {
        let source = source::upsert(tx, record.id, &record.folder)?;
        let known = indexed_files::known_files(tx, source)?;
        let FolderChanges { added_or_modified: found, removed } =
            self.changes(&record.folder, scan, known.clone());
        let changed = found.iter().filter(|(file, _)| known.contains_key(&file.path)).count();
        Ok(FileChanges {
            added: (found.len() - changed) as u64,
            changed: changed as u64,
            removed: removed.len() as u64,
        })
    }

    /// Cancels the indexing of a dataset, which then has the status ERROR. What was read from the files is kept for the
    /// next indexing.
    pub(crate) fn cancel_indexing(&self, id: DatasetId) -> Result<DatasetRecord, ServiceError> {
        let record = self.require_dataset(id)?;
        self.require_write_access(&record)?;
        let cancelled = self.store.write(|tx| match indexing_task::find_running(tx, id)? {
            Some(running) => indexing_task::cancel(tx, &running, CANCELLED),
            None => Ok(None),
        })?;
        let Some(cancelled) = cancelled else {
            let message = "No indexing of this dataset is running".to_owned();
            return Err(ServiceError::Conflict(message));
        };
        self.tasks.stop_cancelled(LeasedTask::Indexing(cancelled));
        self.require_dataset(id)
    }

    /// Changes a dataset in one transaction, if this deployment may change it and no indexing task is running.
    pub(super) fn change_at_rest<T>(
        &self,
        id: DatasetId,
        operation: &str,
        change: impl FnOnce(&Transaction, DatasetRecord) -> Result<Result<T, ServiceError>, QueryError>,
    ) -> Result<T, ServiceError> {
        self.write_dataset(id, |tx, record, running| match running {
            Some(running) => {
                let kind = running.kind.as_str();
                let message =
                    format!("Operation '{operation}' is blocked while {kind} task is running");
                Ok(Err(ServiceError::Conflict(message)))
            }
            None => change(tx, record),
        })
    }
}
