//! The input for the path of a selection file: to save the selection, or to replace it.

use std::path::Path;

use tessera_model::{DatasetId, SafeText, Selection};
use tui_input::Input;

use super::{
    Dialog, KeyResult, Overlay,
    text_field::{self, expand_path},
};
use crate::{
    app::{App, Level, basket::count_with_noun},
    input::Chord,
    message::{Lane, Request},
};

/// What the path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionFileMode {
    Save,
    Open,
}

/// A half-typed path.
#[derive(Clone, Debug)]
pub struct SelectionFileInput {
    pub mode: SelectionFileMode,
    pub path: Input,
}

impl Dialog for SelectionFileInput {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        text_field::handle_key(&mut self.path, chord)
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (72, 5)
    }

    fn hints(&self) -> &'static str {
        match self.mode {
            SelectionFileMode::Save => "Enter save   Esc close",
            SelectionFileMode::Open => "Enter replace the selection   Esc close",
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(&mut self.path)
    }

    fn accept(self, app: &mut App) {
        let (Some(view), Some(selection)) = (app.view(), app.selection()) else { return };
        let (dataset, selection) = (view.search.dataset, selection.clone());
        let typed = self.path.value().trim();
        if typed.is_empty() {
            app.notify(Level::Warning, "type the path of a file");
            app.overlay = Some(Overlay::SelectionFile(self));
            return;
        }
        let file = expand_path(typed, app.setup.home_dir.as_deref());
        // Without a folder or an extension it is the name of a saved selection, as in commands.
        let is_name = !typed.contains(['/', '.', '~']);
        let request = match (self.mode, is_name) {
            (SelectionFileMode::Save, false) => Request::SaveSelection(file, dataset, selection),
            (SelectionFileMode::Save, true) => {
                Request::SaveNamed(typed.to_owned(), dataset, selection)
            }
            (SelectionFileMode::Open, false) => Request::OpenSelection(file, dataset),
            (SelectionFileMode::Open, true) => Request::OpenNamed(typed.to_owned(), dataset),
        };
        app.send(Lane::Selection, request);
    }
}

impl App {
    /// Opens the input with a path in the download folder.
    pub(in crate::app) fn open_selection_file_input(&mut self, mode: SelectionFileMode) {
        let folder = self.setup.download_dir.as_str().trim_end_matches('/');
        let name = self.dataset().map_or("selection", |dataset| dataset.name.as_str());
        let path = format!("{folder}/{}.json", name.replace('/', "_")).into();
        self.overlay = Some(Overlay::SelectionFile(SelectionFileInput { mode, path }));
    }

    pub(in crate::app) fn selection_saved(&mut self, file: &Path) {
        let file = SafeText::file_name(&file.to_string_lossy());
        let text = format!("saved the selection to {file}");
        self.notify(Level::Success, text);
    }

    /// Replaces the selection with one read from a file.
    pub(in crate::app) fn selection_loaded(&mut self, dataset: DatasetId, selection: &Selection) {
        self.edit_basket_of(dataset, |basket| basket.replace(selection));
        let entries = count_with_noun(selection.len(), "entry", "entries");
        let text = format!("loaded {entries} from the file; u restores the previous selection");
        self.notify(Level::Success, text);
    }
}
