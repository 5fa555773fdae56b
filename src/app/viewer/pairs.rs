//! Going through the pictures of clusters in pairs, which is made for duplicates.

use super::Comparison;
use crate::app::App;
use tessera_model::{Cluster, MediaId, Preview};

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

impl App {
    /// The pair `by` pairs further: in the same cluster, else in the next one with two pictures or more.
    pub(super) fn pair_beside(&self, by: isize) -> Option<Vec<MediaId>> {
        let compared = &self.comparison()?.pictures;
        let clusters: Vec<&Cluster> = self.results.tile_clusters();
        let contains_all = |cluster: &&Cluster| compared.iter().all(|it| has_member(cluster, *it));
        let index = clusters.iter().position(contains_all)?;
        let places = compared.iter().filter_map(|media| member_index(clusters[index], *media));
        if by > 0 {
            let inside = places.max().and_then(|last| pair_at(clusters[index], last));
            let mut later = clusters[index + 1..].iter();
            inside.or_else(|| later.find_map(|cluster| pair_at(cluster, 0)))
        } else {
            let first = places.min().and_then(|first| first.checked_sub(1));
            let inside = first.and_then(|first| pair_at(clusters[index], first));
            let mut earlier = clusters[..index].iter().rev();
            inside.or_else(|| earlier.find_map(|cluster| last_pair(cluster)))
        }
    }

    pub(super) fn step_pair(&mut self, by: isize) {
        if let Some(pair) = self.pair_beside(by) {
            self.show_compared(pair);
        }
    }

    /// The kept picture and the next one of its cluster, else the next pair.
    pub(super) fn pair_after_keeping(&self, comparison: &Comparison) -> Option<Vec<MediaId>> {
        let pair = self.pair_beside(1)?;
        let kept = comparison.pictures[comparison.active];
        let last = comparison.pictures.last()?;
        if pair.contains(last) { Some(vec![kept, *pair.last()?]) } else { Some(pair) }
    }
}

fn has_member(cluster: &Cluster, media: MediaId) -> bool {
    member_index(cluster, media).is_some()
}

pub(super) fn member_index(cluster: &Cluster, media: MediaId) -> Option<usize> {
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

pub(super) fn of_media(preview: &Preview) -> MediaId {
    preview.media
}
