//! The filter input, with the number of matches.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::{Pane, overlay::FilterInput},
    ui::{
        DrawContext,
        widget::{split_columns, split_end},
    },
};

impl Draw for FilterInput {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let (app, theme) = (ctx.app, ctx.theme);
        let (left, all) = match self.pane {
            Pane::Datasets => (app.visible_datasets().len(), app.store().dataset_list().len()),
            _ => (app.visible_clusters().len(), app.page().map_or(0, |page| page.clusters.len())),
        };
        let matches = format!(" {left} of {all} loaded ");
        let (prompt, rest) = split_columns(area, 3);
        let (field, end) = split_end(rest, &matches);
        ctx.put(prompt, 0, &[(" / ", theme.key)]);
        ctx.text_field(field, &self.text, true);
        ctx.put(end, 0, &[(matches, if left == 0 { theme.moving } else { theme.dim })]);
    }
}
