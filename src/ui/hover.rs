//! The texts for the cell under the mouse: what the screen cuts, and what its marks and keys stand for.

use ratatui::layout::{Position, Rect};

use super::DrawContext;
use crate::app::Event;
use tessera_model::SafeText;

/// The texts of a frame with their areas. The runtime looks them up when the mouse is moved.
#[derive(Debug, Default)]
pub struct HoverTexts(Vec<(Rect, SafeText)>);

impl HoverTexts {
    fn text_at(&self, position: Position) -> Option<&SafeText> {
        let mut texts = self.0.iter().rev();
        texts.find(|(area, _)| area.contains(position)).map(|(_, text)| text)
    }

    /// The event of the mouse at this cell, if its text is not the one that is shown.
    pub fn change(&self, shown: Option<&SafeText>, (column, row): (u16, u16)) -> Option<Event> {
        let text = self.text_at(Position::new(column, row));
        (text != shown).then(|| Event::Hover(text.cloned()))
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl DrawContext<'_> {
    /// Adds the text that is shown with the mouse over an area, above those added before.
    pub(super) fn explain(&mut self, area: Rect, text: impl AsRef<str>) {
        self.hover.0.push((area, SafeText::detail(text.as_ref().trim())));
    }

    /// The row of an area that begins with a text.
    pub(super) fn row_of(&self, area: Rect, text: &str) -> Option<u16> {
        let mut rows = area.intersection(self.buf.area).rows();
        let begins = |row: &Rect| {
            let cells: String =
                row.positions().map(|position| self.buf[position].symbol()).collect();
            cells.starts_with(text)
        };
        rows.position(|row| begins(&row)).and_then(|row| u16::try_from(row).ok())
    }
}
