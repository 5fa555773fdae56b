//! Draws text, forms, frames, pictures and themes for panes and dialogs.
//!
//! This module knows nothing about the state of the program, so that the dialogs in `app/overlay` and the panes in `ui`
//! can both draw with it. The only thing it keeps between frames is the [`PictureLayer`], because terminals store
//! pictures.

mod form;
mod frame;
pub mod picture_layer;
pub(crate) mod scatter_plot;
mod text;
pub mod theme;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};
use tessera_config::input::{Action, Chord};
use tessera_model::SafeText;

pub use form::Prefilled;
pub(crate) use form::{FormOptions, FormRows, choice_text};
pub(crate) use frame::{below, equal_columns, field_area, split_columns, split_end};
pub use picture_layer::PictureLayer;
pub(crate) use text::{
    ScrollState, display_width, first_fitting, fitting_items, format_score, gauge, packed_rows,
    rows_of_line, rows_of_lines, text_cells, wrap_words, wrapped_rows,
};
pub use theme::Theme;

/// What every drawing function needs: the cells, the theme and the state `S`, which widgets never read.
pub struct Painter<'a, S> {
    pub app: &'a S,
    pub theme: &'a Theme,
    pub buf: &'a mut Buffer,
    pub layer: &'a mut PictureLayer,
    pub mouse: &'a mut MouseTargets,
}

/// What a frame offers to the mouse. The runtime looks up the cell under the mouse when the mouse is moved or clicked.
#[derive(Debug, Default)]
pub struct MouseTargets {
    /// Texts that the screen cuts, and what marks and keys stand for.
    texts: Vec<(Rect, SafeText)>,
    clicks: Vec<(Rect, ClickTarget)>,
    /// The rows of the items of a list, with their positions in the list. Like the field, they are read aloud.
    items: Vec<(u16, usize)>,
    field: Option<FocusedField>,
}

/// The focused field of a form: its row and label, its number, and how many fields the form has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FocusedField {
    pub row: u16,
    pub label: String,
    pub number: usize,
    pub count: usize,
}

/// What a click does on a hint, a tab, a row or a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickTarget {
    Action(Action),
    Key(Chord),
    /// The row or field at this position.
    Item(usize),
}

impl MouseTargets {
    pub(crate) fn text_at(&self, position: Position) -> Option<&SafeText> {
        let mut texts = self.texts.iter().rev();
        texts.find(|(area, _)| area.contains(position)).map(|(_, text)| text)
    }

    pub(crate) fn click_target(&self, position: Position) -> Option<ClickTarget> {
        let mut clicks = self.clicks.iter().rev();
        clicks.find(|(area, _)| area.contains(position)).map(|(_, target)| *target)
    }

    /// Returns the position of the item that is drawn in a row.
    pub fn item_in(&self, row: u16) -> Option<usize> {
        self.items.iter().find(|(y, _)| *y == row).map(|(_, index)| *index)
    }

    pub fn field(&self) -> Option<&FocusedField> {
        self.field.as_ref()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl<S> Painter<'_, S> {
    /// Adds the text to show while the mouse is over an area. Later texts take precedence over
    /// earlier ones.
    pub(crate) fn explain(&mut self, area: Rect, text: impl AsRef<str>) {
        self.mouse.texts.push((area, SafeText::detail(text.as_ref().trim())));
    }

    /// Makes an area clickable.
    pub(crate) fn click(&mut self, area: Rect, target: ClickTarget) {
        self.mouse.clicks.push((area, target));
    }

    /// Notes that an item of a list is drawn in a row.
    pub(crate) fn item(&mut self, row: u16, index: usize) {
        self.mouse.items.push((row, index));
    }

    /// Returns the row of an area that begins with a text.
    pub(crate) fn row_of(&self, area: Rect, text: &str) -> Option<u16> {
        let mut rows = area.intersection(self.buf.area).rows();
        let begins = |row: &Rect| {
            let cells: String =
                row.positions().map(|position| self.buf[position].symbol()).collect();
            cells.starts_with(text)
        };
        rows.position(|row| begins(&row)).and_then(|row| u16::try_from(row).ok())
    }
}

/// Returns a row of an area.
pub(crate) fn line(area: Rect, row: u16) -> Rect {
    Rect { y: area.y + row, height: 1, ..area }
}
