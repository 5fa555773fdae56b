//! The input for the name of a saved view.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::ViewNameInput,
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, put, text_field},
    },
};

impl Draw for ViewNameInput {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let title =
            if self.renamed_from.is_some() { " Rename the view " } else { " Save as a view " };
        let inside = bordered(ctx, area, Line::from(title), true);
        let theme = ctx.theme;
        put(ctx, inside, 0, &[(" name", theme.text)]);
        let place = Rect { x: inside.x + 8, width: inside.width.saturating_sub(9), ..inside };
        text_field(ctx, Rect { height: 1, ..place }, &self.name, true);
        if self.renamed_from.is_none() {
            let place =
                if self.any_dataset { "‹ any dataset ›" } else { "‹ this dataset ›" };
            put(ctx, inside, 1, &[(" for    ", theme.text), (place, theme.text)]);
        }
        let name = self.trimmed_name();
        let taken = ctx.app.saved_views().iter().any(|view| view.name == name);
        if taken && self.renamed_from.as_ref() != Some(&name) {
            let words = format!(" ? replaces the view “{name}”");
            put(ctx, inside, 2, &[(&words, theme.moving)]);
        }
    }
}
