//! The form of a caption search, with the number of clusters that the max score keeps.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::{
        overlay::{CaptionSearchForm, ScrollState},
        query::missing_enrichment,
    },
    ui::{
        DrawContext,
        widget::{FormOptions, split_columns},
    },
};
use tessera_model::EnrichmentModel;

const FIELD_COLUMN: u16 = 14;
const NUMBER_WIDTH: u16 = 8;

impl Draw for CaptionSearchForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Search by caption");
        let theme = ctx.theme;
        let (text, style) = match self.parse_max_score() {
            Err(reason) => (format!("! the max score must be {reason}"), theme.failure),
            Ok(bound) => match bound.and_then(|bound| ctx.app.results().count_below(bound)) {
                Some((below, all)) => {
                    (format!("{below} of {all} on this page are below"), theme.text)
                }
                None => (enrichment_warning(ctx), theme.moving),
            },
        };
        let (footer, scroll) = (&[][..], ScrollState::default());
        ctx.form(inside, &FormOptions { column: FIELD_COLUMN, footer, scroll }, |rows| {
            let caption = rows.field(("caption", theme.text), !self.max_score_focused);
            rows.ctx.text_field(caption, &self.caption, !self.max_score_focused);
            let max_score = rows.field(("max score", theme.text), self.max_score_focused);
            let (number, _) = split_columns(max_score, NUMBER_WIDTH);
            rows.ctx.text_field(number, &self.max_score, self.max_score_focused);
            let hint = "lower is stricter; empty for no limit";
            rows.note_beside(max_score, NUMBER_WIDTH, hint, theme.dim);
            rows.note(&text, style);
        });
    }
}

/// A warning if the dataset is known to have no captions; the search is allowed nevertheless.
fn enrichment_warning(ctx: &DrawContext) -> String {
    missing_enrichment(ctx.app, EnrichmentModel::ANY_FOR_CAPTIONS)
        .map_or_else(String::new, |missing| format!("? {missing}"))
}
