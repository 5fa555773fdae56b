//! The grid of the results pane: the size of its tiles, how many fit, and where each is.

use ratatui::layout::Rect;

use crate::{
    app::{
        App,
        areas::{MIN_PICTURE_SCREEN, inner_area},
    },
    config::TileSize,
};
use tessera_picture::{Canvas, Protocol};

/// The tiles of the results. A tile is a picture with two lines below it and a margin of one cell,
/// which carries the frame of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    area: Rect,
    /// Tiles side by side, at least 1.
    pub columns: usize,
    /// Rows of tiles that are wholly visible, at least 1.
    pub rows: usize,
    picture_size: (u16, u16),
    pitch: (u16, u16),
}

impl TileGrid {
    /// The grid inside the results pane; a list of single lines where pictures do not fit.
    pub fn new(app: &App, results: Rect) -> Self {
        let inner = inner_area(results);
        // The first line inside the frame explains the scores.
        let area = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
        let too_small = app.size.0 < MIN_PICTURE_SCREEN.0 || app.size.1 < MIN_PICTURE_SCREEN.1;
        if too_small || app.protocol == Protocol::None {
            return Self::list(area);
        }
        // At least two rows, with smaller tiles if necessary: one row shows too little of a page.
        let smallest = TileSize::Small.columns();
        let wanted = (smallest..=app.tile_size.columns())
            .rev()
            .find(|&columns| 2 * tile_pitch(columns, app.cell_size).1 < area.height)
            .unwrap_or(smallest);
        let across = (area.width / tile_pitch(wanted, app.cell_size).0).max(1);
        // The tiles share the whole width, as long as the rows still fit.
        let shared = (area.width / across).saturating_sub(2).max(wanted);
        let rows = |columns| area.height.saturating_sub(1) / tile_pitch(columns, app.cell_size).1;
        let columns = if rows(shared) < rows(wanted) { wanted } else { shared };
        if rows(columns) == 0 || columns + 2 > area.width {
            return Self::list(area);
        }
        Self {
            area,
            columns: usize::from(across),
            rows: usize::from(rows(columns)),
            picture_size: (columns, picture_rows(columns, app.cell_size)),
            pitch: tile_pitch(columns, app.cell_size),
        }
    }

    fn list(area: Rect) -> Self {
        let rows = usize::from(area.height.max(1));
        Self { area, columns: 1, rows, picture_size: (0, 0), pitch: (area.width.max(1), 1) }
    }

    pub fn is_list(&self) -> bool {
        self.picture_size.0 == 0
    }

    /// The area of a tile (0 is the top left one) without its margin; `None` when it is off screen.
    pub fn tile_area(&self, place: usize) -> Option<Rect> {
        if place >= self.columns * self.rows {
            return None;
        }
        let (column, row) = (place % self.columns, place / self.columns);
        if self.is_list() {
            let y = self.area.y + u16::try_from(row).ok()?;
            return (y < self.area.bottom()).then_some(Rect { y, height: 1, ..self.area });
        }
        // The remaining width is shared, so that the grid is centered.
        let used = self.pitch.0 * u16::try_from(self.columns).ok()?;
        let left = self.area.x + self.area.width.saturating_sub(used) / 2;
        let tile = Rect {
            x: left + self.pitch.0 * u16::try_from(column).ok()? + 1,
            y: self.area.y + self.pitch.1 * u16::try_from(row).ok()? + 1,
            width: self.picture_size.0,
            height: self.picture_size.1 + CAPTION_LINES,
        };
        (tile.bottom() < self.area.bottom()).then_some(tile)
    }

    pub fn picture_area(&self, tile: Rect) -> Rect {
        Rect { height: self.picture_size.1, ..tile }
    }

    pub fn canvas(&self, app: &App) -> Canvas {
        app.canvas(self.picture_size.0, self.picture_size.1)
    }

    pub fn index_at(&self, column: u16, row: u16) -> Option<usize> {
        (0..self.columns * self.rows).find(|&place| {
            self.tile_area(place).is_some_and(|tile| tile.contains((column, row).into()))
        })
    }
}

const CAPTION_LINES: u16 = 2;

/// Cells from one tile to the next: the picture, its lines, and the margin between two tiles.
fn tile_pitch(columns: u16, cell: (u16, u16)) -> (u16, u16) {
    (columns + 2, picture_rows(columns, cell) + CAPTION_LINES + 1)
}

/// The rows of a 4:3 picture of this many columns, by the pixels of a cell.
fn picture_rows(columns: u16, cell: (u16, u16)) -> u16 {
    let pixels = u32::from(columns) * u32::from(cell.0.max(1)) * 3 / 4;
    u16::try_from(pixels.div_ceil(u32::from(cell.1.max(1)))).unwrap_or(u16::MAX).max(2)
}
