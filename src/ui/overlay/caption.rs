//! The line that asks for a caption search, with what its max score would keep.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::{overlay::CaptionLine, query::unmet},
    ui::{
        Screen,
        overlay::file::field,
        widget::{boxed, put},
    },
};
use tessera_model::EnrichmentModel;

/// Cells before a field.
const LABEL: u16 = 14;
/// Cells of the field of the max score.
const NUMBER: u16 = 8;

/// Draws the line.
pub(super) fn draw(screen: &mut Screen, area: Rect, line: &CaptionLine) {
    let inside = boxed(screen, area, Line::from(" Search by caption "), true);
    let theme = screen.theme;
    label(screen, inside, 0, "caption", !line.in_max_score);
    let place = Rect { x: inside.x + LABEL, height: 1, ..inside };
    let place = Rect { width: inside.width.saturating_sub(LABEL + 1), ..place };
    field(screen, place, &line.text, !line.in_max_score);
    label(screen, inside, 1, "max score", line.in_max_score);
    let number = Rect { y: inside.y + 1, width: NUMBER.min(place.width), ..place };
    field(screen, number, &line.max_score, line.in_max_score);
    let rest = Rect { x: number.right(), width: place.width - number.width, ..number };
    put(screen, rest, 0, &[("lower = stricter; empty = no bound", theme.dim)]);
    let (words, style) = match line.bound() {
        Err(reason) => (format!("! the max score must be {reason}"), theme.failure),
        Ok(None) => (needs(screen), theme.moving),
        Ok(Some(bound)) => match screen.app.below(bound) {
            Some((below, all)) => {
                (format!("{below} of {all} on this page are below it"), theme.text)
            }
            None => (needs(screen), theme.moving),
        },
    };
    let below = Rect { x: place.x, width: place.width, ..inside };
    put(screen, below, 2, &[(&words, style)]);
}

/// What the dataset lacks for it, if it is known to; the search is allowed all the same.
fn needs(screen: &Screen) -> String {
    unmet(screen.app, EnrichmentModel::CAPTIONS)
        .map_or_else(String::new, |words| format!("? {words}"))
}

fn label(screen: &mut Screen, inside: Rect, row: u16, words: &str, focused: bool) {
    let style = if focused { screen.theme.accent } else { screen.theme.text };
    put(screen, inside, row, &[(if focused { " ▸ " } else { "   " }, style), (words, style)]);
}
