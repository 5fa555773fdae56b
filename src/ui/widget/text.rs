//! Text in cells: measured by display width, truncated and wrapped.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Span},
};
use unicode_width::UnicodeWidthStr;

use super::{line, truncate};
use crate::{app::overlay::ScrollState, ui::DrawContext};

pub(in crate::ui) fn display_width(text: &str) -> usize {
    text.width()
}

/// The display width as a coordinate; it saturates.
pub(in crate::ui) fn text_cells(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

impl DrawContext<'_> {
    /// Writes a row of `area`, truncated to its width.
    pub(in crate::ui) fn put<T: AsRef<str>>(&mut self, area: Rect, row: u16, parts: &[(T, Style)]) {
        // The area may have been laid out for a larger screen.
        let area = area.intersection(self.buf.area);
        if row >= area.height {
            return;
        }
        let mut free = usize::from(area.width);
        let mut spans = Line::default();
        for (text, style) in parts {
            let shown = truncate(text.as_ref(), free);
            free -= shown.width().min(free);
            spans.push_span(Span::styled(shown, *style));
        }
        self.buf.set_line(area.x, area.y + row, &spans, area.width);
    }

    pub(in crate::ui) fn scrolled_lines(
        &mut self,
        inside: Rect,
        lines: &[Line],
        scroll: ScrollState,
    ) {
        let last = lines.len().saturating_sub(usize::from(inside.height));
        for (row, line) in (0..inside.height).zip(lines.iter().skip(scroll.top.min(last))) {
            self.buf.set_line(inside.x, inside.y + row, line, inside.width);
        }
    }

    /// Highlights a row over its whole width, if it is selected.
    pub(in crate::ui) fn select_row(&mut self, area: Rect, row: u16, selected: bool) {
        if selected && row < area.height {
            self.buf.set_style(line(area, row), self.theme.selected);
        }
    }
}

/// Wraps a text to at most `max_lines` lines of `cells` cells.
pub(in crate::ui) fn wrap_words(
    text: &str,
    cells: usize,
    max_lines: usize,
) -> impl Iterator<Item = String> + use<> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && display_width(&lines[last]) + 1 + display_width(word) > cells
        {
            lines.push(word.to_owned());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    if lines.len() > max_lines {
        let rest = lines.split_off(max_lines - 1).join(" ");
        lines.push(truncate(&rest, cells));
    }
    lines.into_iter().filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_are_wrapped_and_truncated() {
        let lines: Vec<String> =
            wrap_words("a red delivery van parked under a light", 12, 3).collect();
        assert_eq!(lines, ["a red", "delivery van", "parked unde…"]);
        assert_eq!(wrap_words("", 12, 3).count(), 0);
    }
}
