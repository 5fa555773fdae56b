//! Exports: starting one, its state, and its archive.

use std::fs::File;

use bytes::Bytes;
use uuid::Uuid;

use super::{SearchParams, ServiceError, search::until_current};
use crate::Deployment;
use tessera_media::object_storage::archive_name;
use tessera_model::{
    ClusterId, DatasetId, EntityType, ExportSpec, ExportTaskId, Granularity, Operation,
};
use tessera_store::{
    dataset::DatasetRecord,
    export::{self, ExportRecord, ExportTaskState},
    now_micros,
};

pub(crate) enum ExportScope {
    /// All that match a search.
    Search(SearchParams),
    /// The members of a cluster that match a search.
    Cluster(ClusterId, SearchParams),
    /// What a body selects. Its items are read one by one: all of them would take several times the
    /// memory of their text.
    Selection(Bytes),
}

/// Where the archive of an export is.
pub(crate) enum ExportArchive {
    OnDisk(ExportRecord, File),
    InBucket,
}

impl ExportScope {
    /// Whether the whole dataset is exported with its default clusters, which needs no ranking.
    pub(crate) fn is_whole_dataset(&self) -> bool {
        matches!(self, Self::Search(params) if params.is_browse()
            && params.entity.unwrap_or_default() == EntityType::Images
            && params.granularity.unwrap_or_default() == Granularity::DEFAULT)
    }
}

impl Deployment {
    /// Starts an export. `origin` is where links in its metadata lead.
    pub(crate) fn start_export(
        &self,
        id: DatasetId,
        scope: &ExportScope,
        spec: ExportSpec,
        origin: String,
    ) -> Result<ExportRecord, ServiceError> {
        let (record, selected) = until_current(|| {
            let record = self.require_ready(id, Operation::Export)?;
            self.require_disk_space()?;
            let selected = self.selected_media(&record, scope)?;
            Ok((record, selected))
        })?;
        let mut export = new_export(&record, spec, origin);
        export.selective = selected.is_some();
        let accepted = self.store.write(|tx| {
            if export::count_unfinished(tx)? >= self.settings.max_unfinished_exports {
                return Ok(false);
            }
            export::insert(tx, &export)?;
            if let Some(selected) = &selected {
                export.media_count = export::select_media(tx, export.id, selected)?;
            }
            if export.media_count == 0 {
                export.state = ExportTaskState::Failed;
                export.message = Some("nothing is selected by this export".to_owned());
            }
            export::set_media_count(tx, export.id, export.media_count)?;
            let message = export.message.as_deref();
            export::update_progress(tx, export.id, export.state, export.progress, message)?;
            Ok(true)
        })?;
        if !accepted {
            return Err(ServiceError::TooMany("Too many exports are waiting; try again later"));
        }
        if export.state == ExportTaskState::Init {
            self.tasks.wake();
        }
        Ok(export)
    }

    /// Fails if nothing more can be written to the exports.
    pub(super) fn require_disk_space(&self) -> Result<(), ServiceError> {
        let available = self.settings.disk.available(&self.store.exports_dir());
        match available.map_err(ServiceError::export_file)? {
            0 => Err(ServiceError::no_space()),
            _ => Ok(()),
        }
    }

    pub(crate) fn export_of(
        &self,
        dataset: DatasetId,
        id: ExportTaskId,
    ) -> Result<ExportRecord, ServiceError> {
        self.require_dataset(dataset)?;
        let export = self.store.read(|c| export::find(c, id))?;
        let export = export.filter(|export| export.dataset == dataset);
        export.ok_or_else(ServiceError::export_not_found)
    }

    /// Finds the archive of an export, on disk or in the bucket.
    pub(crate) fn find_archive(&self, id: ExportTaskId) -> Result<ExportArchive, ServiceError> {
        let export = self.store.read(|c| export::find(c, id))?;
        let export = export.ok_or_else(ServiceError::export_not_found)?;
        match File::open(self.store.export_archive_path(id.0)) {
            Ok(file) => Ok(ExportArchive::OnDisk(export, file)),
            Err(_) if self.bucket.is_some() && export.state == ExportTaskState::Completed => {
                Ok(ExportArchive::InBucket)
            }
            Err(_) => Err(ServiceError::export_not_found()),
        }
    }

    /// A link to an archive in the bucket.
    pub(crate) async fn bucket_link(&self, id: ExportTaskId) -> Result<String, ServiceError> {
        let bucket = self.bucket.as_ref().ok_or_else(ServiceError::export_not_found)?;
        let link = bucket.signed_link(&archive_name(id)).await;
        link.map(Into::into).map_err(|_| ServiceError::storage_unreachable())
    }
}

pub(super) fn new_export(
    dataset: &DatasetRecord,
    spec: ExportSpec,
    origin: String,
) -> ExportRecord {
    ExportRecord {
        id: ExportTaskId(Uuid::new_v4()),
        dataset: dataset.id,
        spec,
        origin,
        state: ExportTaskState::Init,
        progress: 0.0,
        media_count: dataset.n_images + dataset.n_frames,
        message: None,
        created_at: now_micros(),
        selective: false,
    }
}
