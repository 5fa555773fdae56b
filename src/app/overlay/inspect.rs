//! Inside a finished archive: what its metadata holds, and the pictures in it, a screenful at a time.

use std::path::PathBuf;

use ratatui::layout::Rect;

use crate::{
    app::{
        App, Effect, Overlay, Remote, Stage, areas::inside, overlay::Press, view::sights::Visible,
    },
    input::{Chord, Key},
    message::{Lane, Request},
};
use tessera_model::{Failure, Inspection, PictureSource};
use tessera_picture::{Part, Sight, Subject};

/// Lines of the facts and the histogram, above the pictures.
pub const FACTS: u16 = 13;
/// Cells of a picture with its margin (columns, rows).
const TILE: (u16, u16) = (16, 6);

/// The archive that is looked into.
#[derive(Clone, Debug)]
pub struct Inside {
    /// The archive.
    pub path: PathBuf,
    /// What was found in it.
    pub found: Remote<Inspection>,
    /// The first picture on screen.
    pub first: usize,
    /// Pictures in a screenful, when it was last drawn or turned.
    screenful: usize,
}

impl Inside {
    /// Where it lies on a screen of this size.
    #[must_use]
    pub fn area(screen: (u16, u16)) -> Rect {
        let (width, height) = (screen.0.min(110), screen.1.saturating_sub(2).min(40));
        Rect { x: (screen.0 - width) / 2, y: (screen.1 - height) / 3, width, height }
    }

    /// Takes a key.
    pub fn key(&mut self, chord: Chord, app: &App) -> Press {
        self.screenful = self.tiles(Self::area(app.size)).len().max(1);
        let count = self.found.value().map_or(0, |found| found.first_images.len());
        match chord.key {
            Key::Esc | Key::Enter | Key::Char('q') => return Press::Leave,
            Key::Right | Key::Down | Key::PageDown | Key::Char('j' | 'l' | 'n' | ' ') => {
                let next = self.first + self.screenful;
                self.first = if next < count { next } else { self.first };
            }
            Key::Left | Key::Up | Key::PageUp | Key::Char('k' | 'h' | 'p') => {
                self.first = self.first.saturating_sub(self.screenful);
            }
            _ => {}
        }
        Press::Stay
    }

    /// The places of the pictures in the layer.
    #[must_use]
    pub fn tiles(&self, area: Rect) -> Vec<Rect> {
        let room = inside(area);
        let (top, left) = (room.y + FACTS, room.x + 1);
        let down = room.bottom().saturating_sub(top) / TILE.1;
        let across = room.width.saturating_sub(1) / TILE.0;
        let tile = |column, row| Rect {
            x: left + column * TILE.0,
            y: top + row * TILE.1,
            width: TILE.0 - 2,
            height: TILE.1 - 1,
        };
        (0..down).flat_map(|row| (0..across).map(move |column| tile(column, row))).collect()
    }

    /// The pictures on screen with their places.
    pub fn shown(&self, area: Rect) -> impl Iterator<Item = (Rect, Sight, &PictureSource)> {
        let images = self.found.value().map_or(&[][..], |found| &found.first_images);
        let images = images.get(self.first..).unwrap_or_default();
        self.tiles(area).into_iter().zip(images).filter_map(|(place, source)| {
            let PictureSource::Entry(path, name) = source else { return None };
            let of = Subject::Entry(path.clone(), name.clone());
            Some((place, Sight { of, part: Part::Whole }, source))
        })
    }

    /// The pictures on screen, to be asked for.
    pub(in crate::app) fn visible(&self, app: &App) -> Vec<Visible> {
        let seen = |(place, sight, source): (Rect, Sight, &PictureSource)| Visible {
            sight,
            source: source.clone(),
            canvas: app.canvas(place.width, place.height),
        };
        self.shown(Self::area(app.size)).map(seen).collect()
    }
}

impl App {
    /// The archive of the selected job, once it is on this machine.
    #[must_use]
    pub fn archive_to_inspect(&self) -> Option<&PathBuf> {
        match &self.selected_job()?.stage {
            Stage::Downloaded(archive) => Some(&archive.path),
            _ => None,
        }
    }

    /// Looks into the archive of the selected job.
    pub(in crate::app) fn inspect(&mut self, effects: &mut Vec<Effect>) {
        let Some(path) = self.archive_to_inspect().cloned() else { return };
        let found = Remote::default();
        let layer = Inside { path: path.clone(), found, first: 0, screenful: 1 };
        self.overlay = Some(Overlay::Inside(Box::new(layer)));
        self.send(Lane::Inspect, Request::Inspect(path), effects);
    }

    /// Somebody has looked into the archive.
    pub(in crate::app) fn inspected(&mut self, answer: Result<Inspection, Failure>) {
        let Some(Overlay::Inside(layer)) = &mut self.overlay else { return };
        match answer {
            Ok(found) if found.path == layer.path => layer.found.succeed(self.now, found),
            Ok(_) => {}
            Err(failure) => layer.found.fail(self.now, failure),
        }
    }
}
