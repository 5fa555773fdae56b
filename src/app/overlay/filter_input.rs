//! The input that filters the loaded datasets or clusters. The filter applies while it is typed.

use tui_input::Input;

use super::{Dialog, KeyResult, Overlay, text_field::edit};
use crate::{
    app::{App, Pane, view::sort_filter::ListOptions},
    input::{Chord, Key},
};
use ratatui::layout::Rect;

#[derive(Clone, Debug)]
pub struct FilterInput {
    /// The datasets or the results.
    pub pane: Pane,
    pub text: Input,
}

impl Dialog for FilterInput {
    /// Esc clears the filter and closes the input.
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
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

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (screen.0, 1)
    }

    /// Above the hints, so that it covers no row of the list.
    fn area(&self, screen: (u16, u16)) -> Rect {
        Rect::new(0, screen.1.saturating_sub(2), screen.0, screen.1.min(1))
    }

    fn hints(&self) -> &'static str {
        "type to filter   Enter apply   Esc clear"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(&mut self.text)
    }

    fn accept(self, app: &mut App) {
        app.set_filter(self.pane, self.text.value().to_owned());
    }
}

impl App {
    pub(in crate::app) fn open_filter_input(&mut self) {
        let pane = if self.panes.focus == Pane::Datasets { Pane::Datasets } else { Pane::Results };
        if let Some(options) = self.list_options_of(pane) {
            let text = options.filter.as_str().into();
            self.overlays.open(Overlay::Filter(FilterInput { pane, text }));
        }
    }

    pub(in crate::app) fn apply_typed_filter(&mut self) {
        if let Some(Overlay::Filter(input)) = self.overlays.current() {
            let (pane, typed) = (input.pane, input.text.value().to_owned());
            self.set_filter(pane, typed);
        }
    }

    fn set_filter(&mut self, pane: Pane, typed: String) {
        if let Some(options) = self.list_options_of(pane) {
            options.filter = typed;
        }
    }

    /// The filter and order of the list in a pane; the detail shares those of the results.
    pub(in crate::app) fn list_options_of(&mut self, pane: Pane) -> Option<&mut ListOptions> {
        match pane {
            Pane::Datasets => Some(&mut self.datasets.list_options),
            Pane::Results | Pane::Detail => {
                self.results.view_mut().map(|view| &mut view.list_options)
            }
            Pane::Query | Pane::Jobs | Pane::Basket => None,
        }
    }
}
