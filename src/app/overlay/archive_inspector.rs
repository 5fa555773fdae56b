//! Inside a finished archive: what its metadata holds, and the pictures in it, a screenful at a time.

use std::path::PathBuf;

use ratatui::layout::Rect;

use crate::{
    app::{
        App, JobState, Overlay, Remote, areas::inner_area, overlay::KeyResult,
        view::visible_pictures::VisiblePicture,
    },
    input::{Chord, Key},
    message::{Lane, Request},
};
use tessera_model::{Failure, Inspection, PictureSource};
use tessera_picture::{Crop, PictureSubject, PictureView};

/// Lines of the facts and the histogram, above the pictures.
pub const FACT_ROWS: u16 = 13;
/// Cells of a picture with its margin (columns, rows).
const TILE_SIZE: (u16, u16) = (16, 6);

/// The archive that is looked into.
#[derive(Clone, Debug)]
pub struct ArchiveInspector {
    /// The archive.
    pub path: PathBuf,
    /// What was found in it.
    pub inspection: Remote<Inspection>,
    /// The first picture on screen.
    pub first_image: usize,
    /// Pictures in a screenful, when it was last drawn or turned.
    page_size: usize,
}

impl ArchiveInspector {
    /// Where it lies on a screen of this size.
    #[must_use]
    pub fn area(screen: (u16, u16)) -> Rect {
        let (width, height) = (screen.0.min(110), screen.1.saturating_sub(2).min(40));
        Rect { x: (screen.0 - width) / 2, y: (screen.1 - height) / 3, width, height }
    }

    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        self.page_size = self.tiles(Self::area(app.size)).len().max(1);
        let count = self.inspection.value().map_or(0, |found| found.first_images.len());
        match chord.key {
            Key::Esc | Key::Enter | Key::Char('q') => return KeyResult::Close,
            Key::Right | Key::Down | Key::PageDown | Key::Char('j' | 'l' | 'n' | ' ') => {
                let next = self.first_image + self.page_size;
                self.first_image = if next < count { next } else { self.first_image };
            }
            Key::Left | Key::Up | Key::PageUp | Key::Char('k' | 'h' | 'p') => {
                self.first_image = self.first_image.saturating_sub(self.page_size);
            }
            _ => {}
        }
        KeyResult::Stay
    }

    /// The places of the pictures in the layer.
    #[must_use]
    pub fn tiles(&self, area: Rect) -> Vec<Rect> {
        let room = inner_area(area);
        let (top, left) = (room.y + FACT_ROWS, room.x + 1);
        let down = room.bottom().saturating_sub(top) / TILE_SIZE.1;
        let across = room.width.saturating_sub(1) / TILE_SIZE.0;
        let tile = |column, row| Rect {
            x: left + column * TILE_SIZE.0,
            y: top + row * TILE_SIZE.1,
            width: TILE_SIZE.0 - 2,
            height: TILE_SIZE.1 - 1,
        };
        (0..down).flat_map(|row| (0..across).map(move |column| tile(column, row))).collect()
    }

    /// The pictures on screen with their places.
    pub fn visible_images(
        &self,
        area: Rect,
    ) -> impl Iterator<Item = (Rect, PictureView, &PictureSource)> {
        let images = self.inspection.value().map_or(&[][..], |found| &found.first_images);
        let images = images.get(self.first_image..).unwrap_or_default();
        self.tiles(area).into_iter().zip(images).filter_map(|(place, source)| {
            let PictureSource::Entry(path, name) = source else { return None };
            let of = PictureSubject::ArchiveEntry(path.clone(), name.clone());
            Some((place, PictureView { subject: of, crop: Crop::Full }, source))
        })
    }

    /// The pictures on screen, to be asked for.
    pub(in crate::app) fn pictures_to_load(&self, app: &App) -> Vec<VisiblePicture> {
        let seen = |(place, sight, source): (Rect, PictureView, &PictureSource)| VisiblePicture {
            view: sight,
            source: source.clone(),
            canvas: app.canvas(place.width, place.height),
        };
        self.visible_images(Self::area(app.size)).map(seen).collect()
    }
}

impl App {
    /// The archive of the selected job, once it is on this machine.
    #[must_use]
    pub fn archive_to_inspect(&self) -> Option<&PathBuf> {
        match &self.selected_job()?.state() {
            JobState::Downloaded(archive) => Some(&archive.path),
            _ => None,
        }
    }

    /// Looks into the archive of the selected job.
    pub(in crate::app) fn open_archive_inspector(&mut self) {
        let Some(path) = self.archive_to_inspect().cloned() else { return };
        let found = Remote::default();
        let layer = ArchiveInspector {
            path: path.clone(),
            inspection: found,
            first_image: 0,
            page_size: 1,
        };
        self.overlay = Some(Overlay::ArchiveInspector(Box::new(layer)));
        self.send(Lane::Inspect, Request::Inspect(path));
    }

    /// Somebody has looked into the archive.
    pub(in crate::app) fn inspection_loaded(&mut self, answer: Result<Inspection, Failure>) {
        let Some(Overlay::ArchiveInspector(layer)) = &mut self.overlay else { return };
        match answer {
            Ok(found) if found.path == layer.path => layer.inspection.succeed(self.now, found),
            Ok(_) => {}
            Err(failure) => layer.inspection.fail(self.now, failure),
        }
    }
}
