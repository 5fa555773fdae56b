//! The line that filters what is loaded, and how much is left.

use ratatui::layout::Rect;

use crate::{
    app::{Pane, overlay::FilterLine},
    ui::{
        Screen,
        overlay::file::field,
        widget::{put, width},
    },
};

/// Draws the line.
pub(super) fn draw(screen: &mut Screen, area: Rect, asked: &FilterLine) {
    let (app, theme) = (screen.app, screen.theme);
    let (left, all) = match asked.pane {
        Pane::Datasets => (app.listed().len(), app.store.list().len()),
        _ => (app.shown().len(), app.page().map_or(0, |page| page.clusters.len())),
    };
    let rest = format!(" {left} of {all} loaded ");
    put(screen, area, 0, &[(" / ", theme.key)]);
    let cells = u16::try_from(width(&rest)).unwrap_or(0).min(area.width.saturating_sub(3));
    let line = Rect { x: area.x + 3, width: area.width - 3 - cells, ..area };
    field(screen, line, &asked.line, true);
    let place = Rect { x: line.right(), width: cells, ..area };
    let style = if left == 0 { theme.moving } else { theme.dim };
    put(screen, place, 0, &[(&rest, style)]);
}
