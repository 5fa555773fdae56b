//! Comparing two to four pictures: which ones, how they are arranged, and which one is kept.

use std::collections::BTreeSet;

use super::{
    PictureList, Viewer, ZoomPosition,
    pairs::{member_index, of_media},
};
use crate::{
    app::{App, Level, basket::count_with_noun},
    input::Action,
};
use tessera_model::{Cluster, EntryId, MediaId, SelectionEntry, basket::media_item_entry};

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

impl App {
    pub fn comparison(&self) -> Option<&Comparison> {
        self.viewer.as_ref()?.comparison.as_ref()
    }

    /// Performs an action on the compared pictures. Returns whether it is one.
    pub(super) fn perform_on_comparison(&mut self, action: Action) -> bool {
        match action {
            Action::NextPane => self.activate_compared(1),
            Action::PreviousPane => self.activate_compared(-1),
            Action::FullSize => self.edit_viewer(|viewer| viewer.comparison = None),
            Action::Compare => self.open_comparison(),
            Action::Blink => self.blink_compared(),
            Action::Difference => self.toggle_difference(),
            Action::KeepPicture => self.keep_compared(),
            // In the results, it would select the cluster.
            Action::Select if self.comparison().is_some() => self.toggle_preview_selected(),
            _ => return false,
        }
        true
    }

    pub(in crate::app) fn open_comparison(&mut self) {
        let Ok(pictures) = self.pictures_to_compare() else { return };
        let list = self.viewer.as_ref().map_or_else(|| self.focused_list(), |viewer| viewer.list);
        let comparison = Some(Comparison::new(pictures));
        self.viewer = Some(Viewer { comparison, ..Viewer::new(list) });
        self.select_compared();
    }

    /// The selected pictures, with the one under the cursor if only one is selected. Without them, or with
    /// too many, the picture under the cursor and the next one of its cluster. Fails with the reason.
    pub(super) fn pictures_to_compare(&self) -> Result<Vec<MediaId>, String> {
        let mut pictures = self.selected_pictures();
        let at_cursor = self.preview().map(|preview| preview.media);
        if pictures.len() == 1 {
            pictures.extend(at_cursor.filter(|media| !pictures.contains(media)));
        }
        let count = pictures.len();
        if (2..=MAX_PICTURES).contains(&count) {
            return Ok(pictures);
        }
        self.pair_at_cursor().ok_or_else(|| match count {
            0 | 1 => "select two to four pictures, or a cluster with several".to_owned(),
            _ => format!("{count} pictures are selected; two to four can be compared"),
        })
    }

    /// The selected pictures on loaded pages; in the members of a cluster, those of the cluster.
    fn selected_pictures(&self) -> Vec<MediaId> {
        let entries = self.basket_rows().into_iter();
        let selected: BTreeSet<MediaId> =
            entries.filter_map(SelectionEntry::representative).collect();
        let in_members = self.focused_list() == PictureList::Members;
        let clusters: Vec<&Cluster> = match self.cluster() {
            Some(cluster) if in_members => vec![cluster],
            _ => self.clusters_of_dataset().collect(),
        };
        let loaded = clusters.into_iter().flat_map(|cluster| &cluster.previews).map(of_media);
        let mut seen = BTreeSet::new();
        loaded.filter(|media| selected.contains(media) && seen.insert(*media)).collect()
    }

    pub(super) fn show_compared(&mut self, pictures: Vec<MediaId>) {
        self.edit_viewer(|viewer| {
            let arrangement = viewer.comparison.as_ref().map(|it| it.arrangement);
            viewer.position = ZoomPosition::default();
            viewer.comparison = Some(Comparison {
                arrangement: arrangement.unwrap_or(Arrangement::SideBySide),
                ..Comparison::new(pictures)
            });
        });
        self.select_compared();
    }

    /// Activates the picture `by` places further, and selects it in the results.
    pub(super) fn activate_compared(&mut self, by: isize) {
        self.edit_comparison(|comparison| {
            let count = comparison.pictures.len().cast_signed();
            let next = (comparison.active.cast_signed() + by).rem_euclid(count);
            comparison.active = next.cast_unsigned();
        });
        self.select_compared();
    }

    /// Shows the pictures in turn; if they already are, shows the next one.
    fn blink_compared(&mut self) {
        if self.comparison().is_some_and(|it| it.arrangement == Arrangement::InTurn) {
            return self.activate_compared(1);
        }
        self.edit_comparison(|comparison| comparison.arrangement = Arrangement::InTurn);
    }

    fn toggle_difference(&mut self) {
        self.edit_comparison(|comparison| {
            comparison.arrangement = match comparison.arrangement {
                Arrangement::Difference => Arrangement::SideBySide,
                Arrangement::SideBySide | Arrangement::InTurn => Arrangement::Difference,
            };
        });
    }

    /// Returns to the pictures side by side. `false` if they already are.
    pub(super) fn leave_arrangement(&mut self) -> bool {
        let other =
            |comparison: &&mut Comparison| comparison.arrangement != Arrangement::SideBySide;
        let viewer = self.viewer.as_mut();
        let comparison = viewer.and_then(|viewer| viewer.comparison.as_mut()).filter(other);
        comparison.map(|it| it.arrangement = Arrangement::SideBySide).is_some()
    }

    fn edit_comparison(&mut self, edit: impl FnOnce(&mut Comparison)) {
        self.edit_viewer(|viewer| {
            if let Some(comparison) = &mut viewer.comparison {
                edit(comparison);
            }
        });
    }

    /// Selects the other pictures and not this one, and goes to the next pair; the last one closes the
    /// view.
    fn keep_compared(&mut self) {
        let Some(comparison) = self.comparison().cloned() else { return };
        let next = self.pair_after_keeping(&comparison);
        let kept = comparison.pictures[comparison.active];
        for media in &comparison.pictures {
            self.set_selected(*media, *media != kept);
        }
        let name = self.loaded_preview(kept).map(|kept| kept.file_name.clone()).unwrap_or_default();
        let others = comparison.pictures.len() - 1;
        let selected = count_with_noun(others, "picture", "pictures");
        self.outbox
            .notify(Level::Success, format!("kept {name}, selected {selected}; u undoes it"));
        match next {
            Some(pair) => self.show_compared(pair),
            None => self.viewer = None,
        }
    }

    fn set_selected(&mut self, media: MediaId, selected: bool) {
        let Some((cluster, preview)) = self.loaded_member(media) else { return };
        let (Some(view), Some(selection)) = (self.view(), self.selection()) else { return };
        let in_cluster =
            selection.cluster(cluster.id).is_some_and(|it| !it.excluded.contains(&media));
        let is_selected = in_cluster || selection.get(EntryId::MediaItem(media)).is_some();
        let entry = media_item_entry(preview, cluster, &view.search);
        if is_selected != selected {
            self.edit_basket(|basket| basket.toggle_media_item(entry));
        }
    }

    /// Moves the cursor to the active picture if it is on the open page, so that actions apply to it.
    fn select_compared(&mut self) {
        let active = self.comparison().map(|comparison| comparison.pictures[comparison.active]);
        let mut tiles = self.tile_clusters().into_iter().enumerate();
        let found = active.and_then(|media| {
            tiles.find_map(|(tile, it)| Some((tile, it.id, member_index(it, media)?)))
        });
        if let Some((tile, cluster, preview_index)) = found {
            self.results.edit_view(|view| {
                view.cursor = tile;
                view.cluster = Some(cluster);
                view.preview_index = preview_index;
            });
        }
    }
}
