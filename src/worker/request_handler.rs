//! Handles each request with the client, the state folder, or the files of this machine. Come here to add a kind of
//! request.

use std::{
    fs, io, iter, mem,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tessera_client::{Client, ExistingFile, QueryImageUpload};
use tessera_config::custom_command::ReadyCommand;
use tessera_curation::{Outcome, duplicates::decide};
use tessera_interface::message::{
    CopyableRead, CustomCommandRun, Payload, Request, RequestProgress, Response, SavedSet, Ticket,
    WorkerEvent,
};
use tessera_model::{
    DatasetId, ExportSelection, ExportSpec, Failure, FolderEntry, FolderListing, FolderQuery,
    PictureSource, SafeText, SelectionItem, TagTarget,
    check::{Condition, ConditionResult},
    split::{SplitPlan, SplitSet},
};
use tokio::sync::mpsc;

use crate::{
    state::{self, StateFolder},
    usecase::{
        check::{Check, CheckList},
        file_actions::{self, OriginalFinder, selection_of_media},
        media_rows::{self, MediaRow, follow_export},
        missing_media::{describe_missing, omission_of_missing, remove_missing},
        run_blocking,
        split::{divide, selections_of},
    },
    worker::{
        WorkerOptions, custom_command,
        handed_over_files::{self, HandedOverFiles},
        login_requests::LoginRequests,
        model_requests::ModelRequests,
        thumbnails::ThumbnailLoader,
    },
};

pub(super) struct RequestHandler {
    client: Client,
    login: LoginRequests,
    state: Arc<StateFolder>,
    pictures: ThumbnailLoader,
    handed_over: Arc<HandedOverFiles>,
    originals: Option<Arc<dyn OriginalFinder>>,
    models: ModelRequests,
    events: mpsc::UnboundedSender<WorkerEvent>,
}

impl RequestHandler {
    pub(super) fn new(
        client: Client,
        state: StateFolder,
        options: WorkerOptions,
        events: mpsc::UnboundedSender<WorkerEvent>,
    ) -> Self {
        let WorkerOptions { disk_cache, key_pair_owner, originals, models, .. } = options;
        let pictures = ThumbnailLoader::new(client.clone(), disk_cache, events.clone());
        Self {
            pictures,
            login: LoginRequests { client: client.clone(), owner: key_pair_owner },
            handed_over: Arc::default(),
            client,
            state: Arc::new(state),
            originals,
            models: ModelRequests(models),
            events,
        }
    }

    /// Handles a request. A panic fails only this request.
    pub(super) async fn handle(&self, ticket: Ticket, request: Request) -> Response {
        let performed = AssertUnwindSafe(self.perform(&ticket, request));
        let result = performed.catch_unwind().await.unwrap_or_else(|_| {
            let sentence = "internal error while handling this request";
            Err(Failure::local(sentence).with_remedy("Please report it"))
        });
        Response { ticket, result }
    }

    #[expect(clippy::too_many_lines, reason = "a table: one arm for each request")]
    async fn perform(&self, ticket: &Ticket, request: Request) -> Result<Payload, Failure> {
        let client = &self.client;
        Ok(match request {
            Request::Datasets => {
                let list = client.list_datasets().await?;
                Payload::Datasets(list.datasets, list.unreadable)
            }
            Request::Dataset(dataset) => Payload::Dataset(Box::new(client.dataset(dataset).await?)),
            Request::Explore(search) => Payload::Page(client.explore(&search).await?),
            Request::Members(search, cluster) => {
                Payload::Members(client.cluster_members(&search, cluster).await?)
            }
            Request::Map(search) => Payload::Map(client.map(&search).await?),
            Request::Overview(dataset, entity) => {
                Payload::Overview(client.overview(dataset, entity).await?)
            }
            Request::Enrichment(dataset) => Payload::Enrichment(client.enrichment(dataset).await?),
            Request::Record(dataset) => Payload::Record(client.dataset_fields(dataset).await?),
            Request::LocalDataset(dataset) => {
                Payload::LocalDataset(client.local_dataset(dataset).await?)
            }
            Request::RemoveDataset(dataset) => {
                Payload::DatasetRemoved(client.remove_dataset(dataset).await?)
            }
            Request::RenameDataset(dataset, name) => {
                Payload::DatasetRenamed(client.rename_dataset(dataset, &name).await?.name)
            }
            Request::Rescan(dataset, patterns) => {
                Payload::Rescanned(client.rescan(dataset, patterns.as_ref()).await?)
            }
            Request::CancelIndexing(dataset) => {
                Payload::IndexingCancelled(client.cancel_indexing(dataset).await?.name)
            }
            Request::PlanFileAction(dataset, items, action) => {
                let plan = move |finder: &dyn OriginalFinder| {
                    file_actions::plan(finder, dataset, &items, action).map(Box::new)
                };
                Payload::FileActionPlanned(self.with_originals(plan).await?)
            }
            Request::PlanDuplicateAction(dataset, groups, action) => {
                let plan = move |finder: &dyn OriginalFinder| {
                    file_actions::plan_duplicates(finder, dataset, groups, action).map(Box::new)
                };
                Payload::FileActionPlanned(self.with_originals(plan).await?)
            }
            Request::CarryOut(dataset, preview) => {
                let progress = self.progress_callback(ticket.clone());
                let mut report = move |done: usize, all: usize| {
                    progress(done as u64, Some(all as u64));
                    true
                };
                let action = preview.plan.action.clone();
                let act = move || file_actions::carry_out(&preview.plan, &mut report);
                let acted = run_blocking(act).await;
                let outcome = self.follow_in_index(dataset, acted).await?;
                Payload::FileActionFinished(action, outcome)
            }
            Request::PlanUndo => {
                Payload::UndoPlanned(run_blocking(file_actions::last_action).await?)
            }
            Request::UndoFileAction(dataset, shown) => {
                let undone =
                    run_blocking(move || file_actions::undo(shown, &mut |_, _| true)).await;
                Payload::FileActionUndone(self.follow_in_index(dataset, undone).await?)
            }
            Request::FindDuplicates(dataset, rule) => {
                let find = move |finder: &dyn OriginalFinder| {
                    Ok(decide(&finder.similar(dataset, 0.0)?, &rule, false))
                };
                Payload::Duplicates(self.with_originals(find).await?)
            }
            Request::SelectDiverse(search, count) => {
                let dataset = search.dataset;
                let choose = move |finder: &dyn OriginalFinder| {
                    Ok(selection_of_media(&finder.diverse(&search, count as usize)?))
                };
                Payload::Selection(dataset, self.with_originals(choose).await?)
            }
            Request::SelectRest(search, selected) => {
                let dataset = search.dataset;
                let choose = move |finder: &dyn OriginalFinder| {
                    file_actions::select_rest(finder, &search, &selected)
                };
                Payload::Selection(dataset, self.with_originals(choose).await?)
            }
            Request::Split { dataset, plan, replaces } => {
                self.split(dataset, plan, replaces).await?
            }
            Request::Check(dataset, conditions) => {
                Payload::Checked(self.check(dataset, conditions).await?)
            }
            Request::Tags(dataset) => Payload::Tags(client.tags(dataset).await?),
            Request::ChangeTags(dataset, target, edit) => {
                let target = self.existing_target(dataset, target).await?;
                Payload::TagsChanged(client.change_tags(dataset, &target, &edit).await?)
            }
            Request::DefineTag(dataset, name, change) => {
                Payload::TagsChanged(client.define_tag(dataset, &name, &change).await?)
            }
            Request::UndoTags(dataset, change) => {
                Payload::TagsChanged(client.undo_tags(dataset, Some(change)).await?)
            }
            Request::RegisterAnchor { dataset, image, entity, granularity, region } => {
                let image = self.load_query_image(image).await?;
                let anchor = client.register_anchor(dataset, image, entity, granularity, region);
                Payload::Anchor(anchor.await?)
            }
            Request::StartExport(dataset, spec) => {
                Payload::Export(client.start_export(dataset, &spec).await?)
            }
            Request::StartSelectionExport { dataset, format, images, mut selection } => {
                let missing = self.remove_missing(dataset, &mut selection).await?;
                self.warn_about_missing(missing);
                let export = client.start_selective_export(dataset, format, images, &selection);
                Payload::Export(export.await?)
            }
            Request::CancelExport(dataset, task) => {
                Payload::Export(client.cancel_export(dataset, task).await?)
            }
            Request::Reindex(dataset) => Payload::Accepted(client.reindex(dataset).await?),
            Request::PlanModel(name) => {
                Payload::ModelPlanned(self.models.provider()?.plan(name).await?)
            }
            Request::GetModel(name) => {
                let progress = self.progress_callback(ticket.clone());
                let report = |done, total| progress(done, Some(total));
                Payload::ModelFolder(self.models.provider()?.get(name, &report).await?)
            }
            Request::ApplyModel(dataset, folder) => {
                let progress = self.progress_callback(ticket.clone());
                let given = self.models.give(client, dataset, folder, progress);
                Payload::Dataset(Box::new(given.await?))
            }
            Request::AddMedia(dataset, addition) => {
                let mut progress = self.progress_callback(ticket.clone());
                let added = client.add_media(dataset, &addition, &mut progress).await?;
                Payload::Accepted(added.accepted)
            }
            Request::Preflight(source) => {
                Payload::Preflight(run_blocking(move || tessera_client::preflight(&source)).await?)
            }
            Request::CheckTarget(path) => {
                let check = move || tessera_client::check_target(&path, ExistingFile::Keep);
                run_blocking(check).await?;
                Payload::Done
            }
            Request::ExportPreview { dataset, format, images, mut selection } => {
                let missing = match &mut selection {
                    Some(selection) => self.remove_missing(dataset, selection).await?,
                    None => 0,
                };
                let preview = client.export_preview(dataset, format, images, selection.as_ref());
                let mut preview = preview.await?;
                if missing > 0 {
                    preview.omissions.push(omission_of_missing(missing));
                }
                Payload::ExportPreview(preview)
            }
            Request::ExportStatus(dataset, task) => {
                Payload::Export(client.export_status(dataset, task).await?)
            }
            Request::Download { dataset, task, target } => {
                let mut progress = self.progress_callback(ticket.clone());
                let keep = ExistingFile::Keep;
                let archive = client.download(dataset, task, &target, keep, &mut progress);
                Payload::Downloaded(archive.await?)
            }
            Request::Picture(source, crop, canvas) => {
                Payload::Picture(self.pictures.load_thumbnail(&source, crop, canvas).await?)
            }
            Request::Difference(sources, crop, canvas) => {
                Payload::Picture(self.pictures.load_difference(&sources, crop, canvas).await?)
            }
            Request::Folder(query) => Payload::Folder(read_folder(query).await?),
            Request::Inspect(path) => {
                let inspection =
                    run_blocking(move || tessera_client::inspect_archive(&path)).await?;
                Payload::Inspection(Box::new(inspection))
            }
            Request::OpenExternally(source) => {
                self.open_externally(source).await?;
                Payload::Done
            }
            Request::RunCustomCommand(run) => {
                Payload::CustomCommandStarted(self.run_custom_command(run).await?)
            }
            Request::Curl(read) => Payload::Curl(match read {
                CopyableRead::Dataset(dataset) => client.curl_dataset(dataset),
                CopyableRead::Page(search) => client.curl_explore(&search),
                CopyableRead::Export(dataset, task) => client.curl_export_status(dataset, task),
            }),
            Request::LoginPlaces => Payload::LoginPlaces(self.login.places().await?),
            Request::CheckLogin(dataset) => {
                self.login.check(dataset).await?;
                Payload::Done
            }
            Request::ImportLogin(import) => {
                Payload::LoginImported(self.login.import(import).await?)
            }
            Request::SaveSelection(path, dataset, selection) => {
                let save = move || state::save_selection(path, dataset, &selection);
                Payload::SelectionSaved(run_blocking(save).await?)
            }
            Request::LoadSelection(path, dataset) => {
                let open = move || state::load_selection(&path, dataset);
                Payload::Selection(dataset, run_blocking(open).await?)
            }
            Request::SaveNamed(name, dataset, selection) => Payload::SelectionSaved(
                self.with_state(move |state| {
                    let kept = ExistingFile::Keep;
                    let saved = state.save_named_selection(&name, dataset, &selection, kept)?;
                    saved.ok_or_else(|| {
                        Failure::local(format!("a selection `{name}` already exists"))
                            .with_remedy("Choose another name")
                    })
                })
                .await?,
            ),
            Request::LoadNamed(name, dataset) => {
                let open = move |state: &StateFolder| state.named_selection(&name, dataset);
                Payload::Selection(dataset, self.with_state(open).await?)
            }
            Request::SelectionNames(dataset) => {
                let names = self.with_state(StateFolder::selection_names).await?;
                let of_dataset = names.into_iter().filter(|(_, of)| *of == dataset);
                Payload::SelectionNames(of_dataset.map(|(name, _)| SafeText::name(&name)).collect())
            }
            Request::SaveState(entry) => {
                let number = ticket.number;
                self.state.announce_save(number, entry.key());
                self.with_state(move |state| state.save(number, &entry)).await?;
                Payload::Done
            }
            Request::LoadState(key) => {
                Payload::StateLoaded(self.with_state(move |state| state.load(&key)).await?)
            }
        })
    }

    async fn with_state<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StateFolder) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let state = Arc::clone(&self.state);
        run_blocking(move || work(&state)).await
    }

    /// Divides a dataset into sets, unless selections have their names already.
    async fn split(
        &self,
        dataset: DatasetId,
        plan: SplitPlan,
        replaces: bool,
    ) -> Result<Payload, Failure> {
        let taken_names = |taken: &[String]| {
            Payload::SetNamesTaken(taken.iter().map(|name| SafeText::name(name)).collect())
        };
        let existing = if replaces { ExistingFile::Replace } else { ExistingFile::Keep };
        let names: Vec<String> = plan.sets.iter().map(|set| set.name.clone()).collect();
        let find = move |state: &StateFolder| state.taken_names(&names, dataset);
        let taken = self.with_state(find).await?;
        if !replaces && !taken.is_empty() {
            return Ok(taken_names(&taken));
        }
        let rows = self.media_rows(dataset).await?;
        let save = move |state: &StateFolder| {
            let sets = divide(&rows, &plan)?;
            let selections = selections_of(&plan, &sets)?;
            let taken = state.save_named_selections(dataset, &selections, existing)?;
            if !taken.is_empty() {
                return Ok(taken_names(&taken));
            }
            let all = sets.iter().map(Vec::len).sum();
            let saved = |(set, rows): (&SplitSet, Vec<_>)| SavedSet {
                name: SafeText::name(&set.name),
                media: rows.len(),
                why_empty: rows
                    .is_empty()
                    .then(|| SafeText::detail(&plan.why_empty(&set.name, all))),
            };
            Ok(Payload::SetsSaved(plan.sets.iter().zip(sets).map(saved).collect()))
        };
        self.with_state(save).await
    }

    async fn check(
        &self,
        dataset: DatasetId,
        conditions: Vec<Condition>,
    ) -> Result<Vec<ConditionResult>, Failure> {
        let finder = self.originals.clone();
        let read = move |state: &StateFolder| {
            CheckList::read(state, dataset, &conditions, finder.as_deref())
        };
        let list = self.with_state(read).await?;
        let rows = self.media_rows(dataset).await?;
        for sentence in list.missing(&rows) {
            self.warn(&sentence);
        }
        run_blocking(move || {
            Ok(list.check(&rows, &[])?.into_iter().map(Check::into_result).collect())
        })
        .await
    }

    async fn media_rows(&self, dataset: DatasetId) -> Result<Vec<MediaRow>, Failure> {
        let client = &self.client;
        let follow = async |_: &ExportSpec, task| follow_export(client, dataset, task).await;
        media_rows::fetch(client, dataset, None, follow).await
    }

    async fn with_originals<T: Send + 'static>(
        &self,
        find: impl FnOnce(&dyn OriginalFinder) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let missing = || Failure::local("the files of this deployment may be on another machine");
        let finder = self.originals.clone().ok_or_else(missing)?;
        run_blocking(move || find(&*finder)).await
    }

    /// Compares the folder with the index after an action, also after one that failed. A failure of the comparison is
    /// only a warning, because the user must read what the action has done.
    async fn follow_in_index(
        &self,
        dataset: DatasetId,
        finished: Result<Outcome, Failure>,
    ) -> Result<Outcome, Failure> {
        if let Err(failure) = self.client.rescan(dataset, None).await {
            let sentence =
                format!("the index will follow when the folder is opened again: {failure}");
            self.warn(&sentence);
        }
        finished
    }

    fn warn(&self, sentence: &str) {
        // A send fails only while the program is ending.
        let _ = self.events.send(WorkerEvent::Warning(SafeText::detail(sentence)));
    }

    /// Removes what a local dataset no longer has from the media to export, and returns how many were removed. The rest
    /// of a selection contains no missing media anyway.
    async fn remove_missing(
        &self,
        dataset: DatasetId,
        selection: &mut ExportSelection,
    ) -> Result<usize, Failure> {
        if selection.rest_of.is_some() {
            return Ok(0);
        }
        let (items, missing) =
            self.existing_items(dataset, mem::take(&mut selection.items)).await?;
        selection.items = items;
        Ok(missing)
    }

    /// Removes media that a local dataset no longer has from the target of a tag change, and warns about them.
    async fn existing_target(
        &self,
        dataset: DatasetId,
        target: TagTarget,
    ) -> Result<TagTarget, Failure> {
        let TagTarget::Selection(items) = target else { return Ok(target) };
        let (items, missing) = self.existing_items(dataset, items).await?;
        self.warn_about_missing(missing);
        Ok(TagTarget::Selection(items))
    }

    /// Returns the items without those that a local dataset no longer has, and how many were removed.
    async fn existing_items(
        &self,
        dataset: DatasetId,
        mut items: Vec<SelectionItem>,
    ) -> Result<(Vec<SelectionItem>, usize), Failure> {
        let Some(finder) = self.originals.clone() else { return Ok((items, 0)) };
        run_blocking(move || {
            let changes = remove_missing(&*finder, dataset, &mut items)?;
            Ok((items, changes.missing.len()))
        })
        .await
    }

    fn warn_about_missing(&self, missing: usize) {
        if missing > 0 {
            self.warn(&describe_missing(missing, iter::empty()));
        }
    }

    async fn load_query_image(&self, source: PictureSource) -> Result<QueryImageUpload, Failure> {
        if let PictureSource::File(path) = &source {
            return QueryImageUpload::read(path).await;
        }
        let bytes = self.pictures.load_bytes(&source).await?;
        QueryImageUpload::new(bytes, &source.to_string()).await
    }

    /// Opens a picture in the desktop's viewer. A file is opened directly; any other source is
    /// copied to a file first.
    async fn open_externally(&self, source: PictureSource) -> Result<(), Failure> {
        if let PictureSource::File(path) = &source {
            return handed_over_files::open(path).await;
        }
        let bytes = self.pictures.load_bytes(&source).await?;
        let files = Arc::clone(&self.handed_over);
        let copy = run_blocking(move || handed_over_files::copy(&bytes, &files)).await?;
        handed_over_files::open(&copy).await
    }

    /// Starts one of the user's own commands, or returns it ready for the terminal.
    async fn run_custom_command(
        &self,
        run: Box<CustomCommandRun>,
    ) -> Result<Option<ReadyCommand>, Failure> {
        let mut found = None;
        if run.command.uses_files() {
            let (dataset, items) = (run.dataset, run.selection.items());
            let find = move |finder: &dyn OriginalFinder| finder.selected(dataset, &items);
            found = Some(self.with_originals(find).await?);
        }
        let (files, events) = (self.handed_over.clone(), self.events.clone());
        run_blocking(move || {
            let ready = custom_command::prepare(&run, found, &files)?;
            if run.command.terminal {
                return Ok(Some(ready));
            }
            custom_command::start(&ready, events).map(|()| None)
        })
        .await
    }

    fn progress_callback(&self, ticket: Ticket) -> impl Fn(u64, Option<u64>) + Send + Sync + use<> {
        let events = self.events.clone();
        let pace = Mutex::new(ProgressThrottle::default());
        move |done, total| {
            let mut pace = pace.lock();
            if pace.is_due(Instant::now()) {
                let progress = RequestProgress { ticket: ticket.clone(), done, total };
                // A send fails only while the program is ending.
                let _ = events.send(WorkerEvent::Progress(progress));
            }
        }
    }
}

/// Reads a folder of this machine in the background.
pub(crate) async fn read_folder(query: FolderQuery) -> Result<FolderListing, Failure> {
    run_blocking(move || list_folder(query)).await
}

fn list_folder(query: FolderQuery) -> Result<FolderListing, Failure> {
    let path = &query.folder;
    let to_failure =
        |error: io::Error| Failure::local(format!("cannot list {}: {error}", path.display()));
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(to_failure)? {
        let entry = entry.map_err(to_failure)?;
        if query.accepts(&entry.file_name().to_string_lossy()) {
            entries.extend(read_entry(&entry));
        }
    }
    entries.sort_by_cached_key(|entry| (entry.name.as_str().to_lowercase(), entry.name.clone()));
    let omitted = entries.len().saturating_sub(FolderListing::MAX_ENTRIES);
    entries.truncate(FolderListing::MAX_ENTRIES);
    Ok(FolderListing { path: query.folder, entries, omitted })
}

/// Reads a directory entry. Returns `None` for broken links and for anything that is neither a file
/// nor a folder.
fn read_entry(entry: &fs::DirEntry) -> Option<FolderEntry> {
    let metadata = fs::metadata(entry.path()).ok()?;
    (metadata.is_file() || metadata.is_dir()).then(|| FolderEntry {
        name: SafeText::file_name(&entry.file_name().to_string_lossy()),
        file_name: entry.file_name(),
        is_folder: metadata.is_dir(),
        bytes: metadata.len(),
    })
}

const MIN_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(super) struct ProgressThrottle {
    last_report: Option<Instant>,
}

impl ProgressThrottle {
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.last_report.is_none_or(|latest| now >= latest + MIN_INTERVAL);
        if due {
            self.last_report = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests;
