//! Reads by demand: after every event, what is visible decides what is asked for.
//!
//! No action has to remember to load anything, nothing is asked for twice, and scrolling fast
//! leaves nothing behind, because pictures that are no longer visible are cancelled here.
//! Polling is the same question: a value that has grown too old is missing.

use crate::{
    app::{App, Effect, Moment, areas::detail_picture, job::Stage},
    message::{Lane, Request},
    model::{
        Failure, Link, Preview, Search,
        cadence::{Watch, interval},
    },
    picture::{Canvas, Protocol},
};

/// A read that is missing or too old now, or will be at a later moment.
struct Want {
    lane: Lane,
    request: Request,
    due: Moment,
}

impl App {
    /// Asks for what is missing, lets go of what is no longer wanted, and sets the next wake.
    pub(in crate::app) fn settle(&mut self, effects: &mut Vec<Effect>) {
        self.track_jobs();
        self.keep_place();
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
        for (lane, link) in pictures {
            self.ask_for_picture(lane, link, effects);
        }
        if wake != self.wake {
            self.wake = wake;
            effects.extend(wake.map(Effect::WakeAt));
        }
    }

    fn wants(&self) -> Vec<Want> {
        let mut wants = vec![self.datasets_want()];
        wants.extend(self.page_want());
        wants.extend(self.basket_wants());
        wants.extend(self.export_wants());
        wants
    }

    fn datasets_want(&self) -> Want {
        let moving = self.store.list().iter().any(|dataset| dataset.status.is_moving());
        let watch = if moving { Watch::MovingDatasets } else { Watch::RestingDatasets };
        let datasets = &self.store.datasets;
        let due = datasets.due(Some(interval(watch, datasets.failures())));
        Want { lane: Lane::Datasets, request: Request::Datasets, due: due.unwrap_or_default() }
    }

    /// The page on screen. A good one is kept until it is invalidated; a failed one is asked for
    /// again by itself only when the connection was to blame.
    fn page_want(&self) -> Option<Want> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        let search = &view.search;
        let due = match self.store.pages.get(search) {
            None => Moment::ZERO,
            Some(page) => {
                let broken = page.failure().is_some_and(Failure::is_connection);
                page.due(broken.then(|| interval(Watch::RestingDatasets, page.failures())))?
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

    fn export_wants(&self) -> impl Iterator<Item = Want> {
        self.store.jobs.values().filter_map(|job| {
            let (Stage::Running(task, _), Some(due)) = (&job.stage, job.due(self.clock())) else {
                return None;
            };
            let request = Request::ExportStatus(job.dataset, *task);
            Some(Want { lane: Lane::Export(job.id), request, due })
        })
    }

    /// The pictures on screen with their links, nearest to the cursor first by construction:
    /// the detail, then the grid from the cursor outwards.
    fn visible_pictures(&self) -> Vec<(Lane, Link)> {
        let mut pictures = Vec::new();
        if self.protocol == Protocol::None || self.is_too_small() {
            return pictures;
        }
        let areas = self.areas();
        if let (Some(area), Some(preview)) = (areas.detail, self.preview()) {
            let area = detail_picture(area, self.cell);
            let canvas = self.canvas(area.width, area.height);
            pictures.extend(picture(preview, canvas));
        }
        let Some(grid) = self.grid().filter(|grid| !grid.is_list()) else {
            return pictures;
        };
        let (tiles, (cursor, top)) = (self.tiles(), self.tile_cursor());
        let first = top * grid.columns;
        let mut visible: Vec<usize> =
            (first..tiles.len().min(first + grid.columns * grid.rows)).collect();
        visible.sort_by_key(|place| place.abs_diff(cursor));
        let canvas = grid.canvas(self);
        let previews = visible.into_iter().filter_map(|place| tiles[place].preview);
        pictures.extend(previews.filter_map(|preview| picture(preview, canvas)));
        pictures
    }

    /// A canvas of this many cells on this terminal.
    #[must_use]
    pub fn canvas(&self, columns: u16, rows: u16) -> Canvas {
        Canvas {
            columns: columns.max(1),
            rows: rows.max(1),
            cell: self.cell,
            protocol: self.protocol,
        }
    }

    fn ask_for_picture(&mut self, lane: Lane, link: Link, effects: &mut Vec<Effect>) {
        let Lane::Picture(media, canvas) = lane.clone() else {
            return;
        };
        if self.store.pictures.get(media, canvas).is_some() {
            self.store.pictures.touch(media, canvas);
        } else if !self.tickets.is_open(&lane) {
            self.send(lane, Request::Picture(link, canvas), effects);
        }
    }

    /// Cancels the pages and pictures that are awaited but not on screen any more.
    fn let_go(&mut self, pictures: &[(Lane, Link)], effects: &mut Vec<Effect>) {
        let pages = [self.view().map(|view| &view.search), self.page_to_mark()];
        let pages: Vec<Search> = pages.into_iter().flatten().cloned().collect();
        let stale: Vec<Lane> = self
            .tickets
            .lanes()
            .filter(|lane| match lane {
                Lane::Picture(..) => !pictures.iter().any(|(wanted, _)| wanted == *lane),
                Lane::Page(search) => !pages.contains(search),
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

/// The lane and link of a preview's picture. The thumbnail will do for small canvases; on
/// larger ones the original is worth its bytes.
fn picture(preview: &Preview, canvas: Canvas) -> Option<(Lane, Link)> {
    let wide = match canvas.protocol {
        Protocol::HalfBlock => u32::from(canvas.columns) > 256,
        _ => u32::from(canvas.columns) * u32::from(canvas.cell.0) > 320,
    };
    let link = if wide { preview.original.as_ref() } else { None };
    let link = link.or(preview.thumbnail.as_ref()).or(preview.original.as_ref())?;
    Some((Lane::Picture(preview.media, canvas), link.clone()))
}

/// The picture that the full-size view shows.
#[must_use]
pub fn wanted_original(preview: &Preview) -> Option<Link> {
    preview.original.clone().or_else(|| preview.thumbnail.clone())
}
