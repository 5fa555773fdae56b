//! Draws frames with their scroll marks, splits areas into parts, and draws what surrounds or replaces pictures: region
//! outlines, placeholders, and messages in empty panes.

use ratatui::{
    layout::{Margin, Rect},
    style::Style,
    text::{Line, Text},
    widgets::{
        Block, BorderType, Paragraph, Scrollbar, ScrollbarOrientation, ScrollbarState,
        StatefulWidget, Widget, Wrap,
    },
};
use tessera_model::{Region, text::truncate};
use tessera_picture::Protocol;

use super::{Painter, line, text_cells, wrap_words};

impl<S> Painter<'_, S> {
    /// Marks on the right border which rows of a list are visible, unless all rows are.
    pub(crate) fn scroll_mark(&mut self, area: Rect, top: usize, visible: usize, rows: usize) {
        let area = area.intersection(self.buf.area);
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

/// Returns the cells of the first row from a column on, without a margin of one cell at the right.
pub(crate) fn field_area(area: Rect, column: u16) -> Rect {
    let width = area.width.saturating_sub(column + 1);
    Rect { x: area.x + column, width, ..line(area, 0) }
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

impl<S> Painter<'_, S> {
    /// Draws a few lines in the middle of an area. The style applies to the first line.
    pub(crate) fn centered_message<T: AsRef<str>>(
        &mut self,
        area: Rect,
        style: Style,
        lines: &[T],
    ) {
        let lines = || lines.iter().map(AsRef::as_ref);
        let height = lines().map(|line: &str| text_cells(line).max(1).div_ceil(area.width.max(1)));
        let height = height.fold(0, u16::saturating_add).min(area.height);
        // Wrapping at words can take more rows than this estimate, so the whole rest of the area is available to the
        // text.
        let rest = below(area, (area.height - height) / 3);
        let styles = std::iter::once(style).chain(std::iter::repeat(self.theme.dim));
        let text: Text =
            lines().zip(styles).map(|(line, style)| Line::styled(line, style)).collect();
        Paragraph::new(text).centered().wrap(Wrap { trim: true }).render(rest, self.buf);
    }

    pub(crate) fn picture_placeholder(&mut self, area: Rect, text: &str) {
        for position in area.positions() {
            self.buf[position].set_symbol("░").set_style(self.theme.empty);
        }
        let cells = usize::from(area.width.saturating_sub(2));
        let lines: Vec<String> = wrap_words(text, cells, usize::from(area.height)).collect();
        let rows = u16::try_from(lines.len()).unwrap_or(area.height);
        let top = area.y + (area.height - rows).div_ceil(2);
        for (y, line) in (top..area.bottom()).zip(&lines) {
            let text = format!(" {line} ");
            let x = area.x + area.width.saturating_sub(text_cells(&text)) / 2;
            self.buf.set_stringn(x, y, text, usize::from(area.width), self.theme.dim);
        }
    }

    /// Draws the outline of a region as characters over a picture of half-blocks. With other protocols, the
    /// pixels of the picture contain the outline.
    pub(crate) fn draw_region_outline(
        &mut self,
        covered: Rect,
        region: Region,
        protocol: Protocol,
    ) {
        if protocol != Protocol::HalfBlock {
            return;
        }
        let ((x, y), (width, height)) = region.cells((covered.width, covered.height));
        let area = Rect { x: covered.x + x, y: covered.y + y, width, height };
        let style = self.theme.frame_focus;
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        for position in area.positions() {
            let across = (position.x == area.x, position.x == right);
            let down = (position.y == area.y, position.y == bottom);
            let symbol = match (across, down) {
                // A single cell, or a single row or column, has no corners.
                ((true, true), (true, true)) => "╋",
                ((true, true), _) => "┃",
                (_, (true, true)) => "━",
                ((true, _), (true, _)) => "┏",
                ((_, true), (true, _)) => "┓",
                ((true, _), (_, true)) => "┗",
                ((_, true), (_, true)) => "┛",
                ((false, false), (false, false)) => continue,
                ((false, false), _) => "━",
                (_, (false, false)) => "┃",
            };
            self.buf[position].set_symbol(symbol).set_style(style);
        }
    }
}
