//! Draws what surrounds or replaces pictures: region outlines, placeholders, and messages in empty panes.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Text},
    widgets::{Paragraph, Widget, Wrap},
};
use tessera_model::Region;
use tessera_picture::Protocol;

use super::{Painter, below, text_cells, wrap_words};

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
