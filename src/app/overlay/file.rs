//! The line that asks for a query image of this machine.

use tui_input::Input;

use crate::{
    app::{
        App, Effect, Level, Overlay, Pane,
        overlay::{
            Press,
            field::{edit, path},
        },
    },
    input::{Chord, Key},
};

/// A half-typed path.
#[derive(Clone, Debug, Default)]
pub struct FileLine {
    /// What is typed.
    pub line: Input,
}

impl FileLine {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        match chord.key {
            Key::Esc => return Press::Leave,
            Key::Enter => return Press::Accept,
            _ => edit(&mut self.line, chord),
        }
        Press::Stay
    }
}

impl App {
    /// Opens the line.
    pub(in crate::app) fn ask_for_file(&mut self) {
        self.overlay = Some(Overlay::File(FileLine::default()));
    }

    /// Searches by the file that was typed.
    pub(in crate::app) fn search_by_file(&mut self, asked: FileLine, effects: &mut Vec<Effect>) {
        let Some(search) = self.view().map(|view| view.search.clone()) else { return };
        if asked.line.value().trim().is_empty() {
            let text = "type the path of a picture on this machine, or Esc";
            self.notices.add(self.now, Level::Warning, text);
            self.overlay = Some(Overlay::File(asked));
            return;
        }
        self.focus = Pane::Results;
        let file = path(asked.line.value(), self.setup.home.as_deref());
        self.register(file, search, effects);
    }
}
