//! The line that names a saved view.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::NameLine,
    ui::{
        Screen,
        overlay::field,
        widget::{boxed, put},
    },
};

/// Draws the line.
pub(super) fn draw(screen: &mut Screen, area: Rect, line: &NameLine) {
    let title = if line.renames.is_some() { " Rename the view " } else { " Save as a view " };
    let inside = boxed(screen, area, Line::from(title), true);
    let theme = screen.theme;
    put(screen, inside, 0, &[(" name", theme.text)]);
    let place = Rect { x: inside.x + 8, width: inside.width.saturating_sub(9), ..inside };
    field(screen, Rect { height: 1, ..place }, &line.name, true);
    if line.renames.is_none() {
        let place = if line.anywhere { "‹ any dataset ›" } else { "‹ this dataset ›" };
        put(screen, inside, 1, &[(" for    ", theme.text), (place, theme.text)]);
    }
    let name = line.typed();
    let taken = screen.app.views().iter().any(|view| view.name == name);
    if taken && line.renames.as_ref() != Some(&name) {
        let words = format!(" ? it replaces the view that is called “{name}”");
        put(screen, inside, 2, &[(&words, theme.moving)]);
    }
}
