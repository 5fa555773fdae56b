//! The frames of panes and dialogs.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
    widgets::{Block, BorderType, Widget},
};

use crate::{app::Pane, ui::DrawContext};

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
