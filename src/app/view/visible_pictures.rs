//! The pictures on screen, and the requests for them.

use crate::{
    app::{App, areas::detail_picture_area},
    message::{Lane, Request},
};
use tessera_model::{Link, PictureSource, Preview};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView, Protocol};

pub(in crate::app) struct VisiblePicture {
    pub view: PictureView,
    pub source: PictureSource,
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
        if self.protocol == Protocol::None || self.is_too_small() {
            return pictures;
        }
        if let Some(overlay) = &self.overlay {
            pictures.extend(overlay.visible_pictures(self));
        }
        let areas = self.areas();
        if let (Some(area), Some(preview)) = (areas.detail, self.preview()) {
            let area = detail_picture_area(area, self.cell_size);
            let canvas = self.canvas(area.width, area.height);
            pictures.extend(
                framed_picture(preview, canvas).or_else(|| preview_picture(preview, canvas)),
            );
        }
        let Some(grid) = self.grid().filter(|grid| !grid.is_list()) else {
            return pictures;
        };
        let (tiles, (cursor, top)) = (self.tiles(), self.tile_cursor());
        let first = top * grid.columns;
        let mut indexes: Vec<usize> =
            (first..tiles.len().min(first + grid.columns * grid.rows)).collect();
        indexes.sort_by_key(|index| index.abs_diff(cursor));
        let canvas = grid.canvas(self);
        let previews = indexes.into_iter().filter_map(|index| tiles[index].preview);
        pictures.extend(previews.filter_map(|preview| preview_picture(preview, canvas)));
        pictures
    }

    pub fn canvas(&self, columns: u16, rows: u16) -> Canvas {
        Canvas {
            columns: columns.max(1),
            rows: rows.max(1),
            cell: self.cell_size,
            protocol: self.protocol,
        }
    }

    pub(in crate::app) fn request_picture(&mut self, picture: VisiblePicture) {
        let lane = picture.lane();
        let VisiblePicture { view, source, canvas } = picture;
        if self.store.pictures.get(&view, canvas).is_some() {
            self.store.pictures.touch(view, canvas);
        } else if !self.tickets.is_open(&lane) {
            self.send(lane, Request::Picture(source, view.crop, canvas));
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
    Some(VisiblePicture { view: detail_picture_view(preview), source, canvas })
}

/// A preview's picture: the thumbnail for small canvases, the original for larger ones.
fn preview_picture(preview: &Preview, canvas: Canvas) -> Option<VisiblePicture> {
    let needs_original = match canvas.protocol {
        Protocol::HalfBlock => u32::from(canvas.columns) > 256,
        _ => u32::from(canvas.columns) * u32::from(canvas.cell.0) > 320,
    };
    let link = if needs_original { preview.original.as_ref() } else { None };
    let link = link.or(preview.thumbnail.as_ref()).or(preview.original.as_ref())?;
    let source = PictureSource::Link(link.clone());
    Some(VisiblePicture { view: preview.media.into(), source, canvas })
}

pub fn full_size_link(preview: &Preview) -> Option<Link> {
    preview.original.clone().or_else(|| preview.thumbnail.clone())
}
