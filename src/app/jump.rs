//! Jumping: every part of the screen shows a letter, and the next key goes there.

use crate::{
    app::{App, Pane},
    input::{Chord, Key},
};

/// The letters in the order they are given out: under the fingers first.
const JUMP_LETTERS: [char; 8] = ['a', 's', 'd', 'f', 'j', 'k', 'l', 'g'];

/// A part of the screen that can be jumped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpTarget {
    /// The key that goes there.
    pub letter: char,
    /// What takes the keys then.
    pub pane: Pane,
    /// Where the letter stands (column, row).
    pub position: (u16, u16),
}

impl App {
    /// What can be jumped to: the panes on screen, or their names where only one pane is.
    #[must_use]
    pub fn jump_targets(&self) -> Vec<JumpTarget> {
        let areas = self.areas();
        let places: Vec<(Pane, (u16, u16))> = match areas.tabs {
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
        let lettered = JUMP_LETTERS.into_iter().zip(places);
        lettered.map(|(letter, (pane, at))| JumpTarget { letter, pane, position: at }).collect()
    }

    /// Takes the key after the one that asked to jump; any other than a letter shown leaves all
    /// as it was.
    pub(in crate::app) fn jump(&mut self, chord: Chord) {
        self.jump_mode = false;
        let target = self.jump_targets().into_iter().find(|it| chord.key == Key::Char(it.letter));
        if let Some(target) = target {
            self.focus = target.pane;
        }
    }
}
