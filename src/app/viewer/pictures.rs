//! The pictures of the full-size view: which one is shown, which ones are loaded, and what is drawn
//! until they are.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{Arrangement, PanelPicture, PictureList, Viewer, ViewerPanel, ZoomPosition};
use crate::{
    app::{
        App, PictureCache,
        view::{full_size_link, visible_pictures::VisiblePicture},
    },
    message::Lane,
};
use tessera_model::{Cluster, MediaId, PictureSource, Preview, Region, SelectionEntry};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView, Thumbnail, fit::pixels_per_cell};

impl App {
    /// The picture at full size; of compared ones, the active one.
    pub fn viewed_preview(&self) -> Option<&Preview> {
        if let Some(comparison) = self.comparison() {
            return self.loaded_preview(comparison.pictures[comparison.active]);
        }
        match self.viewer.as_ref()?.list {
            PictureList::Results | PictureList::Members => self.preview(),
            PictureList::Basket => self.loaded_entry(self.selected_entry()?),
        }
    }

    /// The position in the list from 0, and the length of the list.
    pub fn viewer_position(&self) -> Option<(usize, usize)> {
        let view = self.view()?;
        Some(match self.viewer.as_ref()?.list {
            PictureList::Results => (view.cursor, self.visible_clusters().len()),
            PictureList::Members => (view.preview_index, self.cluster()?.previews.len()),
            PictureList::Basket => {
                let rows = self.basket_rows();
                (self.baskets.cursor().min(rows.len().saturating_sub(1)), rows.len())
            }
        })
    }

    /// The picture `by` places further in the list, if it is on a loaded page.
    fn preview_beside(&self, by: isize) -> Option<&Preview> {
        let place = self.viewer_position()?.0.checked_add_signed(by)?;
        match self.viewer.as_ref()?.list {
            PictureList::Results => self.tiles().get(place)?.preview,
            PictureList::Members => self.cluster()?.previews.get(place),
            PictureList::Basket => self.loaded_entry(self.basket_rows().get(place)?),
        }
    }

    /// The picture of an entry of the basket, if it is on a loaded page.
    pub(super) fn loaded_entry(&self, entry: &SelectionEntry) -> Option<&Preview> {
        self.loaded_preview(entry.representative()?)
    }

    /// A media item of the open page, or of another loaded page of this search.
    pub fn loaded_preview(&self, media: MediaId) -> Option<&Preview> {
        self.loaded_member(media).map(|(_, preview)| preview)
    }

    /// Like [`App::loaded_preview`], with its cluster.
    pub fn loaded_member(&self, media: MediaId) -> Option<(&Cluster, &Preview)> {
        self.clusters_of_dataset().find_map(|cluster| {
            let preview = cluster.previews.iter().find(|preview| preview.media == media)?;
            Some((cluster, preview))
        })
    }

    /// The clusters of the open page, then those of the other loaded pages of its dataset.
    pub(super) fn clusters_of_dataset(&self) -> impl Iterator<Item = &Cluster> {
        let dataset = self.view().map(|view| view.search.dataset);
        let other = dataset.into_iter().flat_map(|dataset| self.results.pages.loaded(dataset));
        self.page().into_iter().chain(other).flat_map(|page| &page.clusters)
    }

    /// The regions of the objects of a picture on the open page.
    pub fn boxes_in(&self, preview: &Preview) -> Vec<Region> {
        let Some(link) = &preview.original else { return Vec::new() };
        let clusters = self.page().map_or(&[][..], |page| &page.clusters);
        let previews = clusters.iter().flat_map(|cluster| &cluster.previews);
        let same = previews.filter(|other| {
            other.original.as_ref().is_some_and(|other| other.resource() == link.resource())
        });
        let mut boxes: Vec<Region> = same.filter_map(|preview| preview.region).collect();
        boxes.sort();
        boxes.dedup();
        boxes
    }

    /// The size of a picture in pixels: of the loaded one, else as the service states it.
    pub fn viewed_size(&self, preview: &Preview) -> Option<(u32, u32)> {
        let subject = PictureSubject::Media(preview.media);
        let loaded = self.store.pictures.newest(|view, _| is_zoomed(view, &subject));
        loaded.map(|(_, _, picture)| picture.original).or(preview.dimensions)
    }

    pub(super) fn zoomed_picture(
        &self,
        picture: PanelPicture,
        area: Rect,
        position: ZoomPosition,
    ) -> (PictureView, Canvas) {
        /// The size of a picture that is not loaded yet. At the fitting size it has no effect.
        const ASSUMED_PIXELS: (u32, u32) = (1000, 1000);
        let preview = picture.preview();
        let size = self.viewed_size(preview).unwrap_or(ASSUMED_PIXELS);
        let (part, canvas) = position.part(size, self.screen.canvas(area.width, area.height));
        let has_boxes = self.viewer.as_ref().is_some_and(|viewer| viewer.boxes);
        let boxes = if has_boxes { self.boxes_in(preview) } else { Vec::new() };
        let subject = subject_of(picture);
        (PictureView { subject, crop: Crop::Zoomed(part, Arc::from(boxes)) }, canvas)
    }

    /// The picture to draw: the requested one, else the newest of the same media item that fits, so that
    /// something is always shown while a sharper one loads.
    pub fn displayed_in_viewer(&self, panel: &ViewerPanel) -> Option<(PictureView, Canvas)> {
        let position = self.viewer.as_ref()?.position;
        let (view, canvas) = self.zoomed_picture(panel.picture, panel.area, position);
        if self.store.pictures.get(&view, canvas).is_some() {
            return Some((view, canvas));
        }
        let subject = subject_of(panel.picture);
        let fits = |canvas: Canvas| {
            canvas.protocol == self.screen.protocol
                && canvas.columns <= panel.area.width
                && canvas.rows <= panel.area.height
        };
        let pictures = &self.store.pictures;
        let former = pictures.newest(|view, canvas| is_zoomed(view, &subject) && fits(canvas));
        let of_tile = |view: &PictureView| view.subject == subject;
        let former = former.or_else(|| pictures.newest(|view, at| of_tile(view) && fits(at)));
        former.map_or(Some((view, canvas)), |(view, canvas, _)| Some((view.clone(), canvas)))
    }

    /// The cells that the displayed picture covers, and the part of it that they show.
    pub(super) fn viewed_cells(&self, panel: &ViewerPanel) -> Option<(Rect, Region)> {
        let (view, canvas) = self.displayed_in_viewer(panel)?;
        let picture = self.store.pictures.get(&view, canvas)?.as_ref().ok()?;
        let Crop::Zoomed(part, _) = view.crop else { return None };
        Some((centered_cells(panel.area, picture), part))
    }

    /// The pictures of the view: those on screen, then those that a key would show, as far as all of them
    /// fit into the cache.
    pub(in crate::app) fn viewer_pictures(&self, viewer: &Viewer) -> Vec<VisiblePicture> {
        let area = self.viewer_areas().pictures;
        let mut pictures: Vec<VisiblePicture> = self
            .viewer_panels()
            .iter()
            .filter_map(|panel| self.viewer_picture(panel.picture, panel.area, viewer.position))
            .collect();
        let room =
            PictureCache::BUDGET / encoded_bytes(self.screen.canvas(area.width, area.height));
        let next = self.upcoming_pictures(viewer).into_iter().filter_map(|(preview, position)| {
            self.viewer_picture(PanelPicture::Preview(preview), area, position)
        });
        pictures.extend(self.strip_pictures());
        pictures.extend(next.take(room.saturating_sub(1)));
        pictures
    }

    fn upcoming_pictures(&self, viewer: &Viewer) -> Vec<(&Preview, ZoomPosition)> {
        let active = self.viewed_preview().map(|preview| preview.media);
        match viewer.comparison.as_ref().map(|comparison| comparison.arrangement) {
            None if self.is_playing() => {
                let frames = self.frames_ahead().into_iter();
                frames.map(|preview| (preview, viewer.position)).collect()
            }
            None => {
                let neighbors = [1, -1].into_iter().filter_map(|by| self.preview_beside(by));
                neighbors.map(|preview| (preview, ZoomPosition::default())).collect()
            }
            Some(Arrangement::InTurn) => {
                let others = self.compared_previews().into_iter();
                let others = others.filter(|preview| Some(preview.media) != active);
                others.map(|preview| (preview, viewer.position)).collect()
            }
            Some(Arrangement::SideBySide | Arrangement::Difference) => Vec::new(),
        }
    }

    /// The request for a picture: one that is being made is finished first, so that zooming and panning
    /// never request pictures faster than they are made.
    fn viewer_picture(
        &self,
        picture: PanelPicture,
        area: Rect,
        position: ZoomPosition,
    ) -> Option<VisiblePicture> {
        let link = |preview| full_size_link(preview).map(PictureSource::Link);
        let source = link(picture.preview())?;
        let compared_with = match picture {
            PanelPicture::Preview(_) => None,
            PanelPicture::Difference(_, other) => Some(link(other)?),
        };
        let (view, canvas) = self.zoomed_picture(picture, area, position);
        let in_progress = self.outbox.tickets.lanes().find_map(|lane| match lane {
            Lane::Picture(other, at)
                if other.differs_only_in_region(&view) && at.protocol == canvas.protocol =>
            {
                Some((other.clone(), *at))
            }
            _ => None,
        });
        let (view, canvas) = in_progress.unwrap_or((view, canvas));
        Some(VisiblePicture { view, source, compared_with, canvas })
    }
}

fn subject_of(picture: PanelPicture) -> PictureSubject {
    match picture {
        PanelPicture::Preview(preview) => PictureSubject::Media(preview.media),
        PanelPicture::Difference(one, other) => PictureSubject::Difference(one.media, other.media),
    }
}

fn is_zoomed(view: &PictureView, subject: &PictureSubject) -> bool {
    view.subject == *subject && matches!(view.crop, Crop::Zoomed(..))
}

fn centered_cells(area: Rect, picture: &Thumbnail) -> Rect {
    let (width, height) = (picture.cells.0.min(area.width), picture.cells.1.min(area.height));
    let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 2);
    Rect { x, y, width, height }
}

/// An upper bound of the bytes of a picture that fills the canvas.
fn encoded_bytes(canvas: Canvas) -> usize {
    let (width, height) = pixels_per_cell(canvas);
    let pixels = |cells: u16, side: u32| usize::from(cells) * side as usize;
    // Base64 of three bytes per pixel.
    4 * pixels(canvas.columns, width) * pixels(canvas.rows, height)
}
