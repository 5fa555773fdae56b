//! Re-exports what almost every dialog needs: the trait `Dialog`, keys, text fields, drawing and the requests that
//! dialogs send.

pub(super) use ratatui::{
    layout::Rect,
    text::{Line, Span},
};
pub(super) use tessera_model::{DatasetId, SafeText};
pub(super) use tui_input::Input;

pub(super) use crate::{
    app::{App, Dialog, DrawContext, Level, Outbox, Overlays, overlay::fields::KeyResult},
    drawing::ScrollState,
    input::{Chord, Key},
    message::{Lane, Request},
};
