//! The layout: pure arithmetic on the size of the screen, used by `update` (what is visible, what
//! was clicked) and by the drawing.
//!
//! ```text
//! under 60 x 16      one pane, a list without pictures
//! under 100 columns  one pane with tabs
//! 100 and more       datasets, status and connection | results | detail, and the jobs below; the query
//!                    builder and the basket take the place of results and detail
//! 160 and more       the query builder or the basket below the detail
//! ```
//!
//! Without the focus, a single dataset, jobs of which none is active and a query without filters are a line
//! each. While a dialog is open, what happens behind it moves nothing.

use ratatui::layout::{
    Constraint::{Fill, Length, Min},
    Layout, Margin, Rect,
};

use crate::app::{App, Job, Pane, query::chips};

/// The areas of the screen, frames included. A pane that is not on screen has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// Program, deployment and dataset.
    pub header: Rect,
    pub chips: Option<Rect>,
    /// The names of the panes, when only one is on screen.
    pub tabs: Option<Rect>,
    pub datasets: Option<Rect>,
    pub status: Option<Rect>,
    pub results: Option<Rect>,
    pub detail: Option<Rect>,
    pub query: Option<Rect>,
    pub jobs: Option<Rect>,
    pub basket: Option<Rect>,
    /// The state of the service and of the login, and the latest events.
    pub connection: Option<Rect>,
    pub notification: Rect,
    pub hints: Rect,
}

/// What the panes have to show, as far as the layout depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PaneContents {
    has_chips: bool,
    has_filters: bool,
    datasets: usize,
    jobs: usize,
    has_active_job: bool,
}

impl PaneContents {
    fn new(app: &App) -> Self {
        let is_searching = || app.view().is_some_and(|view| !view.search.filters.is_empty());
        Self {
            has_chips: !chips(app).is_empty(),
            has_filters: !app.draft().rows.is_empty() || is_searching(),
            datasets: app.store.dataset_list().len(),
            jobs: app.jobs.len(),
            has_active_job: app.jobs.iter().any(Job::is_active),
        }
    }
}

/// Smallest screen anything is drawn on (columns, rows).
pub const MIN_SCREEN: (u16, u16) = (30, 8);
/// From this width on, the query builder has an area of its own (columns).
pub const WIDE_COLUMNS: u16 = 160;
/// Smallest screen with pictures (columns, rows).
pub const MIN_PICTURE_SCREEN: (u16, u16) = (60, 16);

impl Areas {
    pub fn new(app: &App) -> Self {
        let screen = Rect::new(0, 0, app.screen.size.0, app.screen.size.1);
        let [header, rest] = Layout::vertical([Length(1), Min(0)]).areas(screen);
        let footer = u16::from(app.panes.footer);
        let [body, notice, hints] =
            Layout::vertical([Min(0), Length(1), Length(footer)]).areas(rest);
        // Without a footer, required hints are drawn over the notification.
        let hints = if app.panes.footer { hints } else { notice };
        let (chips, body) = Self::split_chip_line(app, body);
        let areas = Self { header, chips, notification: notice, hints, ..Self::default() };
        if app.screen.size.0 < 100 || app.screen.size.1 < 24 {
            let [tabs, body] = Layout::vertical([Length(1), Min(0)]).areas(body);
            Self { tabs: Some(tabs), ..areas }.single_pane(app.panes.focus, body)
        } else if app.panes.zoomed || app.is_text() {
            areas.single_pane(app.panes.focus, body)
        } else {
            areas.side_by_side(app, body)
        }
    }

    /// The chip line and the rest. While the query builder has the focus, its rows show the same.
    fn split_chip_line(app: &App, body: Rect) -> (Option<Rect>, Rect) {
        if app.panes.focus == Pane::Query || !app.pane_contents().has_chips {
            return (None, body);
        }
        let [line, rest] = Layout::vertical([Length(1), Min(0)]).areas(body);
        (Some(line), rest)
    }

    fn single_pane(self, pane: Pane, body: Rect) -> Self {
        match pane {
            Pane::Datasets => {
                let [list, status] = Layout::horizontal([Fill(3), Fill(2)]).areas(body);
                Self { datasets: Some(list), status: Some(status), ..self }
            }
            Pane::Results => Self { results: Some(body), ..self },
            Pane::Detail => Self { detail: Some(body), ..self },
            Pane::Query => Self { query: Some(body), ..self },
            Pane::Jobs => Self { jobs: Some(body), ..self },
            Pane::Basket => Self { basket: Some(body), ..self },
        }
    }

    fn side_by_side(self, app: &App, body: Rect) -> Self {
        let jobs = jobs_rows(app, body.height);
        let [panes, jobs] = Layout::vertical([Min(0), Length(jobs)]).areas(body);
        let (left, right) = match body.width {
            0..=139 => (28, 30),
            140..=159 => (32, 46),
            160..=179 => (32, 58),
            _ => (34, 64),
        };
        // Each step is a quarter of the usual width; the results keep two columns of tiles.
        let step = |usual: u16| {
            usual.saturating_add_signed(app.panes.side_width * (usual / 4).cast_signed())
        };
        let max = body.width.saturating_sub(40) / 2;
        let (left, right) = (step(left).clamp(20, max), step(right).clamp(20, max));
        let [left, middle, right] =
            Layout::horizontal([Length(left), Min(0), Length(right)]).areas(panes);
        let areas = Self { jobs: Some(jobs), ..self.left_column(app, left) };
        if body.width >= WIDE_COLUMNS {
            let query = if query_is_line(app) { Length(1) } else { Fill(2) };
            let [detail, lower] = Layout::vertical([Fill(3), query]).areas(right);
            let areas = Self { results: Some(middle), detail: Some(detail), ..areas };
            return match app.panes.focus {
                Pane::Basket => Self { basket: Some(lower), ..areas },
                _ => Self { query: Some(lower), ..areas },
            };
        }
        let both = middle.union(right);
        match app.panes.focus {
            Pane::Query => Self { query: Some(both), ..areas },
            Pane::Basket => Self { basket: Some(both), ..areas },
            _ => Self { results: Some(middle), detail: Some(right), ..areas },
        }
    }

    /// The datasets above the status, and the connection below them where the datasets leave rows.
    fn left_column(self, app: &App, left: Rect) -> Self {
        let listed = u16::try_from(app.pane_contents().datasets).unwrap_or(u16::MAX);
        let is_line = listed == 1 && app.panes.focus != Pane::Datasets;
        let datasets = if is_line { 1 } else { listed.max(1).saturating_add(2) };
        let below_datasets = left.height.saturating_sub(datasets);
        let status = below_datasets.saturating_sub(MIN_CONNECTION_ROWS).clamp(12, 19);
        let spare = below_datasets.saturating_sub(status);
        if listed == 0 || spare < MIN_CONNECTION_ROWS {
            let [datasets, status] = Layout::vertical([Min(0), Length(status)]).areas(left);
            return Self { datasets: Some(datasets), status: Some(status), ..self };
        }
        let rows = [Length(datasets), Length(status), Min(0)];
        let [datasets, status, connection] = Layout::vertical(rows).areas(left);
        let (datasets, status) = (Some(datasets), Some(status));
        Self { datasets, status, connection: Some(connection), ..self }
    }

    pub(super) fn panes(&self) -> impl Iterator<Item = (Pane, Rect)> {
        let panes = [
            (Pane::Datasets, self.datasets),
            (Pane::Results, self.results),
            (Pane::Detail, self.detail),
            (Pane::Query, self.query),
            (Pane::Jobs, self.jobs),
            (Pane::Basket, self.basket),
        ];
        panes.into_iter().filter_map(|(pane, area)| Some((pane, area?)))
    }
}

pub(super) fn tab_areas(line: Rect) -> impl Iterator<Item = (Pane, Rect)> {
    Pane::NUMBERED.into_iter().scan(line.x, move |x, pane| {
        let width = u16::try_from(pane.name().len() + 4).unwrap_or(0);
        let area = Rect { x: *x, width, ..line };
        *x += width;
        Some((pane, area))
    })
}

/// The fewest rows of the connection, its frame included.
const MIN_CONNECTION_ROWS: u16 = 6;

/// Jobs of which none is active are a line, unless they have the focus.
fn jobs_rows(app: &App, body: u16) -> u16 {
    let contents = app.pane_contents();
    if app.panes.focus != Pane::Jobs && !contents.has_active_job {
        return 1;
    }
    let rows = u16::try_from(contents.jobs).unwrap_or(u16::MAX).clamp(1, 8) + 2;
    rows.min(body / 4).max(3)
}

/// Whether the query builder below the detail has nothing to show.
fn query_is_line(app: &App) -> bool {
    !matches!(app.panes.focus, Pane::Query | Pane::Basket) && !app.pane_contents().has_filters
}

impl App {
    /// What the panes have to show; while a dialog is open, what they had when it was opened.
    fn pane_contents(&self) -> PaneContents {
        match self.panes.contents_before_overlay.filter(|_| self.overlays.is_open()) {
            Some(contents) => contents,
            None => PaneContents::new(self),
        }
    }

    /// Keeps the layout as it is when a dialog opens.
    pub(super) fn hold_layout(&mut self) {
        if !self.overlays.is_open() {
            self.panes.contents_before_overlay = None;
        } else if self.panes.contents_before_overlay.is_none() {
            self.panes.contents_before_overlay = Some(PaneContents::new(self));
        }
    }
}

pub fn inner_area(area: Rect) -> Rect {
    area.inner(Margin::new(1, 1))
}
