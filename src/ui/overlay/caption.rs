//! The form of a caption search, with the number of clusters that the max score keeps.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::{overlay::CaptionSearchForm, query::missing_enrichment},
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, put, text_field},
    },
};
use tessera_model::EnrichmentModel;

const LABEL_WIDTH: u16 = 14;
const NUMBER_WIDTH: u16 = 8;

impl Draw for CaptionSearchForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = bordered(ctx, area, Line::from(" Search by caption "), true);
        let theme = ctx.theme;
        draw_label(ctx, inside, 0, "caption", !self.max_score_focused);
        let place = Rect { x: inside.x + LABEL_WIDTH, height: 1, ..inside };
        let place = Rect { width: inside.width.saturating_sub(LABEL_WIDTH + 1), ..place };
        text_field(ctx, place, &self.caption, !self.max_score_focused);
        draw_label(ctx, inside, 1, "max score", self.max_score_focused);
        let number = Rect { y: inside.y + 1, width: NUMBER_WIDTH.min(place.width), ..place };
        text_field(ctx, number, &self.max_score, self.max_score_focused);
        let rest = Rect { x: number.right(), width: place.width - number.width, ..number };
        put(ctx, rest, 0, &[("lower is stricter; empty for no limit", theme.dim)]);
        let (words, style) = match self.parse_max_score() {
            Err(reason) => (format!("! the max score must be {reason}"), theme.failure),
            Ok(None) => (enrichment_hint(ctx), theme.moving),
            Ok(Some(bound)) => match ctx.app.count_below(bound) {
                Some((below, all)) => {
                    (format!("{below} of {all} on this page are below"), theme.text)
                }
                None => (enrichment_hint(ctx), theme.moving),
            },
        };
        let below = Rect { x: place.x, width: place.width, ..inside };
        put(ctx, below, 2, &[(&words, style)]);
    }
}

/// A warning if the dataset is known to have no captions; the search is allowed nevertheless.
fn enrichment_hint(ctx: &DrawContext) -> String {
    missing_enrichment(ctx.app, EnrichmentModel::ANY_FOR_CAPTIONS)
        .map_or_else(String::new, |words| format!("? {words}"))
}

fn draw_label(ctx: &mut DrawContext, inside: Rect, row: u16, words: &str, focused: bool) {
    let style = if focused { ctx.theme.accent } else { ctx.theme.text };
    put(ctx, inside, row, &[(if focused { " ▸ " } else { "   " }, style), (words, style)]);
}
