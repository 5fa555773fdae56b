//! The search history of a deployment, saved between runs.

use tessera_model::{
    HistoryEntry, Page, PictureSource, Query, ResultCount, Search, StateKey, StateValue,
    text::{format_age, group_digits},
};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView};

use crate::{
    app::{
        App, Level, LoadedState, Pane, QueryImage, Remote, View,
        overlay::{
            command_list::{CommandList, ListKind},
            pick_list::{Command, PickItem},
        },
        query::filter_summary,
        view::{
            title,
            visible_pictures::{VisiblePicture, preview_picture},
        },
    },
    message::{Lane, Request},
};

const UNLISTED_DATASET: &str = "a dataset that is not in the list";

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
        let search = Search { page: 0, ..view.search.clone() };
        let (similar_to, query_image) = (view.similar_to.clone(), view.query_image.clone());
        let region = query_image.as_ref().and_then(|image| image.region);
        let file = query_image.and_then(|image| match image.source {
            PictureSource::File(path) => Some(path),
            PictureSource::Link(_) | PictureSource::Entry(..) => None,
        });
        if search.query != Query::Browse || !search.filters.is_empty() {
            let searched_at = Some(self.clock());
            let results = self.result_count(&search);
            let entry = HistoryEntry { search, similar_to, file, region, searched_at, results };
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
            self.overlays.close();
            self.outbox.notify(Level::Warning, "no searches yet");
        } else {
            self.open_list(ListKind::History, "Past searches", self.past_searches());
        }
    }

    fn past_searches(&self) -> Vec<PickItem> {
        let items = self.history.past_searches.iter().rev().map(|entry| {
            let search = &entry.search;
            let name = self.store.dataset(search.dataset).map(|dataset| dataset.name.as_str());
            let dataset = name.unwrap_or(UNLISTED_DATASET);
            let (entity, level) = (search.entity.as_str(), search.granularity.level());
            let found = entry.results.map(|results| format!("{} · ", result_text(results)));
            let found = found.unwrap_or_default();
            let note = format!("{found}{dataset} · {entity} · granularity {level}");
            let age = entry.searched_at.map(|at| format_age(self.clock().saturating_sub(at)));
            PickItem::new(Command::RerunSearch(Box::new(entry.clone())), self.describe(entry))
                .prefix(age.unwrap_or_default())
                .note(note)
                .disabled(name.is_none())
        });
        items.collect()
    }

    /// The query and every filter of a past search.
    fn describe(&self, entry: &HistoryEntry) -> String {
        let HistoryEntry { search, similar_to, .. } = entry;
        let filters = search.filters.iter().map(|filter| filter_summary(self, filter));
        let query = title::of_search(&search.query, similar_to.as_ref(), 0);
        let max_score = match search.query {
            Query::Caption { max_score, .. } => max_score,
            Query::Browse | Query::Similar(_) => None,
        };
        let max_score = max_score.map(|score| format!("scores <{}", score.value()));
        let is_browse = search.query == Query::Browse && !search.filters.is_empty();
        let query = (!is_browse).then(|| query.to_string());
        query.into_iter().chain(max_score).chain(filters).collect::<Vec<_>>().join(" · ")
    }

    /// The query image of a past search, else its first loaded result.
    pub(in crate::app) fn picture_of_search(
        &self,
        entry: &HistoryEntry,
        canvas: Canvas,
    ) -> Option<VisiblePicture> {
        if let Some(file) = &entry.file {
            let subject = PictureSubject::File(file.clone());
            let crop = entry.region.map_or(Crop::Full, Crop::Highlighted);
            let (view, source) = (PictureView { subject, crop }, PictureSource::File(file.clone()));
            return Some(VisiblePicture { view, source, compared_with: None, canvas });
        }
        let loaded = self.results.pages.loaded(entry.search.dataset);
        let image = match &entry.search.query {
            Query::Similar(anchor) => loaded
                .flat_map(|page| &page.clusters)
                .flat_map(|cluster| &cluster.previews)
                .find(|preview| preview.media == anchor.media),
            Query::Browse | Query::Caption { .. } => None,
        };
        let first = || self.results.pages.get(&entry.search)?.value()?.clusters.first();
        let preview = image.or_else(|| first()?.previews.first())?;
        preview_picture(preview, canvas)
    }

    /// How many clusters of a search are loaded.
    fn result_count(&self, search: &Search) -> Option<ResultCount> {
        let pages = self.results.pages.pages_of(search);
        let (last, page) =
            pages.last().and_then(|(number, page)| Some((*number, page.value()?)))?;
        let before = usize::try_from(last).unwrap_or(usize::MAX).saturating_mul(Page::SIZE);
        let clusters = before.saturating_add(page.clusters.len() + page.repeated);
        Some(ResultCount { clusters, is_complete: !page.may_have_next() })
    }

    /// A page was loaded: the newest past search then knows how many results it has.
    pub(in crate::app) fn record_results(&mut self, search: &Search) {
        let first_page = Search { page: 0, ..search.clone() };
        let results = self.result_count(search);
        let newest = self.history.past_searches.last_mut();
        if let Some(entry) = newest.filter(|entry| entry.search == first_page)
            && entry.results != results
        {
            entry.results = results;
            self.history.unsaved = true;
        }
    }

    /// Runs a past search again. A query image is registered again: its anchor may have expired.
    pub(in crate::app) fn rerun_search(&mut self, entry: HistoryEntry) {
        let HistoryEntry { search, similar_to, file, region, .. } = entry;
        let is_known = self.store.dataset(search.dataset).is_some();
        if self.store.datasets.value().is_some() && !is_known {
            let text = format!("this search is of {UNLISTED_DATASET}");
            return self.outbox.notify(Level::Warning, text);
        }
        self.open_dataset(search.dataset);
        self.panes.focus = Pane::Results;
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
        self.history.loaded.finish(self.outbox.now, loaded);
        if self.overlays.dialog::<CommandList>().is_some_and(|it| it.kind == ListKind::History) {
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
            self.outbox.send(Lane::SaveState(StateKey::History), Request::SaveState(entry));
        }
    }
}

fn result_text(results: ResultCount) -> String {
    let more = if results.is_complete { "" } else { "+" };
    let noun = if results.clusters == 1 && results.is_complete { "cluster" } else { "clusters" };
    format!("{}{more} {noun}", group_digits(results.clusters as u64))
}
