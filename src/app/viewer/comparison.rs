//! Comparing two to four pictures: which ones, how they are arranged, and which one is kept. The pictures of
//! clusters are gone through in pairs, which is made for duplicates.

use std::collections::BTreeSet;

use tessera_model::{Cluster, EntryId, MediaId, Preview, SelectionEntry, basket::media_item_entry};

use crate::{app::{App, Level, basket::count_with_noun, viewer::{Comparison, PictureList, Viewer, ZoomPosition}}, input::Action};

/// The most pictures that are compared.
const MAX_PICTURES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    SideBySide,
    /// One at a time, at the same place.
    InTurn,
    /// Where two pictures differ.
    Difference,
}

#[derive(Clone, Debug)]
pub struct Comparison {
    pub pictures: Vec<MediaId>,
    /// The one that is kept, and shown when they are shown in turn.
    pub active: usize,
    pub arrangement: Arrangement,
}

impl Comparison {
    fn new(pictures: Vec<MediaId>) -> Self {
        Self { pictures, active: 0, arrangement: Arrangement::SideBySide }
    }
}

impl Baskets {
    fn set_selected(&mut self, media: MediaId, selected: bool, results: &Results, outbox: &mut Outbox) {
        let Some((cluster, preview)) = results.loaded_member(media) else { return };
        let (Some(view), Some(selection)) = (results.view(), self.selection(results)) else { return };
        let in_cluster =
            selection.cluster(cluster.id).is_some_and(|it| !it.excluded.contains(&media));
        let is_selected = in_cluster || selection.get(EntryId::MediaItem(media)).is_some();
        let entry = media_item_entry(preview, cluster, &view.search);
        if is_selected != selected {
            self.edit(|basket| basket.toggle_media_item(entry), results, outbox);
        }
    }
}

impl Results {
    pub(in crate::app) fn pair_at_cursor(&self) -> Option<Vec<MediaId>> {
        let previews = &self.cluster()?.previews;
        let first = self.view()?.preview_index.min(previews.len().saturating_sub(2));
        pair_at(self.cluster()?, first)
    }

    pub(in crate::app) fn tile_clusters(&self) -> Vec<&Cluster> {
        let clusters = self.page().map_or(&[][..], |page| &page.clusters);
        self.visible_clusters().into_iter().map(|visible| &clusters[visible.index]).collect()
    }
}

fn has_member(cluster: &Cluster, media: MediaId) -> bool {
    member_index(cluster, media).is_some()
}

pub(in crate::app) fn member_index(cluster: &Cluster, media: MediaId) -> Option<usize> {
    cluster.previews.iter().position(|preview| preview.media == media)
}

/// Two previews of a cluster that follow one another.
fn pair_at(cluster: &Cluster, first: usize) -> Option<Vec<MediaId>> {
    let pair: Vec<MediaId> = cluster.previews.iter().skip(first).take(2).map(of_media).collect();
    (pair.len() == 2).then_some(pair)
}

/// The last two previews of a cluster.
fn last_pair(cluster: &Cluster) -> Option<Vec<MediaId>> {
    pair_at(cluster, cluster.previews.len().checked_sub(2)?)
}

pub(in crate::app) fn of_media(preview: &Preview) -> MediaId {
    preview.media
}
