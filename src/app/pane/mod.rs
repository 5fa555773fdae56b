//! The panes: which pane has the focus, how the panes are arranged and drawn, and how a cursor moves in a list. The
//! files of this folder have the state of the panes. They store ids and positions, never copies of what the service has
//! sent.

mod datasets;
mod query;
mod results;

pub(in crate::app) use datasets::ObservedDatasets;
pub use datasets::{DatasetHistory, Datasets, StatusTransition};
pub use query::QueryBuilder;
pub use results::{Registration, Results};

use ratatui::layout::Rect;

use crate::{
    app::{App, Level, Outbox, Setup, areas::PaneContents, session::initial_tile_size},
    config::{ThemeChoice, TileSize},
    input::Key,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    Datasets,
    Results,
    Detail,
    Query,
    Jobs,
    Basket,
}

impl Pane {
    /// The panes in the order of the Tab key.
    pub const ALL: [Self; 6] =
        [Self::Datasets, Self::Results, Self::Detail, Self::Query, Self::Jobs, Self::Basket];

    /// The panes with a number. The detail has no number, because it follows the results.
    pub const NUMBERED: [Self; 5] =
        [Self::Datasets, Self::Results, Self::Query, Self::Jobs, Self::Basket];

    /// Returns the number on the frame of the pane, which is also its key.
    pub fn number(self) -> Option<usize> {
        Self::NUMBERED.iter().position(|pane| *pane == self).map(|index| index + 1)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Datasets => "Datasets",
            Self::Results => "Results",
            Self::Detail => "Detail",
            Self::Query => "Query",
            Self::Jobs => "Jobs",
            Self::Basket => "Basket",
        }
    }
}

/// The focus, and how the panes are arranged and drawn.
#[derive(Debug)]
pub struct Panes {
    pub focus: Pane,
    /// Whether the focused pane fills the screen.
    pub zoomed: bool,
    pub tile_size: TileSize,
    /// By how many steps the panes beside the results are wider than usual, or narrower if
    /// negative.
    pub(super) side_width: i16,
    /// Whether the line with key hints is shown.
    pub footer: bool,
    pub theme: ThemeChoice,
    /// What the panes had to show when the overlay was opened. The panes keep their sizes because
    /// of it.
    pub(super) contents_before_overlay: Option<PaneContents>,
}

impl Panes {
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            focus: Pane::Datasets,
            zoomed: false,
            tile_size: initial_tile_size(setup.session.as_ref(), setup.tile_size),
            side_width: 0,
            footer: true,
            theme: setup.theme.clone(),
            contents_before_overlay: None,
        }
    }

    pub(super) fn widen_sides(&mut self, by: i16) {
        self.side_width = (self.side_width + by).clamp(-3, 8);
    }

    pub(in crate::app) fn next_theme(&mut self, setup: &Setup, outbox: &mut Outbox) {
        self.theme = self.theme.next(&setup.theme);
        let text = format!("theme {}; save it as `ui.theme` in the settings", self.theme.as_str());
        outbox.notify(Level::Success, text);
    }
}

/// The number of rows that `PgUp` and `PgDn` move by in a list.
const PAGE_ROWS: isize = 10;

pub(in crate::app) fn rows_to_move(key: Key) -> Option<isize> {
    match key {
        Key::Up => Some(-1),
        Key::Down => Some(1),
        Key::PageUp => Some(-PAGE_ROWS),
        Key::PageDown => Some(PAGE_ROWS),
        _ => None,
    }
}

pub fn moved_cursor(cursor: usize, by: isize, count: usize) -> usize {
    cursor.saturating_add_signed(by).min(count.saturating_sub(1))
}

/// Returns the first visible row. It scrolls as little as possible so that `cursor` is among the
/// `height` visible rows.
pub fn scroll_top(top: usize, cursor: usize, height: usize) -> usize {
    let height = height.max(1);
    top.min(cursor).max((cursor + 1).saturating_sub(height))
}

/// Returns the element `by` positions after `current`, wrapping around.
pub(in crate::app) fn cycle<T: Copy + PartialEq>(all: &[T], current: T, by: isize) -> T {
    let index = all.iter().position(|each| *each == current).unwrap_or(0).cast_signed();
    all[(index + by).rem_euclid(all.len().cast_signed()).cast_unsigned()]
}

pub fn datasets_scroll_top(app: &App, area: Rect) -> usize {
    let selected = app.selected_dataset().map(|dataset| dataset.id);
    let index = app.visible_datasets().iter().position(|dataset| Some(dataset.id) == selected);
    scroll_top(0, index.unwrap_or(0), usize::from(area.height.saturating_sub(2)))
}
