//! Parts of an area.

use ratatui::layout::Rect;

use super::text_cells;

pub(in crate::ui) fn line(area: Rect, row: u16) -> Rect {
    Rect { y: area.y + row, height: 1, ..area }
}

/// The area without its first rows.
pub(in crate::ui) fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

/// The cells of a row from a column on, with a margin of one cell at the right.
pub(in crate::ui) fn field_area(area: Rect, row: u16, column: u16) -> Rect {
    let width = area.width.saturating_sub(column + 1);
    Rect { x: area.x + column, width, ..line(area, row) }
}

/// The first `columns` columns of an area, and the rest.
pub(in crate::ui) fn split_columns(area: Rect, columns: u16) -> (Rect, Rect) {
    let width = columns.min(area.width);
    let rest = Rect { x: area.x + width, width: area.width - width, ..area };
    (Rect { width, ..area }, rest)
}

/// Splits off the columns that a text needs at the right end.
pub(in crate::ui) fn split_end(area: Rect, text: &str) -> (Rect, Rect) {
    split_columns(area, area.width.saturating_sub(text_cells(text)))
}
