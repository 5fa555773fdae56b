//! The confirmation before a reindex, with its consequences.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::overlay::ReindexConfirmation,
    ui::{DrawContext, widget::group_digits},
};

impl Draw for ReindexConfirmation {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Reindex {}", self.dataset_name));
        let (app, theme) = (ctx.app, ctx.theme);
        let count = app.store.dataset(self.dataset).and_then(|dataset| dataset.n_images);
        let count = count.map_or_else(|| "all media".to_owned(), |n| group_digits(n) + " images");
        let has_selection =
            app.baskets.get(self.dataset).is_some_and(|basket| !basket.selection().is_empty());
        let recheck = " Recheck the clusters in the selection afterwards.";
        for (row, text, style) in [
            (0, format!(" Clusters {count} again.").as_str(), theme.text),
            (2, " PARTIAL INDEX → READ ONLY → INDEXING → READY", theme.accent),
            (3, " Until READY: no additions, exports, or searches by picture.", theme.dim),
            (4, " Clusters get new ids; open searches are repeated.", theme.dim),
            (5, if has_selection { recheck } else { "" }, theme.dim),
        ] {
            ctx.put(inside, row, &[(text, style)]);
        }
    }
}
