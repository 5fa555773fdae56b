//! What is open and selected: the dataset, view, page, cluster, preview and job.

use crate::app::{App, Pane, Remote, View};
use tessera_model::{Cluster, Dataset, DatasetId, Page, Preview, ScoreScale};

impl App {
    pub fn dataset(&self) -> Option<&Dataset> {
        self.store.dataset(self.view()?.search.dataset)
    }

    pub fn view(&self) -> Option<&View> {
        self.results.view()
    }

    /// 0-based.
    pub fn page_number(&self) -> u32 {
        self.view().map_or(0, |view| view.search.page)
    }

    pub fn score_scale(&self) -> ScoreScale {
        self.view().map_or(ScoreScale::Visual, |view| view.search.query.score_scale())
    }

    pub fn remote_page(&self) -> Option<&Remote<Page>> {
        let view = self.view().filter(|view| view.computed.is_none())?;
        self.results.pages.get(&view.search)
    }

    /// The open page: loaded from the service, or computed from loaded pages.
    pub fn page(&self) -> Option<&Page> {
        match &self.view()?.computed {
            Some(computed) => Some(&computed.page),
            None => self.remote_page()?.value(),
        }
    }

    pub fn may_have_next_page(&self) -> bool {
        self.remote_page().and_then(Remote::value).is_some_and(Page::may_have_next)
    }

    pub fn cluster(&self) -> Option<&Cluster> {
        let visible = self.visible_clusters();
        self.page()?.clusters.get(visible.get(self.view()?.cursor)?.index)
    }

    pub fn preview(&self) -> Option<&Preview> {
        let previews = &self.cluster()?.previews;
        previews.get(self.view()?.preview_index.min(previews.len().saturating_sub(1)))
    }

    pub fn selected_dataset(&self) -> Option<&Dataset> {
        let datasets = self.visible_datasets();
        let selected = datasets.iter().find(|dataset| Some(dataset.id) == self.datasets.cursor);
        selected.or(datasets.first()).copied()
    }

    /// The dataset that a change applies to: the selected one in its list, otherwise the open one.
    pub fn target_dataset(&self) -> Option<&Dataset> {
        match self.panes.focus {
            Pane::Datasets => self.selected_dataset(),
            _ => self.dataset(),
        }
    }

    pub(super) fn open_dataset(&mut self, id: DatasetId) {
        self.results.open(self.initial_search(id));
        self.datasets.cursor = Some(id);
    }
}
