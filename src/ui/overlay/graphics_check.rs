//! The graphics check: the picture on the left, the question on the right.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};
use uuid::Uuid;

use super::Draw;
use crate::{
    app::overlay::GraphicsCheck,
    ui::{DrawContext, widget::split_columns},
};
use tessera_model::MediaId;
use tessera_picture::Protocol;

impl Draw for GraphicsCheck {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Test picture");
        let theme = ctx.theme;
        let (width, height) = (self.canvas.columns, self.canvas.rows);
        let picture = Rect { x: inside.x + 1, y: inside.y + 1, width, height };
        let key = (MediaId(Uuid::nil()).into(), self.canvas);
        ctx.layer.place(ctx.buf, picture.intersection(inside), key, &self.picture);
        let method = match self.canvas.protocol {
            Protocol::Kitty => "Drawn with kitty graphics.",
            Protocol::Sixel => "Drawn with sixel graphics.",
            Protocol::Iterm => "Drawn as an iTerm2 picture.",
            Protocol::HalfBlock | Protocol::None => "Drawn with half-blocks.",
        };
        let (_, beside) = split_columns(inside, width + 4);
        let text = |text: &'static str, style| Line::styled(text, style);
        let answer = |key: &'static str, text: &'static str| {
            Line::from(vec![Span::styled(key, theme.key), Span::styled(text, theme.text)])
        };
        let lines = [
            Line::default(),
            text(method, theme.dim),
            text("Do you see a square of four colors?", theme.text),
            Line::default(),
            answer("y", "  yes"),
            answer("b", "  no: use half-blocks"),
            answer("n", "  no: show no pictures"),
            Line::default(),
            text("Saved for this terminal.", theme.dim),
        ];
        ctx.put_lines(beside, &lines);
    }
}
