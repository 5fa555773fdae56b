//! The confirmation before a reindex, with its consequences.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::ReindexConfirmation,
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, group_digits, put},
    },
};
use tessera_model::Selection;

impl Draw for ReindexConfirmation {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let title = Line::from(format!(" Reindex {} ", self.dataset_name));
        let inside = bordered(ctx, area, title, true);
        let (app, theme) = (ctx.app, ctx.theme);
        let count = app.store.dataset(self.dataset).and_then(|dataset| dataset.n_images);
        let count = count.map_or_else(|| "all media".to_owned(), |n| group_digits(n) + " images");
        let first = format!(" Clusters {count} again.");
        let selected = app.baskets.get(self.dataset);
        let selected = selected.is_some_and(|basket| !Selection::is_empty(basket.selection()));
        let basket =
            if selected { " Recheck the clusters in the selection afterwards." } else { "" };
        let lines = [
            (first.as_str(), theme.text),
            ("", theme.text),
            (" PARTIAL INDEX → READ ONLY → INDEXING → READY", theme.accent),
            (" Until READY: no additions, exports, or searches by picture.", theme.dim),
            (" Clusters get new ids; open searches are repeated.", theme.dim),
            (basket, theme.dim),
        ];
        for (row, line) in (0u16..).zip(lines) {
            put(ctx, inside, row, &[line]);
        }
    }
}
