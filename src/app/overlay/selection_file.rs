//! The line that names a selection file: to save what is marked, or to mark what it says.

use std::path::Path;

use tui_input::Input;

use crate::{
    app::{
        App, Level, Overlay,
        basket::count_with_noun,
        overlay::{
            KeyResult,
            text_field::{edit, expand_path},
        },
    },
    input::{Chord, Key},
    message::{Lane, Request},
};
use tessera_model::{DatasetId, SafeText, Selection};

/// What the file is named for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionFileMode {
    /// What is marked goes into it.
    Save,
    /// What it says is marked.
    Open,
}

impl SelectionFileMode {
    /// What the keys of the line do.
    #[must_use]
    pub fn hints(self) -> &'static str {
        match self {
            Self::Save => "Enter save   Esc leave",
            Self::Open => "Enter mark what it says   Esc leave",
        }
    }
}

/// A half-typed path.
#[derive(Clone, Debug)]
pub struct SelectionFileInput {
    /// What for.
    pub mode: SelectionFileMode,
    /// What is typed.
    pub path: Input,
}

impl SelectionFileInput {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Esc => return KeyResult::Close,
            Key::Enter => return KeyResult::Accept,
            _ => edit(&mut self.path, chord),
        }
        KeyResult::Stay
    }
}

impl App {
    /// Opens the line, with a path beside the downloads.
    pub(in crate::app) fn open_selection_file_input(&mut self, purpose: SelectionFileMode) {
        let folder = self.setup.download_dir.as_str().trim_end_matches('/');
        let name = self.dataset().map_or("selection", |dataset| dataset.name.as_str());
        let path = format!("{folder}/{}.json", name.replace('/', "_")).into();
        self.overlay = Some(Overlay::SelectionFile(SelectionFileInput { mode: purpose, path }));
    }

    /// Saves or opens the file that was named.
    pub(in crate::app) fn submit_selection_file(&mut self, asked: SelectionFileInput) {
        let (Some(view), Some(selection)) = (self.view(), self.selection()) else { return };
        let dataset = view.search.dataset;
        if asked.path.value().trim().is_empty() {
            self.notify(Level::Warning, "type the path of a file, or Esc");
            self.overlay = Some(Overlay::SelectionFile(asked));
            return;
        }
        let typed = asked.path.value().trim();
        let file = expand_path(typed, self.setup.home_dir.as_deref());
        // What has neither a folder nor an ending is the name of a selection, as commands use it.
        let named = (!typed.contains(['/', '.', '~'])).then(|| typed.to_owned());
        let request = match (asked.mode, named) {
            (SelectionFileMode::Save, None) => {
                Request::SaveSelection(file, dataset, selection.clone())
            }
            (SelectionFileMode::Save, Some(name)) => {
                Request::SaveNamed(name, dataset, selection.clone())
            }
            (SelectionFileMode::Open, None) => Request::OpenSelection(file, dataset),
            (SelectionFileMode::Open, Some(name)) => Request::OpenNamed(name, dataset),
        };
        self.send(Lane::Selection, request);
    }

    /// The file is written.
    pub(in crate::app) fn selection_saved(&mut self, file: &Path) {
        let file = SafeText::file_name(&file.to_string_lossy());
        self.notify(Level::Success, format!("what is marked is saved in {file}"));
    }

    /// A file was read: what it says is marked now, and nothing else.
    pub(in crate::app) fn selection_loaded(&mut self, dataset: DatasetId, selection: &Selection) {
        self.edit_basket_of(dataset, |basket| basket.replace(selection));
        let marks = count_with_noun(selection.len(), "mark", "marks");
        let text = format!("{marks} from the file; u brings back what was marked before");
        self.notify(Level::Success, text);
    }
}
