//! The pictures on screen: which they are, where their bytes come from, and which of them are
//! asked for and let go.

use crate::{
    app::{App, Effect, Overlay, areas::detail_picture},
    message::{Lane, Request},
};
use tessera_model::{Link, PictureSource, Preview};
use tessera_picture::{Canvas, Part, Protocol, Sight, Subject};

/// A picture on screen.
pub(in crate::app) struct Visible {
    /// What is seen.
    pub sight: Sight,
    /// Where its bytes are.
    pub source: PictureSource,
    /// The place it has.
    pub canvas: Canvas,
}

impl Visible {
    /// The lane that its pixels come by.
    pub fn lane(&self) -> Lane {
        Lane::Picture(self.sight.clone(), self.canvas)
    }
}

impl App {
    /// The pictures on screen, nearest to the cursor first by construction: the layer on top, the
    /// detail, then the grid from the cursor outwards.
    pub(in crate::app) fn visible_pictures(&self) -> Vec<Visible> {
        let mut pictures = Vec::new();
        if self.protocol == Protocol::None || self.is_too_small() {
            return pictures;
        }
        match &self.overlay {
            Some(Overlay::File(picker)) => pictures.extend(picker.visible(self)),
            Some(Overlay::Region(picker)) => pictures.push(picker.visible(self)),
            Some(Overlay::Inside(layer)) => pictures.extend(layer.visible(self)),
            _ => {}
        }
        let areas = self.areas();
        if let (Some(area), Some(preview)) = (areas.detail, self.preview()) {
            let area = detail_picture(area, self.cell);
            let canvas = self.canvas(area.width, area.height);
            pictures.extend(framed(preview, canvas).or_else(|| visible(preview, canvas)));
        }
        let Some(grid) = self.grid().filter(|grid| !grid.is_list()) else {
            return pictures;
        };
        let (tiles, (cursor, top)) = (self.tiles(), self.tile_cursor());
        let first = top * grid.columns;
        let mut places: Vec<usize> =
            (first..tiles.len().min(first + grid.columns * grid.rows)).collect();
        places.sort_by_key(|place| place.abs_diff(cursor));
        let canvas = grid.canvas(self);
        let previews = places.into_iter().filter_map(|place| tiles[place].preview);
        pictures.extend(previews.filter_map(|preview| visible(preview, canvas)));
        pictures
    }

    /// A canvas of this many cells on this terminal.
    #[must_use]
    pub fn canvas(&self, columns: u16, rows: u16) -> Canvas {
        Canvas {
            columns: columns.max(1),
            rows: rows.max(1),
            cell: self.cell,
            protocol: self.protocol,
        }
    }

    /// Asks for a picture on screen, unless it is known or awaited.
    pub(in crate::app) fn ask_for_picture(&mut self, picture: Visible, effects: &mut Vec<Effect>) {
        let lane = picture.lane();
        let Visible { sight, source, canvas } = picture;
        if self.store.pictures.get(&sight, canvas).is_some() {
            self.store.pictures.touch(sight, canvas);
        } else if !self.tickets.is_open(&lane) {
            self.send(lane, Request::Picture(source, sight.part, canvas), effects);
        }
    }
}

/// What the detail shows of a preview: a part of a picture is framed in the whole of it.
#[must_use]
pub fn detail_sight(preview: &Preview) -> Sight {
    let region = preview.region.filter(|_| preview.original.is_some());
    let part = region.map_or(Part::Whole, Part::Framed);
    Sight { of: Subject::Media(preview.media), part }
}

/// The picture that a preview is a part of.
fn framed(preview: &Preview, canvas: Canvas) -> Option<Visible> {
    preview.region?;
    let source = PictureSource::Link(preview.original.clone()?);
    Some(Visible { sight: detail_sight(preview), source, canvas })
}

/// A preview's picture. The thumbnail will do for small canvases; on larger ones the original is
/// worth its bytes.
fn visible(preview: &Preview, canvas: Canvas) -> Option<Visible> {
    let wide = match canvas.protocol {
        Protocol::HalfBlock => u32::from(canvas.columns) > 256,
        _ => u32::from(canvas.columns) * u32::from(canvas.cell.0) > 320,
    };
    let link = if wide { preview.original.as_ref() } else { None };
    let link = link.or(preview.thumbnail.as_ref()).or(preview.original.as_ref())?;
    let source = PictureSource::Link(link.clone());
    Some(Visible { sight: preview.media.into(), source, canvas })
}

/// The picture that the full-size view shows.
#[must_use]
pub fn wanted_original(preview: &Preview) -> Option<Link> {
    preview.original.clone().or_else(|| preview.thumbnail.clone())
}
