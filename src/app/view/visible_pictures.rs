//! The pictures on screen, and the requests for them.

use crate::{
    app::{App, detail_layout::DetailLayout},
    message::{Lane, Request},
};
use ratatui::layout::Rect;
use tessera_model::{Link, PictureSource, Preview};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView, Protocol};

pub struct VisiblePicture {
    pub view: PictureView,
    pub source: PictureSource,
    /// The other picture of a difference.
    pub compared_with: Option<PictureSource>,
    pub canvas: Canvas,
}

impl VisiblePicture {
    pub fn lane(&self) -> Lane {
        Lane::Picture(self.view.clone(), self.canvas)
    }
}

impl App {
    /// In the order of loading: the overlay, the detail, then the grid from the cursor outwards.
    pub(in crate::app) fn visible_pictures(&self) -> Vec<VisiblePicture> {
        let mut pictures = Vec::new();
        if self.screen.protocol == Protocol::None || self.screen.is_too_small() {
            return pictures;
        }
        if let Some(overlay) = self.overlays.current() {
            pictures.extend(overlay.visible_pictures(self));
        }
        if let Some(viewer) = &self.viewer {
            pictures.extend(self.viewer_pictures(viewer));
            return pictures;
        }
        let areas = self.areas();
        if let (Some(area), Some(preview)) = (areas.detail, self.preview()) {
            let layout = DetailLayout::new(self, area);
            let canvas = self.screen.canvas(layout.picture.width, layout.picture.height);
            pictures.extend(
                framed_picture(preview, canvas).or_else(|| preview_picture(preview, canvas)),
            );
            let previews = self.cluster().map_or(&[][..], |cluster| &cluster.previews);
            pictures.extend(layout.strip.iter().filter_map(|(index, area)| {
                preview_picture(previews.get(*index)?, self.screen.canvas(area.width, area.height))
            }));
        }
        let Some(grid) = self.grid().filter(|grid| !grid.is_list()) else {
            return pictures;
        };
        let (tiles, (cursor, top)) = (self.tiles(), self.tile_cursor());
        let first = grid.first_visible(top);
        let mut indexes: Vec<usize> = (first..tiles.len().min(first + grid.capacity())).collect();
        indexes.sort_by_key(|index| index.abs_diff(cursor));
        let tile_areas = indexes.into_iter().filter_map(|index| {
            Some(grid.pictures(self, grid.tile_area(index - first)?, &tiles[index]))
        });
        // First the large picture of every tile.
        let collages: Vec<Vec<(&Preview, Rect)>> = tile_areas.collect();
        let large = collages.iter().filter_map(|collage| collage.first());
        let small = collages.iter().flat_map(|collage| collage.iter().skip(1));
        pictures.extend(large.chain(small).filter_map(|(preview, area)| {
            preview_picture(preview, self.screen.canvas(area.width, area.height))
        }));
        pictures
    }

    pub(in crate::app) fn request_picture(&mut self, picture: VisiblePicture) {
        let lane = picture.lane();
        let VisiblePicture { view, source, compared_with, canvas } = picture;
        if self.store.pictures.get(&view, canvas).is_some() {
            self.store.pictures.touch(view, canvas);
        } else if !self.outbox.tickets.is_open(&lane) {
            let request = match compared_with {
                None => Request::Picture(source, view.crop, canvas),
                Some(other) => Request::Difference([source, other], view.crop, canvas),
            };
            self.outbox.send(lane, request);
        }
    }
}

/// How the detail shows a preview: a region of a picture is highlighted in the whole of it.
pub fn detail_picture_view(preview: &Preview) -> PictureView {
    let region = preview.region.filter(|_| preview.original.is_some());
    let part = region.map_or(Crop::Full, Crop::Highlighted);
    PictureView { subject: PictureSubject::Media(preview.media), crop: part }
}

/// The picture of which the preview is a region.
fn framed_picture(preview: &Preview, canvas: Canvas) -> Option<VisiblePicture> {
    preview.region?;
    let source = PictureSource::Link(preview.original.clone()?);
    Some(VisiblePicture { view: detail_picture_view(preview), source, compared_with: None, canvas })
}

/// A preview's picture: the thumbnail for small canvases, the original for larger ones.
pub(in crate::app) fn preview_picture(preview: &Preview, canvas: Canvas) -> Option<VisiblePicture> {
    let needs_original = match canvas.protocol {
        Protocol::HalfBlock => u32::from(canvas.columns) > 256,
        _ => u32::from(canvas.columns) * u32::from(canvas.cell.0) > 320,
    };
    let link = if needs_original { preview.original.as_ref() } else { None };
    let link = link.or(preview.thumbnail.as_ref()).or(preview.original.as_ref())?;
    let source = PictureSource::Link(link.clone());
    Some(VisiblePicture { view: preview.media.into(), source, compared_with: None, canvas })
}

pub fn full_size_link(preview: &Preview) -> Option<Link> {
    preview.original.clone().or_else(|| preview.thumbnail.clone())
}
