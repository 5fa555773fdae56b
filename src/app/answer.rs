//! What each answer changes. Only answers whose ticket is current get here.

use crate::{
    app::{App, Effect, Job, Level, Pane},
    message::{Answer, Lane, Progress},
};
use tessera_model::{Book, Dataset, DatasetId, Failure, FailureKind};

impl App {
    /// Puts an answer where it belongs.
    #[expect(clippy::too_many_lines, reason = "a table: one arm per lane and outcome")]
    pub(in crate::app) fn answer(
        &mut self,
        lane: Lane,
        result: Result<Answer, Failure>,
        effects: &mut Vec<Effect>,
    ) {
        match (lane, result) {
            (Lane::Datasets, Ok(Answer::Datasets(list, unreadable))) => {
                let list = self.with_pinned(list);
                self.datasets_came(list, unreadable, effects);
                self.ask_for_pinned(effects);
                self.release(effects);
            }
            (Lane::Datasets, Err(failure)) => {
                self.keep_held(&failure);
                self.ask_for_pinned(effects);
                self.store.datasets.fail(self.now, failure);
            }
            (Lane::Page(search), Ok(Answer::Page(page))) => {
                self.check_direction(&search, &page);
                self.confirm_marks(search.dataset, &page, effects);
                self.note_values(&search, &page);
                self.page_came(search, page);
            }
            (Lane::Page(search), Err(failure)) => {
                self.page_to_mark_failed(&search, &failure);
                self.page_failed(search, failure);
            }
            (Lane::Picture(sight, canvas), Ok(Answer::Picture(picture))) => {
                self.store.pictures.insert(sight, canvas, Ok(picture));
            }
            // A picture that cannot be shown is a fact about the picture: its tile says so.
            (Lane::Picture(sight, canvas), Err(failure)) => {
                self.store.pictures.insert(sight, canvas, Err(failure.sentence));
            }
            (Lane::Folder(path), Ok(Answer::Folder(folder))) => {
                self.store.folder_at(path).succeed(self.now, folder);
            }
            (Lane::Folder(path), Err(failure)) => {
                self.store.folder_at(path).fail(self.now, failure);
            }
            (Lane::Anchor, Ok(Answer::Anchor(anchor))) => self.registered(anchor),
            (Lane::Anchor, Err(failure)) => {
                self.results.registering = None;
                self.notices.fail(self.now, &failure);
            }
            (Lane::Original, Ok(Answer::Original(bytes))) => effects.push(Effect::FullSize(bytes)),
            (Lane::Original, Err(failure)) => self.notices.fail(self.now, &failure),
            (Lane::Start(id), Ok(Answer::Export(task))) => {
                self.job_started(id, Ok(Some(task)), effects);
            }
            (Lane::Start(id) | Lane::Upload(id), Ok(Answer::Accepted)) => {
                self.job_started(id, Ok(None), effects);
            }
            (Lane::Start(id) | Lane::Upload(id), Err(failure)) => {
                self.job_started(id, Err(failure), effects);
            }
            (Lane::Preflight, Ok(Answer::Preflight(found))) => self.preflight_came(Ok(found)),
            (Lane::Inspect, Ok(Answer::Inspection(found))) => self.inspected(Ok(*found)),
            (Lane::Inspect, Err(failure)) => self.inspected(Err(failure)),
            (Lane::Preflight, Err(failure)) => self.preflight_came(Err(failure)),
            (Lane::Export(id), Ok(Answer::Export(task))) => {
                self.export_moved(id, Job::polled, Ok(task), effects);
            }
            (Lane::Export(id), Err(failure)) => {
                self.export_moved(id, Job::polled, Err(failure), effects);
            }
            (Lane::Download(id), Ok(Answer::Downloaded(archive))) => {
                self.downloaded(id, Ok(archive));
            }
            (Lane::Download(id), Err(failure)) => self.downloaded(id, Err(failure)),
            (Lane::Curl, Ok(Answer::Curl(command))) => {
                self.copy_text("curl command", command, effects);
            }
            (Lane::Selection, Ok(Answer::SelectionSaved(path))) => self.selection_saved(&path),
            (Lane::Selection, Ok(Answer::Selection(dataset, selection))) => {
                self.selection_opened(dataset, &selection, effects);
            }
            (Lane::Dataset(_), Ok(Answer::Dataset(dataset))) => self.dataset_came(dataset),
            // One that was there before is asked for again and again; the log tells why it fails.
            (Lane::Dataset(id), Err(_)) if self.store.pinned.contains(&id) => {}
            (Lane::Outside, Ok(Answer::Outside)) => {
                self.notices.add(self.now, Level::Success, "handed to the viewer of the desktop");
            }
            (Lane::Record(dataset), Ok(Answer::Record(fields))) => {
                self.record_came(dataset, fields);
            }
            (Lane::Enrichment(dataset), Ok(Answer::Enrichment(enrichment))) => {
                self.store.enrichments.entry(dataset).or_default().succeed(self.now, enrichment);
            }
            // Not every deployment tells: the status then shows `?`, and the log says why.
            (Lane::Enrichment(dataset), Err(failure)) => {
                self.store.enrichments.entry(dataset).or_default().fail(self.now, failure);
            }
            (Lane::Keep(_), Ok(Answer::Kept)) => {}
            (Lane::Recall(Book::Views), Ok(Answer::Recalled(entry))) => {
                self.views_recalled(Ok(entry), effects);
            }
            (Lane::Recall(Book::Views), Err(failure)) => self.views_recalled(Err(failure), effects),
            (Lane::Recall(Book::Basket(dataset)), Ok(Answer::Recalled(entry))) => {
                self.basket_recalled(dataset, Ok(entry));
            }
            (Lane::Recall(Book::Jobs), Ok(Answer::Recalled(entry))) => {
                self.jobs_recalled(Ok(entry));
            }
            (Lane::Recall(Book::Jobs), Err(failure)) => self.jobs_recalled(Err(failure)),
            (Lane::Recall(Book::Basket(dataset)), Err(failure)) => {
                self.basket_recalled(dataset, Err(failure));
            }
            (Lane::Recall(Book::History), Ok(Answer::Recalled(entry))) => {
                self.history_recalled(Ok(entry));
            }
            (Lane::Recall(Book::History), Err(failure)) => self.history_recalled(Err(failure)),
            (
                Lane::Dataset(_)
                | Lane::Curl
                | Lane::Selection
                | Lane::Keep(_)
                | Lane::Record(_)
                | Lane::Outside,
                Err(failure),
            ) => {
                self.notices.fail(self.now, &failure);
            }
            (lane, Ok(_)) => self.mismatched(&lane),
        }
    }

    /// How far a transfer has come.
    pub(in crate::app) fn progress(&mut self, progress: &Progress) {
        if let Lane::Download(id) | Lane::Upload(id) = progress.ticket.lane {
            self.transferred(id, progress.done, progress.total);
        }
    }

    /// The list of datasets. A dataset whose status or size changed has new pages; the first list
    /// opens a dataset, so that nobody starts with an empty screen.
    fn datasets_came(&mut self, list: Vec<Dataset>, unreadable: usize, effects: &mut Vec<Effect>) {
        if unreadable > 0 && unreadable != self.store.unreadable_datasets {
            let text = format!("{unreadable} rows of the list of datasets could not be read");
            self.notices.add(self.now, Level::Warning, text);
        }
        if self.store.datasets.failures() > 1 {
            self.notices.add(self.now, Level::Success, "the service answers again");
            self.store.pictures.forget_failed();
        }
        self.store.unreadable_datasets = unreadable;
        for dataset in &list {
            let before = self.store.dataset(dataset.id);
            let changed = before.is_some_and(|then| {
                (&then.status, then.n_images) != (&dataset.status, dataset.n_images)
            });
            let regrouped = before.is_some_and(|then| dataset.is_regrouped_since(then));
            let turned = before.is_some_and(|then| then.status != dataset.status);
            self.store.seen.look(self.now, dataset);
            if turned {
                self.store.enrichments.remove(&dataset.id);
            }
            if changed {
                self.store.pages.invalidate(dataset.id);
            }
            if regrouped {
                self.doubt_basket(dataset.id, effects);
            }
        }
        let first = self.first_to_open(&list);
        self.store.datasets.succeed(self.now, list);
        if let (None, Some(first)) = (self.view(), first) {
            self.open_dataset(first);
            self.focus = self.setup.pane.take().unwrap_or(Pane::Results);
        }
        self.follow_datasets(effects);
    }

    /// The dataset that the person named, by id or by name; else the first of the list.
    fn first_to_open(&mut self, list: &[Dataset]) -> Option<DatasetId> {
        let first = list.first()?.id;
        let Some(named) = self.setup.dataset.as_ref().filter(|_| self.view().is_none()) else {
            return Some(first);
        };
        let is_named = |dataset: &&Dataset| {
            dataset.id.to_string() == *named || dataset.name.as_str() == named.as_str()
        };
        let wanted = list.iter().find(is_named).map(|dataset| dataset.id);
        if wanted.is_none() {
            let text = format!("no dataset of this list is called {named} or has it as its id");
            self.notices.add(self.now, Level::Warning, text);
        }
        wanted.or(Some(first))
    }

    /// An answer of the wrong kind is a mistake of this program; it is told, not hidden.
    fn mismatched(&mut self, lane: &Lane) {
        let failure = Failure::new(
            FailureKind::Unexpected,
            format!("an answer of the wrong kind for {lane:?}"),
        );
        self.notices.fail(self.now, &failure);
    }
}
