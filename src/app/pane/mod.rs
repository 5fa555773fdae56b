//! The panes and the state of each: ids and positions, never copies of what the store has.

use ratatui::layout::Rect;

use crate::app::App;

mod datasets;
mod query;
mod results;

pub use datasets::Datasets;
pub use query::QueryBuilder;
pub use results::{Registration, Results};

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
    /// In the order of the Tab key.
    pub const ALL: [Self; 6] =
        [Self::Datasets, Self::Results, Self::Detail, Self::Query, Self::Jobs, Self::Basket];

    /// The panes with a number. The detail has none: it follows the results.
    pub const NUMBERED: [Self; 5] =
        [Self::Datasets, Self::Results, Self::Query, Self::Jobs, Self::Basket];

    /// The number on its frame, which is also its key.
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

    /// The pane `by` positions further, wrapping around.
    pub fn nth_after(self, by: usize) -> Self {
        let index = Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0);
        Self::ALL[(index + by) % Self::ALL.len()]
    }
}

/// Moves a cursor within `count` rows.
pub fn moved_cursor(cursor: usize, by: isize, count: usize) -> usize {
    cursor.saturating_add_signed(by).min(count.saturating_sub(1))
}

/// The first visible row, so that `cursor` is among `height` visible rows with the least scrolling.
pub fn scroll_top(top: usize, cursor: usize, height: usize) -> usize {
    let height = height.max(1);
    top.min(cursor).max((cursor + 1).saturating_sub(height))
}

pub fn datasets_scroll_top(app: &App, area: Rect) -> usize {
    let selected = app.selected_dataset().map(|dataset| dataset.id);
    let index = app.visible_datasets().iter().position(|dataset| Some(dataset.id) == selected);
    scroll_top(0, index.unwrap_or(0), usize::from(area.height.saturating_sub(2)))
}

pub fn jobs_scroll_top(app: &App, area: Rect) -> usize {
    scroll_top(0, app.jobs.cursor(), usize::from(area.height.saturating_sub(2)))
}
