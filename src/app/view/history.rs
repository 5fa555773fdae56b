//! The search history of a deployment: run a search again, or change it first. It is saved between
//! runs.

use crate::{
    app::{
        App, Level, Overlay, QueryImage, View,
        overlay::{Command, CommandList, ListKind, PickItem},
        view::title,
    },
    message::{Lane, Request},
};
use tessera_model::{Failure, HistoryEntry, PictureSource, Query, StateKey, StateValue};

#[derive(Debug, Default)]
pub struct SearchHistory {
    /// Newest last.
    pub searches: Vec<HistoryEntry>,
    /// Whether those of earlier runs are loaded.
    saved: SavedHistory,
    needed: bool,
    unsaved: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SavedHistory {
    #[default]
    NotLoaded,
    Loaded,
    /// They cannot be read: their file is not overwritten.
    Unreadable,
}

impl App {
    /// Runs a search in this tab and adds it to the history.
    pub(in crate::app) fn run_search(&mut self, view: View) {
        let View { search, similar_to, query_image, .. } = view.clone();
        let region = query_image.as_ref().and_then(|image| image.region);
        let file = query_image.and_then(|image| match image.source {
            PictureSource::File(path) => Some(path),
            PictureSource::Link(_) | PictureSource::Entry(..) => None,
        });
        if search.query != Query::Browse || !search.filters.is_empty() {
            let entry = HistoryEntry { search, similar_to, file, region };
            entry.append_to(&mut self.history.searches);
            (self.history.unsaved, self.history.needed) = (true, true);
        }
        self.results.push_view(view);
    }

    pub(in crate::app) fn open_history(&mut self) {
        self.history.needed = true;
        self.show_history();
    }

    /// Shows the list, or a warning if it is empty.
    fn show_history(&mut self) {
        if self.history.searches.is_empty() && self.history.saved != SavedHistory::NotLoaded {
            self.overlay = None;
            self.notify(Level::Warning, "no searches yet");
        } else {
            let list = CommandList::new(ListKind::History, "Past searches", self.past_searches());
            self.overlay = Some(Overlay::List(list));
        }
    }

    fn past_searches(&self) -> Vec<PickItem> {
        let items = self.history.searches.iter().rev().map(|entry| {
            let search = &entry.search;
            let name = self.store.dataset(search.dataset).map(|dataset| dataset.name.as_str());
            let note = format!(
                "{} · {} · granularity {}",
                name.unwrap_or("a dataset that is not in the list"),
                search.entity.as_str(),
                search.granularity.level()
            );
            let title_text = title(&search.query, entry.similar_to.as_ref(), search.filters.len());
            PickItem::new(Command::RerunSearch(Box::new(entry.clone())), title_text)
                .note(note)
                .disabled(name.is_none())
        });
        items.collect()
    }

    /// Runs a past search again. A query image is registered again: its anchor may have expired.
    pub(in crate::app) fn rerun_search(&mut self, entry: HistoryEntry) {
        let HistoryEntry { search, similar_to, file, region } = entry;
        self.open_dataset(search.dataset);
        self.focus = crate::app::Pane::Results;
        match file {
            Some(file) => {
                self.register_query_image(QueryImage { region, ..QueryImage::file(file) }, search);
            }
            None => self.run_search(View { similar_to, ..View::new(search) }),
        }
    }

    /// The searches of earlier runs were loaded, or could not be; those of this run are newer.
    pub(in crate::app) fn history_loaded(&mut self, result: Result<Option<StateValue>, Failure>) {
        self.history.saved =
            if result.is_ok() { SavedHistory::Loaded } else { SavedHistory::Unreadable };
        if let Ok(Some(StateValue::History(earlier))) = result {
            let newer = std::mem::replace(&mut self.history.searches, earlier);
            for entry in newer {
                entry.append_to(&mut self.history.searches);
            }
        }
        if matches!(&self.overlay, Some(Overlay::List(list)) if list.kind == ListKind::History) {
            self.show_history();
        }
    }

    /// Loads the earlier searches once they are needed, and saves new ones after that.
    pub(in crate::app) fn sync_history(&mut self) {
        let load = Lane::LoadState(StateKey::History);
        match self.history.saved {
            SavedHistory::NotLoaded if self.history.needed && !self.tickets.is_open(&load) => {
                self.send(load, Request::Recall(StateKey::History));
            }
            SavedHistory::Loaded if std::mem::take(&mut self.history.unsaved) => {
                let entry = StateValue::History(self.history.searches.clone());
                self.send(Lane::SaveState(StateKey::History), Request::SaveState(entry));
            }
            SavedHistory::NotLoaded | SavedHistory::Loaded | SavedHistory::Unreadable => {}
        }
    }
}
