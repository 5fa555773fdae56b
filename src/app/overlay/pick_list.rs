//! A list that one thing is chosen from: typing filters it, the cursor or a number chooses.
//!
//! Menus, the palette and the lists of things kept are all this, with another kind of value.

use tui_input::Input;

use crate::{
    app::{
        fuzzy,
        overlay::{KeyResult, text_field::edit},
        pane::moved_cursor,
    },
    input::{Chord, Key},
};
use tessera_model::SafeText;

/// Rows that the keys of a page move by.
const PAGE_ROWS: isize = 10;

/// One thing that can be chosen.
#[derive(Clone, Debug)]
pub struct PickItem<T> {
    /// What it stands for.
    pub value: T,
    /// A few characters before its words: a key, a sign. Most often empty.
    pub prefix: SafeText,
    /// What it is called. Filtering looks here and in the note.
    pub label: SafeText,
    /// What else is to be known, drawn dimmed behind.
    pub note: SafeText,
    /// Whether it is drawn dimmed as a whole. It can be chosen all the same, to be explained.
    pub disabled: bool,
}

impl<T> PickItem<T> {
    /// A thing with its name.
    pub fn new(value: T, text: impl AsRef<str>) -> Self {
        Self {
            value,
            prefix: SafeText::default(),
            label: SafeText::name(text.as_ref()),
            note: SafeText::default(),
            disabled: false,
        }
    }

    /// Puts a few characters before its name.
    #[must_use]
    pub fn prefix(self, mark: impl AsRef<str>) -> Self {
        Self { prefix: SafeText::name(mark.as_ref()), ..self }
    }

    /// Adds what else is to be known.
    #[must_use]
    pub fn note(self, note: impl AsRef<str>) -> Self {
        Self { note: SafeText::name(note.as_ref()), ..self }
    }

    /// Dims it, if `refused`.
    #[must_use]
    pub fn disabled(self, refused: bool) -> Self {
        Self { disabled: refused, ..self }
    }
}

/// The list with what is typed and where the cursor is.
#[derive(Clone, Debug)]
pub struct PickList<T> {
    items: Vec<PickItem<T>>,
    /// What is typed to filter.
    pub filter: Input,
    /// The row under the cursor, among those that are shown.
    pub cursor: usize,
}

impl<T> PickList<T> {
    /// A list with nothing typed and the cursor on the first row.
    #[must_use]
    pub fn new(items: Vec<PickItem<T>>) -> Self {
        Self { items, filter: Input::default(), cursor: 0 }
    }

    /// Everything that could be chosen, filtered or not.
    #[must_use]
    pub fn items(&self) -> &[PickItem<T>] {
        &self.items
    }

    /// What fits the typed letters, the best first; in the order given while nothing is typed.
    #[must_use]
    pub fn matches(&self) -> Vec<&PickItem<T>> {
        let typed = self.filter.value();
        let mut found: Vec<(usize, &PickItem<T>)> = self
            .items
            .iter()
            .filter_map(|choice| Some((match_score(typed, choice)?, choice)))
            .collect();
        found.sort_by_key(|(badness, _)| *badness);
        found.into_iter().map(|(_, choice)| choice).collect()
    }

    /// What is under the cursor; `None` when nothing fits what is typed.
    #[must_use]
    pub fn selected(&self) -> Option<&T> {
        self.matches().get(self.cursor).map(|choice| &choice.value)
    }

    /// Puts the cursor on the first choice that is `wanted`.
    #[must_use]
    pub fn with_cursor_at(mut self, wanted: impl Fn(&T) -> bool) -> Self {
        let shown = self.matches();
        self.cursor = shown.iter().position(|choice| wanted(&choice.value)).unwrap_or(0);
        self
    }

    /// Takes a key. A digit chooses its row while nothing is typed.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        let count = self.matches().len();
        match (chord.key, chord.typed(), chord.ctrl) {
            (Key::Esc, ..) => return KeyResult::Close,
            (Key::Enter, ..) if count > 0 => return KeyResult::Accept,
            (Key::Enter, ..) => {}
            (Key::Up, ..) | (Key::Char('p'), _, true) => {
                self.cursor = moved_cursor(self.cursor, -1, count);
            }
            (Key::Down, ..) | (Key::Char('n'), _, true) => {
                self.cursor = moved_cursor(self.cursor, 1, count);
            }
            (Key::PageUp, ..) => self.cursor = moved_cursor(self.cursor, -PAGE_ROWS, count),
            (Key::PageDown, ..) => self.cursor = moved_cursor(self.cursor, PAGE_ROWS, count),
            (_, Some(digit @ '1'..='9'), _) if self.filter.value().is_empty() => {
                let row = usize::from(digit as u8 - b'1');
                if row < count {
                    self.cursor = row;
                    return KeyResult::Accept;
                }
            }
            _ => {
                let before = self.filter.value().to_owned();
                edit(&mut self.filter, chord);
                if before != self.filter.value() {
                    self.cursor = 0;
                }
            }
        }
        KeyResult::Stay
    }

    /// The text field that takes what is pasted.
    pub fn text_input(&mut self) -> &mut Input {
        // Another filter: the cursor may lie below its last row.
        self.cursor = 0;
        &mut self.filter
    }

    /// Rows that it would like to have, frame and filter included.
    #[must_use]
    pub fn preferred_rows(&self) -> u16 {
        u16::try_from(self.items.len()).unwrap_or(u16::MAX).saturating_add(4)
    }
}

/// How badly a choice fits; what is found in its name counts before what is found in its note.
fn match_score<T>(typed: &str, choice: &PickItem<T>) -> Option<usize> {
    let name = fuzzy::distance(typed, choice.label.as_str());
    name.map(|badness| badness * 2).or_else(|| {
        let both = format!("{} {}", choice.label, choice.note);
        fuzzy::distance(typed, &both).map(|badness| badness * 2 + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick() -> PickList<u8> {
        PickList::new(vec![
            PickItem::new(1, "Next page").note("of clusters"),
            PickItem::new(2, "Export"),
            PickItem::new(3, "Previous page"),
        ])
    }

    fn typed(pick: &mut PickList<u8>, text: &str) -> KeyResult {
        text.chars().fold(KeyResult::Stay, |_, c| pick.handle_key(Chord::plain(Key::Char(c))))
    }

    #[test]
    fn typing_filters_and_the_best_comes_first() {
        let mut pick = pick();
        typed(&mut pick, "page");
        assert_eq!(pick.matches().iter().map(|choice| choice.value).collect::<Vec<_>>(), [1, 3]);
        pick.handle_key(Chord::plain(Key::Down));
        assert_eq!(pick.selected(), Some(&3));
        typed(&mut pick, "x");
        assert_eq!(pick.selected(), None);
        assert_eq!(pick.handle_key(Chord::plain(Key::Enter)), KeyResult::Stay);
        pick.handle_key("ctrl-u".parse().unwrap());
        typed(&mut pick, "clus");
        assert_eq!(pick.selected(), Some(&1), "the note is searched, too");
    }

    #[test]
    fn a_digit_chooses_only_while_nothing_is_typed() {
        let mut first = pick();
        assert_eq!(typed(&mut first, "2"), KeyResult::Accept);
        assert_eq!(first.selected(), Some(&2));
        let mut second = pick();
        assert_eq!(typed(&mut second, "e2"), KeyResult::Stay);
        assert_eq!(typed(&mut pick(), "9"), KeyResult::Stay);
    }
}
