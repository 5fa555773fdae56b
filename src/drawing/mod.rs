//! What panes and dialogs are drawn with: text, forms, frames, pictures and the theme.
//!
//! This module knows nothing of the state of the program, so that the dialogs in `app/overlay` and the panes in
//! `ui` can both draw with it. The only thing it keeps between frames is the [`PictureLayer`], because terminals
//! store pictures.

mod form;
mod frame;
mod hover;
mod picture;
pub mod picture_layer;
mod text;
pub mod theme;

use ratatui::buffer::Buffer;

pub(crate) use form::{FormOptions, FormRows, ScrollState, choice_text};
pub(crate) use frame::{below, field_area, line, split_columns, split_end};
pub use hover::HoverTexts;
pub use picture_layer::PictureLayer;
pub(crate) use text::{
    display_width, first_fitting, fitting_items, format_score, gauge, rows_of_line, text_cells,
    wrap_words, wrapped_rows,
};
pub use theme::Theme;

/// What every drawing function needs. Widgets are methods of it that work for any state `S`.
pub struct DrawContext<'a, S> {
    pub app: &'a S,
    pub theme: &'a Theme,
    pub buf: &'a mut Buffer,
    pub layer: &'a mut PictureLayer,
    pub hover: &'a mut HoverTexts,
}
