//! Names the panes, and moves a cursor in their lists. The files of this folder keep the state of the panes, as ids and
//! positions, never as copies of what the service has sent.

mod datasets;
mod query;
mod results;

pub(in crate::app) use datasets::ObservedDatasets;
pub use datasets::{DatasetHistory, Datasets, StatusTransition, distinction};
pub use query::QueryBuilder;
pub use results::{PageCache, PageRange, Registration, Results};

use ratatui::layout::{Margin, Rect};
use tessera_config::{input::Key, text_enum};

text_enum! {
    /// The panes, in the order of the Tab key.
    pub enum Pane: name {
        Datasets = "Datasets",
        Results = "Results",
        Detail = "Detail",
        Query = "Query",
        Jobs = "Jobs",
        Basket = "Basket",
    }
}

impl Pane {
    /// The panes with a number. The detail has no number, because it follows the results.
    pub const NUMBERED: [Self; 5] =
        [Self::Datasets, Self::Results, Self::Query, Self::Jobs, Self::Basket];

    /// Returns the number on the frame of the pane, which is also its key.
    pub fn number(self) -> Option<usize> {
        Self::NUMBERED.iter().position(|pane| *pane == self).map(|index| index + 1)
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

/// Returns how far a key moves the cursor of a list into which nothing is typed.
pub(in crate::app) fn list_step(key: Key) -> Option<isize> {
    match key {
        Key::Char('k') => Some(-1),
        Key::Char('j') => Some(1),
        Key::Home | Key::Char('g') => Some(isize::MIN / 2),
        Key::End | Key::Char('G') => Some(isize::MAX / 2),
        key => rows_to_move(key),
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

pub fn inner_area(area: Rect) -> Rect {
    area.inner(Margin::new(1, 1))
}
