//! Saves the session for the next start: the open dataset, the tabs with their cursors, and the size and
//! arrangement of the tiles.

use std::{iter, time::Duration};

use tessera_model::{AnchorKind, HistoryEntry, SavedSession, StateValue};

use crate::app::prelude::*;
use crate::app::{
    Tabs,
    view::sort_filter::{ListOptions, filter_and_sort},
};

/// The minimum time between saves if only cursors have moved.
const CURSOR_INTERVAL: Duration = Duration::from_secs(2);

/// The session as it was last saved.
#[derive(Debug, Default)]
pub(in crate::app) struct SessionState {
    saved: SavedSession,
    saved_at: Option<Uptime>,
    /// When the session is to be saved, if the save was delayed.
    pub due: Option<Uptime>,
}

impl SessionState {
    pub fn new(saved: SavedSession) -> Self {
        Self { saved, ..Self::default() }
    }

    /// Saves the session after an event that has changed it. While only cursors move, it is saved at most once per
    /// `CURSOR_INTERVAL`.
    pub fn save(&mut self, current: SavedSession, outbox: &mut Outbox) {
        if current == self.saved {
            self.due = None;
            return;
        }
        let saved = SavedSession { cursors: current.cursors.clone(), ..self.saved.clone() };
        let due = self.saved_at.filter(|_| current == saved).map(|at| at + CURSOR_INTERVAL);
        self.due = due.filter(|due| *due > outbox.now);
        if self.due.is_none() {
            self.saved_at = Some(outbox.now);
            self.saved = current.clone();
            outbox.save(StateValue::Session(current));
        }
    }
}

/// Opens the tabs of the last session, if they belong to this dataset.
pub(in crate::app) fn restore_tabs(app: &mut App, session: SavedSession, dataset: DatasetId) {
    let cursors = session.cursors.into_iter().chain(iter::repeat(0));
    let searches = session.tabs.into_iter().zip(cursors);
    let views: Vec<View> = searches
        .filter(|(tab, _)| tab.search.dataset == dataset)
        .map(|(HistoryEntry { search, similar_to, .. }, cursor)| View {
            similar_to,
            cursor,
            ..View::new(search)
        })
        .collect();
    let Some(tabs) = Tabs::of_views(views, session.active_tab) else { return };
    let filters = tabs.tab().view.search.filters.clone();
    if let Some(open) = app.results.tabs_mut() {
        *open = tabs;
    }
    app.query.edit_draft(|draft| draft.adopt_filters(&filters), &app.results);
}

/// Returns the session to save, or `None` before a dataset is open.
pub(in crate::app) fn current_session(app: &App) -> Option<SavedSession> {
    let App { results, panes, setup, .. } = app;
    let tabs = results.tabs()?;
    let saved: Vec<(usize, HistoryEntry)> = (0..)
        .zip(tabs.all())
        .filter_map(|(index, tab)| Some((index, saved_tab(&tab.view)?)))
        .collect();
    let active_tab = saved.iter().position(|(index, _)| *index == tabs.active());
    let ui = &setup.settings.ui;
    let changed_size = (panes.tile_size != ui.tile).then_some(panes.tile_size);
    let changed_layout = (panes.tile_layout != ui.layout).then_some(panes.tile_layout);
    Some(SavedSession {
        dataset: Some(tabs.tab().view.search.dataset),
        cursors: saved.iter().map(|(index, _)| results.cursor_on_page(*index)).collect(),
        tabs: saved.into_iter().map(|(_, tab)| tab).collect(),
        active_tab: active_tab.unwrap_or(0),
        tile_size: changed_size.map(|size| size.as_str().to_owned()),
        tile_layout: changed_layout.map(|layout| layout.as_str().to_owned()),
        picked_actions: app.overlays.picked_actions.clone(),
    })
}

impl Results {
    /// Returns the position of a tab's cursor on its page, regardless of how the page is filtered
    /// and sorted.
    fn cursor_on_page(&self, tab: usize) -> usize {
        let Some(view) = self.tabs().and_then(|tabs| tabs.all().get(tab)) else { return 0 };
        let view = &view.view;
        let page = self.pages.get(&view.search).and_then(Remote::value);
        let page = page.filter(|_| view.list_options != ListOptions::default());
        let visible = page.map(|page| filter_and_sort(page, &view.list_options));
        let index = visible.and_then(|visible| Some(visible.get(view.cursor)?.index));
        index.unwrap_or(view.cursor)
    }
}

/// Returns the tab to save. Returns `None` for results that cannot be loaded again, which are
/// computed results and results of an uploaded anchor. The service may have dropped such an anchor,
/// and the history registers its file again.
fn saved_tab(view: &View) -> Option<HistoryEntry> {
    let uploaded =
        matches!(view.search.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
    let similar_to = view.similar_to.clone();
    (!uploaded && view.computed.is_none())
        .then(|| HistoryEntry { similar_to, ..HistoryEntry::new(view.search.clone()) })
}
