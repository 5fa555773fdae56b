//! The input for the name of a saved view.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::overlay::ViewNameInput,
    ui::{
        DrawContext,
        widget::{choice_text, field_area},
    },
};

impl Draw for ViewNameInput {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let is_new = self.renamed_from.is_none();
        let inside = ctx.dialog(area, if is_new { "Save as a view" } else { "Rename the view" });
        let theme = ctx.theme;
        ctx.put(inside, 0, &[(" name", theme.text)]);
        ctx.text_field(field_area(inside, 0, 8), &self.name, true);
        if is_new {
            let scope = if self.any_dataset { "any dataset" } else { "this dataset" };
            let scope = choice_text(scope, true);
            ctx.put(inside, 1, &[(" for    ", theme.text), (&scope, theme.text)]);
        }
        let name = self.trimmed_name();
        let is_taken = ctx.app.saved_views().iter().any(|view| view.name == name);
        if is_taken && self.renamed_from.as_ref() != Some(&name) {
            ctx.put(inside, 2, &[(format!(" ? replaces the view “{name}”"), theme.moving)]);
        }
    }
}
