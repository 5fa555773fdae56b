//! What lies over the panes: the help, the export form, the file line.

mod export;
mod file;
mod help;

use ratatui::{
    layout::Rect,
    widgets::{Clear, Widget},
};

use crate::{
    app::{App, Overlay},
    ui::Screen,
};

/// The area the overlay covers, if there is one.
pub(super) fn area(app: &App) -> Option<Rect> {
    let (columns, rows) = match app.overlay.as_ref()? {
        Overlay::Help(_) => (76, app.size.1.saturating_sub(2)),
        Overlay::Export(_) => (66, 11),
        Overlay::File(_) => (72, 5),
    };
    let (width, height) = (app.size.0.min(columns), app.size.1.min(rows));
    let (x, y) = ((app.size.0 - width) / 2, (app.size.1 - height) / 3);
    Some(Rect { x, y, width, height })
}

/// Draws the overlay into its area.
pub(super) fn draw(screen: &mut Screen, area: Rect) {
    Clear.render(area, screen.buf);
    match &screen.app.overlay {
        Some(Overlay::Help(top)) => help::draw(screen, area, *top),
        Some(Overlay::Export(form)) => export::draw(screen, area, form),
        Some(Overlay::File(line)) => file::draw(screen, area, line),
        None => {}
    }
}
