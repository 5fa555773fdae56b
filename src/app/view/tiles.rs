//! The tiles of the results, and the cursor, which follows its cluster through every change.

use crate::app::{
    App,
    pane::moved_cursor,
    view::sort_filter::{VisibleCluster, filter_and_sort},
};
use tessera_model::{Cluster, Page, Preview};

/// A cluster by its first preview, or one member of the open cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile<'a> {
    pub cluster: &'a Cluster,
    pub preview: Option<&'a Preview>,
    /// How many clusters of the same score are folded into it.
    pub folded: usize,
}

impl Results {
    pub fn visible_clusters(&self) -> Vec<VisibleCluster> {
        match (self.page(), self.view()) {
            (Some(page), Some(view)) => filter_and_sort(page, &view.list_options),
            _ => Vec::new(),
        }
    }

    pub fn tiles(&self) -> Vec<Tile<'_>> {
        if let (true, Some(cluster)) = (self.shows_members(), self.cluster()) {
            let tile = |preview| Tile { cluster, preview: Some(preview), folded: 0 };
            return cluster.previews.iter().map(tile).collect();
        }
        let clusters = self.page().map_or(&[][..], |page| &page.clusters);
        let tile = |visible: VisibleCluster| {
            let cluster = &clusters[visible.index];
            Tile { cluster, preview: cluster.previews.first(), folded: visible.folded.len() }
        };
        self.visible_clusters().into_iter().map(tile).collect()
    }

    pub fn shows_members(&self) -> bool {
        self.view().is_some_and(|view| view.members_top_row.is_some())
    }

    /// The tile under the cursor and the first visible row.
    pub fn tile_cursor(&self) -> (usize, usize) {
        match self.view() {
            None => (0, 0),
            Some(view) => match view.members_top_row {
                Some(top) => (view.preview_index, top),
                None => (view.cursor, view.top_row),
            },
        }
    }

    /// Moves the cursor by some tiles, and past either end to the next or previous page.
    pub(in crate::app) fn move_across_pages(&mut self, by: isize, pictures: &mut PictureCache) {
        let count = self.tiles().len();
        let (cursor, _) = self.tile_cursor();
        let at_end = if by < 0 { cursor == 0 } else { cursor + 1 >= count };
        let current = self.page_number();
        match self.page() {
            Some(_) if at_end && !self.shows_members() => {
                if by > 0 && self.may_have_next_page() {
                    self.go_to_page(current + 1, 0);
                } else if by < 0 && current > 0 {
                    self.go_to_page(current - 1, Page::SIZE - 1);
                }
            }
            _ => self.move_cursor(by, pictures),
        }
    }

    pub(in crate::app) fn move_cursor(&mut self, by: isize, pictures: &mut PictureCache) {
        self.select_tile(self.tile_cursor().0.saturating_add_signed(by), pictures);
    }

    pub(in crate::app) fn select_tile(&mut self, tile: usize, pictures: &mut PictureCache) {
        if self.shows_members() {
            return self.show_preview(tile, pictures);
        }
        let visible = self.visible_clusters();
        // The cursor of a page that is still loading is kept.
        let cursor =
            if self.page().is_some() { moved_cursor(tile, 0, visible.len()) } else { tile };
        let current = self.page().zip(visible.get(cursor));
        let current = current.map(|(page, visible)| page.clusters[visible.index].id);
        self.edit_view(|view| {
            (view.cursor, view.cluster, view.preview_index) = (cursor, current, 0);
        });
        self.retry_failed_picture(pictures);
    }

    pub(in crate::app) fn step_preview(&mut self, by: isize, pictures: &mut PictureCache) {
        let index = self.view().map_or(0, |view| view.preview_index);
        self.show_preview(index.saturating_add_signed(by), pictures);
    }

    pub(in crate::app) fn show_preview(&mut self, index: usize, pictures: &mut PictureCache) {
        let count = self.cluster().map_or(0, |cluster| cluster.previews.len());
        self.edit_view(|view| view.preview_index = moved_cursor(index, 0, count));
        self.retry_failed_picture(pictures);
    }

    pub(in crate::app) fn retry_failed_picture(&mut self, pictures: &mut PictureCache) {
        if let Some(media) = self.preview().map(|preview| preview.media) {
            pictures.forget_failure_of(media);
        }
    }

    pub(in crate::app) fn can_open_members(&self) -> bool {
        !self.shows_members() && self.cluster().is_some_and(|cluster| cluster.previews.len() > 1)
    }
}

impl App {
    /// Finds the cluster of the cursor again and scrolls to it.
    pub(in crate::app) fn restore_cursor(&mut self) {
        let Some(page) = self.results.page() else { return };
        let visible = self.results.visible_clusters();
        let cluster_id = self.results.view().and_then(|view| view.cluster);
        let index = cluster_id.and_then(|id| page.clusters.iter().position(|there| there.id == id));
        let found = index.and_then(|index| visible.iter().position(|it| it.contains(index)));
        if let Some(view) = self.results.view_mut() {
            view.cursor = found.unwrap_or_else(|| moved_cursor(view.cursor, 0, visible.len()));
        }
        let members = self.results.cluster().map_or(0, |cluster| cluster.previews.len());
        let Some(grid) = self.grid() else { return };
        if let Some(view) = self.results.view_mut() {
            view.top_row = grid.scroll_top(view.top_row, view.cursor);
            view.preview_index = moved_cursor(view.preview_index, 0, members);
            let index = view.preview_index;
            view.members_top_row = view.members_top_row.map(|top| grid.scroll_top(top, index));
        }
    }
}
