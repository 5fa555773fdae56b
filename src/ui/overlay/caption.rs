//! The form of a caption search, with the number of clusters that the max score keeps.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::{overlay::CaptionSearchForm, query::missing_enrichment},
    ui::{DrawContext, widget::split_columns},
};
use tessera_model::EnrichmentModel;

const FIELD_COLUMN: u16 = 14;
const NUMBER_WIDTH: u16 = 8;

impl Draw for CaptionSearchForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Search by caption");
        let theme = ctx.theme;
        let mut label = |row, label, focused| {
            ctx.field_label(inside, (row, FIELD_COLUMN), (label, theme.text), focused)
        };
        let caption = label(0, "caption", !self.max_score_focused);
        let max_score = label(1, "max score", self.max_score_focused);
        ctx.text_field(caption, &self.caption, !self.max_score_focused);
        let (number, hint) = split_columns(max_score, NUMBER_WIDTH);
        ctx.text_field(number, &self.max_score, self.max_score_focused);
        ctx.put(hint, 0, &[("lower is stricter; empty for no limit", theme.dim)]);
        let below = match self.parse_max_score() {
            Err(reason) => Some((format!("! the max score must be {reason}"), theme.failure)),
            Ok(bound) => bound.and_then(|bound| ctx.app.count_below(bound)).map(|(below, all)| {
                (format!("{below} of {all} on this page are below"), theme.text)
            }),
        };
        let row = below.unwrap_or_else(|| (enrichment_warning(ctx), theme.moving));
        ctx.put(Rect { x: caption.x, width: caption.width, ..inside }, 2, &[row]);
    }
}

/// A warning if the dataset is known to have no captions; the search is allowed nevertheless.
fn enrichment_warning(ctx: &DrawContext) -> String {
    missing_enrichment(ctx.app, EnrichmentModel::ANY_FOR_CAPTIONS)
        .map_or_else(String::new, |missing| format!("? {missing}"))
}
