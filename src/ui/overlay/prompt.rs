//! The prompt for one line of text.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::overlay::TextPrompt,
    ui::{DrawContext, widget::field_area},
};

impl Draw for TextPrompt {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, self.purpose.title());
        let dim = ctx.theme.dim;
        ctx.put(inside, 0, &[(" ", dim), (self.purpose.description(), dim)]);
        ctx.text_field(field_area(inside, 1, 1), &self.text, true);
    }
}
