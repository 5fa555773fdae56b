//! Applies responses to the state. Only responses with a current ticket get here. Come here to change what a response
//! does.

use std::collections::HashSet;

use tessera_config::{DeploymentKind, input::Action};
use tessera_model::{
    ClusterId, Dataset, DatasetId, Failure, FailureKind, NO_SECRET, Page, SafeText, Search,
    StateKey, is_same_name,
};

use crate::{
    app::{
        App, Job, Level, LoginState, Pane,
        availability::unavailable_reason,
        basket::{
            count_with_noun,
            select::{rest_selected, select_all_page_failed},
        },
        custom_commands::custom_command_started,
        jobs::{
            jobs_loaded,
            responses::{
                advance_dataset_jobs, download_finished, export_failed, export_poll_failed,
                export_reported, operation_accepted,
            },
        },
        overlay::{
            add_media::AddMediaForm,
            archive_inspector::ArchiveInspector,
            caption::CaptionSearchForm,
            check::QualityCheck,
            duplicate_review::DuplicateReview,
            export::ExportForm,
            fact_sheet::FactSheet,
            file_actions,
            file_picker::complete_path,
            get_model,
            login::LoginForm,
            manage_dataset,
            map::MapView,
            palette::refresh_palette,
            prompt::{TextPrompt, diverse_selected, selection_loaded},
            saved_views::saved_views_loaded,
            split::SplitForm,
        },
        service_data::LoadedState,
        session::restore_tabs,
        tagging::tags_changed,
    },
    job::JobId,
    message::{ImportedLogin, Lane, Payload, Request, RequestProgress},
};

/// Returns what the payload of a response contains. A payload of another kind is an internal error.
macro_rules! content {
    ($result:expr, $kind:ident) => {
        $result.and_then(|payload| match payload {
            Payload::$kind(content) => Ok(content),
            _ => Err(Failure::internal_error()),
        })
    };
}

impl App {
    pub(in crate::app) fn handle_progress(&mut self, progress: &RequestProgress) {
        let RequestProgress { ticket, done, total } = progress;
        if let Lane::Download(id) | Lane::Upload(id) | Lane::GetModel(id) | Lane::ApplyModel(id) =
            ticket.lane
        {
            let apply = |job: &mut Job| job.transfer_progressed(*done, *total);
            self.jobs.transition(id, apply, &mut self.outbox);
        }
    }

    /// Applies a response. A failure that nothing else shows is a notification.
    #[expect(clippy::too_many_lines, reason = "a table: what each response does")]
    pub(in crate::app) fn handle_response(&mut self, lane: Lane, result: Result<Payload, Failure>) {
        match (lane, result) {
            (Lane::Datasets, Ok(Payload::Datasets(list, unreadable))) => {
                self.datasets_loaded(list, unreadable);
                self.refresh_pinned();
                self.submit_held_form();
            }
            (Lane::Datasets, Err(failure)) => {
                self.keep_form_open(&failure);
                self.refresh_pinned();
                self.service_data.datasets.finish(self.outbox.now, Err(failure));
            }
            (Lane::Dataset(_), Ok(Payload::Dataset(dataset))) => self.dataset_loaded(*dataset),
            (Lane::Dataset(id), Err(failure)) if self.service_data.pinned.contains(&id) => {
                self.pinned_dataset_failed(id, &failure);
            }
            // Not every deployment reports enrichments. The status then shows `?`.
            (Lane::Enrichment(dataset), result) => {
                let known = self.service_data.enrichments.entry(dataset).or_default();
                known.finish(self.outbox.now, content!(result, Enrichment));
            }
            // Not every deployment counts media. The facets then count the loaded clusters.
            (Lane::Overview(dataset, entity), result) => {
                let known = self.service_data.overviews.entry((dataset, entity)).or_default();
                known.finish(self.outbox.now, content!(result, Overview));
            }
            (Lane::Record(dataset), Ok(Payload::Record(fields))) => {
                FactSheet::show_record(self, dataset, fields);
            }
            (Lane::ConfirmRemoval(dataset), Ok(Payload::LocalDataset(local))) => {
                manage_dataset::confirm_removal(self, dataset, &local);
            }
            (Lane::FilePatterns(dataset), Ok(Payload::LocalDataset(local))) => {
                manage_dataset::open_file_patterns(self, dataset, &local.patterns);
            }
            (Lane::Manage(_), Ok(Payload::DatasetRemoved(uploads))) => {
                manage_dataset::dataset_removed(self, uploads);
            }
            (Lane::Manage(_), Ok(Payload::DatasetRenamed(name))) => {
                manage_dataset::dataset_changed(self, format!("the dataset is called {name} now"));
            }
            (Lane::Manage(_), Ok(Payload::Rescanned(rescan))) => {
                manage_dataset::rescanned(self, rescan);
            }
            (Lane::Manage(_), Ok(Payload::IndexingCancelled(name))) => {
                manage_dataset::dataset_changed(self, format!("cancelled the indexing of {name}"));
            }
            (Lane::FileAction(dataset), Ok(Payload::FileActionPlanned(preview))) => {
                DuplicateReview::action_planned(self, dataset, preview);
            }
            (Lane::FileAction(dataset), Ok(Payload::UndoPlanned(action))) => {
                file_actions::undo_planned(self, dataset, action);
            }
            (Lane::FileAction(dataset), Ok(Payload::FileActionFinished(action, outcome))) => {
                file_actions::finished(self, dataset, &action, &outcome);
            }
            (Lane::FileAction(_), Ok(Payload::FileActionUndone(outcome))) => {
                file_actions::undone(self, &outcome);
            }
            (Lane::FileAction(dataset), Ok(Payload::Duplicates(groups))) => {
                DuplicateReview::groups_found(&mut self.overlays, dataset, &groups);
            }
            (Lane::FileAction(dataset), Err(failure)) => {
                DuplicateReview::finding_failed(&mut self.overlays, dataset);
                self.outbox.notify_failure(&failure);
            }
            (Lane::Tags(dataset), result) => {
                let known = self.tagging.tags.entry(dataset).or_default();
                known.finish(self.outbox.now, content!(result, Tags));
                refresh_palette(self);
            }
            (Lane::ChangeTags(_), result) => tags_changed(self, content!(result, TagsChanged)),
            (Lane::Manage(_), Err(failure)) => {
                self.outbox.notify_failure(&failure);
                // A lost response may have been that of a change that was made.
                self.service_data.datasets.invalidate();
            }
            (Lane::Page(search), Ok(Payload::Page(page))) => {
                self.query.warn_if_max_score_violated(&search, &page, &mut self.outbox);
                self.baskets.confirm_selected(search.dataset, &page, &mut self.outbox);
                self.query.record_known_values(&search, &page);
                self.page_loaded(&search, page);
                // Pictures of a map take only one place among the pages.
                if MapView::page_to_load(self).is_some_and(|of_map| of_map == search) {
                    self.results.pages.demote(&search);
                }
            }
            (Lane::Page(search), Err(failure)) => {
                select_all_page_failed(self, &search, &failure);
                self.results.scan_failed(&search, &failure);
                self.page_failed(search, failure);
            }
            (Lane::Members(search, cluster), Ok(Payload::Members(members))) => {
                self.results.members_loaded(&search, cluster, members, self.outbox.now);
            }
            // The line above the members says why there are no more.
            (Lane::Members(search, cluster), Err(failure)) => {
                let (is_local, now) = (self.has_local_service(), self.outbox.now);
                self.results.members.page_failed(&search, cluster, failure, is_local, now);
            }
            (Lane::Map(search), result) => {
                MapView::loaded(&mut self.overlays, &search, content!(result, Map));
            }
            (Lane::Anchor, Ok(Payload::Anchor(anchor))) => self.query_image_registered(anchor),
            (Lane::Anchor, Err(failure)) => {
                self.results.registering = None;
                self.outbox.notify_failure(&failure);
            }
            // The tile of the picture shows why it cannot be drawn.
            (Lane::Picture(view, canvas), result) => {
                let picture = content!(result, Picture).map_err(|failure| failure.message);
                self.service_data.pictures.insert(view, canvas, picture);
            }
            (Lane::OpenExternally, Ok(Payload::Done)) => {
                self.outbox.notify(Level::Success, "opened in the desktop's image viewer");
            }
            (Lane::CustomCommand, Ok(Payload::CustomCommandStarted(ready))) => {
                custom_command_started(&mut self.outbox, ready);
            }
            (Lane::StartJob(id) | Lane::Upload(id), Ok(Payload::Accepted(accepted))) => {
                operation_accepted(self, id, accepted);
            }
            (Lane::StartJob(id) | Lane::Upload(id), Err(failure)) => {
                self.job_start_failed(id, &failure);
            }
            (Lane::Preflight, result) => {
                AddMediaForm::preflight_loaded(&mut self.overlays, content!(result, Preflight));
            }
            // A poll may have reported the end of the export before.
            (Lane::CancelExport(id), Ok(Payload::Export(_))) if !self.jobs.is_exporting(id) => {}
            (Lane::CancelExport(_), Err(failure)) => {
                self.outbox.notify_failure(&failure);
                self.jobs.poll_now(self.panes.focus);
            }
            (
                Lane::StartJob(id) | Lane::CancelExport(id) | Lane::Export(id),
                Ok(Payload::Export(task)),
            ) => {
                export_reported(self, id, task);
            }
            (Lane::Export(id), Err(failure)) => export_poll_failed(self, id, &failure),
            (Lane::Download(id), result) => {
                download_finished(self, id, content!(result, Downloaded));
            }
            (Lane::Folder(query), result) => {
                let listing = self.service_data.folder.entry(query);
                listing.finish(self.outbox.now, content!(result, Folder));
                complete_path(self);
            }
            (Lane::Inspect, result) => {
                let loaded = content!(result, Inspection).map(|loaded| *loaded);
                ArchiveInspector::inspection_loaded(self, loaded);
            }
            (Lane::Curl, Ok(Payload::Curl(command))) => {
                self.outbox.copy_text("curl command", &command.into());
            }
            (Lane::SaveState(_), Ok(Payload::Done)) => {}
            (Lane::LoadState(key), result) => {
                let loaded = content!(result, StateLoaded);
                let loaded = loaded.inspect_err(|failure| self.outbox.notify_failure(failure));
                self.state_loaded(key, loaded);
            }
            (Lane::SaveSelection, Ok(Payload::SelectionSaved(path))) => {
                self.outbox.selection_saved(&path);
            }
            (Lane::LoadSelection, Ok(Payload::Selection(dataset, selection))) => {
                selection_loaded(self, dataset, &selection);
            }
            (Lane::SelectionNames, Ok(Payload::SelectionNames(names))) => {
                TextPrompt::names_loaded(&mut self.overlays, names);
            }
            (Lane::SelectDiverse(_), Ok(Payload::Selection(dataset, chosen))) => {
                diverse_selected(self, dataset, &chosen);
            }
            (Lane::Rest(_), Ok(Payload::Selection(dataset, rest))) => {
                rest_selected(self, dataset, &rest);
            }
            // A failure is not shown, because the poll of the datasets shows it.
            (Lane::LocalFacts(dataset), result) => {
                let known = self.service_data.local_datasets.entry(dataset).or_default();
                known.finish(self.outbox.now, content!(result, LocalDataset));
            }
            (Lane::Split(dataset), Ok(Payload::SetsSaved(sets))) => {
                SplitForm::sets_saved(self, dataset, &sets);
            }
            (Lane::Split(dataset), Ok(Payload::SetNamesTaken(names))) => {
                SplitForm::names_taken(self, dataset, names);
            }
            (Lane::Check(dataset), Ok(Payload::Checked(results))) => {
                QualityCheck::checked(self, dataset, results);
            }
            (Lane::CheckTarget, Ok(Payload::Done)) => ExportForm::target_checked(self, Ok(())),
            (Lane::CheckTarget, Err(failure)) => ExportForm::target_checked(self, Err(failure)),
            (lane @ Lane::ExportPreview(..), result) => {
                ExportForm::preview_loaded(self, lane, content!(result, ExportPreview));
            }
            (Lane::PlanModel, Ok(Payload::ModelPlanned(plan))) => {
                get_model::open_confirmation(self, plan);
            }
            (Lane::GetModel(id), result) => {
                get_model::downloaded(self, id, content!(result, ModelFolder));
            }
            (Lane::ApplyModel(id), result) => {
                let dataset = content!(result, Dataset).map(|dataset| *dataset);
                get_model::applied(self, id, dataset);
            }
            (Lane::LoginPlaces, Ok(Payload::LoginPlaces(places))) => {
                LoginForm::places_loaded(self, places);
            }
            (Lane::LoginCheck, Ok(Payload::Done)) => LoginForm::accepted(self),
            (Lane::LoginImport, Ok(Payload::LoginImported(login))) => {
                LoginForm::imported(self, login);
            }
            (lane @ (Lane::LoginPlaces | Lane::LoginCheck | Lane::LoginImport), Err(failure)) => {
                LoginForm::failed(self, &lane, &failure);
            }
            // Every other lane is named, so that the compiler asks about a new one.
            (
                Lane::Dataset(_)
                | Lane::Record(_)
                | Lane::ConfirmRemoval(_)
                | Lane::FilePatterns(_)
                | Lane::OpenExternally
                | Lane::CustomCommand
                | Lane::Curl
                | Lane::SaveState(_)
                | Lane::SaveSelection
                | Lane::LoadSelection
                | Lane::SelectionNames
                | Lane::SelectDiverse(_)
                | Lane::Rest(_)
                | Lane::Split(_)
                | Lane::Check(_)
                | Lane::PlanModel,
                Err(failure),
            ) => self.outbox.notify_failure(&failure),
            (lane, Ok(_)) => {
                let text = format!("internal error: a response of the wrong kind for {lane:?}");
                self.outbox.notify(Level::Error, text);
            }
        }
    }

    fn refresh_pinned(&mut self) {
        for id in self.service_data.pinned.clone() {
            self.outbox.send(Lane::Dataset(id), Request::Dataset(id));
        }
    }

    fn state_loaded(&mut self, key: StateKey, result: LoadedState) {
        match key {
            StateKey::Basket(dataset) => self.baskets.loaded(dataset, result, self.outbox.now),
            StateKey::KeptTags(dataset) => {
                self.tagging.kept.loaded(dataset, result, self.outbox.now);
            }
            StateKey::History => self.history_loaded(result),
            StateKey::Jobs => jobs_loaded(self, result),
            StateKey::Views => saved_views_loaded(self, result),
            StateKey::ModelOffer => {
                let is_dismissed = result.map(|value| value.is_some());
                self.model_offer.is_dismissed.finish(self.outbox.now, is_dismissed);
            }
            // The session was loaded before the start.
            StateKey::Session => {}
        }
    }

    /// Stores the loaded list of datasets. Pinned datasets that the service does not list are kept from before. The
    /// first list opens a dataset.
    pub(in crate::app) fn datasets_loaded(&mut self, mut list: Vec<Dataset>, unreadable: usize) {
        if unreadable > 0 && unreadable != self.service_data.unreadable_datasets {
            let rows = count_with_noun(unreadable, "row", "rows");
            let text = format!("{rows} of the list of datasets could not be parsed");
            self.outbox.notify(Level::Warning, text);
        }
        let datasets = &self.service_data.datasets;
        let was_down = datasets.failure().is_some_and(Failure::is_connection_failure);
        if was_down && datasets.failures() > 1 {
            self.outbox.notify(Level::Success, "the service responds again");
            self.service_data.pictures.forget_failures();
        }
        self.service_data.unreadable_datasets = unreadable;
        for dataset in &list {
            self.apply_record(dataset);
        }
        for id in &self.service_data.pinned {
            if !list.iter().any(|dataset| dataset.id == *id) {
                list.extend(self.service_data.dataset(*id).cloned());
            }
        }
        let first = self.dataset_to_open(&list);
        let removed = self.removed_dataset(&list, unreadable);
        self.service_data.datasets.finish(self.outbox.now, Ok(list));
        if let Some(name) = removed {
            let mut text = format!("{name} was removed from the index");
            // A viewer or a dialog of the removed dataset would act on another one.
            self.viewer = None;
            self.overlays.close();
            if let Some(next) = first {
                if let Some(shown) = self.service_data.dataset(next) {
                    text = format!("{text}; {} is shown now", shown.name);
                }
                self.open_dataset(next);
                // Keys that are meant for the removed dataset must not act on another one.
                self.panes.focus = Pane::Datasets;
            }
            self.outbox.notify(Level::Warning, text);
        }
        if let (None, Some(first)) = (self.results.view(), first) {
            self.open_dataset(first);
            if let Some(session) = self.setup.session.take() {
                restore_tabs(self, session, first);
            }
            self.panes.focus = self.setup.start.pane.take().unwrap_or(Pane::Results);
        }
        advance_dataset_jobs(self);
    }

    /// Stores a loaded page. Clusters that an earlier page of the same clustering contains are not repeated.
    fn page_loaded(&mut self, search: &Search, mut page: Page) {
        let earlier = self.results.pages.pages_of(search).into_iter();
        let earlier = earlier.take_while(|(number, _)| *number < search.page);
        let earlier = earlier.filter_map(|(_, page)| page.current());
        let mut known: HashSet<ClusterId> =
            earlier.flat_map(|page| &page.clusters).map(|cluster| cluster.id).collect();
        page.drop_repeated(&mut known);
        self.results.warn_unclustered(search.dataset, &self.service_data, &mut self.outbox);
        self.results.pages.entry(search.clone()).finish(self.outbox.now, Ok(page));
        self.results.members.forget(search);
        self.history.record_results(search, &self.results);
        self.results.show_requested_page();
    }

    /// Stores the failure of a page. If the service requires a query, the caption search opens. It opens only once, so
    /// that a refresh does not open it while the user types.
    fn page_failed(&mut self, search: Search, failure: Failure) {
        let page = self.results.pages.entry(search);
        let is_first = page.failure().is_none_or(Failure::is_connection_failure);
        page.finish(self.outbox.now, Err(failure));
        let needs_query = is_first && self.results.needs_query(&self.service_data);
        if needs_query && !self.overlays.is_open() {
            CaptionSearchForm::open(&mut self.overlays, &self.results);
        }
    }

    /// Opens the review of near-duplicates that the command line asked for. Until the dataset is READY and the
    /// selection is loaded, the review waits.
    pub(in crate::app) fn open_requested_review(&mut self) {
        if !self.setup.start.review || self.dataset().is_none() || self.overlays.is_open() {
            return;
        }
        let reason = unavailable_reason(self, Action::ReviewDuplicates);
        let may_change = self.setup.deployment == DeploymentKind::Local && !self.setup.read_only;
        self.setup.start.review = reason.is_some() && may_change;
        match reason {
            None => self.perform(Action::ReviewDuplicates),
            Some(reason) if !may_change => self.outbox.notify(Level::Warning, reason),
            Some(_) => {}
        }
    }

    /// Returns the name of the open dataset if it is in the previous list and not in the new one, because this program
    /// or another one has removed it.
    fn removed_dataset(&self, list: &[Dataset], unreadable: usize) -> Option<SafeText> {
        let open = self.results.view()?.search.dataset;
        let known = self.service_data.dataset(open)?;
        let is_listed = list.iter().any(|dataset| dataset.id == open);
        let is_local = self.has_local_service();
        (is_local && !is_listed && unreadable == 0).then(|| known.name.clone())
    }

    /// Makes the results of a dataset load again after a change, except for a page that shows the change. Reads that were
    /// sent before the change are sent again, because their responses may be older.
    pub(in crate::app) fn reload_results(&mut self, dataset: DatasetId, current: Option<&Search>) {
        self.results.pages.invalidate(dataset, current);
        self.outbox.cancel_matching(|lane| match lane {
            Lane::Page(search) | Lane::Members(search, _) => search.dataset == dataset,
            Lane::Overview(id, _) | Lane::Tags(id) => *id == dataset,
            _ => false,
        });
    }

    /// Learns from a record of a dataset that was loaded, and invalidates everything that the record shows to be out of
    /// date.
    fn apply_record(&mut self, dataset: &Dataset) {
        self.service_data.observed.observe(self.outbox.now, dataset);
        let Some(before) = self.service_data.dataset(dataset.id).cloned() else { return };
        if before.status != dataset.status {
            self.service_data.enrichments.remove(&dataset.id);
        }
        if dataset.is_changed_since(&before) {
            if dataset.status.is_busy() {
                // Another change follows. Reads that are slower than the polls would never end if each change
                // cancelled them.
                self.results.pages.invalidate(dataset.id, None);
            } else {
                self.reload_results(dataset.id, None);
            }
            self.service_data.overviews.retain(|(id, _), _| *id != dataset.id);
        }
        if dataset.is_reclustered_since(&before) {
            self.baskets.flag_stale(dataset.id, &mut self.outbox);
            self.tagging.kept.flag_stale(dataset.id, &mut self.outbox);
        }
    }

    /// Returns the dataset that the user named, by id or by name. Without a name, this is the dataset of the last
    /// session, or the first of the list.
    fn dataset_to_open(&mut self, list: &[Dataset]) -> Option<DatasetId> {
        let former = self.setup.session.as_ref().and_then(|session| session.dataset);
        let is_listed = |id: &DatasetId| list.iter().any(|dataset| dataset.id == *id);
        let first = former.filter(is_listed).unwrap_or(list.first()?.id);
        let Some(named) =
            self.setup.start.dataset.as_ref().filter(|_| self.results.view().is_none())
        else {
            return Some(first);
        };
        let is_named = |dataset: &&Dataset| {
            dataset.id.to_string() == *named || is_same_name(dataset.name.as_str(), named.as_str())
        };
        let named_dataset = list.iter().find(is_named).map(|dataset| dataset.id);
        if named_dataset.is_none() {
            self.outbox.notify(Level::Warning, format!("no dataset has the name or id {named}"));
        }
        named_dataset.or(Some(first))
    }

    /// Adds or updates a dataset in the list. A dataset that was just opened by its id is shown.
    pub(in crate::app) fn dataset_loaded(&mut self, dataset: Dataset) {
        let id = dataset.id;
        self.apply_record(&dataset);
        let mut list = self.service_data.dataset_list().to_vec();
        match list.iter_mut().find(|known| known.id == id) {
            Some(known) => *known = dataset,
            None => list.push(dataset),
        }
        self.service_data.datasets.replace(list);
        if self.service_data.pinned.insert(id) {
            self.open_dataset(id);
            self.panes.focus = Pane::Results;
        }
    }

    /// Handles the failure to load a pinned dataset. A dataset that no longer exists is removed from the list. Other
    /// failures are not shown, because the log has them and the dataset is polled again.
    fn pinned_dataset_failed(&mut self, id: DatasetId, failure: &Failure) {
        let known = self.service_data.dataset(id).filter(|_| failure.kind == FailureKind::NotFound);
        let Some(name) = known.map(|dataset| dataset.name.clone()) else { return };
        let mut list = self.service_data.dataset_list().to_vec();
        list.retain(|dataset| dataset.id != id);
        self.service_data.datasets.replace(list);
        self.outbox.notify(Level::Warning, format!("{name} is not listed any more: {failure}"));
    }

    /// Handles the rejected start of a job, or a start whose response was lost.
    pub(in crate::app) fn job_start_failed(&mut self, id: JobId, failure: &Failure) {
        let started =
            self.jobs.transition(id, |job| job.start_failed(failure.clone()), &mut self.outbox);
        if started.is_none() || self.jobs.get(id).is_some_and(|job| job.export().is_some()) {
            return export_failed(self, id, failure);
        }
        // The dataset is loaded again, because it shows whether a lost request took effect.
        self.service_data.datasets.invalidate();
        self.outbox.notify_failure(failure);
        if matches!(failure.kind, FailureKind::Invalid | FailureKind::Rejected) {
            AddMediaForm::reopen(&mut self.overlays, id, failure);
        }
    }

    /// Finds out from a response whether the service accepts the login. This is called for every response, so that a
    /// rejection is shown everywhere at once.
    pub(in crate::app) fn observe_login(&mut self, lane: &Lane, result: &Result<Payload, Failure>) {
        if !lane.carries_login() {
            return;
        }
        match result {
            Err(failure) if failure.kind == FailureKind::Unauthorized => {
                let is_new = self.login.rejection.replace(failure.clone()).is_none();
                if is_new && failure.code == Some(NO_SECRET) && !self.overlays.is_open() {
                    LoginForm::open(self);
                } else if is_new {
                    let text =
                        format!("the service rejects the login (L opens it): {}", failure.message);
                    self.outbox.notify(Level::Warning, text);
                }
            }
            Err(failure) if !failure.shows_accepted_login() => {}
            Ok(_) | Err(_) => {
                if self.login.rejection.take().is_some() {
                    self.outbox.notify(Level::Success, "the login is accepted again");
                    self.refresh();
                }
            }
        }
    }

    /// Switches to another key pair.
    pub(in crate::app) fn login_imported(&mut self, login: ImportedLogin) {
        let place = login.stored_in.map_or_else(
            || "it is not stored, and ends with this program".to_owned(),
            |place| format!("its secret is in {place}"),
        );
        let message = login.message.map(|text| format!(" ({text})")).unwrap_or_default();
        let text = format!("logged in with the key {}; {place}{message}", login.api_key);
        self.outbox.notify(Level::Success, text);
        self.login = LoginState { key: Some(login.api_key), ..LoginState::default() };
        self.refresh();
    }
}
