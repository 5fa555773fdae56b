//! The results pane: for each dataset a trail of views, from the whole dataset to the search on
//! screen, each with its place.

use std::{collections::HashMap, path::PathBuf};

use crate::{
    app::{
        App, Effect, Pane,
        pane::{moved, scrolled},
    },
    message::{Lane, Request},
    model::{
        Anchor, AnchorKind, ClusterId, DatasetId, Granularity, PictureSource, Query, SafeText,
        Search,
    },
};

/// State of the pane.
#[derive(Debug, Default)]
pub struct Results {
    /// The way to the view on screen, which is the last one. Empty: no dataset is open.
    pub trail: Vec<View>,
    /// The trails of the datasets that are not open.
    left: HashMap<DatasetId, Vec<View>>,
    /// The file that is being registered as query image, and for which granularity.
    pub registering: Option<(PathBuf, Granularity)>,
}

/// One search with the place in its results.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What is asked.
    pub search: Search,
    /// What it is similar to, in words; `None` for the whole dataset.
    pub similar_to: Option<SafeText>,
    /// The file behind an uploaded anchor, to register it again for another granularity.
    pub file: Option<PathBuf>,
    /// The cluster under the cursor.
    pub cursor: usize,
    /// Its id once the person has gone there, so that a reload keeps the place.
    pub cluster: Option<ClusterId>,
    /// The first visible row of tiles.
    pub top: usize,
    /// The preview of that cluster that the detail shows.
    pub preview: usize,
}

impl View {
    fn new(search: Search) -> Self {
        Self { search, similar_to: None, file: None, cursor: 0, cluster: None, top: 0, preview: 0 }
    }

    /// The same view on other clusters: from their beginning.
    fn turn(&mut self, search: Search) {
        *self = Self {
            similar_to: self.similar_to.take(),
            file: self.file.take(),
            ..Self::new(search)
        };
    }
}

impl Results {
    /// Opens the trail of a dataset, where it was left.
    pub fn open(&mut self, dataset: DatasetId) {
        let open = self.trail.first().map(|view| view.search.dataset);
        if open == Some(dataset) {
            return;
        }
        let next = self.left.remove(&dataset);
        let next = next.unwrap_or_else(|| vec![View::new(Search::browse(dataset))]);
        let old = std::mem::replace(&mut self.trail, next);
        if let Some(id) = open {
            self.left.insert(id, old);
        }
    }
}

impl App {
    /// Moves the cursor by some tiles.
    pub(in crate::app) fn move_in_results(&mut self, by: isize) {
        let count = self.page().map_or(0, |page| page.clusters.len());
        if let Some(view) = self.results.trail.last_mut() {
            view.cursor = moved(view.cursor, by, count);
            view.preview = 0;
        }
        let here = self.cluster().map(|cluster| cluster.id);
        if let Some(view) = self.results.trail.last_mut() {
            view.cluster = here;
        }
        self.hold_cursor();
    }

    /// Puts the cursor on a tile.
    pub(in crate::app) fn point_at(&mut self, index: usize) {
        let by = index.cast_signed() - self.view().map_or(0, |view| view.cursor).cast_signed();
        self.move_in_results(by);
    }

    /// Keeps the cursor in view.
    pub(in crate::app) fn hold_cursor(&mut self) {
        let grid = self.grid();
        if let (Some(view), Some(grid)) = (self.results.trail.last_mut(), grid) {
            view.top = scrolled(view.top, view.cursor / grid.columns, grid.rows);
        }
    }

    /// A page came anew: the cursor goes to where its cluster is now.
    pub(in crate::app) fn find_cursor(&mut self) {
        let Some(page) = self.page() else { return };
        let count = page.clusters.len();
        let wanted = self.view().and_then(|view| view.cluster);
        let place = page.clusters.iter().position(|cluster| Some(cluster.id) == wanted);
        if let Some(view) = self.results.trail.last_mut() {
            view.cursor = place.unwrap_or_else(|| moved(view.cursor, 0, count));
        }
        self.hold_cursor();
    }

    /// Steps through the previews of the cluster.
    pub(in crate::app) fn step_preview(&mut self, by: isize) {
        let count = self.cluster().map_or(0, |cluster| cluster.previews.len());
        if let Some(view) = self.results.trail.last_mut() {
            view.preview = moved(view.preview, by, count);
        }
    }

    /// Turns to another page.
    pub(in crate::app) fn turn_page(&mut self, page: u32) {
        if let Some(view) = self.results.trail.last_mut() {
            let search = Search { page, ..view.search.clone() };
            view.turn(search);
        }
    }

    /// Searches by the preview on screen.
    pub(in crate::app) fn search_similar(&mut self) {
        let Some(preview) = self.preview() else {
            return;
        };
        let anchor = Anchor { media: preview.media, kind: AnchorKind::Media };
        let name = preview.file_name.clone();
        if let Some(search) = self.view().map(|view| view.search.clone()) {
            self.push_anchor(search, anchor, name, None);
        }
    }

    /// Opens a search on top of the trail: Esc comes back to what was before.
    pub(in crate::app) fn open_search(&mut self, search: Search) {
        let (similar_to, file) = match self.view() {
            // The words for an anchor are those of the view that has it.
            Some(view) if view.search.query == search.query => {
                (view.similar_to.clone(), view.file.clone())
            }
            _ => (None, None),
        };
        self.results.trail.push(View { similar_to, file, ..View::new(search) });
        self.focus = Pane::Results;
    }

    /// Registers a file as query image; its answer opens the results.
    pub(in crate::app) fn register(
        &mut self,
        file: PathBuf,
        at: Granularity,
        effects: &mut Vec<Effect>,
    ) {
        let Some(view) = self.view() else { return };
        let Search { dataset, entity, .. } = view.search;
        self.results.registering = Some((file.clone(), at));
        let request = Request::RegisterAnchor {
            dataset,
            image: PictureSource::File(file),
            entity,
            granularity: at,
            region: None,
        };
        self.send(Lane::Anchor, request, effects);
    }

    /// A query image was registered.
    pub(in crate::app) fn registered(&mut self, anchor: Anchor) {
        let Some((file, granularity)) = self.results.registering.take() else {
            return;
        };
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        // The same file at another granularity replaces its view instead of adding one.
        if self.view().is_some_and(|view| view.file.as_ref() == Some(&file)) {
            self.results.trail.pop();
        }
        if let Some(view) = self.results.trail.last() {
            let search = Search { granularity, ..view.search.clone() };
            self.push_anchor(search, anchor, SafeText::file(&name), Some(file));
        }
    }

    fn push_anchor(&mut self, from: Search, anchor: Anchor, name: SafeText, file: Option<PathBuf>) {
        let search = Search { query: Query::Similar(anchor), page: 0, ..from };
        let view = View { similar_to: Some(name), file, ..View::new(search) };
        self.results.trail.push(view);
    }

    /// Changes the granularity of what is on screen.
    pub(in crate::app) fn regroup(&mut self, granularity: Granularity, effects: &mut Vec<Effect>) {
        let Some(view) = self.results.trail.last_mut() else {
            return;
        };
        if let Some(file) = view.file.clone() {
            self.register(file, granularity, effects);
        } else {
            let search = Search { granularity, page: 0, ..view.search.clone() };
            view.turn(search);
        }
    }

    /// Goes back to the view before. `false` when this is the first one.
    pub(in crate::app) fn leave_view(&mut self) -> bool {
        let leaves = self.results.trail.len() > 1;
        if leaves {
            self.results.trail.pop();
        }
        leaves
    }
}
