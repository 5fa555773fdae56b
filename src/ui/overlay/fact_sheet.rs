//! A fact sheet: names on the left, wrapped values on the right.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use super::Draw;
use crate::{
    app::overlay::FactSheet,
    ui::{
        DrawContext,
        widget::{display_width, truncate},
    },
};

const MAX_NAME_WIDTH: usize = 24;

impl Draw for FactSheet {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let title = truncate(self.title.as_str(), usize::from(area.width.saturating_sub(4)));
        let inside = ctx.dialog(area, &title);
        let widest =
            self.facts.iter().map(|(name, _)| display_width(name.as_str())).max().unwrap_or(0);
        let names = widest.min(MAX_NAME_WIDTH);
        let room = usize::from(inside.width).saturating_sub(names + 4).max(1);
        let theme = ctx.theme;
        let mut lines = Vec::new();
        for (name, value) in &self.facts {
            let mut names_left = wrap_characters(name.as_str(), names.max(1)).into_iter();
            let mut values_left = wrap_characters(value.as_str(), room).into_iter();
            loop {
                let (name, value) = (names_left.next(), values_left.next());
                if name.is_none() && value.is_none() {
                    break;
                }
                let name = name.unwrap_or_default();
                let gap = " ".repeat(names.saturating_sub(display_width(&name)) + 2);
                lines.push(Line::from(vec![
                    Span::styled(format!(" {name}{gap}"), theme.dim),
                    Span::styled(value.unwrap_or_default(), theme.text),
                ]));
            }
        }
        ctx.scrolled_lines(inside, &lines, self.scroll);
    }
}

/// Splits a text into pieces of at most `cells` cells, after a space if there is one; at least one piece. Their
/// characters are those of the text.
fn wrap_characters(text: &str, cells: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for c in text.chars() {
        if display_width(&piece) + display_width(c.encode_utf8(&mut [0; 4])) > cells {
            let end = piece.rfind(' ').map_or(piece.len(), |space| space + 1);
            let rest = piece.split_off(end);
            pieces.push(std::mem::replace(&mut piece, rest));
        }
        piece.push(c);
    }
    pieces.push(piece);
    pieces
}
