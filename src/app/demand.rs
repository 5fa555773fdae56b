//! Reads by demand: after every event, what is visible decides what is asked for.
//!
//! No action has to remember to load anything, nothing is asked for twice, and scrolling fast
//! leaves nothing behind, because pictures that are no longer visible are cancelled here.
//! Polling is the same question: a value that has grown too old is missing.

use std::time::Duration;

use crate::{
    app::{App, Effect, Moment, job::Stage, view::sights::Visible},
    message::{Lane, Request},
};
use tessera_model::{Book, Failure, Search, cadence::Watch};

/// A read that is missing or too old now, or will be at a later moment.
pub(in crate::app) struct Want {
    lane: Lane,
    request: Request,
    pub(in crate::app) due: Moment,
}

impl App {
    /// Asks for what is missing, lets go of what is no longer wanted, and sets the next wake.
    pub(in crate::app) fn settle(&mut self, effects: &mut Vec<Effect>) {
        self.track_jobs(effects);
        self.filter_as_typed();
        self.keep_place();
        self.keep_history(effects);
        let pictures = self.visible_pictures();
        self.mark_pages_that_came(effects);
        self.let_go(&pictures, effects);
        let mut wake = self.notices.next_end();
        for want in self.wants() {
            if self.tickets.is_open(&want.lane) {
                continue;
            }
            if want.due <= self.now {
                self.send(want.lane, want.request, effects);
            } else {
                wake = Some(wake.map_or(want.due, |earlier| earlier.min(want.due)));
            }
        }
        for picture in pictures {
            self.ask_for_picture(picture, effects);
        }
        let wake = wake.into_iter().chain(self.next_second()).min();
        if wake != self.wake {
            self.wake = wake;
            effects.extend(wake.map(Effect::WakeAt));
        }
    }

    fn wants(&self) -> Vec<Want> {
        let mut wants: Vec<Want> = self.datasets_want().into_iter().collect();
        wants.extend(self.enrichment_want());
        wants.extend(self.page_want());
        wants.extend(self.basket_wants());
        wants.extend(self.jobs_want());
        wants.extend(self.export_wants());
        wants.extend(self.folder_want());
        wants.extend(self.views_want());
        wants
    }

    /// The list of datasets, again and again while it is watched.
    pub(in crate::app) fn datasets_want(&self) -> Option<Want> {
        let moving = self.store.list().iter().any(|dataset| dataset.status.is_moving());
        let followed = self
            .store
            .jobs
            .values()
            .any(|job| matches!(job.stage, Stage::Following | Stage::Queued(_)));
        let watch = if moving || followed { Watch::MovingDatasets } else { Watch::RestingDatasets };
        let datasets = &self.store.datasets;
        // Whoever does not watch wants to know all the same when a lost service is back.
        let asks = self.watching || followed || datasets.failures() > 0;
        let due = datasets.due(
            asks.then(|| self.patience(self.setup.cadence.interval(watch, datasets.failures()))),
        )?;
        Some(Want { lane: Lane::Datasets, request: Request::Datasets, due })
    }

    /// A window that nobody looks at asks less often (M22).
    fn patience(&self, interval: Duration) -> Duration {
        if self.attended { interval } else { self.setup.cadence.unattended(interval) }
    }

    /// The models run over the selected dataset, where its status is shown.
    fn enrichment_want(&self) -> Option<Want> {
        let id = self.areas().status.and(self.selected_dataset())?.id;
        let due = match self.store.enrichments.get(&id) {
            None => Moment::ZERO,
            Some(enrichment) => enrichment.due(None)?,
        };
        Some(Want { lane: Lane::Enrichment(id), request: Request::Enrichment(id), due })
    }

    /// The page on screen. A good one is kept until it is invalidated; a failed one is asked for
    /// again by itself only when the connection was to blame.
    fn page_want(&self) -> Option<Want> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        let search = &view.search;
        let due =
            match self.store.pages.get(search) {
                None => Moment::ZERO,
                Some(page) => {
                    let broken = page.failure().is_some_and(Failure::is_connection);
                    page.due(broken.then(|| {
                        self.setup.cadence.interval(Watch::RestingDatasets, page.failures())
                    }))?
                }
            };
        let (lane, request) = (Lane::Page(search.clone()), Request::Explore(search.clone()));
        Some(Want { lane, request, due })
    }

    /// What was marked in the open dataset, and the page whose clusters are to be marked next.
    fn basket_wants(&self) -> impl Iterator<Item = Want> {
        let book = self.basket_to_recall();
        let recall = book.map(|book| (Lane::Recall(book), Request::Recall(book)));
        let page = self.page_to_mark();
        let page = page.map(|next| (Lane::Page(next.clone()), Request::Explore(next.clone())));
        let wants = recall.into_iter().chain(page);
        wants.map(|(lane, request)| Want { lane, request, due: Moment::ZERO })
    }

    /// The folder in which a path is being typed. It is read once: leaving it and coming back
    /// reads it again.
    fn folder_want(&self) -> Option<Want> {
        let folder = self.wanted_folder()?;
        let known = self.store.folder.as_ref().filter(|(path, _)| *path == folder);
        let due = known.map_or(Some(Moment::ZERO), |(_, listed)| listed.due(None))?;
        Some(Want { lane: Lane::Folder(folder.clone()), request: Request::Folder(folder), due })
    }

    fn jobs_want(&self) -> Option<Want> {
        let book = self.jobs_to_recall()?;
        Some(Want { lane: Lane::Recall(book), request: Request::Recall(book), due: Moment::ZERO })
    }

    /// The saved views, once somebody looks where they are shown.
    fn views_want(&self) -> Option<Want> {
        let (lane, request) = (Lane::Recall(Book::Views), Request::Recall(Book::Views));
        self.wants_views().then_some(Want { lane, request, due: Moment::ZERO })
    }

    fn export_wants(&self) -> impl Iterator<Item = Want> {
        self.store.jobs.values().filter_map(|job| {
            let (Stage::Running(task, _), Some(due)) =
                (&job.stage, job.due(self.clock(), self.setup.cadence))
            else {
                return None;
            };
            let request = Request::ExportStatus(job.dataset, *task);
            Some(Want { lane: Lane::Export(job.id), request, due })
        })
    }

    /// Cancels the pages, folders and pictures that are awaited but not on screen any more.
    fn let_go(&mut self, pictures: &[Visible], effects: &mut Vec<Effect>) {
        let pages = [self.view().map(|view| &view.search), self.page_to_mark()];
        let pages: Vec<Search> = pages.into_iter().flatten().cloned().collect();
        let folder = self.wanted_folder().map(Lane::Folder);
        let stale: Vec<Lane> = self
            .tickets
            .lanes()
            .filter(|lane| match lane {
                Lane::Picture(..) => !pictures.iter().any(|wanted| wanted.lane() == **lane),
                Lane::Page(search) => !pages.contains(search),
                Lane::Folder(_) => Some(*lane) != folder.as_ref(),
                _ => false,
            })
            .cloned()
            .collect();
        for lane in stale {
            self.tickets.cancel(&lane);
            effects.push(Effect::Cancel(lane));
        }
    }
}
