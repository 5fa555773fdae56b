//! The line that filters what is loaded, and how much is left.

use ratatui::layout::Rect;

use crate::{
    app::{Pane, overlay::FilterInput},
    ui::{
        DrawContext,
        overlay::file_picker::text_field,
        widget::{display_width, put},
    },
};

/// Draws the line.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, asked: &FilterInput) {
    let (app, theme) = (screen.app, screen.theme);
    let (left, all) = match asked.pane {
        Pane::Datasets => (app.visible_datasets().len(), app.store.dataset_list().len()),
        _ => (app.visible_clusters().len(), app.page().map_or(0, |page| page.clusters.len())),
    };
    let rest = format!(" {left} of {all} loaded ");
    put(screen, area, 0, &[(" / ", theme.key)]);
    let cells = u16::try_from(display_width(&rest)).unwrap_or(0).min(area.width.saturating_sub(3));
    let line = Rect { x: area.x + 3, width: area.width - 3 - cells, ..area };
    text_field(screen, line, &asked.text, true);
    let place = Rect { x: line.right(), width: cells, ..area };
    let style = if left == 0 { theme.moving } else { theme.dim };
    put(screen, place, 0, &[(&rest, style)]);
}
