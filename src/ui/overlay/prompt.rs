//! The prompt for one line of text.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::TextPrompt,
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, put, text_field},
    },
};

impl Draw for TextPrompt {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let title = Line::from(format!(" {} ", self.purpose.title()));
        let inside = bordered(ctx, area, title, true);
        let dim = ctx.theme.dim;
        put(ctx, inside, 0, &[(" ", dim), (self.purpose.description(), dim)]);
        let field = Rect {
            x: inside.x + 1,
            y: inside.y + 1,
            width: inside.width.saturating_sub(2),
            height: 1,
        };
        text_field(ctx, field, &self.text, true);
    }
}
