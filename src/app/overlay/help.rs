//! The help: a scrolled text, searched with `/`.

use tui_input::Input;

use super::{Dialog, KeyResult, ScrollState, text_field::edit};
use crate::{
    app::App,
    input::{Chord, Key},
};

#[derive(Clone, Debug, Default)]
pub struct Help {
    pub scroll: ScrollState,
    /// Only entries that contain this are shown.
    pub query: Input,
    pub searching: bool,
}

impl Dialog for Help {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        match (self.searching, chord.key) {
            (false, Key::Char('/')) => self.searching = true,
            (false, Key::Esc) if !self.query.value().is_empty() => self.query.reset(),
            (false, _) => return self.scroll.handle_key(chord),
            (true, Key::Esc) => {
                self.query.reset();
                self.searching = false;
            }
            (true, Key::Enter) => self.searching = false,
            (true, _) => {
                edit(&mut self.query, chord);
                self.scroll = ScrollState::default();
            }
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (88, screen.1.saturating_sub(2))
    }

    fn hints(&self) -> &'static str {
        "j k scroll   g G start, end   / search   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        self.searching.then_some(&mut self.query)
    }
}
