//! Measures text by its display width, truncates it, wraps it, and writes it into cells. Gauges and scores are also
//! formatted here.

use ratatui::{
    layout::{Margin, Rect},
    style::Style,
    text::{Line, Span},
    widgets::{Paragraph, Widget as _, Wrap},
};
use tessera_config::input::{Chord, Key};
use tessera_model::text::truncate;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::drawing::{ClickTarget, Painter, line};

pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

/// Returns the display width as a coordinate, which saturates.
pub(crate) fn text_cells(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

impl<S> Painter<'_, S> {
    /// Writes a row of `area`, truncated to its width.
    pub(crate) fn put<T: AsRef<str>>(&mut self, area: Rect, row: u16, parts: &[(T, Style)]) {
        // The area may have been laid out for a larger screen.
        let area = area.intersection(self.buf.area);
        if row >= area.height {
            return;
        }
        let mut free = usize::from(area.width);
        let mut spans = Line::default();
        if parts.iter().map(|(text, _)| text.as_ref().width()).sum::<usize>() > free {
            let text: String = parts.iter().map(|(text, _)| text.as_ref()).collect();
            self.explain(line(area, row), text);
        }
        for (text, style) in parts {
            let shown = truncate(text.as_ref(), free);
            free -= shown.width().min(free);
            spans.push_span(Span::styled(shown, *style));
        }
        self.buf.set_line(area.x, area.y + row, &spans, area.width);
    }

    /// Draws lines from the top. Long lines are wrapped while there are rows for them.
    pub(crate) fn put_lines(&mut self, area: Rect, lines: &[Line]) {
        let fitted = fitting_lines(lines, usize::from(area.width), usize::from(area.height));
        for (row, line) in (0..area.height).zip(&fitted) {
            self.buf.set_line(area.x, area.y + row, line, area.width);
        }
    }

    /// Fills the screen with a text from the top.
    pub(crate) fn paragraph(&mut self, text: &str) {
        Paragraph::new(text).wrap(Wrap { trim: true }).render(self.buf.area, self.buf);
    }

    /// Draws lines in full from the top. The first lines may be scrolled out.
    pub(crate) fn scrolled_lines(&mut self, inside: Rect, lines: &[Line], scroll: ScrollState) {
        let wrapped = |line| wrap_line(line, usize::from(inside.width), usize::MAX);
        let lines: Vec<Line> = lines.iter().flat_map(wrapped).collect();
        let height = usize::from(inside.height);
        let top = scroll.top(lines.len().saturating_sub(height));
        for (row, line) in (0..inside.height).zip(lines.iter().skip(top)) {
            self.buf.set_line(inside.x, inside.y + row, line, inside.width);
        }
        self.scroll_mark(inside.outer(Margin::new(1, 1)), top, height, lines.len());
    }

    /// Draws a text in full at the bottom of an area, if the text leaves rows above. Returns the area above the text.
    pub(crate) fn text_below(&mut self, area: Rect, text: &str) -> Rect {
        const MAX_LINES: usize = 4;
        const MIN_ROWS: u16 = 2;
        let cells = usize::from(area.width.saturating_sub(4));
        let lines: Vec<String> = wrap_words(text, cells, MAX_LINES).collect();
        let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        if height.saturating_add(MIN_ROWS) > area.height {
            return area;
        }
        let rest = Rect { height: area.height - height, ..area };
        for (row, line) in (rest.height..).zip(&lines) {
            self.put(area, row, &[("   ", self.theme.dim), (line, self.theme.text)]);
        }
        rest
    }

    /// Highlights a row over its whole width, if it is selected.
    pub(crate) fn select_row(&mut self, area: Rect, row: u16, selected: bool) {
        if selected && row < area.height {
            self.buf.set_style(line(area, row), self.theme.selected);
        }
    }

    /// Highlights a row of a list if it is selected, and makes it clickable: a click selects the row, and another click
    /// does what Enter does.
    pub(crate) fn list_row(&mut self, area: Rect, row: u16, index: usize, selected: bool) {
        self.select_row(area, row, selected);
        self.item(area.y + row, index);
        let target = if selected {
            ClickTarget::Key(Chord::plain(Key::Enter))
        } else {
            ClickTarget::Item(index)
        };
        self.click(line(area, row).intersection(area), target);
    }
}

/// Wraps lines as far as `height` allows while every line of text keeps at least one row. Blank lines get the rows that
/// the text leaves.
fn fitting_lines<'line>(lines: &[Line<'line>], cells: usize, height: usize) -> Vec<Line<'line>> {
    let text_rows: usize =
        lines.iter().filter(|line| line.width() > 0).map(|line| rows_of_line(line, cells)).sum();
    let mut free_rows = height.saturating_sub(text_rows);
    let is_kept = |line: &&Line| {
        let is_blank = line.width() == 0;
        let is_kept = !is_blank || free_rows > 0;
        free_rows = free_rows.saturating_sub(usize::from(is_blank));
        is_kept
    };
    let lines: Vec<Line> = lines.iter().filter(is_kept).cloned().collect();
    fitting_items(&lines, cells, height).into_iter().flatten().collect()
}

/// Returns the rows of each line. Every line has at least one row, and the free rows go to the first lines.
pub(crate) fn fitting_items<'line>(
    lines: &[Line<'line>],
    cells: usize,
    height: usize,
) -> Vec<Vec<Line<'line>>> {
    let mut used = 0;
    let items = lines.iter().enumerate().map(|(index, line)| {
        let others = lines.len() - index - 1;
        let rows = wrap_line(line, cells, height.saturating_sub(used + others).max(1));
        used += rows.len();
        rows
    });
    items.collect()
}

/// Returns the rows that a line needs.
pub(crate) fn rows_of_line(line: &Line, cells: usize) -> usize {
    wrap_line(line, cells, usize::MAX).len()
}

/// Returns the rows that lines need in an area of this width.
pub(crate) fn rows_of_lines(lines: &[Line], width: u16) -> u16 {
    let rows: usize = lines.iter().map(|line| rows_of_line(line, usize::from(width))).sum();
    u16::try_from(rows).unwrap_or(u16::MAX)
}

/// Wraps a line that is too long. Its last part continues below the place where it begins. If that would leave only a
/// narrow column, the whole line flows over the rows.
fn wrap_line<'line>(line: &Line<'line>, cells: usize, max_lines: usize) -> Vec<Line<'line>> {
    const MIN_COLUMN: usize = 8;
    let Some((last, head)) = line.spans.split_last().filter(|_| line.width() > cells) else {
        return vec![line.clone()];
    };
    let text = last.content.trim_start();
    let indent = " ".repeat(last.content.len() - text.len());
    let start = head.iter().map(Span::width).sum::<usize>() + indent.len();
    let column = cells.saturating_sub(start);
    if !head.is_empty() && column < MIN_COLUMN.max(cells / 4) {
        return flow_line(line, cells, max_lines);
    }
    // The columns of a text that is cut stay where they are.
    let parts = match max_lines {
        1 => vec![truncate(text.trim_end(), column.max(1))],
        _ => wrap_words(text, column.max(1), max_lines).collect(),
    };
    let wrapped = parts.into_iter().enumerate().map(|(index, part)| {
        let mut spans = match index {
            0 => head.iter().cloned().chain([Span::raw(indent.clone())]).collect(),
            _ => vec![Span::raw(" ".repeat(start))],
        };
        spans.push(Span::styled(part, last.style));
        Line::from(spans).style(line.style)
    });
    wrapped.collect()
}

/// Wraps the words of all parts of a line. Further rows are indented a bit more than the first.
fn flow_line<'line>(line: &Line<'line>, cells: usize, max_lines: usize) -> Vec<Line<'line>> {
    let text = line.to_string();
    let margin = text.len() - text.trim_start_matches(' ').len();
    let indent = (margin + 2).min(cells / 4);
    let row = |width: usize| Line::from(Span::raw(" ".repeat(width))).style(line.style);
    let mut start = margin.min(indent);
    let mut rows = vec![row(start)];
    let (mut used, mut gap) = (start, 0);
    for span in &line.spans {
        for piece in span.content.split_inclusive(' ') {
            let word = piece.trim_end_matches(' ');
            let parts = split_word(word, cells.saturating_sub(indent).max(1));
            for part in parts.into_iter().filter(|part| !part.is_empty()) {
                let mut space = if used == start { 0 } else { std::mem::take(&mut gap) };
                if used > start && used + space + part.width() > cells {
                    rows.push(row(indent));
                    (start, used, space) = (indent, indent, 0);
                }
                used += space + part.width();
                let spans = [Span::raw(" ".repeat(space)), Span::styled(part, span.style)];
                if let Some(row) = rows.last_mut() {
                    row.spans.extend(spans);
                }
                gap = 0;
            }
            gap += piece.len() - word.len();
        }
    }
    if rows.len() > max_lines {
        rows.truncate(max_lines);
        if let Some(last) = rows.last_mut() {
            let style = last.spans.last().map_or(line.style, |span| span.style);
            *last = Line::from(Span::styled(truncate(&format!("{last} …"), cells), style));
        }
    }
    rows
}

/// Wraps a text to at most `max_lines` lines of `cells` cells.
pub(crate) fn wrap_words(
    text: &str,
    cells: usize,
    max_lines: usize,
) -> impl Iterator<Item = String> + use<> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace().flat_map(|word| split_word(word, cells.max(1))) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].width() + 1 + word.width() > cells {
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

/// Returns the lines that a text needs, at least one.
pub(crate) fn wrapped_rows(text: &str, cells: u16) -> u16 {
    let lines = wrap_words(text, usize::from(cells), usize::MAX).count();
    u16::try_from(lines).unwrap_or(u16::MAX).max(1)
}

/// Fills rows of this width with whole items, which need `cells_of` cells each.
pub(crate) fn packed_rows<T>(
    items: impl IntoIterator<Item = T>,
    width: usize,
    cells_of: impl Fn(&T) -> usize,
) -> Vec<Vec<T>> {
    let (mut rows, mut used) = (Vec::<Vec<T>>::new(), 0);
    for item in items {
        let cells = cells_of(&item);
        if let Some(row) = rows.last_mut().filter(|_| used + cells <= width) {
            row.push(item);
            used += cells;
        } else {
            rows.push(vec![item]);
            used = cells;
        }
    }
    rows
}

/// Splits a word into parts that are at most `cells` wide.
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

/// Returns the first of these texts that fits, so that no word or number is cut. Returns an empty text if none fits.
pub(crate) fn first_fitting<T: AsRef<str>>(longest_first: &[T], cells: usize) -> &str {
    let texts = || longest_first.iter().map(AsRef::as_ref);
    texts().find(|text: &&str| text.width() <= cells).unwrap_or_default()
}

/// Returns a gauge of `cells` cells for a fraction from 0 to 1, in eighths of a cell.
pub(crate) fn gauge(fraction: f64, cells: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a fraction of a few cells"
    )]
    let eighths = (fraction.clamp(0.0, 1.0) * cells as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if eighths / 8 < cells {
        bar.push(EIGHTHS[eighths % 8]);
        bar.push_str(&"·".repeat(cells - eighths / 8 - 1));
    }
    bar
}

/// Returns a score with two decimals, like `.12`.
pub(crate) fn format_score(score: f64) -> String {
    let text = format!("{score:.2}");
    text.strip_prefix('0').map_or_else(|| text.clone(), ToOwned::to_owned)
}

/// The part of a form or text that is on screen. Only drawing knows how long the text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrollState {
    /// The lines above the screen, or the lines below the screen if `from_end` is set.
    offset: usize,
    from_end: bool,
}

impl ScrollState {
    pub(crate) const END: Self = Self { offset: 0, from_end: true };

    pub(crate) fn from_start(offset: usize) -> Self {
        Self { offset, from_end: false }
    }

    /// Returns the first line on screen. `last` is the first line when the end of the text is on screen.
    pub(crate) fn top(self, last: usize) -> usize {
        if self.from_end { last.saturating_sub(self.offset) } else { self.offset.min(last) }
    }

    pub(crate) fn scroll(&mut self, by: isize) {
        let by = if self.from_end { -by } else { by };
        self.offset = self.offset.saturating_add_signed(by);
    }
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
        let columns = [Line::from(vec![Span::raw(" "), Span::raw("200    17 ms  GET /api")])];
        assert_eq!(fitting_lines(&columns, 16, 1)[0].to_string(), " 200    17 ms  …");
    }

    #[test]
    fn a_line_whose_last_part_begins_far_to_the_right_flows() {
        let parts = ["   Export the open dataset", "  ", "not available while READY"];
        let line = Line::from(parts.map(Span::raw).to_vec());
        let rows: Vec<String> = wrap_line(&line, 30, 9).iter().map(ToString::to_string).collect();
        assert_eq!(rows, ["   Export the open dataset", "     not available while READY"]);
        let cut = wrap_line(&line, 30, 1);
        assert_eq!(cut.len(), 1);
        assert!(cut[0].to_string().ends_with('…') && cut[0].width() <= 30, "{cut:?}");
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
        assert_eq!((wrapped_rows("", 8), wrapped_rows("a red van", 5)), (1, 2));
    }

    #[test]
    fn the_longest_form_that_fits_is_shown() {
        let forms = ["4 images, 1 frame", "5 members", "5"];
        assert_eq!(
            [17, 16, 8, 0].map(|cells| first_fitting(&forms, cells)),
            [forms[0], forms[1], forms[2], ""]
        );
    }

    #[test]
    fn numbers_are_formatted() {
        assert_eq!(gauge(0.0, 4), " ···");
        assert_eq!(gauge(0.5, 4), "██ ·");
        assert_eq!(gauge(1.0, 4), "████");
        assert_eq!((format_score(0.123), format_score(1.0)), (".12".to_owned(), "1.00".to_owned()));
    }
}
