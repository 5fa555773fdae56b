//! Jump labels: every pane shows a letter, and the next key focuses that pane.

use crate::{
    app::{App, Pane},
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
    /// The panes on screen, or the tabs where only one pane is on screen.
    pub fn jump_targets(&self) -> Vec<JumpTarget> {
        let areas = self.areas();
        let panes: Vec<(Pane, (u16, u16))> = match areas.tabs {
            Some(tabs) => {
                let ends = Pane::NUMBERED.iter().scan(tabs.x, |x, pane| {
                    let start = *x;
                    *x += u16::try_from(pane.name().len() + 4).unwrap_or(0);
                    Some((*pane, (start, tabs.y)))
                });
                ends.collect()
            }
            None => [
                (Pane::Datasets, areas.datasets),
                (Pane::Results, areas.results),
                (Pane::Detail, areas.detail),
                (Pane::Query, areas.query),
                (Pane::Jobs, areas.jobs),
                (Pane::Basket, areas.basket),
            ]
            .into_iter()
            .filter_map(|(pane, area)| area.map(|area| (pane, (area.x, area.y))))
            .collect(),
        };
        let lettered = JUMP_LETTERS.into_iter().zip(panes);
        lettered.map(|(letter, (pane, at))| JumpTarget { letter, pane, position: at }).collect()
    }

    /// Handles the key after Jump; a key that is not a label changes nothing.
    pub(super) fn jump(&mut self, chord: Chord) {
        self.jump_mode = false;
        let target = self.jump_targets().into_iter().find(|it| chord.key == Key::Char(it.letter));
        if let Some(target) = target {
            self.focus = target.pane;
        }
    }
}
