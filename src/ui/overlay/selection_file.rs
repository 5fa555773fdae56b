//! The line that names a selection file.

use ratatui::{layout::Rect, text::Line};

use super::file_picker;
use crate::{
    app::overlay::{SelectionFileInput, SelectionFileMode},
    ui::{
        DrawContext,
        widget::{bordered, put},
    },
};

/// Draws the line.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, asked: &SelectionFileInput) {
    let (title, words) = match asked.mode {
        SelectionFileMode::Save => (
            " Save what is marked ",
            " a new file; ~/ works; or a bare name, to keep it for commands",
        ),
        SelectionFileMode::Open => {
            (" Open a selection ", " a file or a name; it takes the place of what is marked")
        }
    };
    let inside = bordered(screen, area, Line::from(title), true);
    put(screen, inside, 0, &[(words, screen.theme.dim)]);
    let place =
        Rect { x: inside.x + 1, y: inside.y + 1, width: inside.width.saturating_sub(2), height: 1 };
    file_picker::text_field(screen, place, &asked.path, true);
}
