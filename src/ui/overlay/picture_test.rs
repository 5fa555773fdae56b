//! The test picture with its question.

use ratatui::layout::Rect;
use uuid::Uuid;

use crate::{
    app::overlay::PictureTest,
    ui::{
        DrawContext,
        widget::{bordered, put},
    },
};
use tessera_model::MediaId;
use tessera_picture::Protocol;

/// Draws the picture on the left and the question on the right.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, test: &PictureTest) {
    let inside = bordered(screen, area, " Test picture ".into(), true);
    let theme = screen.theme;
    let (columns, rows) = (test.canvas.columns, test.canvas.rows);
    let place = Rect { x: inside.x + 1, y: inside.y + 1, width: columns, height: rows };
    let key = (MediaId(Uuid::nil()).into(), test.canvas);
    screen.layer.place(screen.buf, place.intersection(inside), key, &test.picture);
    let words = match test.canvas.protocol {
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
        (2, [("", theme.key), ("Do you see a square of four colours?", theme.text)]),
        (4, [("y", theme.key), ("  yes", theme.text)]),
        (5, [("b", theme.key), ("  no: use half-blocks", theme.text)]),
        (6, [("n", theme.key), ("  no, and I want no pictures", theme.text)]),
        (8, [("", theme.key), ("The answer is kept for this terminal.", theme.dim)]),
    ] {
        put(screen, beside, row, &parts);
    }
}
