//! The texts for the cell under the mouse: what the screen cuts, and what its marks and keys stand for.

use ratatui::layout::{Position, Rect};

use super::DrawContext;
use tessera_model::SafeText;

/// The texts of a frame with their areas. The runtime looks them up when the mouse is moved.
#[derive(Debug, Default)]
pub struct HoverTexts(Vec<(Rect, SafeText)>);

impl HoverTexts {
    pub(crate) fn text_at(&self, position: Position) -> Option<&SafeText> {
        let mut texts = self.0.iter().rev();
        texts.find(|(area, _)| area.contains(position)).map(|(_, text)| text)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl<S> DrawContext<'_, S> {
    /// Adds the text that is shown with the mouse over an area, above those added before.
    pub(crate) fn explain(&mut self, area: Rect, text: impl AsRef<str>) {
        self.hover.0.push((area, SafeText::detail(text.as_ref().trim())));
    }

    /// The row of an area that begins with a text.
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
