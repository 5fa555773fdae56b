//! Re-exports what almost every dialog needs: the trait `Dialog`, keys, text fields, drawing and the requests that
//! dialogs send.

pub(super) use ratatui::text::{Line, Span};
pub(super) use tui_input::Input;

pub(super) use crate::{
    app::{Dialog, DrawContext, Overlays, overlay::fields::KeyResult, prelude::*},
    drawing::ScrollState,
};
