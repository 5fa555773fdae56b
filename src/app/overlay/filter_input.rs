//! The line that filters what is loaded. The panes narrow while it is typed.

use tui_input::Input;

use crate::{
    app::{
        App, Overlay, Pane,
        overlay::{KeyResult, text_field::edit},
        view::sort_filter::ListOptions,
    },
    input::{Chord, Key},
};

/// A half-typed filter.
#[derive(Clone, Debug)]
pub struct FilterInput {
    /// The pane whose list it filters: the datasets or the results.
    pub pane: Pane,
    /// What is typed.
    pub text: Input,
}

impl FilterInput {
    /// Takes a key. Esc empties it on the way out.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Esc => self.text.reset(),
            Key::Enter => {}
            _ => {
                edit(&mut self.text, chord);
                return KeyResult::Stay;
            }
        }
        KeyResult::Accept
    }
}

impl App {
    /// Opens the line with the filter that is on.
    pub(in crate::app) fn open_filter_input(&mut self) {
        let pane = if self.focus == Pane::Datasets { Pane::Datasets } else { Pane::Results };
        if let Some(arrangement) = self.arrangement_of(pane) {
            let line = arrangement.filter.as_str().into();
            self.overlay = Some(Overlay::Filter(FilterInput { pane, text: line }));
        }
    }

    /// What is typed so far holds already.
    pub(in crate::app) fn apply_typed_filter(&mut self) {
        if let Some(Overlay::Filter(asked)) = &self.overlay {
            let (pane, typed) = (asked.pane, asked.text.value().to_owned());
            self.set_filter(pane, typed);
        }
    }

    /// Filters the list of a pane.
    pub(in crate::app) fn set_filter(&mut self, pane: Pane, typed: String) {
        if let Some(arrangement) = self.arrangement_of(pane) {
            arrangement.filter = typed;
        }
    }

    /// How the list of a pane is shown, to change it; the detail belongs to the results.
    pub(in crate::app) fn arrangement_of(&mut self, pane: Pane) -> Option<&mut ListOptions> {
        match pane {
            Pane::Datasets => Some(&mut self.datasets.list_options),
            Pane::Results | Pane::Detail => {
                self.results.view_mut().map(|view| &mut view.list_options)
            }
            Pane::Query | Pane::Jobs | Pane::Basket => None,
        }
    }
}
