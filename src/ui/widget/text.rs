//! Words on one line: cut to the cells there are, by the width of what is drawn.

use ratatui::{layout::Rect, style::Style, text::Line};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::{app::overlay::ScrollState, ui::DrawContext};

/// Cells that `text` takes.
pub(in crate::ui) fn display_width(text: &str) -> usize {
    text.width()
}

/// `text` cut to `cells`, with an ellipsis when something is missing.
pub(in crate::ui) fn truncate(text: &str, cells: usize) -> String {
    if text.width() <= cells {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut used = 0;
    for cluster in text.graphemes(true) {
        used += cluster.width();
        if used + 1 > cells {
            break;
        }
        clipped.push_str(cluster);
    }
    if cells > 0 {
        clipped.push('…');
    }
    clipped
}

/// Writes words at the start of a line of `area`; what does not fit is cut.
pub(in crate::ui) fn put(ctx: &mut DrawContext, area: Rect, row: u16, parts: &[(&str, Style)]) {
    // An area that was laid out for a larger screen ends where this one does.
    let area = area.intersection(ctx.buf.area);
    if row >= area.height {
        return;
    }
    let mut left = usize::from(area.width);
    let mut line = Line::default();
    for (text, style) in parts {
        let shown = truncate(text, left);
        left -= shown.width().min(left);
        line.push_span(ratatui::text::Span::styled(shown, *style));
    }
    ctx.buf.set_line(area.x, area.y + row, &line, area.width);
}

/// Draws a text that is longer than its area.
pub(in crate::ui) fn scrolled_lines(
    ctx: &mut DrawContext,
    inside: Rect,
    lines: &[Line],
    scroll: ScrollState,
) {
    let last = lines.len().saturating_sub(usize::from(inside.height));
    for (row, line) in (0..inside.height).zip(lines.iter().skip(scroll.top.min(last))) {
        ctx.buf.set_line(inside.x, inside.y + row, line, inside.width);
    }
}

/// Words over at most `most` lines of `cells` cells.
pub(in crate::ui) fn wrap_words(
    text: &str,
    cells: usize,
    most: usize,
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
    if lines.len() > most {
        let rest = lines.split_off(most - 1).join(" ");
        lines.push(truncate(&rest, cells));
    }
    lines.into_iter().filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_by_cells() {
        assert_eq!(truncate("abcdef", 6), "abcdef");
        assert_eq!(truncate("abcdef", 4), "abc…");
        assert_eq!(truncate("猫猫猫", 4), "猫…");
        assert_eq!(truncate("abc", 0), "");
    }

    #[test]
    fn captions_are_wrapped_and_cut() {
        let lines: Vec<String> =
            wrap_words("a red delivery van parked under a light", 12, 3).collect();
        assert_eq!(lines, ["a red", "delivery van", "parked unde…"]);
        assert_eq!(wrap_words("", 12, 3).count(), 0);
    }
}
