//! Jump labels: every pane shows a letter, and the next key focuses that pane.

use ratatui::layout::Rect;

use crate::{
    app::{App, Pane, areas::tab_areas},
    input::{Chord, Key},
};

/// In the order of assignment: home row first.
const JUMP_LETTERS: [char; 8] = ['a', 's', 'd', 'f', 'j', 'k', 'l', 'g'];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpTarget {
    pub letter: char,
    pub pane: Pane,
    pub position: (u16, u16),
}

impl App {
    pub fn jump_targets(&self) -> Vec<JumpTarget> {
        let areas = self.areas();
        let panes: Vec<(Pane, Rect)> = match areas.tabs {
            Some(line) => tab_areas(line).collect(),
            None => areas.panes().collect(),
        };
        let lettered = JUMP_LETTERS.into_iter().zip(panes);
        lettered
            .map(|(letter, (pane, area))| JumpTarget { letter, pane, position: (area.x, area.y) })
            .collect()
    }

    /// Handles the key after Jump; a key that is not a label changes nothing.
    pub(super) fn jump(&mut self, chord: Chord) {
        self.input.jump_mode = false;
        let target = self.jump_targets().into_iter().find(|it| chord.key == Key::Char(it.letter));
        if let Some(target) = target {
            self.panes.focus = target.pane;
        }
    }
}
