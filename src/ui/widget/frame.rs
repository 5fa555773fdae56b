//! The frames of panes and dialogs.

use ratatui::{
    layout::{Margin, Rect},
    text::{Line, Span},
    widgets::{
        Block, BorderType, Scrollbar, ScrollbarOrientation, ScrollbarState, StatefulWidget, Widget,
    },
};

use super::{display_width, truncate};
use crate::{app::Pane, ui::DrawContext};

/// Rows of a pane with a frame and a line in it.
pub(in crate::ui) const MIN_FRAMED_ROWS: u16 = 3;

/// The cells of a summary behind the name of a pane.
pub(in crate::ui) fn title_cells(area: Rect, pane: Pane) -> usize {
    // The corners, the number of the pane in spaces, and the spaces before the summary.
    const OTHERS: usize = 2 + 3 + 2;
    usize::from(area.width).saturating_sub(OTHERS + display_width(pane.name()))
}

/// As many parts of a summary as fit, from the first on: words are not cut.
fn fitting_parts(summary: &str, cells: usize) -> &str {
    const SEPARATOR: &str = " · ";
    let ends = summary.match_indices(SEPARATOR).map(|(end, _)| end).chain([summary.len()]);
    let parts = ends.map(|end| &summary[..end]);
    parts.filter(|part| display_width(part) <= cells).last().unwrap_or_default()
}

impl DrawContext<'_> {
    /// Returns the inner area. The focused pane has a thick frame, which is visible without color.
    pub(in crate::ui) fn pane_frame(&mut self, area: Rect, pane: Pane, summary: &str) -> Rect {
        let focused = self.app.panes().focus == pane && self.app.overlay().is_none();
        let number = pane.number().map_or_else(|| " ".to_owned(), |number| format!(" {number} "));
        let summary = fitting_parts(summary, title_cells(area, pane));
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

    /// Draws the frame of a dialog. Its title ends with a name that users gave, if it may be too long.
    pub(in crate::ui) fn dialog(&mut self, area: Rect, title: &str) -> Rect {
        let title = truncate(title, usize::from(area.width.saturating_sub(4)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_loses_whole_parts() {
        let summary = "clusters 1-100 · granularity 2 · page 1";
        assert_eq!(fitting_parts(summary, 39), summary);
        assert_eq!(fitting_parts(summary, 38), "clusters 1-100 · granularity 2");
        assert_eq!(fitting_parts(summary, 20), "clusters 1-100");
        assert_eq!(fitting_parts(summary, 9), "");
    }
}
