//! The query builder: the filters of the search, each on a line.

use ratatui::layout::Rect;

use crate::{
    app::Pane,
    ui::{
        Screen,
        widget::{frame, message},
    },
};

/// The pane.
pub(in crate::ui) fn query(screen: &mut Screen, area: Rect) {
    let filters = screen.app.view().map_or(0, |view| view.search.filters.len());
    let inside = frame(screen, area, Pane::Query, &format!("{filters} filters"));
    message(screen, inside, screen.theme.dim, &["No filters."]);
}
