//! Moving a cursor or a choice in a list, and scrolling to it.

use ratatui::layout::Rect;

use crate::{app::App, input::Key};

/// Rows that `PgUp` and `PgDn` move by in a list.
const PAGE_ROWS: isize = 10;

pub(super) fn rows_to_move(key: Key) -> Option<isize> {
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

/// The first visible row, so that `cursor` is among `height` visible rows with the least scrolling.
pub fn scroll_top(top: usize, cursor: usize, height: usize) -> usize {
    let height = height.max(1);
    top.min(cursor).max((cursor + 1).saturating_sub(height))
}

/// The element `by` positions after `current`, wrapping around.
pub(super) fn cycle<T: Copy + PartialEq>(all: &[T], current: T, by: isize) -> T {
    let index = all.iter().position(|each| *each == current).unwrap_or(0).cast_signed();
    all[(index + by).rem_euclid(all.len().cast_signed()).cast_unsigned()]
}

pub fn datasets_scroll_top(app: &App, area: Rect) -> usize {
    let selected = app.selected_dataset().map(|dataset| dataset.id);
    let index = app.visible_datasets().iter().position(|dataset| Some(dataset.id) == selected);
    scroll_top(0, index.unwrap_or(0), usize::from(area.height.saturating_sub(2)))
}
