//! Draws each pane in a file of its own, and the frame that all panes share. The state of a pane is in the file of the
//! same name in `app/pane`.

use crate::ui::prelude::*;

pub(super) mod basket;
mod datasets;
mod detail;
mod jobs;
mod query;
mod results;
mod status;

pub(super) use datasets::datasets;
pub(super) use detail::{detail, selection_text};
pub(super) use jobs::jobs;
pub(super) use query::query;
pub(super) use results::results;
pub(super) use status::{
    connection, login_text, outage_text, status, status_glyph, status_summary, status_text,
};

/// The rows of a pane with a frame and one line in it.
pub(in crate::ui) const MIN_FRAMED_ROWS: u16 = 3;

/// Returns the number of cells for the summary that follows a pane's name.
pub(in crate::ui) fn title_cells(area: Rect, pane: Pane) -> usize {
    // The columns of the corners, of the pane's number in spaces, and of the spaces before the
    // summary.
    const OTHERS: usize = 2 + 3 + 2;
    usize::from(area.width).saturating_sub(OTHERS + display_width(pane.name()))
}

/// Returns as many leading parts of a summary as fit, so that no word is cut.
fn fitting_parts(summary: &str, cells: usize) -> &str {
    const SEPARATOR: &str = " · ";
    let ends = summary.match_indices(SEPARATOR).map(|(end, _)| end).chain([summary.len()]);
    let parts = ends.map(|end| &summary[..end]);
    parts.filter(|part| display_width(part) <= cells).last().unwrap_or_default()
}

impl DrawContext<'_> {
    /// Draws the frame and returns the inner area. The focused pane has a thick frame, which is
    /// visible without color.
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

    /// Draws a pane as a single line: its name, and what it would show.
    pub(in crate::ui) fn collapsed_pane(&mut self, area: Rect, pane: Pane, text: &str) {
        self.collapsed_pane_of(area, pane, [(text.to_owned(), self.theme.dim)]);
    }

    /// Draws a pane as a single line of parts with styles.
    fn collapsed_pane_of(
        &mut self,
        area: Rect,
        pane: Pane,
        parts: impl IntoIterator<Item = (String, Style)>,
    ) {
        let number = pane.number().map_or_else(String::new, |number| number.to_string());
        let theme = self.theme;
        let focused = self.app.panes().focus == pane && self.app.overlay().is_none();
        let name = if focused { theme.accent } else { theme.text };
        let heading = [
            (" ".to_owned(), theme.dim),
            (number, theme.key),
            (format!(" {}  ", pane.name()), name),
        ];
        let parts: Vec<(String, Style)> = heading.into_iter().chain(parts).collect();
        self.put(area, 0, &parts);
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
