//! Exports: starting one, its state, and its archive.

use std::{
    collections::{BTreeSet, HashSet},
    fs::File,
};

use uuid::Uuid;

use super::ServiceError;
use crate::{
    Deployment,
    retrieval::SearchQuery,
    store::{
        dataset::DatasetRecord,
        export::{self, ExportRecord, ExportTaskState},
        media, now_micros,
    },
};
use tessera_model::{
    ClusterId, DatasetId, ExportSpec, ExportTaskId, MediaId, Operation, SelectionItem,
};
use tessera_wire::selection;

pub(crate) enum ExportScope {
    /// All that match a query; all of the dataset if it only browses.
    Query(SearchQuery),
    /// The members of a cluster that match the filters of a query.
    Cluster(ClusterId, SearchQuery),
    /// What a body selects. Its items are read one by one: all of them would take several times the
    /// memory of their text.
    Selection(Vec<u8>),
}

impl ExportScope {
    /// Whether the whole dataset is exported, which needs no ranking.
    pub(crate) fn is_whole_dataset(&self) -> bool {
        matches!(self, Self::Query(query) if query.is_browse())
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
        let record = self.require_ready(id, Operation::Export)?;
        self.require_disk_space()?;
        let rows = self.export_rows(&record, scope)?;
        let mut export = new_export(&record, spec, origin);
        export.selective = rows.is_some();
        let accepted = self.store.write(|tx| {
            if export::count_unfinished(tx)? >= self.settings.max_unfinished_exports {
                return Ok(false);
            }
            export::insert(tx, &export)?;
            if let Some(rows) = &rows {
                export.media_count = export::select_media(tx, export.id, rows.iter().copied())?;
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
            self.tasks.exports.push(export.id);
        }
        Ok(export)
    }

    /// Fails if nothing more can be written to the exports.
    pub(super) fn require_disk_space(&self) -> Result<(), ServiceError> {
        match self.settings.disk.available(&self.store.exports_dir())? {
            0 => Err(ServiceError::no_space()),
            _ => Ok(()),
        }
    }

    /// The rows of the exported media; `None` for the whole dataset.
    fn export_rows(
        &self,
        record: &DatasetRecord,
        scope: &ExportScope,
    ) -> Result<Option<BTreeSet<i64>>, ServiceError> {
        let mut rows = BTreeSet::new();
        match scope {
            ExportScope::Query(query) if query.is_browse() => return Ok(None),
            ExportScope::Query(query) => {
                rows.extend(self.search_context(record).search(query)?.rows());
            }
            ExportScope::Cluster(cluster, query) => {
                rows.extend(self.cluster_members(record, *cluster, None, &query.filters)?);
            }
            ExportScope::Selection(body) => {
                for item in selection::items(body)? {
                    rows.extend(self.selected_rows(record, &item?)?);
                }
            }
        }
        Ok(Some(rows))
    }

    fn selected_rows(
        &self,
        record: &DatasetRecord,
        item: &SelectionItem,
    ) -> Result<Vec<i64>, ServiceError> {
        match item {
            SelectionItem::Media(ids) => self.media_rows(record, ids),
            SelectionItem::Cluster { cluster, entity, filters, exclude } => {
                let members = self.cluster_members(record, *cluster, Some(*entity), filters)?;
                let excluded: HashSet<i64> =
                    self.media_rows(record, exclude)?.into_iter().collect();
                Ok(members.into_iter().filter(|row| !excluded.contains(row)).collect())
            }
        }
    }

    fn media_rows(
        &self,
        record: &DatasetRecord,
        ids: &[MediaId],
    ) -> Result<Vec<i64>, ServiceError> {
        let rows = self.store.read(|c| {
            let mut rows = Vec::with_capacity(ids.len());
            for &id in ids {
                match media::row_of(c, record.id, id)? {
                    Some(row) => rows.push(row),
                    None => return Ok(Err(id)),
                }
            }
            Ok(Ok(rows))
        })?;
        rows.map_err(|id| ServiceError::NotFound(format!("Media {id} not found")))
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

    pub(crate) fn open_archive(
        &self,
        id: ExportTaskId,
    ) -> Result<(ExportRecord, File), ServiceError> {
        let export = self.store.read(|c| export::find(c, id))?;
        let export = export.ok_or_else(ServiceError::export_not_found)?;
        let file = File::open(self.store.export_archive_path(id.0));
        Ok((export, file.map_err(|_| ServiceError::export_not_found())?))
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
        media_count: dataset.n_images + dataset.n_videos,
        message: None,
        created_at: now_micros(),
        selective: false,
    }
}
