//! A list that one thing is chosen from: typing filters it, the cursor or a number chooses.
//!
//! Menus, the palette and the lists of things kept are all this, with another kind of value.

use tui_input::Input;

use crate::{
    app::{
        fuzzy,
        overlay::{Press, field::edit},
        pane::moved,
    },
    input::{Chord, Key},
};
use tessera_model::SafeText;

/// Rows that the keys of a page move by.
const SCREEN: isize = 10;

/// One thing that can be chosen.
#[derive(Clone, Debug)]
pub struct Choice<T> {
    /// What it stands for.
    pub value: T,
    /// A few characters before its words: a key, a sign. Most often empty.
    pub mark: SafeText,
    /// What it is called. Filtering looks here and in the note.
    pub text: SafeText,
    /// What else is to be known, drawn dimmed behind.
    pub note: SafeText,
    /// Whether it is drawn dimmed as a whole. It can be chosen all the same, to be explained.
    pub refused: bool,
}

impl<T> Choice<T> {
    /// A thing with its name.
    pub fn new(value: T, text: impl AsRef<str>) -> Self {
        Self {
            value,
            mark: SafeText::default(),
            text: SafeText::name(text.as_ref()),
            note: SafeText::default(),
            refused: false,
        }
    }

    /// Puts a few characters before its name.
    #[must_use]
    pub fn mark(self, mark: impl AsRef<str>) -> Self {
        Self { mark: SafeText::name(mark.as_ref()), ..self }
    }

    /// Adds what else is to be known.
    #[must_use]
    pub fn note(self, note: impl AsRef<str>) -> Self {
        Self { note: SafeText::name(note.as_ref()), ..self }
    }

    /// Dims it, if `refused`.
    #[must_use]
    pub fn refused(self, refused: bool) -> Self {
        Self { refused, ..self }
    }
}

/// The list with what is typed and where the cursor is.
#[derive(Clone, Debug)]
pub struct Pick<T> {
    choices: Vec<Choice<T>>,
    /// What is typed to filter.
    pub typed: Input,
    /// The row under the cursor, among those that are shown.
    pub cursor: usize,
}

impl<T> Pick<T> {
    /// A list with nothing typed and the cursor on the first row.
    #[must_use]
    pub fn new(choices: Vec<Choice<T>>) -> Self {
        Self { choices, typed: Input::default(), cursor: 0 }
    }

    /// Everything that could be chosen, filtered or not.
    #[must_use]
    pub fn choices(&self) -> &[Choice<T>] {
        &self.choices
    }

    /// What fits the typed letters, the best first; in the order given while nothing is typed.
    #[must_use]
    pub fn shown(&self) -> Vec<&Choice<T>> {
        let typed = self.typed.value();
        let mut found: Vec<(usize, &Choice<T>)> = self
            .choices
            .iter()
            .filter_map(|choice| Some((badness(typed, choice)?, choice)))
            .collect();
        found.sort_by_key(|(badness, _)| *badness);
        found.into_iter().map(|(_, choice)| choice).collect()
    }

    /// What is under the cursor; `None` when nothing fits what is typed.
    #[must_use]
    pub fn chosen(&self) -> Option<&T> {
        self.shown().get(self.cursor).map(|choice| &choice.value)
    }

    /// Puts the cursor on the first choice that is `wanted`.
    #[must_use]
    pub fn at(mut self, wanted: impl Fn(&T) -> bool) -> Self {
        let shown = self.shown();
        self.cursor = shown.iter().position(|choice| wanted(&choice.value)).unwrap_or(0);
        self
    }

    /// Takes a key. A digit chooses its row while nothing is typed.
    pub fn key(&mut self, chord: Chord) -> Press {
        let count = self.shown().len();
        match (chord.key, chord.typed(), chord.ctrl) {
            (Key::Esc, ..) => return Press::Leave,
            (Key::Enter, ..) if count > 0 => return Press::Accept,
            (Key::Enter, ..) => {}
            (Key::Up, ..) | (Key::Char('p'), _, true) => {
                self.cursor = moved(self.cursor, -1, count);
            }
            (Key::Down, ..) | (Key::Char('n'), _, true) => {
                self.cursor = moved(self.cursor, 1, count);
            }
            (Key::PageUp, ..) => self.cursor = moved(self.cursor, -SCREEN, count),
            (Key::PageDown, ..) => self.cursor = moved(self.cursor, SCREEN, count),
            (_, Some(digit @ '1'..='9'), _) if self.typed.value().is_empty() => {
                let row = usize::from(digit as u8 - b'1');
                if row < count {
                    self.cursor = row;
                    return Press::Accept;
                }
            }
            _ => {
                let before = self.typed.value().to_owned();
                edit(&mut self.typed, chord);
                if before != self.typed.value() {
                    self.cursor = 0;
                }
            }
        }
        Press::Stay
    }

    /// The text field that takes what is pasted.
    pub fn text(&mut self) -> &mut Input {
        // Another filter: the cursor may lie below its last row.
        self.cursor = 0;
        &mut self.typed
    }

    /// Rows that it would like to have, frame and filter included.
    #[must_use]
    pub fn rows(&self) -> u16 {
        u16::try_from(self.choices.len()).unwrap_or(u16::MAX).saturating_add(4)
    }
}

/// How badly a choice fits; what is found in its name counts before what is found in its note.
fn badness<T>(typed: &str, choice: &Choice<T>) -> Option<usize> {
    let name = fuzzy::distance(typed, choice.text.as_str());
    name.map(|badness| badness * 2).or_else(|| {
        let both = format!("{} {}", choice.text, choice.note);
        fuzzy::distance(typed, &both).map(|badness| badness * 2 + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick() -> Pick<u8> {
        Pick::new(vec![
            Choice::new(1, "Next page").note("of clusters"),
            Choice::new(2, "Export"),
            Choice::new(3, "Previous page"),
        ])
    }

    fn typed(pick: &mut Pick<u8>, text: &str) -> Press {
        text.chars().fold(Press::Stay, |_, c| pick.key(Chord::plain(Key::Char(c))))
    }

    #[test]
    fn p02_typing_filters_and_the_best_comes_first() {
        let mut pick = pick();
        typed(&mut pick, "page");
        assert_eq!(pick.shown().iter().map(|choice| choice.value).collect::<Vec<_>>(), [1, 3]);
        pick.key(Chord::plain(Key::Down));
        assert_eq!(pick.chosen(), Some(&3));
        typed(&mut pick, "x");
        assert_eq!(pick.chosen(), None);
        assert_eq!(pick.key(Chord::plain(Key::Enter)), Press::Stay);
        pick.key("ctrl-u".parse().unwrap());
        typed(&mut pick, "clus");
        assert_eq!(pick.chosen(), Some(&1), "the note is searched, too");
    }

    #[test]
    fn a_digit_chooses_only_while_nothing_is_typed() {
        let mut first = pick();
        assert_eq!(typed(&mut first, "2"), Press::Accept);
        assert_eq!(first.chosen(), Some(&2));
        let mut second = pick();
        assert_eq!(typed(&mut second, "e2"), Press::Stay);
        assert_eq!(typed(&mut pick(), "9"), Press::Stay);
    }
}
