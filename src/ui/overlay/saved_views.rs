//! The line that names a saved view.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::ViewNameInput,
    ui::{
        DrawContext,
        overlay::text_field,
        widget::{bordered, put},
    },
};

/// Draws the line.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, line: &ViewNameInput) {
    let title = if line.renamed_from.is_some() { " Rename the view " } else { " Save as a view " };
    let inside = bordered(screen, area, Line::from(title), true);
    let theme = screen.theme;
    put(screen, inside, 0, &[(" name", theme.text)]);
    let place = Rect { x: inside.x + 8, width: inside.width.saturating_sub(9), ..inside };
    text_field(screen, Rect { height: 1, ..place }, &line.name, true);
    if line.renamed_from.is_none() {
        let place = if line.any_dataset { "‹ any dataset ›" } else { "‹ this dataset ›" };
        put(screen, inside, 1, &[(" for    ", theme.text), (place, theme.text)]);
    }
    let name = line.trimmed_name();
    let taken = screen.app.saved_views().iter().any(|view| view.name == name);
    if taken && line.renamed_from.as_ref() != Some(&name) {
        let words = format!(" ? it replaces the view that is called “{name}”");
        put(screen, inside, 2, &[(&words, theme.moving)]);
    }
}
