//! The line that asks for a caption search, with what its max score would keep.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::{overlay::CaptionSearchForm, query::missing_enrichment},
    ui::{
        DrawContext,
        overlay::file_picker::text_field,
        widget::{bordered, put},
    },
};
use tessera_model::EnrichmentModel;

/// Cells before a field.
const LABEL_WIDTH: u16 = 14;
/// Cells of the field of the max score.
const NUMBER_WIDTH: u16 = 8;

/// Draws the line.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, line: &CaptionSearchForm) {
    let inside = bordered(screen, area, Line::from(" Search by caption "), true);
    let theme = screen.theme;
    draw_label(screen, inside, 0, "caption", !line.max_score_focused);
    let place = Rect { x: inside.x + LABEL_WIDTH, height: 1, ..inside };
    let place = Rect { width: inside.width.saturating_sub(LABEL_WIDTH + 1), ..place };
    text_field(screen, place, &line.caption, !line.max_score_focused);
    draw_label(screen, inside, 1, "max score", line.max_score_focused);
    let number = Rect { y: inside.y + 1, width: NUMBER_WIDTH.min(place.width), ..place };
    text_field(screen, number, &line.max_score, line.max_score_focused);
    let rest = Rect { x: number.right(), width: place.width - number.width, ..number };
    put(screen, rest, 0, &[("lower = stricter; empty = no bound", theme.dim)]);
    let (words, style) = match line.parse_max_score() {
        Err(reason) => (format!("! the max score must be {reason}"), theme.failure),
        Ok(None) => (enrichment_hint(screen), theme.moving),
        Ok(Some(bound)) => match screen.app.count_below(bound) {
            Some((below, all)) => {
                (format!("{below} of {all} on this page are below it"), theme.text)
            }
            None => (enrichment_hint(screen), theme.moving),
        },
    };
    let below = Rect { x: place.x, width: place.width, ..inside };
    put(screen, below, 2, &[(&words, style)]);
}

/// What the dataset lacks for it, if it is known to; the search is allowed all the same.
fn enrichment_hint(screen: &DrawContext) -> String {
    missing_enrichment(screen.app, EnrichmentModel::CAPTIONS)
        .map_or_else(String::new, |words| format!("? {words}"))
}

fn draw_label(screen: &mut DrawContext, inside: Rect, row: u16, words: &str, focused: bool) {
    let style = if focused { screen.theme.accent } else { screen.theme.text };
    put(screen, inside, row, &[(if focused { " ▸ " } else { "   " }, style), (words, style)]);
}
