//! The basket: what is marked for an export.

use ratatui::layout::Rect;

use crate::{
    app::Pane,
    ui::{
        Screen,
        widget::{frame, message},
    },
};

/// The pane.
pub(in crate::ui) fn basket(screen: &mut Screen, area: Rect) {
    let inside = frame(screen, area, Pane::Basket, "");
    message(screen, inside, screen.theme.dim, &["Nothing is marked."]);
}
