//! The graphics check: the picture on the left, the question on the right.

use ratatui::layout::Rect;
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
        for (row, key, text, style) in [
            (1, "", method, theme.dim),
            (2, "", "Do you see a square of four colors?", theme.text),
            (4, "y", "  yes", theme.text),
            (5, "b", "  no: use half-blocks", theme.text),
            (6, "n", "  no: show no pictures", theme.text),
            (8, "", "Saved for this terminal.", theme.dim),
        ] {
            ctx.put(beside, row, &[(key, theme.key), (text, style)]);
        }
    }
}
