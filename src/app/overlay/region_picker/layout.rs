//! The areas and pictures of the region picker, and the size of a step on the picture.

use ratatui::layout::{
    Constraint::{Length, Min},
    Layout, Rect,
};

use super::RegionPicker;
use crate::{
    app::{App, areas::inner_area, view::visible_pictures::VisiblePicture},
    message::Lane,
};
use tessera_model::region::Vec2;
use tessera_picture::{Canvas, Crop, PictureView, fit::Fit};

const NUMBER_COLUMNS: u16 = 26;
/// From this width on, the keys need two lines and the text below them one (columns).
const KEY_COLUMNS: u16 = 86;
const KEY_ROWS: u16 = 3;
/// The cells of the keys and of the text below them, if they are wrapped, and those that a wrapped line leaves.
const KEY_CELLS: (u16, u16) = (168, 72);
const UNUSED_CELLS: u16 = 6;
/// The size in pixels of a picture that is not loaded yet.
const ASSUMED_PIXELS: (u32, u32) = (1000, 1000);
/// The size in cells of a picture that is not drawn.
const ASSUMED_CELLS: (u16, u16) = (40, 20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepSize {
    Pixel,
    TenPixels,
    EighthOfCell,
    Cell,
}

impl StepSize {
    const ALL: [Self; 4] = [Self::Pixel, Self::TenPixels, Self::EighthOfCell, Self::Cell];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pixel => "1 pixel",
            Self::TenPixels => "10 pixels",
            Self::EighthOfCell => "1/8 cell",
            Self::Cell => "1 cell",
        }
    }

    pub(super) fn finer(self) -> Self {
        Self::ALL[(self as usize).saturating_sub(1)]
    }

    pub(super) fn coarser(self) -> Self {
        Self::ALL[(self as usize + 1).min(Self::ALL.len() - 1)]
    }

    /// The step as a fraction of a picture of `pixels` that covers `cells`.
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

#[derive(Clone, Copy, Debug)]
pub struct RegionPickerAreas {
    pub picture: Rect,
    pub numbers: Rect,
    pub keys: Rect,
}

impl RegionPicker {
    pub fn areas(area: Rect) -> RegionPickerAreas {
        let inner = inner_area(area);
        let cells = inner.width.saturating_sub(UNUSED_CELLS).max(1);
        let wrapped = KEY_CELLS.0.div_ceil(cells) + KEY_CELLS.1.div_ceil(inner.width.max(1));
        let rows = if inner.width < KEY_COLUMNS { wrapped } else { KEY_ROWS };
        let rows = rows.min((inner.height / 2).max(KEY_ROWS));
        let [body, keys] = Layout::vertical([Min(0), Length(rows)]).areas(inner);
        let [picture, numbers] = Layout::horizontal([Min(0), Length(NUMBER_COLUMNS)]).areas(body);
        RegionPickerAreas { picture, numbers, keys }
    }

    pub fn canvas(app: &App) -> Canvas {
        let picture = Self::areas(Self::area_on(app.size)).picture;
        app.canvas(picture.width, picture.height)
    }

    /// All of the screen except the header and the last lines.
    pub(super) fn area_on(screen: (u16, u16)) -> Rect {
        Rect::new(0, 1.min(screen.1), screen.0, screen.1.saturating_sub(3))
    }

    fn requested_picture(&self) -> PictureView {
        let crop =
            if self.zoomed { Crop::Region(self.region) } else { Crop::Highlighted(self.region) };
        PictureView { subject: self.image.subject.clone(), crop }
    }

    /// The newest picture there is: the region may move faster than pictures are made.
    pub fn displayed_picture(&self, app: &App) -> PictureView {
        let (requested, canvas) = (self.requested_picture(), Self::canvas(app));
        let pictures = &app.store.pictures;
        match pictures.get(&requested, canvas) {
            Some(_) => requested,
            None => pictures.most_recent_variant(&requested, canvas).cloned().unwrap_or(requested),
        }
    }

    /// The picture that is being made, else the one to request: a moving region never requests
    /// pictures faster than they are made.
    pub(super) fn picture_to_load(&self, app: &App) -> VisiblePicture {
        let (requested, canvas) = (self.requested_picture(), Self::canvas(app));
        let in_progress = app.tickets.lanes().find_map(|lane| match lane {
            Lane::Picture(view, at) if *at == canvas && view.differs_only_in_region(&requested) => {
                Some(view)
            }
            _ => None,
        });
        let view = in_progress.unwrap_or(&requested).clone();
        VisiblePicture { view, source: self.image.source.clone(), compared_with: None, canvas }
    }

    /// The size of the picture in pixels, once it is loaded.
    pub fn picture_size(&self, app: &App) -> Option<(u32, u32)> {
        let picture = app.store.pictures.get(&self.displayed_picture(app), Self::canvas(app));
        picture.and_then(|picture| picture.as_ref().ok()).map(|thumbnail| thumbnail.original)
    }

    pub(super) fn picture_size_or_assumed(&self, app: &App) -> (u32, u32) {
        self.picture_size(app).unwrap_or(ASSUMED_PIXELS)
    }

    /// The cells that the whole picture covers, once it is loaded.
    pub fn picture_cells(&self, app: &App) -> Option<Rect> {
        let area = Self::areas(Self::area_on(app.size)).picture;
        if area.is_empty() {
            return None;
        }
        let (width, height) = Fit::new(self.picture_size(app)?, Self::canvas(app)).cells;
        // A canvas has at least one cell, but the screen may have no room for it.
        let (columns, rows) =
            (area.width.saturating_sub(width), area.height.saturating_sub(height));
        let (x, y) = (area.x + columns / 2, area.y + rows / 2);
        Some(Rect { x, y, width, height })
    }

    pub(super) fn picture_cell_size(&self, app: &App) -> (u16, u16) {
        self.picture_cells(app).map_or(ASSUMED_CELLS, |cells| (cells.width, cells.height))
    }
}
