//! The confirmation before a reindex, with its consequences.

use ratatui::{layout::Rect, text::Line};

use super::Draw;
use crate::{app::overlay::ReindexConfirmation, ui::DrawContext};
use tessera_model::text::grouped_with_noun;

impl Draw for ReindexConfirmation {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Reindex {}", self.dataset_name));
        let (app, theme) = (ctx.app, ctx.theme);
        let count = app.store().dataset(self.dataset).and_then(|dataset| dataset.n_images);
        let count = count.map(|count| grouped_with_noun(count, "image", "images"));
        let count = count.unwrap_or_else(|| "all media".to_owned());
        let has_selection =
            app.baskets().get(self.dataset).is_some_and(|basket| !basket.selection().is_empty());
        let recheck = "Recheck the clusters in the selection afterwards.";
        let lines = [
            (format!("Clusters {count} again.").as_str(), theme.text),
            ("", theme.text),
            ("PARTIAL INDEX → READ ONLY → INDEXING → READY", theme.accent),
            ("Until READY: no additions, exports, or searches by picture.", theme.dim),
            ("Clusters get new ids; open searches are repeated.", theme.dim),
            (if has_selection { recheck } else { "" }, theme.dim),
        ]
        .map(|(text, style)| match text {
            "" => Line::default(),
            _ => Line::styled(format!(" {text}"), style),
        });
        ctx.put_lines(inside, &lines);
    }
}
