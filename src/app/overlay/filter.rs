//! The line that filters what is loaded. The panes narrow while it is typed.

use tui_input::Input;

use crate::{
    app::{
        App, Overlay, Pane,
        overlay::{Press, field::edit},
        view::arrange::Arrangement,
    },
    input::{Chord, Key},
};

/// A half-typed filter.
#[derive(Clone, Debug)]
pub struct FilterLine {
    /// The pane whose list it filters: the datasets or the results.
    pub pane: Pane,
    /// What is typed.
    pub line: Input,
}

impl FilterLine {
    /// Takes a key. Esc empties it on the way out.
    pub fn key(&mut self, chord: Chord) -> Press {
        match chord.key {
            Key::Esc => self.line.reset(),
            Key::Enter => {}
            _ => {
                edit(&mut self.line, chord);
                return Press::Stay;
            }
        }
        Press::Accept
    }
}

impl App {
    /// Opens the line with the filter that is on.
    pub(in crate::app) fn ask_for_filter(&mut self) {
        let pane = if self.focus == Pane::Datasets { Pane::Datasets } else { Pane::Results };
        if let Some(arrangement) = self.arrangement_of(pane) {
            let line = arrangement.filter.as_str().into();
            self.overlay = Some(Overlay::Filter(FilterLine { pane, line }));
        }
    }

    /// What is typed so far holds already.
    pub(in crate::app) fn filter_as_typed(&mut self) {
        if let Some(Overlay::Filter(asked)) = &self.overlay {
            let (pane, typed) = (asked.pane, asked.line.value().to_owned());
            self.filter(pane, typed);
        }
    }

    /// Filters the list of a pane.
    pub(in crate::app) fn filter(&mut self, pane: Pane, typed: String) {
        if let Some(arrangement) = self.arrangement_of(pane) {
            arrangement.filter = typed;
        }
    }

    /// How the list of a pane is shown, to change it; the detail belongs to the results.
    pub(in crate::app) fn arrangement_of(&mut self, pane: Pane) -> Option<&mut Arrangement> {
        match pane {
            Pane::Datasets => Some(&mut self.datasets.arrangement),
            Pane::Results | Pane::Detail => {
                self.results.view_mut().map(|view| &mut view.arrangement)
            }
            Pane::Query | Pane::Jobs | Pane::Basket => None,
        }
    }
}
