//! Widgets: frames, lines of text, text fields, placeholders, gauges, and the format of numbers.

mod areas;
mod form;
mod frame;
mod number;
mod placeholder;
mod region_outline;
mod text;

pub(super) use tessera_model::text::{
    format_age, format_bytes, format_duration, group_digits, truncate,
};

pub(super) use crate::app::wrapping::{first_fitting, wrap_words};

pub(super) use areas::{below, field_area, line, split_columns, split_end};
pub(super) use form::{FormOptions, FormRows, choice_text};
pub(super) use frame::{MIN_FRAMED_ROWS, title_cells};
pub(super) use number::{format_score, gauge};
pub(super) use text::{display_width, fitting_items, rows_of_line, text_cells};
