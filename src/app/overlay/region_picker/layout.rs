//! Where the picture of the region picker is on screen, and how far a step goes on it.

use ratatui::layout::{Constraint, Layout, Rect};

use super::RegionPicker;
use crate::{
    app::{App, areas::inner_area, view::visible_pictures::VisiblePicture},
    message::Lane,
};
use tessera_model::region::Vec2;
use tessera_picture::{Canvas, Crop, PictureView, fit::Fit};

/// Columns of the numbers beside the picture.
const NUMBER_COLUMNS: u16 = 26;
/// Rows of the keys below it.
const KEY_ROWS: u16 = 3;
/// The size that is assumed of a picture that is not there: steps of a pixel are then thousandths.
const ASSUMED_PIXELS: (u32, u32) = (1000, 1000);
/// The cells that are assumed of a picture that is not drawn.
const ASSUMED_CELLS: (u16, u16) = (40, 20);

/// How far a key moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepSize {
    /// A pixel of the picture.
    Pixel,
    /// Ten pixels.
    TenPixels,
    /// The eighth of a cell of the screen.
    EighthOfCell,
    /// A cell.
    Cell,
}

impl StepSize {
    /// All of them, the finest first.
    const ALL: [Self; 4] = [Self::Pixel, Self::TenPixels, Self::EighthOfCell, Self::Cell];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pixel => "1 pixel",
            Self::TenPixels => "10 pixels",
            Self::EighthOfCell => "1/8 cell",
            Self::Cell => "1 cell",
        }
    }

    fn index(self) -> usize {
        Self::ALL.iter().position(|step| *step == self).unwrap_or(0)
    }

    /// The next finer step, or the same at the end.
    #[must_use]
    pub fn finer(self) -> Self {
        Self::ALL[self.index().saturating_sub(1)]
    }

    /// The next coarser step, or the same at the end.
    #[must_use]
    pub fn coarser(self) -> Self {
        Self::ALL[(self.index() + 1).min(Self::ALL.len() - 1)]
    }

    /// Its size as fractions of a picture of so many `pixels` that covers so many `cells`.
    pub(super) fn fraction_of(self, cells: (u16, u16), pixels: (u32, u32)) -> Vec2 {
        let cell = (1.0 / f64::from(cells.0.max(1)), 1.0 / f64::from(cells.1.max(1)));
        let pixel = (1.0 / f64::from(pixels.0.max(1)), 1.0 / f64::from(pixels.1.max(1)));
        let times = |(x, y): Vec2, factor: f64| (x * factor, y * factor);
        match self {
            Self::Pixel => pixel,
            Self::TenPixels => times(pixel, 10.0),
            Self::EighthOfCell => times(cell, 0.125),
            Self::Cell => cell,
        }
    }
}

/// The parts of the picker on screen.
#[derive(Clone, Copy, Debug)]
pub struct RegionPickerAreas {
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
    pub fn areas(area: Rect) -> RegionPickerAreas {
        let [body, keys] = Layout::vertical([Constraint::Min(0), Constraint::Length(KEY_ROWS)])
            .areas(inner_area(area));
        let [picture, numbers] =
            Layout::horizontal([Constraint::Min(0), Constraint::Length(NUMBER_COLUMNS)])
                .areas(body);
        RegionPickerAreas { picture, numbers, keys }
    }

    /// The canvas of the picture.
    #[must_use]
    pub fn canvas(app: &App) -> Canvas {
        let picture = Self::areas(Self::area(app.size)).picture;
        app.canvas(picture.width, picture.height)
    }

    /// Where it lies on a screen of this size: all of it but the header and the last lines.
    #[must_use]
    pub fn area(screen: (u16, u16)) -> Rect {
        Rect::new(0, 1.min(screen.1), screen.0, screen.1.saturating_sub(3))
    }

    /// What is to be seen.
    fn requested_picture(&self) -> PictureView {
        let part =
            if self.zoomed { Crop::Region(self.region) } else { Crop::Highlighted(self.region) };
        PictureView { subject: self.image.subject.clone(), crop: part }
    }

    /// What is seen: the newest there is of what is to be seen, as the region may move faster than
    /// pictures are made.
    #[must_use]
    pub fn displayed_picture(&self, app: &App) -> PictureView {
        let newest =
            app.store.pictures.most_recent_variant(&self.requested_picture(), Self::canvas(app));
        newest.cloned().unwrap_or_else(|| self.requested_picture())
    }

    /// The picture to be asked for: the one that is being made, while one is. So a region that
    /// moves is followed as fast as pictures are made, and no faster.
    pub(in crate::app) fn picture_to_load(&self, app: &App) -> VisiblePicture {
        let (wanted, canvas) = (self.requested_picture(), Self::canvas(app));
        let made = app.tickets.lanes().find_map(|lane| match lane {
            Lane::Picture(sight, at) if *at == canvas && sight.differs_only_in_region(&wanted) => {
                Some(sight)
            }
            _ => None,
        });
        let sight = made.unwrap_or(&wanted).clone();
        VisiblePicture { view: sight, source: self.image.source.clone(), canvas }
    }

    /// The size of the picture in pixels, once it has been seen.
    #[must_use]
    pub fn picture_size(&self, app: &App) -> Option<(u32, u32)> {
        let known = app.store.pictures.get(&self.displayed_picture(app), Self::canvas(app));
        known.and_then(|picture| picture.as_ref().ok()).map(|thumbnail| thumbnail.original)
    }

    pub(super) fn picture_size_or_assumed(&self, app: &App) -> (u32, u32) {
        self.picture_size(app).unwrap_or(ASSUMED_PIXELS)
    }

    /// The cells that all of the picture covers, once it has been seen.
    #[must_use]
    pub fn picture_cells(&self, app: &App) -> Option<Rect> {
        let area = Self::areas(Self::area(app.size)).picture;
        if area.is_empty() {
            return None;
        }
        let (width, height) = Fit::new(self.picture_size(app)?, Self::canvas(app)).cells;
        // A canvas has at least one cell; the screen may have none left for it.
        let (left, above) = (area.width.saturating_sub(width), area.height.saturating_sub(height));
        let (x, y) = (area.x + left / 2, area.y + above / 2);
        Some(Rect { x, y, width, height })
    }

    pub(super) fn picture_cell_size(&self, app: &App) -> (u16, u16) {
        self.picture_cells(app).map_or(ASSUMED_CELLS, |covered| (covered.width, covered.height))
    }
}
