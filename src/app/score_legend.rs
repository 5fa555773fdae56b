//! What the results are ranked by, and the legend of the scores, which may need a line of its own.

use ratatui::layout::Rect;
use tessera_model::Query;
use unicode_width::UnicodeWidthStr;

use crate::{app::App, drawing::wrapped_rows};

/// Rows of the results from which on the legend may have a line of its own, and from which on several.
const MIN_ROWS: (u16, u16) = (16, 24);
/// Blank columns between the query and the legend.
pub const LEGEND_GAP: usize = 3;

/// A ranking query in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankingText<'a> {
    /// What the results are compared with: its kind, and its name.
    pub subject: (&'static str, &'a str),
    pub legend: &'static str,
}

impl App {
    /// `None` while the results are not ranked.
    pub fn ranking_text(&self) -> Option<RankingText<'_>> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        let subject = match (&view.search.query, &view.similar_to) {
            (Query::Similar(_), Some(name)) => ("similar to ", name.as_str()),
            (Query::Similar(_), None) => ("similar to ", "a picture"),
            (Query::Caption { text, .. }, _) => ("captions matching ", text.as_str()),
            (Query::Browse, _) => return None,
        };
        Some(RankingText { subject, legend: view.search.query.score_scale().legend() })
    }

    /// The rows above the tiles: further ones for a long notice, and for the legend where one row is too short
    /// for all.
    pub fn results_header_rows(&self, inside: Rect) -> u16 {
        self.results_notice_rows(inside) + self.legend_rows(inside)
    }

    fn legend_rows(&self, inside: Rect) -> u16 {
        let Some(text) = self.ranking_text() else { return 0 };
        let (kind, name) = text.subject;
        let used = kind.width() + name.width() + LEGEND_GAP + text.legend.width();
        if used < usize::from(inside.width) {
            return 0;
        }
        match wrapped_rows(text.legend, inside.width.saturating_sub(1)) {
            1 if inside.height >= MIN_ROWS.0 => 1,
            rows if inside.height >= MIN_ROWS.1 => rows,
            _ => 0,
        }
    }
}
