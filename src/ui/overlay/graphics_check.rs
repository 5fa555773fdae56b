//! The graphics check: the picture on the left, the question on the right.

use ratatui::layout::Rect;
use uuid::Uuid;

use crate::{
    app::overlay::GraphicsCheck,
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, put},
    },
};
use tessera_model::MediaId;
use tessera_picture::Protocol;

impl Draw for GraphicsCheck {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = bordered(ctx, area, " Test picture ".into(), true);
        let theme = ctx.theme;
        let (columns, rows) = (self.canvas.columns, self.canvas.rows);
        let place = Rect { x: inside.x + 1, y: inside.y + 1, width: columns, height: rows };
        let key = (MediaId(Uuid::nil()).into(), self.canvas);
        ctx.layer.place(ctx.buf, place.intersection(inside), key, &self.picture);
        let words = match self.canvas.protocol {
            Protocol::Kitty => "Drawn with kitty graphics.",
            Protocol::Sixel => "Drawn with sixel graphics.",
            Protocol::Iterm => "Drawn as an iTerm2 picture.",
            Protocol::HalfBlock | Protocol::None => "Drawn with half-blocks.",
        };
        let beside = Rect {
            x: inside.x + columns + 4,
            width: inside.width.saturating_sub(columns + 4),
            ..inside
        };
        for (row, parts) in [
            (1, [("", theme.key), (words, theme.dim)]),
            (2, [("", theme.key), ("Do you see a square of four colors?", theme.text)]),
            (4, [("y", theme.key), ("  yes", theme.text)]),
            (5, [("b", theme.key), ("  no: use half-blocks", theme.text)]),
            (6, [("n", theme.key), ("  no: show no pictures", theme.text)]),
            (8, [("", theme.key), ("Saved for this terminal.", theme.dim)]),
        ] {
            put(ctx, beside, row, &parts);
        }
    }
}
