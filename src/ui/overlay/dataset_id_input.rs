//! The line that takes the id of a dataset.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::DatasetIdInput,
    ui::{
        DrawContext,
        overlay::file_picker,
        widget::{bordered, put},
    },
};

/// Draws the line.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, asked: &DatasetIdInput) {
    let inside = bordered(screen, area, Line::from(" A dataset by its id "), true);
    let theme = screen.theme;
    put(screen, inside, 0, &[(" the id of a dataset that the service does not list", theme.dim)]);
    let place =
        Rect { x: inside.x + 1, y: inside.y + 1, width: inside.width.saturating_sub(2), height: 1 };
    file_picker::text_field(screen, place, &asked.text, true);
}
