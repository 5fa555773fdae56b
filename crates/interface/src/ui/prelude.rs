//! Re-exports what almost every file of this module draws with.

pub(super) use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Span},
};
pub(super) use tessera_model::{
    SafeText,
    text::{group_digits, truncate},
};

pub(super) use crate::{
    app::{App, DrawContext, Pane},
    drawing::{
        below, display_width, first_fitting, split_columns, split_end, text_cells, wrap_words,
    },
};
pub(super) use tessera_config::input::Action;
