//! The input for the path of a selection file.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::{SelectionFileInput, SelectionFileMode},
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, put, text_field},
    },
};

impl Draw for SelectionFileInput {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let (title, words) = match self.mode {
            SelectionFileMode::Save => (
                " Save the selection ",
                " a new file, or a name without extension to use in commands",
            ),
            SelectionFileMode::Open => {
                (" Load a selection ", " a file or a name; replaces the current selection")
            }
        };
        let inside = bordered(ctx, area, Line::from(title), true);
        put(ctx, inside, 0, &[(words, ctx.theme.dim)]);
        let place = Rect {
            x: inside.x + 1,
            y: inside.y + 1,
            width: inside.width.saturating_sub(2),
            height: 1,
        };
        text_field(ctx, place, &self.path, true);
    }
}
