//! Draws frames with their scroll marks, and splits areas into parts.

use ratatui::{
    layout::{Margin, Rect},
    text::Line,
    widgets::{
        Block, BorderType, Scrollbar, ScrollbarOrientation, ScrollbarState, StatefulWidget, Widget,
    },
};
use tessera_model::text::truncate;

use super::{Painter, line, text_cells};

impl<S> Painter<'_, S> {
    /// Marks on the right border which rows of a list are visible, unless all rows are.
    pub(crate) fn scroll_mark(&mut self, area: Rect, top: usize, visible: usize, rows: usize) {
        if rows <= visible || area.height <= 2 {
            return;
        }
        let positions = rows - visible + 1;
        let mut state =
            ScrollbarState::new(positions).position(top).viewport_content_length(visible);
        let bar = Scrollbar::new(ScrollbarOrientation::VerticalRight)
            .begin_symbol(None)
            .end_symbol(None)
            .track_symbol(None)
            .thumb_symbol("█")
            .thumb_style(self.theme.dim);
        StatefulWidget::render(bar, area.inner(Margin::new(0, 1)), self.buf, &mut state);
    }

    /// Draws the frame of a dialog and returns the inner area. A title that may be too long should end with the name
    /// that the user gave, because the end is cut.
    pub(crate) fn dialog(&mut self, area: Rect, title: &str) -> Rect {
        let title = truncate(title, usize::from(area.width.saturating_sub(4)));
        self.frame(area, format!(" {title} "), true)
    }

    /// Draws a dialog of texts, of which the first one is the most important.
    pub(crate) fn texts_dialog(&mut self, area: Rect, title: &str, texts: &[impl AsRef<str>]) {
        let inside = self.dialog(area, title);
        let theme = self.theme;
        let lines = texts.iter().enumerate().map(|(number, text)| {
            let style = if number == 0 { theme.text } else { theme.dim };
            Line::styled(format!(" {}", text.as_ref()), style)
        });
        self.put_lines(inside, &lines.collect::<Vec<_>>());
    }

    /// Draws a frame with a title and returns the inner area.
    pub(crate) fn frame<'t>(
        &mut self,
        area: Rect,
        title: impl Into<Line<'t>>,
        focused: bool,
    ) -> Rect {
        let (kind, style) = if focused {
            (BorderType::Thick, self.theme.frame_focus)
        } else {
            (BorderType::Rounded, self.theme.frame)
        };
        let block = Block::bordered().border_type(kind).border_style(style).title(title);
        let inside = block.inner(area);
        block.render(area, self.buf);
        inside
    }
}

/// Returns the area without its first rows.
pub(crate) fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

/// Returns the cells of a row from a column on, without a margin of one cell at the right.
pub(crate) fn field_area(area: Rect, row: u16, column: u16) -> Rect {
    let width = area.width.saturating_sub(column + 1);
    Rect { x: area.x + column, width, ..line(area, row) }
}

/// Returns areas of the same width beside each other, with a column between them. Columns that do not divide evenly
/// stay empty, because equal pictures would look different in areas of different sizes.
pub(crate) fn equal_columns(area: Rect, count: u16) -> Vec<Rect> {
    let count = count.max(1);
    let width = area.width.saturating_sub(count - 1) / count;
    (0..count).map(|index| Rect { x: area.x + index * (width + 1), width, ..area }).collect()
}

/// Splits off the first `columns` columns of an area.
pub(crate) fn split_columns(area: Rect, columns: u16) -> (Rect, Rect) {
    let width = columns.min(area.width);
    let rest = Rect { x: area.x + width, width: area.width - width, ..area };
    (Rect { width, ..area }, rest)
}

/// Splits off the columns that a text needs at the right end.
pub(crate) fn split_end(area: Rect, text: &str) -> (Rect, Rect) {
    split_columns(area, area.width.saturating_sub(text_cells(text)))
}
