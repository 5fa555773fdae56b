//! Compares two to four pictures: which pictures are compared, how they are arranged, and which one is kept. The
//! pictures of clusters are compared in pairs, which helps with duplicates.

use std::collections::{BTreeMap, BTreeSet};

use tessera_model::{EntryId, MediaId, ToggleOutcome, basket::media_item_entry};

use crate::app::prelude::*;
use crate::app::{
    Baskets,
    view::tiles::{has_member, member_index},
};

/// The list that next and previous go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureList {
    /// The first previews of the tiles.
    Results,
    /// The previews of one cluster.
    Members,
    /// The entries of the basket that are on a loaded page.
    Basket,
}

/// The maximum number of pictures that are compared.
const MAX_PICTURES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    SideBySide,
    /// One picture at a time, at the same place.
    InTurn,
    /// Where two pictures differ.
    Difference,
}

#[derive(Clone, Debug)]
pub struct Comparison {
    pub pictures: Vec<MediaId>,
    /// The picture that is kept. It is also the one on screen when the pictures are shown in turn.
    pub active: usize,
    pub arrangement: Arrangement,
}

impl Comparison {
    pub(super) fn new(pictures: Vec<MediaId>) -> Self {
        Self { pictures, active: 0, arrangement: Arrangement::SideBySide }
    }

    /// Activates the picture `by` places further.
    pub(super) fn activate(&mut self, by: isize) {
        let count = self.pictures.len().cast_signed();
        self.active = (self.active.cast_signed() + by).rem_euclid(count).cast_unsigned();
    }

    pub(super) fn toggle_difference(&mut self) {
        self.arrangement = match self.arrangement {
            Arrangement::Difference => Arrangement::SideBySide,
            Arrangement::SideBySide | Arrangement::InTurn => Arrangement::Difference,
        };
    }

    pub fn previews<'a>(&self, results: &'a Results) -> Vec<&'a Preview> {
        self.pictures.iter().filter_map(|media| results.loaded_preview(*media)).collect()
    }

    /// Returns the pair `by` pairs further, in the same cluster or in the next cluster with at least two pictures.
    pub(in crate::app) fn pair_beside(&self, by: isize, results: &Results) -> Option<Vec<MediaId>> {
        let compared = &self.pictures;
        let clusters: Vec<&Cluster> = results.tile_clusters();
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

    /// Returns the kept picture and the next one of its cluster. If there is none, returns the next
    /// pair.
    pub(in crate::app) fn pair_after_keeping(&self, results: &Results) -> Option<Vec<MediaId>> {
        let pair = self.pair_beside(1, results)?;
        let kept = self.pictures[self.active];
        let last = self.pictures.last()?;
        if pair.contains(last) { Some(vec![kept, *pair.last()?]) } else { Some(pair) }
    }
}

/// Returns the list of pictures of the focused pane.
pub(in crate::app) fn focused_list(focus: Pane, results: &Results) -> PictureList {
    match focus {
        Pane::Basket => PictureList::Basket,
        Pane::Detail => PictureList::Members,
        _ if results.shows_members() => PictureList::Members,
        _ => PictureList::Results,
    }
}

/// Returns the selected pictures. If only one is selected, the picture under the cursor is added. If none or too many
/// are selected, returns the picture under the cursor and the next one of its cluster. The error is the reason why
/// there are no pictures to compare.
pub(in crate::app) fn pictures_to_compare(app: &App) -> Result<Vec<MediaId>, String> {
    let mut pictures = selected_pictures(app);
    let at_cursor = app.results.preview().map(|preview| preview.media);
    if pictures.len() == 1 {
        pictures.extend(at_cursor.filter(|media| !pictures.contains(media)));
    }
    let count = pictures.len();
    if (2..=MAX_PICTURES).contains(&count) {
        return Ok(pictures);
    }
    app.results.pair_at_cursor().ok_or_else(|| match count {
        0 | 1 => "select two to four pictures, or a cluster with several".to_owned(),
        _ => format!("{count} pictures are selected; two to four can be compared"),
    })
}

/// Returns the selected pictures on loaded pages. The picture of a selected cluster is the one on its tile. While the
/// members of a cluster are shown, only their selected pictures are returned.
fn selected_pictures(app: &App) -> Vec<MediaId> {
    let results = &app.results;
    let Some(selection) = app.baskets.selection(results) else { return Vec::new() };
    let entries = selection.ordered_entries().into_iter();
    let seen_as: BTreeMap<MediaId, EntryId> =
        entries.filter_map(|entry| Some((entry.representative()?, entry.id()))).collect();
    let in_members = focused_list(app.panes.focus, results) == PictureList::Members;
    let clusters: Vec<&Cluster> = match results.cluster() {
        Some(cluster) if in_members => vec![cluster],
        _ => results.clusters_of_dataset().collect(),
    };
    let (mut found, mut pictures) = (BTreeSet::new(), Vec::new());
    for cluster in clusters {
        let selected = selection.cluster(&results.part_of(cluster));
        let entry = |media| match selected {
            Some(it) if cluster.previews.first().map(of_media) == Some(media) => {
                Some(EntryId::Cluster(it.part()))
            }
            Some(_) => None,
            None => seen_as.get(&media).cloned(),
        };
        let new = |media: &MediaId| entry(*media).is_some_and(|entry| found.insert(entry));
        pictures.extend(cluster.previews.iter().map(of_media).filter(new));
    }
    pictures
}

impl Baskets {
    /// Selects or deselects a media item. Returns what has changed, or `None` if it was so already.
    pub(super) fn set_selected(
        &mut self,
        media: MediaId,
        selected: bool,
        results: &Results,
        outbox: &mut Outbox,
    ) -> Option<ToggleOutcome> {
        let (cluster, preview) = results.loaded_member(media)?;
        let (view, selection) = (results.view()?, self.selection(results)?);
        let is_selected = selection.includes_member(media, &results.part_of(cluster));
        let entry = media_item_entry(preview, cluster, &view.search);
        if is_selected == selected {
            return None;
        }
        self.edit(|basket| basket.toggle_media_item(entry), results, outbox)
    }
}

impl Results {
    pub(in crate::app) fn pair_at_cursor(&self) -> Option<Vec<MediaId>> {
        let previews = &self.cluster()?.previews;
        let first = self.preview_index().min(previews.len().saturating_sub(2));
        pair_at(self.cluster()?, first)
    }

    pub(in crate::app) fn tile_clusters(&self) -> Vec<&Cluster> {
        let clusters = self.page().map_or(&[][..], |page| &page.clusters);
        self.visible_clusters().into_iter().map(|visible| &clusters[visible.index]).collect()
    }
}

/// Returns two successive previews of a cluster.
fn pair_at(cluster: &Cluster, first: usize) -> Option<Vec<MediaId>> {
    let pair: Vec<MediaId> = cluster.previews.iter().skip(first).take(2).map(of_media).collect();
    (pair.len() == 2).then_some(pair)
}

/// Returns the last two previews of a cluster.
fn last_pair(cluster: &Cluster) -> Option<Vec<MediaId>> {
    pair_at(cluster, cluster.previews.len().checked_sub(2)?)
}

pub(in crate::app) fn of_media(preview: &Preview) -> MediaId {
    preview.media
}
