//! Where the picture of the region picker is on screen, and how far a step goes on it.

use ratatui::layout::{Constraint, Layout, Rect};

use super::RegionPicker;
use crate::{
    app::{App, areas::inside, view::sights::Visible},
    message::Lane,
};
use tessera_model::region::Pair;
use tessera_picture::{Canvas, Part, Sight, fit::Fit};

/// Columns of the numbers beside the picture.
const NUMBERS: u16 = 26;
/// Rows of the keys below it.
const KEYS: u16 = 3;
/// The size that is assumed of a picture that is not there: steps of a pixel are then thousandths.
const UNKNOWN: (u32, u32) = (1000, 1000);
/// The cells that are assumed of a picture that is not drawn.
const NOT_DRAWN: (u16, u16) = (40, 20);

/// How far a key moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A pixel of the picture.
    Pixel,
    /// Ten pixels.
    TenPixels,
    /// The eighth of a cell of the screen.
    Eighth,
    /// A cell.
    Cell,
}

impl Step {
    /// All of them, the finest first.
    const ALL: [Self; 4] = [Self::Pixel, Self::TenPixels, Self::Eighth, Self::Cell];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pixel => "1 pixel",
            Self::TenPixels => "10 pixels",
            Self::Eighth => "1/8 cell",
            Self::Cell => "1 cell",
        }
    }

    fn place(self) -> usize {
        Self::ALL.iter().position(|step| *step == self).unwrap_or(0)
    }

    /// The next finer step, or the same at the end.
    #[must_use]
    pub fn finer(self) -> Self {
        Self::ALL[self.place().saturating_sub(1)]
    }

    /// The next coarser step, or the same at the end.
    #[must_use]
    pub fn coarser(self) -> Self {
        Self::ALL[(self.place() + 1).min(Self::ALL.len() - 1)]
    }

    /// Its size as fractions of a picture of so many `pixels` that covers so many `cells`.
    pub(super) fn size(self, cells: (u16, u16), pixels: (u32, u32)) -> Pair {
        let cell = (1.0 / f64::from(cells.0.max(1)), 1.0 / f64::from(cells.1.max(1)));
        let pixel = (1.0 / f64::from(pixels.0.max(1)), 1.0 / f64::from(pixels.1.max(1)));
        let times = |(x, y): Pair, factor: f64| (x * factor, y * factor);
        match self {
            Self::Pixel => pixel,
            Self::TenPixels => times(pixel, 10.0),
            Self::Eighth => times(cell, 0.125),
            Self::Cell => cell,
        }
    }
}

/// The parts of the picker on screen.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// The picture.
    pub picture: Rect,
    /// The numbers.
    pub numbers: Rect,
    /// What the keys do.
    pub keys: Rect,
}

impl RegionPicker {
    /// Where its parts are on a screen where it lies in `area`.
    #[must_use]
    pub fn parts(area: Rect) -> Parts {
        let [body, keys] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(KEYS)]).areas(inside(area));
        let [picture, numbers] =
            Layout::horizontal([Constraint::Min(0), Constraint::Length(NUMBERS)]).areas(body);
        Parts { picture, numbers, keys }
    }

    /// The canvas of the picture.
    #[must_use]
    pub fn canvas(app: &App) -> Canvas {
        let picture = Self::parts(Self::area(app.size)).picture;
        app.canvas(picture.width, picture.height)
    }

    /// Where it lies on a screen of this size: all of it but the header and the last lines.
    #[must_use]
    pub fn area(screen: (u16, u16)) -> Rect {
        Rect::new(0, 1.min(screen.1), screen.0, screen.1.saturating_sub(3))
    }

    /// What is to be seen.
    fn wanted(&self) -> Sight {
        let part = if self.zoomed { Part::Crop(self.region) } else { Part::Framed(self.region) };
        Sight { of: self.image.of.clone(), part }
    }

    /// What is seen: the newest there is of what is to be seen, as the region may move faster than
    /// pictures are made.
    #[must_use]
    pub fn sight(&self, app: &App) -> Sight {
        let newest = app.store.pictures.newest(&self.wanted(), Self::canvas(app));
        newest.cloned().unwrap_or_else(|| self.wanted())
    }

    /// The picture to be asked for: the one that is being made, while one is. So a region that
    /// moves is followed as fast as pictures are made, and no faster.
    pub(in crate::app) fn visible(&self, app: &App) -> Visible {
        let (wanted, canvas) = (self.wanted(), Self::canvas(app));
        let made = app.tickets.lanes().find_map(|lane| match lane {
            Lane::Picture(sight, at) if *at == canvas && sight.is_like(&wanted) => Some(sight),
            _ => None,
        });
        let sight = made.unwrap_or(&wanted).clone();
        Visible { sight, source: self.image.source.clone(), canvas }
    }

    /// The size of the picture in pixels, once it has been seen.
    #[must_use]
    pub fn size(&self, app: &App) -> Option<(u32, u32)> {
        let known = app.store.pictures.get(&self.sight(app), Self::canvas(app));
        known.and_then(|picture| picture.as_ref().ok()).map(|thumbnail| thumbnail.original)
    }

    pub(super) fn pixels(&self, app: &App) -> (u32, u32) {
        self.size(app).unwrap_or(UNKNOWN)
    }

    /// The cells that all of the picture covers, once it has been seen.
    #[must_use]
    pub fn covered(&self, app: &App) -> Option<Rect> {
        let area = Self::parts(Self::area(app.size)).picture;
        if area.is_empty() {
            return None;
        }
        let (width, height) = Fit::new(self.size(app)?, Self::canvas(app)).cells;
        // A canvas has at least one cell; the screen may have none left for it.
        let (left, above) = (area.width.saturating_sub(width), area.height.saturating_sub(height));
        let (x, y) = (area.x + left / 2, area.y + above / 2);
        Some(Rect { x, y, width, height })
    }

    pub(super) fn cells(&self, app: &App) -> (u16, u16) {
        self.covered(app).map_or(NOT_DRAWN, |covered| (covered.width, covered.height))
    }
}
