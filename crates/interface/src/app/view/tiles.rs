//! Computes the tiles of the results, moves their cursor, and finds the frames of a video. The cursor follows its
//! cluster through every change. Frames are ordered by time across the clusters of the page.

use tessera_model::{ClusterId, MediaId};

use crate::app::prelude::*;
use crate::app::{
    MissingMembers,
    pane::moved_cursor,
    view::sort_filter::{VisibleCluster, filter_and_sort},
};

/// A cluster, shown by its first preview, or one member of the open cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile<'a> {
    pub cluster: &'a Cluster,
    pub preview: Option<&'a Preview>,
    /// The number of clusters with the same score that are folded into this tile.
    pub folded: usize,
}

/// The tile under the cursor, and the first visible row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileCursor {
    pub tile: usize,
    pub top_row: usize,
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

    pub fn tile_cursor(&self) -> TileCursor {
        match self.view() {
            None => TileCursor::default(),
            Some(view) => match view.members_top_row {
                Some(top_row) => TileCursor { tile: self.preview_index(), top_row },
                None => TileCursor { tile: view.cursor, top_row: view.top_row },
            },
        }
    }

    /// Moves the cursor by a number of tiles. Past either end, it moves to the next or previous
    /// page.
    pub(in crate::app) fn move_across_pages(&mut self, by: isize) {
        let count = self.tiles().len();
        let cursor = self.tile_cursor().tile;
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
            _ => self.move_cursor(by),
        }
    }

    pub(in crate::app) fn move_cursor(&mut self, by: isize) {
        self.select_tile(self.tile_cursor().tile.saturating_add_signed(by));
    }

    pub(in crate::app) fn select_tile(&mut self, tile: usize) {
        if self.shows_members() {
            return self.show_preview(tile);
        }
        let visible = self.visible_clusters();
        // The cursor of a page that is still loading is kept.
        let cursor =
            if self.page().is_some() { moved_cursor(tile, 0, visible.len()) } else { tile };
        let current = self.page().zip(visible.get(cursor));
        let current = current.map(|(page, visible)| page.clusters[visible.index].id);
        self.edit_view(|view| {
            (view.cursor, view.cluster) = (cursor, current);
            (view.preview_index, view.media) = (0, None);
        });
        self.cursor_moved = true;
    }

    pub(in crate::app) fn step_preview(&mut self, by: isize) {
        let index = self.view().map_or(0, |view| view.preview_index);
        self.show_preview(index.saturating_add_signed(by));
    }

    pub(in crate::app) fn show_preview(&mut self, index: usize) {
        let previews = self.cluster().map_or(&[][..], |cluster| &cluster.previews);
        let index = moved_cursor(index, 0, previews.len());
        let media = previews.get(index).map(|preview| preview.media);
        self.edit_view(|view| (view.preview_index, view.media) = (index, media));
        self.cursor_moved = true;
    }

    pub(in crate::app) fn can_open_members(&self) -> bool {
        !self.shows_members() && self.cluster().is_some_and(|cluster| cluster.previews.len() > 1)
    }
}

impl Results {
    /// Selects the cluster under the cursor. The cluster that was selected before may be hidden or folded.
    pub(in crate::app) fn select_cluster_at_cursor(&mut self) {
        if let Some(cluster) = self.cluster().map(|cluster| cluster.id) {
            self.edit_view(|view| view.cluster = Some(cluster));
        }
    }

    /// Finds the selected cluster again after a change, or else the one with the selected picture. Returns whether the
    /// cursor is on another cluster now, because there is neither, or because the found one is hidden or folded.
    pub(in crate::app) fn restore_cluster(&mut self) -> bool {
        let (Some(page), Some(view)) = (self.page(), self.view()) else { return false };
        let (clusters, visible) = (&page.clusters, self.visible_clusters());
        let same = clusters.iter().position(|it| Some(it.id) == view.cluster);
        let has_picture = |it: &Cluster| view.media.is_some_and(|media| has_member(it, media));
        let index = same.or_else(|| clusters.iter().position(has_picture));
        let found = index.and_then(|index| visible.iter().position(|it| it.contains(index)));
        let cursor = found.unwrap_or_else(|| moved_cursor(view.cursor, 0, visible.len()));
        let shown = visible.get(cursor).map(|it| it.index);
        let is_other = view.cluster.is_some() && (index.is_none() || shown != index);
        // A cluster that only a filter hides is found again when the filter is cleared.
        let cluster = view.cluster.and(index.or(shown)).map(|index| clusters[index].id);
        self.edit_view(|view| (view.cursor, view.cluster) = (cursor, cluster));
        is_other
    }

    /// Finds the selected picture again in its cluster. If it is gone, its neighbor is selected. `awaits_members` says
    /// whether further members are loaded, among which it may be.
    pub(in crate::app) fn restore_preview(&mut self, is_single: bool, awaits_members: bool) {
        let (Some(cluster), Some(view)) = (self.cluster(), self.view()) else { return };
        let found = view.media.and_then(|media| member_index(cluster, media));
        let may_come = awaits_members
            && view.media.is_some()
            && view.preview_index + Page::SIZE >= cluster.previews.len()
            && self.missing_members() == Some(MissingMembers::NotYet);
        if found.is_none() && may_come {
            return;
        }
        let index = found.unwrap_or_else(|| self.preview_index());
        let media = cluster.previews.get(index).map(|preview| preview.media);
        let (cluster, media) = (cluster.id, media.filter(|_| is_single || view.media.is_some()));
        self.edit_view(|view| {
            (view.preview_index, view.media) = (index, media);
            view.cluster = view.cluster.or(is_single.then_some(cluster));
        });
    }
}

pub(in crate::app) fn has_member(cluster: &Cluster, media: MediaId) -> bool {
    member_index(cluster, media).is_some()
}

pub(in crate::app) fn member_index(cluster: &Cluster, media: MediaId) -> Option<usize> {
    cluster.previews.iter().position(|preview| preview.media == media)
}

/// The location of a frame in the results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::app) struct FrameLocation {
    seconds: f64,
    pub media: MediaId,
    tile: usize,
    cluster: ClusterId,
    preview_index: usize,
}

impl Results {
    /// Returns the position of the selected frame among the frames of its video, counted from 0, and their number.
    /// Returns `None` if the selected item is not a frame, or if its time is unknown.
    pub fn frame_position(&self) -> Option<(usize, usize)> {
        let (frames, position) = self.frames_of_video()?;
        Some((position, frames.len()))
    }

    /// Returns the frame that is `by` frames later in the video.
    pub(in crate::app) fn frame_beside(&self, by: isize) -> Option<FrameLocation> {
        let (frames, position) = self.frames_of_video()?;
        frames.get(position.checked_add_signed(by)?).copied()
    }

    pub(in crate::app) fn step_frame(&mut self, by: isize) {
        let Some(frame) = self.frame_beside(by) else { return };
        self.edit_view(|view| {
            view.cursor = frame.tile;
            view.cluster = Some(frame.cluster);
            (view.preview_index, view.media) = (frame.preview_index, Some(frame.media));
        });
        self.cursor_moved = true;
    }

    /// Returns the frames of the selected frame's video, and the position of the selected frame.
    pub(in crate::app) fn frames_of_video(&self) -> Option<(Vec<FrameLocation>, usize)> {
        let selected = self.preview()?;
        let video = &selected.frame.as_ref()?.video;
        let page = self.page()?;
        let mut frames = Vec::new();
        for (tile, visible) in self.visible_clusters().into_iter().enumerate() {
            let cluster = &page.clusters[visible.index];
            for (preview_index, preview) in cluster.previews.iter().enumerate() {
                let frame = preview.frame.as_ref().filter(|frame| frame.video == *video);
                if let Some(seconds) = frame.and_then(|frame| frame.seconds) {
                    let (media, cluster) = (preview.media, cluster.id);
                    frames.push(FrameLocation { seconds, media, tile, cluster, preview_index });
                }
            }
        }
        frames.sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(a.media.cmp(&b.media)));
        frames.dedup_by_key(|frame| frame.media);
        let position = frames.iter().position(|frame| frame.media == selected.media)?;
        Some((frames, position))
    }
}
