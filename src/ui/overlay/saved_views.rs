//! The input for the name of a saved view.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::overlay::{ScrollState, ViewNameInput},
    ui::{
        DrawContext,
        widget::{FormOptions, choice_text, field_area},
    },
};

const FIELD_COLUMN: u16 = 8;

impl Draw for ViewNameInput {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let is_new = self.renamed_from.is_none();
        let inside = ctx.dialog(area, if is_new { "Save as a view" } else { "Rename the view" });
        let theme = ctx.theme;
        let name = self.trimmed_name();
        let is_taken = ctx.app.store().saved_views().iter().any(|view| view.name == name);
        let replaces = is_taken && self.renamed_from.as_ref() != Some(&name);
        let (footer, scroll) = (&[][..], ScrollState::default());
        ctx.form(inside, &FormOptions { column: FIELD_COLUMN, footer, scroll }, |rows| {
            let row = rows.reserve(1);
            rows.ctx.put(row, 0, &[(" name", theme.text)]);
            rows.ctx.text_field(field_area(row, 0, FIELD_COLUMN), &self.name, true);
            if is_new {
                let scope = if self.any_dataset { "any dataset" } else { "this dataset" };
                rows.text(&format!("for    {}", choice_text(scope, true)), theme.text);
            }
            if replaces {
                rows.text(&format!("? replaces the view “{name}”"), theme.moving);
            }
        });
    }
}
