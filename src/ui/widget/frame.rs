//! The frames of panes and dialogs.

use ratatui::{
    layout::{Margin, Rect},
    text::{Line, Span},
    widgets::{
        Block, BorderType, Scrollbar, ScrollbarOrientation, ScrollbarState, StatefulWidget, Widget,
    },
};

use crate::{app::Pane, ui::DrawContext};

/// Rows of a pane with a frame and a line in it.
pub(in crate::ui) const MIN_FRAMED_ROWS: u16 = 3;

impl DrawContext<'_> {
    /// Returns the inner area. The focused pane has a thick frame, which is visible without color.
    pub(in crate::ui) fn pane_frame(&mut self, area: Rect, pane: Pane, summary: &str) -> Rect {
        let focused = self.app.focus == pane && self.app.overlay.is_none();
        let number = pane.number().map_or_else(|| " ".to_owned(), |number| format!(" {number} "));
        let summary = if summary.is_empty() { " ".to_owned() } else { format!("  {summary} ") };
        let theme = self.theme;
        let title = Line::from(vec![
            Span::styled(number, theme.key),
            Span::styled(pane.name(), if focused { theme.accent } else { theme.text }),
            Span::styled(summary, theme.dim),
        ]);
        self.frame(area, title, focused)
    }

    /// Marks on the right border which rows of a list are visible, if not all of them are.
    pub(in crate::ui) fn scroll_mark(
        &mut self,
        area: Rect,
        top: usize,
        visible: usize,
        rows: usize,
    ) {
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

    /// A pane in a single line: its name, and what it would show.
    pub(in crate::ui) fn pane_line(&mut self, area: Rect, pane: Pane, text: &str) {
        let number = pane.number().map_or_else(String::new, |number| number.to_string());
        let theme = self.theme;
        let parts = [
            (" ", theme.dim),
            (number.as_str(), theme.key),
            (" ", theme.dim),
            (pane.name(), theme.text),
            ("  ", theme.dim),
            (text, theme.dim),
        ];
        self.put(area, 0, &parts);
    }

    pub(in crate::ui) fn dialog(&mut self, area: Rect, title: &str) -> Rect {
        self.frame(area, format!(" {title} "), true)
    }

    /// Draws a frame with a title; returns the inner area.
    pub(in crate::ui) fn frame<'t>(
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
