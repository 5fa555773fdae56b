//! Computes the layout by pure arithmetic on the size of the screen. `update` uses the layout to find out what is
//! visible and what was clicked, and drawing uses it as well. Come here to change where a pane, or a part of the
//! detail, is on the screen.
//!
//! ```text
//! under 60 x 16      one pane, a list without pictures
//! under 100 columns  one pane with tabs
//! 100 and more       datasets, status and connection | results | detail, and a line with the jobs below; the query
//!                    builder, the basket and the list of jobs take the place of results and detail. With a single
//!                    dataset, a line above results and detail takes the place of datasets, status and connection
//! 160 and more       the query builder, the basket or the list of jobs below the detail
//! ```
//!
//! The lines of the search, the jobs and the messages are always there, so that nothing moves when a search or a job
//! starts. Without the focus, the query builder below the detail is a single line. While a dialog is open, nothing
//! moves, whatever happens behind the dialog.

use std::ops::Range;

use ratatui::layout::{
    Constraint::{Fill, Length, Min},
    Layout,
};
use tessera_picture::Protocol;

use crate::app::prelude::*;
use crate::app::{
    Dialog,
    pane::{inner_area, scroll_top},
    tile_grid::{TileGrid, rows_of_picture, tile_length, tile_start},
};

/// The areas of the screen with their frames. A pane that is not on screen has no area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// The line with the program, the deployment and the dataset.
    pub header: Rect,
    /// The line that says what is on screen.
    pub chips: Rect,
    /// The line with the names of the panes, if only one pane is on screen.
    pub tabs: Option<Rect>,
    /// The areas of the panes, in the order of `Pane::ALL`.
    pub panes: [Option<Rect>; Pane::ALL.len()],
    pub status: Option<Rect>,
    /// The state of the service and of the login, and the latest events.
    pub connection: Option<Rect>,
    pub notification: Rect,
    pub hints: Rect,
}

/// The minimum width of the screen, in columns, at which the query builder has its own area.
pub const WIDE_COLUMNS: u16 = 160;
impl Areas {
    pub fn new(app: &App) -> Self {
        let screen = Rect::new(0, 0, app.screen.size.0, app.screen.size.1);
        let [header, rest] = Layout::vertical([Length(1), Min(0)]).areas(screen);
        let footer = u16::from(app.panes.footer);
        let [body, notice, hints] =
            Layout::vertical([Min(0), Length(1), Length(footer)]).areas(rest);
        // Without a footer, hints that must be shown are drawn over the notification.
        let hints = if app.panes.footer { hints } else { notice };
        let [chips, body] = Layout::vertical([Length(1), Min(0)]).areas(body);
        let areas = Self { header, chips, notification: notice, hints, ..Self::default() };
        if app.screen.size.0 < 100 || app.screen.size.1 < 24 {
            let [tabs, body] = Layout::vertical([Length(1), Min(0)]).areas(body);
            Self { tabs: Some(tabs), ..areas }.single_pane(app.panes.focus, body)
        } else if app.panes.zoomed || app.setup.is_text {
            areas.single_pane(app.panes.focus, body)
        } else {
            areas.side_by_side(app, body)
        }
    }

    fn single_pane(self, pane: Pane, body: Rect) -> Self {
        match pane {
            Pane::Datasets => {
                let [list, status] = Layout::horizontal([Fill(3), Fill(2)]).areas(body);
                Self { status: Some(status), ..self }.with(Pane::Datasets, list)
            }
            _ => self.with(pane, body),
        }
    }

    fn side_by_side(self, app: &App, body: Rect) -> Self {
        let [panes, jobs] = Layout::vertical([Min(0), Length(1)]).areas(body);
        let (left, right) = match body.width {
            0..=139 => (28, 30),
            140..=159 => (32, 46),
            160..=179 => (32, 58),
            _ => (34, 64),
        };
        let is_line = !app.has_status_column();
        // A quarter of the column that a line replaces is for the detail.
        let (left, right) = if is_line { (0, right + left / 4) } else { (left, right) };
        // Each step is a quarter of the usual width. The results keep at least two columns of tiles.
        let step = |usual: u16| {
            usual.saturating_add_signed(app.panes.side_width * (usual / 4).cast_signed())
        };
        let max = body.width.saturating_sub(40) / 2;
        let left = if is_line { 0 } else { step(left).clamp(20, max) };
        let right = step(right).clamp(20, max);
        let [line, panes] = Layout::vertical([Length(u16::from(is_line)), Min(0)]).areas(panes);
        let [left, middle, right] =
            Layout::horizontal([Length(left), Min(0), Length(right)]).areas(panes);
        let areas = self.with(Pane::Jobs, jobs);
        // The list of jobs takes the line of the jobs as well.
        let job_list = |rest: Rect| Rect { height: rest.height + jobs.height, ..rest };
        let areas =
            if is_line { areas.with(Pane::Datasets, line) } else { areas.left_column(app, left) };
        if body.width >= WIDE_COLUMNS {
            let is_open = matches!(app.panes.focus, Pane::Query | Pane::Basket | Pane::Jobs);
            let query = if is_open { Fill(2) } else { Length(1) };
            let [detail, lower] = Layout::vertical([Fill(3), query]).areas(right);
            let areas = areas.with(Pane::Results, middle).with(Pane::Detail, detail);
            return match app.panes.focus {
                Pane::Basket => areas.with(Pane::Basket, lower),
                Pane::Jobs => areas.with(Pane::Jobs, job_list(lower)),
                _ => areas.with(Pane::Query, lower),
            };
        }
        let both = middle.union(right);
        match app.panes.focus {
            pane @ (Pane::Query | Pane::Basket) => areas.with(pane, both),
            Pane::Jobs => areas.with(Pane::Jobs, job_list(both)),
            _ => areas.with(Pane::Results, middle).with(Pane::Detail, right),
        }
    }

    /// Arranges the datasets above the status, and the connection below both if enough rows are
    /// left.
    fn left_column(self, app: &App, left: Rect) -> Self {
        let listed = u16::try_from(app.listed_datasets()).unwrap_or(u16::MAX);
        let datasets = listed.max(1).saturating_add(2);
        let below_datasets = left.height.saturating_sub(datasets);
        let status = below_datasets.saturating_sub(MIN_CONNECTION_ROWS).clamp(12, 19);
        let spare = below_datasets.saturating_sub(status);
        if listed == 0 || spare < MIN_CONNECTION_ROWS {
            let [datasets, status] = Layout::vertical([Min(0), Length(status)]).areas(left);
            return Self { status: Some(status), ..self }.with(Pane::Datasets, datasets);
        }
        let rows = [Length(datasets), Length(status), Min(0)];
        let [datasets, status, connection] = Layout::vertical(rows).areas(left);
        let areas = self.with(Pane::Datasets, datasets);
        Self { status: Some(status), connection: Some(connection), ..areas }
    }

    /// Whether the status of a dataset is on screen, in its pane or as a line.
    pub(in crate::app) fn shows_status(&self) -> bool {
        self.status.is_some() || self.pane(Pane::Datasets).is_some_and(|area| area.height == 1)
    }

    pub(in crate::app) fn panes(&self) -> impl Iterator<Item = (Pane, Rect)> {
        Pane::ALL.into_iter().filter_map(|pane| Some((pane, self.pane(pane)?)))
    }

    pub fn pane(&self, pane: Pane) -> Option<Rect> {
        self.panes[pane as usize]
    }

    fn with(mut self, pane: Pane, area: Rect) -> Self {
        self.panes[pane as usize] = Some(area);
        self
    }
}

pub(in crate::app) fn tab_areas(line: Rect) -> impl Iterator<Item = (Pane, Rect)> {
    Pane::NUMBERED.into_iter().scan(line.x, move |x, pane| {
        let width = u16::try_from(pane.name().len() + 4).unwrap_or(0);
        let area = Rect { x: *x, width, ..line };
        *x += width;
        Some((pane, area))
    })
}

/// The minimum number of rows of the connection, including its frame.
const MIN_CONNECTION_ROWS: u16 = 6;

/// The letters of the jump mode in the order of assignment, starting with the home row.
const JUMP_LETTERS: [char; 8] = ['a', 's', 'd', 'f', 'j', 'k', 'l', 'g'];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpTarget {
    pub letter: char,
    pub pane: Pane,
    pub position: (u16, u16),
}

/// If a pane is wider than its picture by this many columns, text and strip are beside the picture.
const SIDE_COLUMNS: u16 = 26;
/// The minimum rows of a picture. A strip must not make the picture lower than this.
const MIN_PICTURE_ROWS: u16 = 8;
/// The columns of a small preview: in a narrow strip, and in a wide strip.
const STRIP_WIDTHS: (u16, u16) = (8, 12);

/// The areas of the detail's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DetailLayout {
    pub picture: Rect,
    pub text: Rect,
    /// The small previews, each with its index and area. The line below a preview marks the preview that is shown
    /// large.
    pub strip: Vec<(usize, Rect)>,
}

impl DetailLayout {
    pub fn new(app: &App, detail: Rect) -> Self {
        let inner = inner_area(detail);
        let cell = app.screen.cell_size;
        let previews = app.results.cluster().map_or(0, |cluster| cluster.previews.len());
        let selected = app.results.preview_index();
        let previews = if app.screen.protocol == Protocol::None { 0 } else { previews };
        let beside = columns_of_picture(inner.height, cell);
        if inner.width >= beside.saturating_add(SIDE_COLUMNS) {
            return Self::side_by_side(inner, beside, (previews, selected), cell);
        }
        Self::stacked(inner, (previews, selected), cell)
    }

    /// Arranges the text and the strip beside the picture, for a wide pane.
    fn side_by_side(inner: Rect, columns: u16, shown: (usize, usize), cell: (u16, u16)) -> Self {
        let picture = Rect { width: columns, ..inner };
        let side = Rect { x: inner.x + columns, width: inner.width - columns, ..inner };
        let free = side.height.saturating_sub(text_rows(inner.height));
        let strip = Strip::new(side.width, shown.0, cell);
        let rows = strip.rows_in(free);
        let (text, below) = split_rows(side, side.height - strip.height(rows));
        Self { picture, text, strip: strip.areas(below, rows, shown) }
    }

    /// Arranges the picture, which is at most a square, above the strip and the text.
    fn stacked(inner: Rect, shown: (usize, usize), cell: (u16, u16)) -> Self {
        let free = inner.height.saturating_sub(text_rows(inner.height));
        let square = rows_of_picture(inner.width, cell, (1, 1));
        let strip = Strip::new(inner.width, shown.0, cell);
        let unused = free.saturating_sub(rows_of_picture(inner.width, cell, (4, 3)));
        let rows =
            strip.rows_in(unused).max(strip.rows_in(free.saturating_sub(MIN_PICTURE_ROWS)).min(1));
        let height = free.saturating_sub(strip.height(rows)).min(square);
        let (picture, rest) = split_rows(inner, height);
        let (below, text) = split_rows(rest, strip.height(rows));
        Self { picture, text, strip: strip.areas(below, rows, shown) }
    }

    /// Returns the index of the small preview at a position on the screen.
    pub fn preview_at(&self, column: u16, row: u16) -> Option<usize> {
        let hit = self.strip.iter().find(|(_, area)| area.contains((column, row).into()));
        hit.map(|(index, _)| *index)
    }
}

/// Rows of small previews, with a row for the mark below each row of previews.
#[derive(Clone, Copy)]
struct Strip {
    columns: u16,
    picture_rows: u16,
    count: usize,
}

impl Strip {
    fn new(width: u16, count: usize, cell: (u16, u16)) -> Self {
        let small = if width < 40 { STRIP_WIDTHS.0 } else { STRIP_WIDTHS.1 };
        let columns = (width.saturating_sub(1) / (small + 1)).max(1);
        let picture_rows = rows_of_picture(tile_length(width, columns), cell, (4, 3));
        Self { columns, picture_rows, count }
    }

    /// Returns how many rows are needed and fit into `height`. A single preview needs no row.
    fn rows_in(self, height: u16) -> u16 {
        let needed = self.count.div_ceil(usize::from(self.columns));
        let needed = if self.count > 1 { u16::try_from(needed).unwrap_or(u16::MAX) } else { 0 };
        needed.min(height / (self.picture_rows + 1))
    }

    fn height(self, rows: u16) -> u16 {
        rows * (self.picture_rows + 1)
    }

    /// Returns the areas of the previews in `rows` rows. The selected preview is always among them.
    fn areas(self, area: Rect, rows: u16, (count, selected): (usize, usize)) -> Vec<(usize, Rect)> {
        let columns = usize::from(self.columns);
        let top = (selected / columns + 1).saturating_sub(usize::from(rows));
        let visible: Range<usize> = top * columns..count.min((top + usize::from(rows)) * columns);
        let places = (0..rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        let place = |(row, column): (u16, u16)| Rect {
            x: area.x + tile_start(area.width, self.columns, column),
            y: area.y + self.height(row),
            width: tile_length(area.width, self.columns),
            height: self.picture_rows,
        };
        visible.zip(places.map(place)).collect()
    }
}

/// Returns how many lines of text a pane of this height keeps.
fn text_rows(height: u16) -> u16 {
    if height > 24 { 10 } else { 6 }
}

/// Returns the columns of a 4:3 picture that is as high as an area.
fn columns_of_picture(rows: u16, cell: (u16, u16)) -> u16 {
    let pixels = u32::from(rows) * u32::from(cell.1.max(1)) * 4 / 3;
    u16::try_from(pixels / u32::from(cell.0.max(1))).unwrap_or(u16::MAX)
}

fn split_rows(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let rest = Rect { y: area.y + rows, height: area.height - rows, ..area };
    (Rect { height: rows, ..area }, rest)
}

impl App {
    pub fn areas(&self) -> Areas {
        Areas::new(self)
    }

    pub fn grid(&self) -> Option<TileGrid> {
        self.areas().pane(Pane::Results).map(|area| TileGrid::new(self, area))
    }

    /// Returns the number of listed datasets. While a dialog is open, this is the number when the dialog was opened.
    fn listed_datasets(&self) -> usize {
        let held = self.panes.datasets_before_overlay.filter(|_| self.overlays.is_open());
        held.unwrap_or_else(|| self.service_data.dataset_list().len())
    }

    /// Whether datasets, status and connection have a column. Otherwise, a line says what matters of them. A single
    /// dataset needs no column, and a local deployment usually has a single dataset.
    pub(in crate::app) fn has_status_column(&self) -> bool {
        let needs_one = match self.listed_datasets() {
            0 => self.setup.deployment != DeploymentKind::Local,
            datasets => datasets > 1,
        };
        self.panes.status_column.unwrap_or(needs_one)
    }

    pub(in crate::app) fn toggle_status(&mut self) {
        self.panes.status_column = Some(!self.has_status_column());
    }

    /// Keeps the layout unchanged while a dialog is open.
    pub(in crate::app) fn hold_layout(&mut self) {
        self.panes.datasets_before_overlay =
            self.overlays.is_open().then(|| self.listed_datasets());
    }

    pub fn jump_targets(&self) -> Vec<JumpTarget> {
        let areas = self.areas();
        let panes: Vec<(Pane, Rect)> = match areas.tabs {
            Some(line) => tab_areas(line).collect(),
            None => areas.panes().collect(),
        };
        let lettered = JUMP_LETTERS.into_iter().zip(panes);
        lettered
            .map(|(letter, (pane, area))| JumpTarget { letter, pane, position: (area.x, area.y) })
            .collect()
    }

    /// Returns how many tiles the result has. While a page loads or a filter is typed, this is the number for the whole
    /// page, so that the layout does not change.
    pub(super) fn tile_count(&self) -> usize {
        match self.results.page() {
            None => Page::SIZE,
            Some(_) if self.results.shows_members() => self.results.tiles().len(),
            Some(page) if self.overlays.current().is_some_and(Dialog::filters_a_pane) => {
                page.clusters.len()
            }
            Some(_) => self.results.visible_clusters().len(),
        }
    }
}

pub fn datasets_scroll_top(app: &App, area: Rect) -> usize {
    let selected = app.selected_dataset().map(|dataset| dataset.id);
    let index = app.visible_datasets().iter().position(|dataset| Some(dataset.id) == selected);
    scroll_top(0, index.unwrap_or(0), usize::from(area.height.saturating_sub(2)))
}
