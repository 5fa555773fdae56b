//! Placeholders: messages in empty panes, missing pictures, and a screen that is too small.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Text},
    widgets::{Paragraph, Widget, Wrap},
};

use super::{below, text_cells, wrap_words};
use crate::{app::areas, ui::DrawContext};

impl DrawContext<'_> {
    /// Draws a few lines in the middle of an area; the style applies to the first.
    pub(in crate::ui) fn centered_message<T: AsRef<str>>(
        &mut self,
        area: Rect,
        style: Style,
        lines: &[T],
    ) {
        let lines = || lines.iter().map(AsRef::as_ref);
        let height = lines().map(|line: &str| text_cells(line).max(1).div_ceil(area.width.max(1)));
        let height = height.sum::<u16>().min(area.height);
        // Wrapping at words can take more rows than this estimate, so the rest of the area is available.
        let rest = below(area, (area.height - height) / 3);
        let styles = std::iter::once(style).chain(std::iter::repeat(self.theme.dim));
        let text: Text =
            lines().zip(styles).map(|(line, style)| Line::styled(line, style)).collect();
        Paragraph::new(text).centered().wrap(Wrap { trim: true }).render(rest, self.buf);
    }

    pub(in crate::ui) fn picture_placeholder(&mut self, area: Rect, text: &str) {
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

    pub(in crate::ui) fn draw_too_small(&mut self) {
        let (width, height) = self.app.screen().size;
        let (columns, rows) = areas::MIN_SCREEN;
        let sentence =
            format!("tessera needs {columns}x{rows} cells; this terminal has {width}x{height}");
        let area = Rect { x: 0, y: 0, width, height };
        Paragraph::new(sentence).wrap(Wrap { trim: true }).render(area, self.buf);
    }
}
