//! An open deployment. This file opens index folders and adds folders as datasets, whose indexing runs in the
//! background.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{ErrorKind, Read as _},
    path::{self, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::{
    error::LocalError,
    opened_archive::{folder_of_archive, remove_unused, skipped_members},
    originals::{Originals, storage_location},
    settings::{DeploymentSettings, record_settings, require_recorded_settings},
    tag_file::TagWriter,
    task::{EXTRACTOR_VERSION, EncodingRuns, INCOMPLETE, TaskRunner, WorkerContext},
    task_error::STORAGE_UNREACHABLE,
};
use tessera_media::{
    ingest::{
        ANNEX_POINTER, EXCLUDED, FolderChanges, FolderScan, KnownFile, OriginalFiles as _,
        SYMBOLIC_LINK, SandboxedDir, ScannedFile, diff,
        file_names::printable_path,
        parquet_images::{ParquetOriginals, containing_file},
        read_error_name, read_first_bytes, unrecognized_reason,
        video::FFMPEG_MISSING,
    },
    object_storage::BucketFolder,
};
use tessera_model::{DatasetId, FileKind, SafeText, SkippedFile, Status, file_kind::UNLISTED};
use tessera_picture::{PictureFormat, VideoContainer};
use tessera_retrieval::{IndexCache, ModelChoice, Models, remove_outdated};
use tessera_store::{
    Connection, Store, StoreError, Transaction, applied_model, captions,
    dataset::{self, DatasetRecord},
    indexed_files,
    indexing_task::{self, IndexingTaskKind},
    source,
};
use uuid::Uuid;

/// The interval at which the store is asked whether a dataset is still being indexed.
const INDEXING_CHECK: Duration = Duration::from_millis(50);

/// An open local deployment. Clones share it. When the last clone is dropped, the background work of this process
/// stops, and another process with the same index folder continues it.
#[derive(Clone)]
pub struct Deployment {
    pub(crate) tasks: Arc<TaskRunner>,
    pub(crate) settings: Arc<DeploymentSettings>,
    pub(crate) indexes: Arc<IndexCache>,
    pub(crate) models: Arc<Models>,
    pub(crate) encoding: Arc<EncodingRuns>,
    pub(crate) originals: Arc<Originals>,
    pub(crate) store: Arc<Store>,
    /// The folder of a bucket with the archives of exports.
    pub(crate) bucket: Option<Arc<BucketFolder>>,
    pub(crate) tag_writer: Arc<TagWriter>,
    /// The datasets that the service offers, or `None` for all.
    offered: Option<Arc<[DatasetId]>>,
}

impl Deployment {
    /// Opens the index folder `data`, and resumes unfinished work. The folder (mode 0700) is created if needed.
    ///
    /// # Errors
    /// The store cannot be opened, or the other processes of a store on a server have a different bucket or model.
    pub fn open(data: &Path, settings: DeploymentSettings) -> Result<Self, LocalError> {
        let settings = Arc::new(settings);
        let bucket = settings.bucket.as_ref();
        let bucket = bucket.map(|folder| BucketFolder::new(&settings.storage, folder));
        let bucket = bucket.transpose().map_err(LocalError::Bucket)?.map(Arc::new);
        let store = Arc::new(match &settings.store {
            Some(address) => Store::open_on_server(data, address)?,
            None => Store::open(data)?,
        });
        require_recorded_settings(&store, &settings)?;
        let originals = Originals::new(&settings, &store);
        let originals = Arc::new(originals.map_err(LocalError::Bucket)?);
        clean_storage(&store, &originals)?;
        if store.recovery_notice().is_some() {
            add_lost_uploads(&store, &originals)?;
        }
        store.share_folder()?;
        let indexes = Arc::new(IndexCache::new(settings.disk.clone(), data));
        let models = Arc::new(Models::new(&settings.model, store.is_on_server()));
        let encoding = Arc::new(EncodingRuns::default());
        let holder = Uuid::new_v4();
        let tag_writer = Arc::new(TagWriter::start(&store));
        let tasks = Arc::new(TaskRunner::start(WorkerContext {
            store: store.clone(),
            settings: settings.clone(),
            originals: originals.clone(),
            indexes: indexes.clone(),
            models: models.clone(),
            encoding: encoding.clone(),
            running: Arc::default(),
            tag_writer: tag_writer.clone(),
            holder,
        })?);
        Ok(Self {
            tasks,
            settings,
            indexes,
            models,
            encoding,
            originals,
            store,
            bucket,
            tag_writer,
            offered: None,
        })
    }

    /// Returns the same deployment, whose service offers only these datasets. Without this, it offers all datasets of
    /// the store.
    #[must_use]
    pub fn offering(self, datasets: &[DatasetId]) -> Self {
        Self { offered: Some(datasets.into()), ..self }
    }

    pub(crate) fn offers(&self, dataset: DatasetId) -> bool {
        self.offered.as_ref().is_none_or(|offered| offered.contains(&dataset))
    }

    /// Checks that archives can be written to the bucket, if there is one. From then on, all other processes of a store
    /// on a server must have the same bucket and model.
    ///
    /// # Errors
    /// The bucket does not exist, the credentials do not allow writing, or another process recorded different settings
    /// first.
    pub async fn check_settings(&self) -> Result<(), LocalError> {
        if let Some(bucket) = &self.bucket {
            bucket.check().await.map_err(LocalError::Bucket)?;
        }
        record_settings(&self.store, &self.settings)
    }

    /// Returns what happened to a missing or damaged store when it was opened.
    pub fn recovery_notice(&self) -> Option<&str> {
        self.store.recovery_notice()
    }

    /// Writes the tags of each dataset to the file beside it, if they were changed.
    pub fn write_tag_files(&self) {
        self.tag_writer.flush();
    }

    /// Returns the network file system of the index folder, which makes the service slow.
    pub fn network_file_system(&self) -> Option<&'static str> {
        self.store.network_file_system()
    }

    /// Returns the absolute path of a folder, or of the folder to which an archive is unpacked.
    fn local_folder(&self, given: &Path) -> Result<PathBuf, LocalError> {
        let opened = self.store.opened_archives_dir();
        let unpacked = folder_of_archive(&opened, given, &self.settings.disk)?;
        canonical_folder(unpacked.as_deref().unwrap_or(given))
    }

    /// Adds a folder on this machine or in a bucket (`s3://bucket/folder`), or an archive, as a dataset. If the folder
    /// was added before, its dataset is updated. The function returns at once, and the indexing runs in the background.
    /// `name` is the display name, which is the name of the folder by default. The same folder always has the same
    /// identifier.
    ///
    /// # Errors
    /// The folder does not exist, cannot be read, is empty or has no pictures, or the store or the object storage
    /// fails.
    pub fn add_folder(&self, folder: &Path, name: Option<&str>) -> Result<DatasetId, LocalError> {
        let bucket = bucket_location(folder)?;
        let in_bucket = bucket.is_some();
        if let Some(known) = self.find_folder(folder)?
            && self.folder_is_missing(known)?
        {
            // The index can be read until the folder is back.
            return Ok(known);
        }
        let given = folder;
        let folder = bucket.map_or_else(|| self.local_folder(given), Ok)?;
        let known = self.store.read(|c| dataset::find_by_folder(c, &folder))?;
        let mut record = known.map_or_else(|| self.new_record(given, &folder), Ok)?;
        self.apply_settings(&mut record, name);
        let scan = if in_bucket {
            // The folder is listed in the background, but whether it can be listed is checked at once.
            self.originals.check(&folder).map_err(LocalError::Failed)?;
            None
        } else {
            let unlistable = |reason: std::io::Error| {
                let folder = printable_path(&folder);
                LocalError::Unusable(format!("the folder {folder} cannot be read: {reason}"))
            };
            let scan = self.originals.scan(&folder, &record.patterns).map_err(unlistable)?;
            require_pictures(&folder, &scan, record.n_images > 0)?;
            Some(scan)
        };
        let id = record.id;
        let uploaded = uploaded_folders(&self.store, &self.originals, id)?;
        let begun = self.store.write(|tx| {
            // The task is read before the record, because another process may complete it at any time.
            let is_running = indexing_task::find_running(tx, id)?.is_some();
            // Another request may have changed the dataset since the scan began.
            let mut current = dataset::find(tx, id)?.unwrap_or_else(|| record.clone());
            self.apply_settings(&mut current, name);
            dataset::upsert(tx, &current)?;
            let has_lost_uploads = add_uploads_and_reread(tx, &current, &uploaded)?;
            let has_other_patterns = current.patterns != record.patterns;
            let outdated =
                self.choose_language(tx, &current)? || has_lost_uploads || has_other_patterns;
            if is_running || !(outdated || self.needs_indexing(tx, &current, scan.as_ref())?) {
                return Ok(None);
            }
            indexing_task::begin(tx, id, IndexingTaskKind::Creation, None, false).map(Some)
        })?;
        self.tag_writer.synchronize(&record)?;
        if begun.is_some() {
            self.tasks.wake();
        } else if in_bucket {
            self.tasks.compare_folder(id);
        }
        Ok(id)
    }

    /// Returns the record of a new dataset. An archive whose name without the extension is taken, such as the export of
    /// a folder, has its whole name.
    fn new_record(&self, given: &Path, folder: &Path) -> Result<DatasetRecord, LocalError> {
        let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, &self.store.folder_identity(folder));
        let mut record = DatasetRecord::new(DatasetId(id), &name, folder, EXTRACTOR_VERSION);
        if folder.starts_with(self.store.opened_archives_dir()) {
            let others = self.store.read(dataset::all)?;
            let is_taken = |name: &str| others.iter().any(|other| other.name == name);
            let file = given.file_name().unwrap_or_default().to_string_lossy();
            let numbered = (2..).map(|number| format!("{file} ({number})"));
            let mut names = [record.name.clone(), file.to_string()].into_iter().chain(numbered);
            record.name = names.find(|name| !is_taken(name)).unwrap_or_default();
        }
        Ok(record)
    }

    /// Applies what was given when the dataset was opened: patterns, name and model. All other values stay.
    fn apply_settings(&self, record: &mut DatasetRecord, name: Option<&str>) {
        if let Some(patterns) = &self.settings.patterns {
            record.patterns.clone_from(patterns);
        }
        if let Some(name) = name {
            name.clone_into(&mut record.name);
        }
        if !self.store.is_on_server() && !matches!(self.settings.model, ModelChoice::Keep) {
            record.model = self.settings.model.folder();
        }
    }

    /// Gives a dataset the model in a folder, and encodes its media in the background. Returns `false`, and changes
    /// nothing, while another task is running on the dataset.
    ///
    /// # Errors
    /// The dataset does not exist, its folder is missing, or all datasets have the same model, because the store is on
    /// a server.
    pub fn set_model(&self, id: DatasetId, folder: &Path) -> Result<bool, LocalError> {
        if self.store.is_on_server() {
            let why = "all datasets of a store on a server have the same model; give it to all processes with --model";
            return Err(LocalError::Unusable(why.to_owned()));
        }
        self.require_folder(id).map_err(|missing| LocalError::Unusable(missing.sentence()))?;
        let begun = self.store.write(|tx| {
            let Some(record) = dataset::find(tx, id)? else { return Ok(None) };
            if indexing_task::find_running(tx, id)?.is_some() {
                return Ok(Some(false));
            }
            dataset::upsert(tx, &DatasetRecord { model: Some(folder.to_owned()), ..record })?;
            indexing_task::begin(tx, id, IndexingTaskKind::Creation, None, false)?;
            Ok(Some(true))
        })?;
        if begun == Some(true) {
            self.tasks.wake();
        }
        let removed =
            || LocalError::Unusable("the dataset was removed; open its folder again".into());
        begun.ok_or_else(removed)
    }

    /// Returns the dataset of a folder that was added before, without reading the folder, which may be missing.
    pub fn find_folder(&self, folder: &Path) -> Result<Option<DatasetId>, LocalError> {
        let folder = bucket_location(folder)?.or_else(|| absolute_folder(folder));
        let Some(folder) = folder else { return Ok(None) };
        let known = self.store.read(|c| dataset::find_by_folder(c, &folder))?;
        Ok(known.map(|record| record.id))
    }

    /// Returns the folders of this machine that a dataset needs and that are missing, or contain none of their files.
    pub fn missing_folders(&self, id: DatasetId) -> Result<Vec<PathBuf>, LocalError> {
        let mut missing = Vec::new();
        for source in self.store.read(|c| source::of_dataset(c, id))? {
            if self.originals.is_missing(&self.store, &source)? {
                missing.push(source.folder);
            }
        }
        Ok(missing)
    }

    /// Stores the language that was chosen for a dataset. Returns whether the dataset is indexed in a different
    /// language.
    fn choose_language(
        &self,
        tx: &Transaction,
        record: &DatasetRecord,
    ) -> tessera_store::Result<bool> {
        let Some(choice) = self.settings.caption_language else { return Ok(false) };
        let (known, chosen) = (record.language, choice.language());
        let is_new = known.chosen != chosen;
        if is_new {
            captions::choose_language(tx, record.id, chosen)?;
        }
        // A detected language is known only after the dataset was indexed.
        Ok(chosen.map_or(is_new, |language| language != known.indexed))
    }

    /// Whether a folder has changed since it was indexed, or was never indexed completely. Without a scan, the files of
    /// the folder are not compared.
    pub(crate) fn needs_indexing(
        &self,
        c: &Connection,
        record: &DatasetRecord,
        scan: Option<&FolderScan>,
    ) -> tessera_store::Result<bool> {
        if !is_up_to_date(record) {
            return Ok(true);
        }
        let applied = applied_model::fingerprint(c, record.id)?;
        let choice = &self.settings.model;
        // A dataset that was given another model since it was opened keeps that model. In a store on a server, all
        // datasets have the model of the process.
        let is_chosen = self.store.is_on_server() || choice.folder() == record.model;
        let is_applied = if is_chosen && !matches!(choice, ModelChoice::Keep) {
            applied == choice.encoder().map(|model| model.fingerprint())
        } else {
            applied.is_some() == record.model.is_some()
        };
        if !is_applied {
            return Ok(true);
        }
        let source = source::upsert(c, record.id, &record.folder)?;
        if self.settings.ffmpeg.is_some() {
            indexed_files::clear_skipped_for_reason(c, source, FFMPEG_MISSING)?;
        }
        for format in [PictureFormat::Avif, PictureFormat::Heif] {
            if format.is_decodable()
                && let Some(reason) = format.missing_program_reason()
            {
                indexed_files::clear_skipped_for_reason(c, source, &reason)?;
            }
        }
        let Some(scan) = scan else { return Ok(false) };
        let unlisted = scan.skipped.iter().filter(|(_, reason)| *reason == UNLISTED);
        let unlisted: BTreeSet<&PathBuf> = unlisted.map(|(path, _)| path).collect();
        let known_unlisted = indexed_files::skipped_for_reason(c, source, UNLISTED)?;
        let known = indexed_files::known_files(c, source)?;
        Ok(unlisted != known_unlisted.iter().collect()
            || !self.changes(&record.folder, scan, known).is_empty())
    }

    /// Compares a folder with its known files. A file that the system could not read counts only if it can be read now,
    /// so that it does not start an indexing at each comparison.
    pub(crate) fn changes(
        &self,
        folder: &Path,
        scan: &FolderScan,
        known: BTreeMap<PathBuf, KnownFile>,
    ) -> FolderChanges {
        let unread = known.iter().filter(|(_, file)| file.is_unread());
        let unread: BTreeSet<PathBuf> = unread.map(|(path, _)| path.clone()).collect();
        let mut changes = diff(scan, known);
        if !unread.is_empty() {
            let files = self.originals.open(folder);
            let is_readable = |path: &Path| {
                let file = files.as_ref().ok().and_then(|files| files.open_file(path).ok());
                file.is_some_and(|mut file| file.read(&mut [0]).is_ok())
            };
            changes
                .added_or_modified
                .retain(|(found, _)| !unread.contains(&found.path) || is_readable(&found.path));
        }
        changes
    }

    /// Returns the datasets that the service offers.
    pub fn datasets(&self) -> Result<Vec<DatasetRecord>, LocalError> {
        Ok(self.offered_datasets()?)
    }

    /// Returns why the work of this process waits, such as a full disk, or `None` if it does not.
    pub fn waiting_reason(&self) -> Option<&'static str> {
        self.tasks.waiting_reason()
    }

    /// Returns why a dataset has to wait, whichever process runs its task. Only this process knows why a store accepts
    /// no changes, which delays all datasets.
    pub(crate) fn waiting_reason_of(
        &self,
        dataset: &DatasetRecord,
    ) -> Result<Option<String>, StoreError> {
        if !dataset.status.is_busy() {
            return Ok(None);
        }
        let stored = self.store.read(|c| indexing_task::waiting_reason(c, dataset.id))?;
        let is_of_store = |reason: &&str| *reason != STORAGE_UNREACHABLE;
        Ok(stored.or_else(|| self.waiting_reason().filter(is_of_store).map(str::to_owned)))
    }

    /// Waits until this process has no task to run.
    pub async fn wait_until_idle(&self) {
        self.tasks.wait_until_idle().await;
    }

    /// Waits until a dataset is not being indexed, by this process or another one.
    pub async fn wait_until_indexed(&self, id: DatasetId) -> Result<(), LocalError> {
        let record = self.store.read(|c| dataset::find(c, id))?;
        if record.is_some_and(|record| storage_location(&record.folder).is_some()) {
            // This process may still be comparing the folder with what is stored.
            self.tasks.wait_until_idle().await;
        }
        while self.store.read(|c| indexing_task::find_running(c, id))?.is_some() {
            tokio::time::sleep(INDEXING_CHECK).await;
        }
        Ok(())
    }

    /// Returns the files in the folder of a dataset that are not media, with the reasons, in the order of their paths.
    pub fn skipped_files(&self, id: DatasetId) -> Result<Vec<SkippedFile>, LocalError> {
        let (record, rows) = self
            .store
            .read(|c| Ok((dataset::find(c, id)?, indexed_files::skipped_files(c, id)?)))?;
        let opened = self.store.opened_archives_dir();
        let members = record.map(|record| skipped_members(&opened, &record.folder));
        let skipped = rows.into_iter().map(|(path, reason)| SkippedFile {
            file: printable_path(&path),
            reason: SafeText::detail(&reason),
            kind: FileKind::from_name(&path.to_string_lossy()),
            is_excluded: reason == EXCLUDED,
        });
        Ok(skipped.chain(members.into_iter().flatten()).collect())
    }
}

/// Removes files of interrupted or outdated work: from the folder while no other process uses it, and from the bucket
/// once they are old. Whatever cannot be removed is removed at the next start.
fn clean_storage(store: &Store, originals: &Originals) -> Result<(), StoreError> {
    let needed = store.read(source::all_folders)?;
    if store.has_folder_alone() {
        originals.uploads.remove_abandoned_in_folder(&needed);
        remove_unused(&store.opened_archives_dir(), &needed);
        let _ = remove_outdated(store);
    }
    originals.uploads.remove_interrupted_in_bucket(&needed);
    Ok(())
}

/// Whether everything in the folder of a dataset was indexed, and in its present form.
fn is_up_to_date(record: &DatasetRecord) -> bool {
    let rests = matches!(record.status, Status::Ready | Status::PartialIndex);
    rests && record.extractor == EXTRACTOR_VERSION
}

/// Adds the uploads that the store does not know to a dataset, and makes the next indexing task read all sources.
/// Returns whether there were such uploads.
fn add_uploads_and_reread(
    tx: &Transaction,
    record: &DatasetRecord,
    uploaded: &[PathBuf],
) -> tessera_store::Result<bool> {
    let any = source::add_unknown_uploads(tx, record.id, uploaded)?;
    if any && record.extractor == EXTRACTOR_VERSION {
        dataset::set_extractor(tx, record.id, INCOMPLETE)?;
    }
    Ok(any)
}

/// Adds uploads that a recovered store does not know to their datasets, before these are indexed.
fn add_lost_uploads(store: &Store, originals: &Originals) -> Result<(), StoreError> {
    for record in store.read(dataset::all)? {
        let uploaded = uploaded_folders(store, originals, record.id)?;
        store.write(|tx| add_uploads_and_reread(tx, &record, &uploaded))?;
    }
    Ok(())
}

fn uploaded_folders(
    store: &Store,
    originals: &Originals,
    id: DatasetId,
) -> Result<Vec<PathBuf>, StoreError> {
    let known = store.read(source::all_folders)?;
    let locations = originals.uploads.locations_of_dataset(id, &known);
    locations.map_err(|cause| StoreError::Io(store.uploads_dir(), cause))
}

/// Returns the address of a folder in a bucket, without a slash at its end.
fn bucket_location(folder: &Path) -> Result<Option<PathBuf>, LocalError> {
    let Some(uri) = storage_location(folder) else { return Ok(None) };
    if uri.manifest_format().is_some() {
        let reason = format!("{uri} is a manifest; open a folder, and add the manifest to it");
        return Err(LocalError::Failed(reason));
    }
    Ok(Some(PathBuf::from(uri.to_string().trim_end_matches('/'))))
}

fn canonical_folder(folder: &Path) -> Result<PathBuf, LocalError> {
    let unreadable = |cause: std::io::Error| match cause.kind() {
        ErrorKind::NotFound => LocalError::NoSuchFolder(folder.to_owned()),
        ErrorKind::NotADirectory => LocalError::NotAFolder(folder.to_owned()),
        _ => LocalError::Unreadable(folder.to_owned(), cause),
    };
    let canonical = folder.canonicalize().map_err(unreadable)?;
    fs::read_dir(&canonical).map_err(unreadable)?;
    Ok(canonical)
}

/// Returns the absolute path of a folder that may be missing. Links above the folder are followed as far as they exist.
fn absolute_folder(folder: &Path) -> Option<PathBuf> {
    let absolute = path::absolute(folder).ok()?;
    let existing = absolute.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let (above, canonical) = existing?;
    let below = absolute.strip_prefix(above).ok()?;
    Some(if below.as_os_str().is_empty() { canonical } else { canonical.join(below) })
}

/// Returns why a folder without files to index is refused.
fn no_files_error(path: &Path, scan: &FolderScan) -> LocalError {
    let mut pointers = scan.skipped.iter().filter(|(_, reason)| *reason == ANNEX_POINTER);
    if let Some((first, reason)) = pointers.next() {
        let example = format!("{}: {reason}", printable_path(first));
        return LocalError::NoPictures(path.to_owned(), 1 + pointers.count(), example);
    }
    if let Some(error) = excluded_error(path, scan) {
        return error;
    }
    if scan.skipped.iter().any(|(_, reason)| *reason == SYMBOLIC_LINK) {
        return LocalError::OnlyLinks(path.to_owned());
    }
    let Some((first, reason)) = scan.skipped.first() else {
        return LocalError::EmptyFolder(path.to_owned());
    };
    let (path, first) = (printable_path(path), printable_path(first));
    LocalError::Unusable(format!(
        "the folder {path} contains only what is never read, for example {first} ({reason}); give one with pictures"
    ))
}

/// Returns the error for a folder without pictures, if patterns exclude something in it.
fn excluded_error(path: &Path, scan: &FolderScan) -> Option<LocalError> {
    let (first, _) = scan.skipped.iter().find(|(_, reason)| *reason == EXCLUDED)?;
    Some(LocalError::AllExcluded(path.to_owned(), first.clone()))
}

fn require_pictures(path: &Path, scan: &FolderScan, had_some: bool) -> Result<(), LocalError> {
    if scan.files.is_empty() {
        return Err(no_files_error(path, scan));
    }
    let folder =
        SandboxedDir::open(path).map_err(|cause| LocalError::Unreadable(path.to_owned(), cause))?;
    let folder = ParquetOriginals::new(Box::new(folder));
    let picture = |path: &Path| {
        let begins = |head: Vec<u8>| {
            PictureFormat::detect(&head).is_some_and(PictureFormat::is_decodable)
                || VideoContainer::detect(&head).is_some()
        };
        folder.open_file(path).and_then(|mut file| read_first_bytes(&mut *file)).is_ok_and(begins)
    };
    // The first file is usually a picture. If there were pictures before, checking every file of a large folder would
    // only delay the start.
    if had_some || scan.files.iter().any(|found| picture(&found.path)) {
        return Ok(());
    }
    let is_media =
        |found: &&ScannedFile| FileKind::from_name(&found.path.to_string_lossy()).is_media();
    let media = scan.files.iter().find(is_media);
    if let (None, Some(error)) = (media, excluded_error(path, scan)) {
        return Err(error);
    }
    let example = media.or(scan.files.first()).map(|found| {
        let reason = unrecognized_reason(&folder, &found.path);
        let reason = reason.unwrap_or_else(|cause| read_error_name(&cause));
        format!("{}: {reason}", printable_path(&found.path))
    });
    // The rows of a table are not files of their own.
    let files: BTreeSet<_> =
        scan.files.iter().map(|found| containing_file(path, &found.path)).collect();
    Err(LocalError::NoPictures(path.to_owned(), files.len(), example.unwrap_or_default()))
}
