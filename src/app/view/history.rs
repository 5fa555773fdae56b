//! The search history of a deployment, saved between runs.

use crate::{
    app::{
        App, Level, LoadedState, Overlay, Pane, QueryImage, Remote, View,
        overlay::{Command, ListKind, PickItem},
        view::title,
    },
    message::{Lane, Request},
};
use tessera_model::{HistoryEntry, PictureSource, Query, StateKey, StateValue};

#[derive(Debug, Default)]
pub struct SearchHistory {
    /// Newest last.
    pub past_searches: Vec<HistoryEntry>,
    /// Whether those of earlier runs were loaded. If they cannot be read, their file is not
    /// overwritten.
    loaded: Remote<()>,
    needed: bool,
    unsaved: bool,
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
            entry.append_to(&mut self.history.past_searches);
            (self.history.unsaved, self.history.needed) = (true, true);
        }
        self.results.edit_tabs(|tabs| tabs.tab_mut().push(view));
    }

    pub(in crate::app) fn open_history(&mut self) {
        self.history.needed = true;
        self.show_history();
    }

    fn show_history(&mut self) {
        if self.history.past_searches.is_empty() && self.history.loaded.due(None).is_none() {
            self.overlay = None;
            self.notify(Level::Warning, "no searches yet");
        } else {
            self.open_list(ListKind::History, "Past searches", self.past_searches());
        }
    }

    fn past_searches(&self) -> Vec<PickItem> {
        let items = self.history.past_searches.iter().rev().map(|entry| {
            let search = &entry.search;
            let name = self.store.dataset(search.dataset).map(|dataset| dataset.name.as_str());
            let dataset = name.unwrap_or("a dataset that is not in the list");
            let (entity, level) = (search.entity.as_str(), search.granularity.level());
            let note = format!("{dataset} · {entity} · granularity {level}");
            let (similar_to, filters) = (entry.similar_to.as_ref(), search.filters.len());
            let title = title::of_search(&search.query, similar_to, filters);
            PickItem::new(Command::RerunSearch(Box::new(entry.clone())), title)
                .note(note)
                .disabled(name.is_none())
        });
        items.collect()
    }

    /// Runs a past search again. A query image is registered again: its anchor may have expired.
    pub(in crate::app) fn rerun_search(&mut self, entry: HistoryEntry) {
        let HistoryEntry { search, similar_to, file, region } = entry;
        self.open_dataset(search.dataset);
        self.focus = Pane::Results;
        match file {
            Some(file) => {
                self.register_query_image(QueryImage { region, ..QueryImage::file(file) }, search);
            }
            None => self.run_search(View { similar_to, ..View::new(search) }),
        }
    }

    /// The searches of earlier runs were loaded, or could not be; those of this run are newer.
    pub(in crate::app) fn history_loaded(&mut self, result: LoadedState) {
        let loaded = result.map(|value| {
            if let Some(StateValue::History(earlier)) = value {
                let newer = std::mem::replace(&mut self.history.past_searches, earlier);
                for entry in newer {
                    entry.append_to(&mut self.history.past_searches);
                }
            }
        });
        self.history.loaded.finish(self.now, loaded);
        if matches!(&self.overlay, Some(Overlay::List(list)) if list.kind == ListKind::History) {
            self.show_history();
        }
    }

    pub(in crate::app) fn needs_history(&self) -> bool {
        self.history.needed && self.history.loaded.due(None).is_some()
    }

    /// Saves new searches once the earlier ones were loaded.
    pub(in crate::app) fn save_history(&mut self) {
        if self.history.loaded.value().is_some() && std::mem::take(&mut self.history.unsaved) {
            let entry = StateValue::History(self.history.past_searches.clone());
            self.send(Lane::SaveState(StateKey::History), Request::SaveState(entry));
        }
    }
}
