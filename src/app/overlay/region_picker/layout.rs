//! The areas and pictures of the region picker, and the size of a step on the picture.

use ratatui::layout::{
    Constraint::{Length, Min},
    Layout, Rect,
};

use super::{KeyHint, RegionPicker, key_rows, preset_rows};
use crate::{
    app::{App, areas::inner_area, view::visible_pictures::VisiblePicture, wrapping::wrapped_rows},
    message::Lane,
};
use tessera_model::region::Vec2;
use tessera_picture::{Canvas, Crop, PictureView, Protocol, fit::Fit};

const NUMBER_COLUMNS: u16 = 26;
/// Rows that the keys leave for the numbers and a fact.
const MIN_BODY_ROWS: u16 = 5;
/// Rows of the presets beside the numbers, with what precedes them.
const PRESET_ROWS: u16 = 9 + 4;
/// The size in pixels of a picture that is not loaded yet.
const ASSUMED_PIXELS: (u32, u32) = (1000, 1000);
/// The size in cells of a picture that is not drawn.
const ASSUMED_CELLS: (u16, u16) = (40, 20);

/// What a search costs, at its longest.
const SEARCH_TEXT: &str = "searches objects at granularity 4; a change uploads the picture again";

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
    /// The picture; in its place, the presets where pictures are disabled.
    pub picture: Rect,
    pub numbers: Rect,
    pub keys: Rect,
}

impl RegionPicker {
    pub fn areas(area: Rect, has_pictures: bool) -> RegionPickerAreas {
        let inner = inner_area(area);
        let most = inner.height.saturating_sub(MIN_BODY_ROWS).max(1);
        // The longest text of the key that zooms, so that the picture stays where it is.
        let keys = row_count(&key_rows(true, inner.width, most));
        let text = wrapped_rows(SEARCH_TEXT, inner.width.saturating_sub(1));
        let keys = if keys + text <= most { keys + text } else { keys };
        let [body, key_area] = Layout::vertical([Min(0), Length(keys)]).areas(inner);
        if !has_pictures && body.height < PRESET_ROWS {
            return Self::areas_with_low_presets(inner);
        }
        let [picture, numbers] = Layout::horizontal([Min(0), Length(NUMBER_COLUMNS)]).areas(body);
        RegionPickerAreas { picture, numbers, keys: key_area }
    }

    /// The presets in rows below the numbers, where they have no room beside them.
    fn areas_with_low_presets(inner: Rect) -> RegionPickerAreas {
        const NUMBER_ROWS: u16 = MIN_BODY_ROWS - 1;
        let presets = row_count(&preset_rows(inner.width));
        let keys = inner.height.saturating_sub(NUMBER_ROWS + presets).max(1);
        let keys = row_count(&key_rows(true, inner.width, keys));
        let rows = [Min(0), Length(presets), Length(keys)];
        let [numbers, picture, keys] = Layout::vertical(rows).areas(inner);
        RegionPickerAreas { picture, numbers, keys }
    }

    fn areas_on(app: &App) -> RegionPickerAreas {
        Self::areas(Self::area_on(app.screen.size), app.screen.protocol != Protocol::None)
    }

    pub fn canvas(app: &App) -> Canvas {
        let picture = Self::areas_on(app).picture;
        app.screen.canvas(picture.width, picture.height)
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
        let in_progress = app.outbox.tickets.lanes().find_map(|lane| match lane {
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
        let area = Self::areas_on(app).picture;
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

fn row_count(rows: &[Vec<KeyHint>]) -> u16 {
    u16::try_from(rows.len()).unwrap_or(u16::MAX)
}
