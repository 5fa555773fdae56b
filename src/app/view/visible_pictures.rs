//! Finds the pictures on screen, and creates the requests for them.

use ratatui::layout::Rect;
use tessera_model::{Link, PictureSource, Preview};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView, Protocol};

use crate::{
    app::{App, Outbox, ServiceData, areas::DetailLayout},
    message::{Lane, Request},
};

pub struct VisiblePicture {
    pub view: PictureView,
    pub source: PictureSource,
    /// The other picture, if this is a difference of two pictures.
    pub compared_with: Option<PictureSource>,
    pub canvas: Canvas,
}

impl VisiblePicture {
    pub fn lane(&self) -> Lane {
        Lane::Picture(self.view.clone(), self.canvas)
    }
}

/// Returns the pictures on screen in the order of loading: those of the overlay, then the detail, then the grid from
/// the cursor outwards.
pub(in crate::app) fn visible_pictures(app: &App) -> Vec<VisiblePicture> {
    let mut pictures = Vec::new();
    if app.screen.protocol == Protocol::None || app.screen.is_too_small() {
        return pictures;
    }
    if let Some(overlay) = app.overlays.current() {
        pictures.extend(overlay.visible_pictures(app));
    }
    if let Some(viewer) = &app.viewer {
        pictures.extend(app.viewer_pictures(viewer));
        return pictures;
    }
    let areas = app.areas();
    if let (Some(area), Some(preview)) = (areas.detail, app.results.preview()) {
        let layout = DetailLayout::new(app, area);
        let canvas = app.screen.canvas(layout.picture.width, layout.picture.height);
        pictures
            .extend(framed_picture(preview, canvas).or_else(|| preview_picture(preview, canvas)));
        let previews = app.results.cluster().map_or(&[][..], |cluster| &cluster.previews);
        pictures.extend(layout.strip.iter().filter_map(|(index, area)| {
            preview_picture(previews.get(*index)?, app.screen.canvas(area.width, area.height))
        }));
    }
    let Some(grid) = app.grid().filter(|grid| !grid.is_list()) else {
        return pictures;
    };
    let (tiles, (cursor, top)) = (app.results.tiles(), app.results.tile_cursor());
    let first = grid.first_visible(top);
    let mut indexes: Vec<usize> = (first..tiles.len().min(first + grid.capacity())).collect();
    indexes.sort_by_key(|index| index.abs_diff(cursor));
    let tile_areas = indexes.into_iter().filter_map(|index| {
        Some(grid.pictures(app, grid.tile_area(index - first)?, &tiles[index]))
    });
    // The large pictures of all tiles come first.
    let collages: Vec<Vec<(&Preview, Rect)>> = tile_areas.collect();
    let large = collages.iter().filter_map(|collage| collage.first());
    let small = collages.iter().flat_map(|collage| collage.iter().skip(1));
    pictures.extend(large.chain(small).filter_map(|(preview, area)| {
        preview_picture(preview, app.screen.canvas(area.width, area.height))
    }));
    pictures
}

impl ServiceData {
    pub(in crate::app) fn request_picture(&mut self, picture: VisiblePicture, outbox: &mut Outbox) {
        let lane = picture.lane();
        let VisiblePicture { view, source, compared_with, canvas } = picture;
        if self.pictures.get(&view, canvas).is_some() {
            self.pictures.touch(view, canvas);
        } else if !outbox.tickets.is_open(&lane) {
            let request = match compared_with {
                None => Request::Picture(source, view.crop, canvas),
                Some(other) => Request::Difference([source, other], view.crop, canvas),
            };
            outbox.send(lane, request);
        }
    }
}

/// Returns how the detail shows a preview. A region is highlighted in its whole picture.
pub fn detail_picture_view(preview: &Preview) -> PictureView {
    let region = preview.region.filter(|_| preview.original.is_some());
    let part = region.map_or(Crop::Full, Crop::Highlighted);
    PictureView { subject: PictureSubject::Media(preview.media), crop: part }
}

/// Returns the picture that contains the region of a preview.
fn framed_picture(preview: &Preview, canvas: Canvas) -> Option<VisiblePicture> {
    preview.region?;
    let source = PictureSource::Link(preview.original.clone()?);
    Some(VisiblePicture { view: detail_picture_view(preview), source, compared_with: None, canvas })
}

/// Returns the picture of a preview: the thumbnail for a small canvas, and the original for a
/// larger one.
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
