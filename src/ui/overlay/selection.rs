//! The line that names a selection file.

use ratatui::{layout::Rect, text::Line};

use super::file;
use crate::{
    app::overlay::{SelectionFile, SelectionLine},
    ui::{
        Screen,
        widget::{boxed, put},
    },
};

/// Draws the line.
pub(super) fn draw(screen: &mut Screen, area: Rect, asked: &SelectionLine) {
    let (title, words) = match asked.purpose {
        SelectionFile::Save => (
            " Save what is marked ",
            " a new file; ~/ works; or a bare name, to keep it for commands",
        ),
        SelectionFile::Open => {
            (" Open a selection ", " a file or a name; it takes the place of what is marked")
        }
    };
    let inside = boxed(screen, area, Line::from(title), true);
    put(screen, inside, 0, &[(words, screen.theme.dim)]);
    let place =
        Rect { x: inside.x + 1, y: inside.y + 1, width: inside.width.saturating_sub(2), height: 1 };
    file::field(screen, place, &asked.path, true);
}
