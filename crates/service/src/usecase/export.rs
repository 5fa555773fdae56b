//! Exports: starts an export, chooses its media, and finds its archive. Two exports run without a task: the metadata as
//! JSON, and the media identifiers as CSV. Both are written to an unnamed file first, so that memory does not grow with
//! the dataset.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufWriter, ErrorKind, Seek as _, Write as _},
};

use bytes::Bytes;
use uuid::Uuid;

use super::{
    SearchParams, ServiceError,
    search::{RankedCluster, require_searchable, until_current},
};
use crate::{
    Deployment, OriginalPaths,
    archive::{
        self, ArchiveContent, LinkSigning, PreviewBuilder, SourceFolders, counted_duplicates,
    },
    links::FILE_ORIGIN,
};
use tessera_media::{ingest::disk_quota::ClaimedFile, object_storage::archive_name};
use tessera_model::{
    ArchiveName, ClusterId, DatasetId, EntityType, ExportFormat, ExportPreview, ExportSpec,
    ExportTaskId, Granularity, MediaId, Operation, Search, SelectionItem, text::with_apostrophe,
};
use tessera_retrieval::{RetrievalError, SearchRanking};
use tessera_search::member_search::Grouping;
use tessera_store::{
    QueryError, Transaction, cluster,
    dataset::{self, DatasetRecord},
    duplicate_group,
    export::{self, ExportChoices, ExportRecord, ExportTaskState, for_each_content},
    lease::LeasedTask,
    media, now_micros,
    search_table::SelectedMember,
};
use tessera_wire::selection;

pub(crate) enum ExportScope {
    /// All media that match a search.
    Search(SearchParams),
    /// The members of a cluster that match a search.
    Cluster(ClusterId, SearchParams),
    /// The media that a body selects. Its items are read one by one, because all items together would take several
    /// times the memory of their text.
    Selection(Bytes),
    /// The media that match a search and that a body does not select.
    Rest(SearchParams, Bytes),
}

/// The location of the archive of an export.
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
    /// Starts an export. `origin` is the origin of the links in its metadata.
    pub(crate) fn start_export(
        &self,
        id: DatasetId,
        scope: &ExportScope,
        spec: &ExportSpec,
        origin: String,
    ) -> Result<ExportRecord, ServiceError> {
        let origin = match self.settings.original_paths {
            OriginalPaths::Shown => FILE_ORIGIN.to_owned(),
            OriginalPaths::Hidden => origin,
        };
        let export = until_current(|| {
            let record = self.require_ready(id, Operation::Export)?;
            self.require_disk_space(spec.include_images)?;
            let selected = self.selected_media(&record, scope)?;
            let mut export = new_export(&record, spec.clone(), origin.clone());
            export.selective = selected.is_some();
            self.store.write(|tx| self.insert_export(tx, &record, export, selected.as_ref()))?
        })?;
        if export.state == ExportTaskState::Init {
            self.tasks.wake();
        }
        Ok(export)
    }

    /// Stores an export, unless the dataset has changed since the media were selected.
    fn insert_export(
        &self,
        tx: &Transaction,
        record: &DatasetRecord,
        mut export: ExportRecord,
        selected: Option<&ExportChoices>,
    ) -> Result<Result<ExportRecord, ServiceError>, QueryError> {
        let current = dataset::find(tx, record.id)?;
        let is_current = |current: DatasetRecord| {
            current.status == record.status && current.generation == record.generation
        };
        if !current.is_some_and(is_current) {
            return Ok(Err(RetrievalError::Outdated.into()));
        }
        if export::count_unfinished(tx)? >= self.settings.max_unfinished_exports {
            let message = "Too many exports are waiting; try again later";
            return Ok(Err(ServiceError::TooMany(message)));
        }
        export::insert(tx, &export)?;
        if let Some(selected) = selected {
            export.media_count = export::select_media(tx, export.id, selected)?;
        }
        if export.media_count == 0 {
            export.state = ExportTaskState::Failed;
            export.message = Some("nothing is selected by this export".to_owned());
        }
        export::set_media_count(tx, export.id, export.media_count)?;
        let message = export.message.as_deref();
        export::update_progress(tx, export.id, export.state, export.progress, message)?;
        Ok(Ok(export))
    }

    /// Returns what the format of an export omits or changes. Nothing is started.
    pub(crate) fn export_preview(
        &self,
        id: DatasetId,
        scope: &ExportScope,
        format: ExportFormat,
        include_images: bool,
    ) -> Result<ExportPreview, ServiceError> {
        let (record, selected) = until_current(|| {
            let record = self.require_ready(id, Operation::Export)?;
            let selected = self.selected_media(&record, scope)?;
            Ok((record, selected))
        })?;
        let mut preview = PreviewBuilder::new(format, include_images);
        self.store.read(|c| {
            for_each_content(c, record.id, selected.as_ref(), |item| {
                preview.add(&item);
                Ok(())
            })
        })?;
        Ok(preview.finish())
    }

    /// Fails if nothing more of an export can be written.
    fn require_disk_space(&self, include_images: bool) -> Result<(), ServiceError> {
        let disk = self.settings.disk_of_exports(include_images);
        match disk.available(&self.store.exports_dir()) {
            Some(0) => Err(ServiceError::no_space()),
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

    /// Cancels an export, which then has failed. What was written of its archive is removed.
    pub(crate) fn cancel_export(
        &self,
        dataset: DatasetId,
        id: ExportTaskId,
    ) -> Result<ExportRecord, ServiceError> {
        self.export_of(dataset, id)?;
        if !self.store.write(|tx| export::cancel(tx, id, "the export was cancelled"))? {
            return Err(ServiceError::Conflict("The export has already ended".to_owned()));
        }
        self.tasks.stop_cancelled(LeasedTask::Export(id));
        self.export_of(dataset, id)
    }

    /// Finds the archive of an export, on disk or in the bucket.
    pub(crate) fn find_archive(&self, id: ExportTaskId) -> Result<ExportArchive, ServiceError> {
        let export = self.store.read(|c| export::find(c, id))?;
        let export = export.filter(|export| self.offers(export.dataset));
        let export = export.ok_or_else(ServiceError::export_not_found)?;
        match File::open(self.store.export_archive_path(id.0)) {
            Ok(file) => Ok(ExportArchive::OnDisk(export, file)),
            Err(cause) if cause.kind() != ErrorKind::NotFound => Err(ServiceError::internal()),
            Err(_) if self.bucket.is_some() && export.state == ExportTaskState::Completed => {
                Ok(ExportArchive::InBucket)
            }
            Err(_) => Err(ServiceError::export_not_found()),
        }
    }

    /// Returns a link to an archive in the bucket.
    pub(crate) async fn bucket_link(&self, id: ExportTaskId) -> Result<String, ServiceError> {
        let bucket = self.bucket.as_ref().ok_or_else(ServiceError::export_not_found)?;
        let link = bucket.signed_link(&archive_name(id)).await;
        link.map(Into::into).map_err(|cause| {
            let failure = ServiceError::source_failure(&cause.into_io());
            failure.unwrap_or_else(ServiceError::storage_unreachable)
        })
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

impl Deployment {
    /// Returns the exported media, or `None` for the whole dataset.
    pub(super) fn selected_media(
        &self,
        record: &DatasetRecord,
        scope: &ExportScope,
    ) -> Result<Option<ExportChoices>, ServiceError> {
        let mut choices = ExportChoices::new();
        match scope {
            scope if scope.is_whole_dataset() => return Ok(None),
            ExportScope::Search(params) => self.choose_matches(record, params, &mut choices)?,
            ExportScope::Cluster(id, params) => {
                let RankedCluster { rank, ranking, .. } =
                    self.ranked_cluster(record, *id, params)?;
                let ids = HashMap::from([(rank, *id)]);
                choose_members(&mut choices, &*ranking, ranking.members(Some(rank))?, &ids);
            }
            ExportScope::Selection(body) => {
                require_none_missing(&self.choose_items(record, body, &mut choices)?)?;
            }
            ExportScope::Rest(params, body) => {
                let mut selected = ExportChoices::new();
                // What the dataset no longer has is not exported either way.
                self.choose_items(record, body, &mut selected)?;
                self.choose_matches(record, params, &mut choices)?;
                let selected = self.with_pictures(selected.into_keys())?;
                choices.retain(|row, _| !selected.contains(row));
            }
        }
        Ok(Some(choices))
    }

    /// Returns the media items that the dataset does not have.
    fn choose_items(
        &self,
        record: &DatasetRecord,
        body: &[u8],
        choices: &mut ExportChoices,
    ) -> Result<Vec<MediaId>, ServiceError> {
        let mut missing = Vec::new();
        for item in selection::items(body)? {
            missing.extend(self.choose_item(record, item?, choices)?);
        }
        Ok(missing)
    }

    /// Returns the rows of the media items that a selection contains, and the items that the dataset does not have.
    pub(super) fn rows_of_items(
        &self,
        dataset: DatasetId,
        items: &[SelectionItem],
    ) -> Result<(Vec<i64>, Vec<MediaId>), ServiceError> {
        until_current(|| {
            let record = self.require_dataset(dataset)?;
            let (mut choices, mut missing) = (ExportChoices::new(), Vec::new());
            for item in items {
                missing.extend(self.choose_item(&record, item.clone(), &mut choices)?);
            }
            Ok((choices.into_keys().collect(), missing))
        })
    }

    /// Returns the rows of the media items that a search finds, or `None` if it finds the whole dataset.
    pub(super) fn rows_of_search(
        &self,
        dataset: DatasetId,
        params: &SearchParams,
    ) -> Result<Option<Vec<i64>>, ServiceError> {
        until_current(|| {
            let record = self.require_ready(dataset, params.operation())?;
            if params.is_browse() {
                return Ok(None);
            }
            require_searchable(&record, params.operation())?;
            let mut choices = ExportChoices::new();
            self.choose_matches(&record, params, &mut choices)?;
            Ok(Some(choices.into_keys().collect()))
        })
    }

    /// Returns the rows of the media items that a search finds and a selection does not contain.
    pub(super) fn rows_of_rest(
        &self,
        search: &Search,
        selected: &[SelectionItem],
    ) -> Result<Vec<i64>, ServiceError> {
        let params = SearchParams::from(search);
        until_current(|| {
            let record = self.require_ready(search.dataset, params.operation())?;
            let mut found = ExportChoices::new();
            self.choose_matches(&record, &params, &mut found)?;
            let (selected, _) = self.rows_of_items(search.dataset, selected)?;
            let selected = self.with_pictures(selected)?;
            Ok(found.into_keys().filter(|row| !selected.contains(row)).collect())
        })
    }

    /// Returns the rows of the pictures of media items, and of all objects in them. Where a dataset is divided, an
    /// object stands for its picture, so that no picture is in two parts.
    pub(super) fn with_pictures(
        &self,
        rows: impl IntoIterator<Item = i64>,
    ) -> Result<HashSet<i64>, ServiceError> {
        let rows: Vec<i64> = rows.into_iter().collect();
        Ok(self.store.read(|c| media::rows_of_pictures(c, &rows))?)
    }

    fn choose_matches(
        &self,
        record: &DatasetRecord,
        params: &SearchParams,
        choices: &mut ExportChoices,
    ) -> Result<(), ServiceError> {
        let query = self.search_query(record.id, params)?;
        let ranking = self.search_context(record).search(&query)?;
        let (id, entity) = (record.id, query.entity);
        let ids = self.store.read(|c| match query.grouping {
            Grouping::Level(level) => cluster::ids_by_rank(c, id, entity, level),
            Grouping::Duplicates(similarity) => {
                duplicate_group::ids_by_rank(c, id, entity, similarity)
            }
        })?;
        choose_members(choices, &*ranking, ranking.members(None)?, &ids);
        Ok(())
    }

    /// Adds what an item of a selection contains, and returns the media items that the dataset does not have. A missing
    /// item that is excluded needs no mention.
    fn choose_item(
        &self,
        record: &DatasetRecord,
        item: SelectionItem,
        choices: &mut ExportChoices,
    ) -> Result<Vec<MediaId>, ServiceError> {
        match item {
            SelectionItem::Media(ids) => {
                let (rows, missing) = self.media_rows(record, &ids)?;
                for row in rows {
                    choices.entry(row).or_default();
                }
                Ok(missing)
            }
            SelectionItem::Cluster { cluster, entity, filters, exclude } => {
                let params =
                    SearchParams { entity: Some(entity), filters, ..SearchParams::default() };
                let RankedCluster { rank, ranking, .. } =
                    self.ranked_cluster(record, cluster, &params)?;
                let (excluded, _) = self.media_rows(record, &exclude)?;
                let excluded: HashSet<i64> = excluded.into_iter().collect();
                let ids = HashMap::from([(rank, cluster)]);
                let members = ranking.members(Some(rank))?.into_iter();
                let included = members.filter(|member| !excluded.contains(&member.row));
                choose_members(choices, &*ranking, included, &ids);
                Ok(Vec::new())
            }
        }
    }

    /// Returns the rows of media items, and the items that the dataset does not have.
    fn media_rows(
        &self,
        record: &DatasetRecord,
        ids: &[MediaId],
    ) -> Result<(Vec<i64>, Vec<MediaId>), ServiceError> {
        let known = self.store.read(|c| media::rows_of(c, record.id, ids))?;
        let missing = ids.iter().filter(|id| !known.contains_key(id)).copied().collect();
        Ok((known.into_values().collect(), missing))
    }
}

pub(super) fn require_none_missing(missing: &[MediaId]) -> Result<(), ServiceError> {
    let error = |id| ServiceError::NotFound(format!("Media {id} not found"));
    missing.first().map_or(Ok(()), |id| Err(error(id)))
}

/// Adds members of a ranking. For each media item, the first cluster that selects it is kept.
fn choose_members(
    choices: &mut ExportChoices,
    ranking: &dyn SearchRanking,
    members: impl IntoIterator<Item = SelectedMember>,
    ids: &HashMap<u32, ClusterId>,
) {
    let is_similarity = ranking.is_similarity();
    for SelectedMember { row, cluster, score } in members {
        let similarity = score.filter(|_| is_similarity).map(|distance| 1.0 - distance);
        let choice = choices.entry(row).or_default();
        choice.cluster = choice.cluster.or_else(|| ids.get(&cluster).copied());
        choice.confidence = choice.confidence.or(similarity.map(|part| part.clamp(0.0, 1.0)));
    }
}

const PAGE_SIZE: usize = 10_000;

impl Deployment {
    /// Writes `metadata.json` for the whole dataset.
    pub(crate) fn metadata_file(
        &self,
        id: DatasetId,
        origin: String,
    ) -> Result<File, ServiceError> {
        self.spool(id, |record, file| {
            let spec = ExportSpec {
                file_name: ArchiveName::new(&record.name),
                format: ExportFormat::Json,
                include_images: false,
            };
            let export = new_export(record, spec, origin);
            let folders = SourceFolders::default();
            let links = LinkSigning::new(&self.store, &self.settings)?;
            let written = self.store.read(|connection| {
                let content = ArchiveContent {
                    connection,
                    dataset: record,
                    export: &export,
                    folders: &folders,
                    pictures: &self.originals.pictures,
                    links: &links,
                    groups: &counted_duplicates(connection, id)?,
                };
                Ok(archive::write_metadata_json(&content, file))
            })?;
            written.map_err(|_| ServiceError::internal())
        })
    }

    /// Writes the file name and identifier of every image and frame as CSV.
    pub(crate) fn media_id_file(&self, id: DatasetId) -> Result<File, ServiceError> {
        self.spool(id, |record, file| {
            let mut table = csv::Writer::from_writer(file);
            let mut write = |fields: [&str; 2]| {
                table.write_record(fields).map_err(|_| ServiceError::internal())
            };
            write(["filename", "media_id"])?;
            // All pages are read from one snapshot, so that none skips or repeats a media item.
            self.store.read(|c| {
                for page in 0.. {
                    let skip = page * PAGE_SIZE as u64;
                    let items = media::page(c, record.id, EntityType::Images, skip, PAGE_SIZE)?;
                    if items.is_empty() {
                        break;
                    }
                    for item in items {
                        let id = item.id.to_string();
                        if let Err(cause) = write([&with_apostrophe(&item.file_name()), &id]) {
                            return Ok(Err(cause));
                        }
                    }
                }
                Ok(Ok(()))
            })??;
            table.flush().map_err(ServiceError::export_file)
        })
    }

    /// Returns an unnamed file with what `write` writes about a dataset that can be exported. If the file cannot be
    /// written, the error says so, whatever `write` returns.
    fn spool(
        &self,
        id: DatasetId,
        write: impl FnOnce(&DatasetRecord, &mut BufWriter<ClaimedFile>) -> Result<(), ServiceError>,
    ) -> Result<File, ServiceError> {
        let record = self.require_ready(id, Operation::Export)?;
        self.require_disk_space(false)?;
        let folder = self.store.exports_dir();
        let file = tempfile::tempfile_in(&folder).map_err(ServiceError::export_file)?;
        let claim = self.settings.disk_of_exports(false).claim_in(&folder);
        let mut file = BufWriter::new(ClaimedFile::new(file, claim));
        let written = write(&record, &mut file);
        if let Some(cause) = file.get_ref().failure {
            return Err(ServiceError::export_file(cause.into()));
        }
        written?;
        file.flush().map_err(ServiceError::export_file)?;
        file.rewind().map_err(ServiceError::export_file)?;
        Ok(file.into_inner().map_err(|_| ServiceError::internal())?.file)
    }
}
