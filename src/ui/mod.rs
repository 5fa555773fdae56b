//! The view: reads `&App` and writes the cells of the bars and the panes. Each pane has a file that is named like its
//! state in `app/pane`. Dialogs draw themselves, in `app/overlay`.

mod bars;
mod hints;
mod pane;
mod results_header;
mod screen;
mod tile;
mod viewer;
pub mod welcome;

pub use results_header::arrangement_text;
pub use screen::{draw, draw_with_texts};

use ratatui::layout::Position;

use crate::{
    app::{Event, overlay::DrawContext},
    drawing::HoverTexts,
    input::Action,
};
use tessera_model::SafeText;

impl HoverTexts {
    /// Returns the event for the mouse at this cell, unless the cell's text is already `shown`.
    pub fn change(&self, shown: Option<&SafeText>, cell: (u16, u16)) -> Option<Event> {
        let text = self.text_at(Position::from(cell));
        (text != shown).then(|| Event::Hover(text.cloned()))
    }
}

impl DrawContext<'_> {
    fn first_key(&self, action: Action) -> Option<String> {
        let app = self.app;
        app.setup().keymap.keys_of(&app.contexts(), action).into_iter().next()
    }
}
