//! Keeps the search history of a deployment, which is saved between runs.

use tessera_model::{HistoryEntry, PictureSource, ResultCount, StateValue};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView};

use crate::app::prelude::*;
use crate::app::view::pictures::{VisiblePicture, preview_picture};

#[derive(Debug, Default)]
pub struct SearchHistory {
    /// The past searches, newest last.
    pub(in crate::app) past_searches: Vec<HistoryEntry>,
    /// Whether the searches of earlier runs were loaded. If they cannot be read, their file is not
    /// overwritten.
    pub(in crate::app) loaded: Remote<()>,
    pub(in crate::app) needed: bool,
    unsaved: bool,
}

impl SearchHistory {
    /// Adds the search of a view, unless it is that of a whole dataset.
    pub(in crate::app) fn add(&mut self, view: &View, results: &Results, outbox: &Outbox) {
        let search = Search { page: 0, ..view.search.clone() };
        if search.query == Query::Browse && search.filters.is_empty() {
            return;
        }
        let image = view.query_image.as_ref();
        let file = image.and_then(|image| match &image.source {
            PictureSource::File(path) => Some(path.clone()),
            PictureSource::Link(_) | PictureSource::Entry(..) => None,
        });
        let entry = HistoryEntry {
            similar_to: view.similar_to.clone(),
            file,
            region: image.and_then(|image| image.region),
            searched_at: Some(outbox.clock()),
            results: results.result_count(&search),
            search,
        };
        entry.append_to(&mut self.past_searches);
        (self.unsaved, self.needed) = (true, true);
    }

    /// Records in the newest past search how many results it has, after a page was loaded.
    pub(in crate::app) fn record_results(&mut self, search: &Search, results: &Results) {
        let first_page = Search { page: 0, ..search.clone() };
        let results = results.result_count(search);
        let newest = self.past_searches.last_mut();
        if let Some(entry) = newest.filter(|entry| entry.search == first_page)
            && entry.results != results
        {
            entry.results = results;
            self.unsaved = true;
        }
    }

    pub(in crate::app) fn needs_history(&self) -> bool {
        self.needed && self.loaded.due(None).is_some()
    }

    /// Saves new searches once the earlier ones were loaded.
    pub(in crate::app) fn save(&mut self, outbox: &mut Outbox) {
        if self.loaded.value().is_some() && std::mem::take(&mut self.unsaved) {
            outbox.save(StateValue::History(self.past_searches.clone()));
        }
    }
}

impl Results {
    /// Returns the query image of a past search, or its first loaded result if it has no query
    /// image.
    pub(in crate::app) fn picture_of_search(
        &self,
        entry: &HistoryEntry,
        canvas: Canvas,
    ) -> Option<VisiblePicture> {
        if let Some(file) = &entry.file {
            let subject = PictureSubject::File(file.clone());
            let crop = entry.region.map_or(Crop::Full, Crop::Highlighted);
            let (view, source) = (PictureView { subject, crop }, PictureSource::File(file.clone()));
            return Some(VisiblePicture::new(view, source, canvas));
        }
        let loaded = self.pages.loaded(entry.search.dataset);
        let image = match &entry.search.query {
            Query::Similar(anchor) => loaded
                .flat_map(|page| &page.clusters)
                .flat_map(|cluster| &cluster.previews)
                .find(|preview| preview.media == anchor.media),
            Query::Browse | Query::Caption { .. } => None,
        };
        let first = || self.pages.get(&entry.search)?.value()?.clusters.first();
        let preview = image.or_else(|| first()?.previews.first())?;
        preview_picture(preview, canvas)
    }

    /// Returns how many clusters of a search are loaded.
    fn result_count(&self, search: &Search) -> Option<ResultCount> {
        let pages = self.pages.pages_of(search);
        let (last, page) =
            pages.last().and_then(|(number, page)| Some((*number, page.value()?)))?;
        let before = self.pages.rows_before(&Search { page: last, ..search.clone() });
        let before = usize::try_from(before).unwrap_or(usize::MAX);
        let clusters = before.saturating_add(page.clusters.len() + page.repeated);
        Some(ResultCount { clusters, is_complete: !page.may_have_next() })
    }
}
