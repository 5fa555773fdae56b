//! Text in cells: measured by display width, truncated and wrapped.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Span},
};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

    /// Draws lines from the top. Long ones are wrapped while there are rows for them.
    pub(in crate::ui) fn put_lines(&mut self, area: Rect, lines: &[Line]) {
        let fitted = fitting_lines(lines, usize::from(area.width), usize::from(area.height));
        for (row, line) in (0..area.height).zip(&fitted) {
            self.buf.set_line(area.x, area.y + row, line, area.width);
        }
    }

    pub(in crate::ui) fn scrolled_lines(
        &mut self,
        inside: Rect,
        lines: &[Line],
        scroll: ScrollState,
    ) {
        let wrapped = |line| wrap_line(line, usize::from(inside.width), usize::MAX);
        let lines: Vec<Line> = lines.iter().flat_map(wrapped).collect();
        let last = lines.len().saturating_sub(usize::from(inside.height));
        for (row, line) in (0..inside.height).zip(lines.iter().skip(scroll.top(last))) {
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

/// Wraps lines as far as `height` allows when every line of text keeps at least one row. Blank lines get the
/// rows that the text leaves.
fn fitting_lines<'line>(lines: &[Line<'line>], cells: usize, height: usize) -> Vec<Line<'line>> {
    let rows = |line: &Line| wrap_line(line, cells, usize::MAX).len();
    let text_rows: usize = lines.iter().filter(|line| line.width() > 0).map(rows).sum();
    let mut free_rows = height.saturating_sub(text_rows);
    let is_kept = |line: &&Line| {
        let is_blank = line.width() == 0;
        let is_kept = !is_blank || free_rows > 0;
        free_rows = free_rows.saturating_sub(usize::from(is_blank));
        is_kept
    };
    let lines: Vec<&Line> = lines.iter().filter(is_kept).collect();
    let mut fitted = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let others = lines.len() - index - 1;
        let free = height.saturating_sub(fitted.len() + others).max(1);
        fitted.extend(wrap_line(line, cells, free));
    }
    fitted
}

/// Wraps a line that is too long: its last part continues below the place where it begins.
fn wrap_line<'line>(line: &Line<'line>, cells: usize, max_lines: usize) -> Vec<Line<'line>> {
    let Some((last, head)) = line.spans.split_last().filter(|_| line.width() > cells) else {
        return vec![line.clone()];
    };
    let text = last.content.trim_start();
    let indent = " ".repeat(last.content.len() - text.len());
    let start = head.iter().map(Span::width).sum::<usize>() + indent.len();
    let parts = wrap_words(text, cells.saturating_sub(start).max(1), max_lines);
    let wrapped = parts.enumerate().map(|(index, part)| {
        let mut spans = match index {
            0 => head.iter().cloned().chain([Span::raw(indent.clone())]).collect(),
            _ => vec![Span::raw(" ".repeat(start))],
        };
        spans.push(Span::styled(part, last.style));
        Line::from(spans).style(line.style)
    });
    wrapped.collect()
}

/// Wraps a text to at most `max_lines` lines of `cells` cells.
pub(in crate::ui) fn wrap_words(
    text: &str,
    cells: usize,
    max_lines: usize,
) -> impl Iterator<Item = String> + use<> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace().flat_map(|word| split_word(word, cells.max(1))) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && display_width(&lines[last]) + 1 + display_width(&word) > cells
        {
            lines.push(word);
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(&word);
        }
    }
    if lines.len() > max_lines {
        let rest = lines.split_off(max_lines.saturating_sub(1)).join(" ");
        lines.extend((max_lines > 0).then(|| truncate(&rest, cells)));
    }
    lines.into_iter().filter(|line| !line.is_empty())
}

/// The parts of a word, each at most `cells` wide.
fn split_word(word: &str, cells: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut used = 0;
    for character in word.chars() {
        let width = character.width().unwrap_or(0);
        if used + width > cells && used > 0 {
            parts.push(String::new());
            used = 0;
        }
        used += width;
        let last = parts.len() - 1;
        parts[last].push(character);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_continue_below_their_last_part_while_there_are_rows() {
        let lines = [
            Line::from(vec![Span::raw(" changed  "), Span::raw("now: READY to INDEXING")]),
            Line::raw("   needs a reindex"),
        ];
        let texts = |height| -> Vec<String> {
            fitting_lines(&lines, 18, height).iter().map(ToString::to_string).collect()
        };
        let wrapped =
            [" changed  now:", "          READY to", "          INDEXING", "   needs a reindex"];
        assert_eq!(texts(4), wrapped);
        assert_eq!(texts(2), [" changed  now: RE…", "   needs a reindex"]);
    }

    #[test]
    fn captions_are_wrapped_and_truncated() {
        let lines: Vec<String> =
            wrap_words("a red delivery van parked under a light", 12, 3).collect();
        assert_eq!(lines, ["a red", "delivery van", "parked unde…"]);
        assert_eq!(wrap_words("", 12, 3).count(), 0);
        assert_eq!(wrap_words("red", 12, 0).count(), 0);
        let lines: Vec<String> = wrap_words("a n02206856_bee.jpg", 8, 3).collect();
        assert_eq!(lines, ["a", "n0220685", "6_bee.jpg"].map(|line| truncate(line, 8)));
    }
}
