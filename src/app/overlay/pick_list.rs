//! A list to pick one command from: typing filters it, the cursor or a digit picks a row.

use std::cmp::Reverse;

use tessera_model::SafeText;
use tui_input::Input;

use super::{Command, KeyResult, text_field::edit};
use crate::{
    app::{
        fuzzy,
        pane::{moved_cursor, rows_to_move},
    },
    input::{Chord, Key},
};

#[derive(Clone, Debug)]
pub struct PickItem {
    pub command: Command,
    /// A few characters before the label, such as a key; usually empty.
    pub prefix: SafeText,
    /// The filter searches the label and the note.
    pub label: SafeText,
    /// Shown dimmed behind the label.
    pub note: SafeText,
    /// Shown dimmed. It can be picked nevertheless, which explains why it is disabled.
    pub disabled: bool,
    /// Whether the cursor starts here.
    current: bool,
    /// How often it was picked: among equal matches, the most picked comes first.
    pub(super) picked: u32,
}

impl PickItem {
    pub(in crate::app) fn new(command: Command, label: impl AsRef<str>) -> Self {
        Self {
            command,
            prefix: SafeText::default(),
            label: SafeText::name(label.as_ref()),
            note: SafeText::default(),
            disabled: false,
            current: false,
            picked: 0,
        }
    }

    pub(in crate::app) fn prefix(self, prefix: impl AsRef<str>) -> Self {
        Self { prefix: SafeText::name(prefix.as_ref()), ..self }
    }

    pub(in crate::app) fn note(self, note: impl AsRef<str>) -> Self {
        Self { note: SafeText::name(note.as_ref()), ..self }
    }

    pub(in crate::app) fn disabled(self, disabled: bool) -> Self {
        Self { disabled, ..self }
    }

    pub(in crate::app) fn unavailable(self, reason: Option<impl AsRef<str>>) -> Self {
        match reason {
            Some(reason) => self.note(reason).disabled(true),
            None => self,
        }
    }

    pub(in crate::app) fn picked(self, picked: u32) -> Self {
        Self { picked, ..self }
    }

    pub(in crate::app) fn current(self, current: bool) -> Self {
        Self { current, ..self }
    }
}

#[derive(Clone, Debug)]
pub struct PickList {
    items: Vec<PickItem>,
    pub filter: Input,
    /// The selected row among the matches.
    pub cursor: usize,
}

impl PickList {
    pub(in crate::app) fn new(items: Vec<PickItem>) -> Self {
        let cursor = items.iter().position(|item| item.current).unwrap_or(0);
        Self { items, filter: Input::default(), cursor }
    }

    pub fn items(&self) -> &[PickItem] {
        &self.items
    }

    /// The items that match the filter, best first; all in their order without a filter.
    pub fn matches(&self) -> Vec<&PickItem> {
        let typed = self.filter.value();
        let mut found: Vec<(usize, &PickItem)> = self
            .items
            .iter()
            .filter_map(|item| Some((match_distance(typed, item)?, item)))
            .collect();
        if !typed.is_empty() {
            found.sort_by_key(|(score, item)| (*score, Reverse(item.picked)));
        }
        found.into_iter().map(|(_, item)| item).collect()
    }

    pub fn selected(&self) -> Option<&Command> {
        self.matches().get(self.cursor).map(|item| &item.command)
    }

    /// Whether a digit picks its row: while the filter is empty, and not in lists of actions, which show their
    /// own keys.
    pub fn is_numbered(&self) -> bool {
        let shows_keys = self.items.iter().any(|item| matches!(item.command, Command::Action(_)));
        self.filter.value().is_empty() && !shows_keys
    }

    /// Handles a key.
    pub(super) fn handle_key(&mut self, chord: Chord) -> KeyResult {
        let count = self.matches().len();
        match (chord.key, chord.typed(), chord.ctrl) {
            (Key::Esc, ..) => return KeyResult::Close,
            (Key::Enter, ..) if count > 0 => return KeyResult::Accept,
            (Key::Enter, ..) => {}
            (Key::Char('p'), _, true) => self.move_cursor(-1, count),
            (Key::Char('n'), _, true) => self.move_cursor(1, count),
            (_, Some(digit @ '1'..='9'), _) if self.is_numbered() => {
                let row = usize::from(digit as u8 - b'1');
                if row < count {
                    self.cursor = row;
                    return KeyResult::Accept;
                }
            }
            (key, ..) => match rows_to_move(key) {
                Some(by) => self.move_cursor(by, count),
                None if edit(&mut self.filter, chord) => self.cursor = 0,
                None => {}
            },
        }
        KeyResult::Stay
    }

    pub(super) fn select(&mut self, index: usize) {
        self.cursor = moved_cursor(index, 0, self.matches().len());
    }

    fn move_cursor(&mut self, by: isize, count: usize) {
        self.cursor = moved_cursor(self.cursor, by, count);
    }

    pub(super) fn text_input(&mut self) -> &mut Input {
        // The caller changes the filter, and the cursor may be below the last match then.
        self.cursor = 0;
        &mut self.filter
    }

    /// Rows for all items, with the frame and the filter; more where `is_narrow`, because notes are wrapped.
    pub(super) fn preferred_rows(&self, is_narrow: bool) -> u16 {
        let rows = self.items.len() * if is_narrow { 2 } else { 1 };
        u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(4)
    }
}

/// How far an item is from the filter; a match in the label comes before one in the note.
fn match_distance(typed: &str, item: &PickItem) -> Option<usize> {
    let label = fuzzy::distance(typed, item.label.as_str());
    label.map(|score| score * 2).or_else(|| {
        let both = format!("{} {}", item.label, item.note);
        fuzzy::substring_distance(typed, &both).map(|score| score * 2 + 1)
    })
}
