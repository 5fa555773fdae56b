//! The prompt for one line of text.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::overlay::{ScrollState, TextPrompt},
    ui::{
        DrawContext,
        widget::{FormOptions, field_area},
    },
};

impl Draw for TextPrompt {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, self.purpose.title());
        let (footer, scroll) = (&[][..], ScrollState::default());
        ctx.form(inside, &FormOptions { column: 1, footer, scroll }, |rows| {
            rows.text(self.purpose.description(), rows.ctx.theme.dim);
            let row = rows.reserve(1);
            rows.ctx.text_field(field_area(row, 0, 1), &self.text, true);
        });
    }
}
