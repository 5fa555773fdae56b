//! The session: which dataset, tabs and size of tiles were open, saved for the next start.

use std::collections::BTreeMap;

use crate::{
    app::{App, Tabs, View},
    config::TileSize,
    message::{Lane, Request},
};
use tessera_model::{
    AnchorKind, DatasetId, HistoryEntry, Query, SavedSession, StateKey, StateValue,
};

impl App {
    /// Opens the tabs of the last session, if they are of this dataset.
    pub(super) fn restore_tabs(&mut self, dataset: DatasetId) {
        let Some(session) = self.setup.session.take() else { return };
        let searches = session.tabs.into_iter().filter(|tab| tab.search.dataset == dataset);
        let views: Vec<View> = searches
            .map(|HistoryEntry { search, similar_to, .. }| View { similar_to, ..View::new(search) })
            .collect();
        let Some(tabs) = Tabs::of_views(views, session.active_tab) else { return };
        let filters = tabs.tab().view.search.filters.clone();
        if let Some(open) = self.results.tabs_mut() {
            *open = tabs;
        }
        self.edit_draft(|draft| draft.adopt_filters(&filters));
    }

    /// Saves the session after an event that has changed it.
    pub(super) fn save_session(&mut self) {
        let Some(session) = self.session() else { return };
        if session != self.saved_session {
            self.saved_session = session.clone();
            let request = Request::SaveState(StateValue::Session(session));
            self.send(Lane::SaveState(StateKey::Session), request);
        }
    }

    /// `None` before a dataset is open.
    fn session(&self) -> Option<SavedSession> {
        let tabs = self.results.tabs()?;
        let saved: Vec<(usize, HistoryEntry)> = (0..)
            .zip(tabs.all())
            .filter_map(|(index, tab)| Some((index, saved_tab(&tab.view)?)))
            .collect();
        let active_tab = saved.iter().position(|(index, _)| *index == tabs.active());
        let changed_size = (self.tile_size != self.setup.tile_size).then_some(self.tile_size);
        Some(SavedSession {
            dataset: Some(tabs.tab().view.search.dataset),
            tabs: saved.into_iter().map(|(_, tab)| tab).collect(),
            active_tab: active_tab.unwrap_or(0),
            tile_size: changed_size.map(|size| size.as_str().to_owned()),
            picked_actions: self.picked_actions.clone(),
        })
    }
}

/// `None` for results that cannot be loaded again: computed ones, and those of an uploaded anchor,
/// which the service may have dropped. The history registers its file again.
fn saved_tab(view: &View) -> Option<HistoryEntry> {
    let uploaded =
        matches!(view.search.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
    let similar_to = view.similar_to.clone();
    (!uploaded && view.computed.is_none())
        .then(|| HistoryEntry { similar_to, ..HistoryEntry::new(view.search.clone()) })
}

/// The size of the tiles at the start.
pub(super) fn initial_tile_size(session: Option<&SavedSession>, setting: TileSize) -> TileSize {
    let saved = session.and_then(|session| session.tile_size.as_deref());
    let known = TileSize::ALL.into_iter().find(|size| Some(size.as_str()) == saved);
    known.unwrap_or(setting)
}

pub(super) fn picked_actions(session: Option<&SavedSession>) -> BTreeMap<String, u32> {
    session.map(|session| session.picked_actions.clone()).unwrap_or_default()
}
