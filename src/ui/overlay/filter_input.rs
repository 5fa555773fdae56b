//! The filter input, with the number of matches.

use ratatui::layout::Rect;

use crate::{
    app::{Pane, overlay::FilterInput},
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{display_width, put, text_field},
    },
};

impl Draw for FilterInput {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let (app, theme) = (ctx.app, ctx.theme);
        let (left, all) = match self.pane {
            Pane::Datasets => (app.visible_datasets().len(), app.store.dataset_list().len()),
            _ => (app.visible_clusters().len(), app.page().map_or(0, |page| page.clusters.len())),
        };
        let rest = format!(" {left} of {all} loaded ");
        put(ctx, area, 0, &[(" / ", theme.key)]);
        let cells =
            u16::try_from(display_width(&rest)).unwrap_or(0).min(area.width.saturating_sub(3));
        let line = Rect { x: area.x + 3, width: area.width - 3 - cells, ..area };
        text_field(ctx, line, &self.text, true);
        let place = Rect { x: line.right(), width: cells, ..area };
        let style = if left == 0 { theme.moving } else { theme.dim };
        put(ctx, place, 0, &[(&rest, style)]);
    }
}
