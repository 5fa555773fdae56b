//! How many tiles are side by side and below each other: their number and size are chosen together, so
//! that the tiles fill the area.

use std::ops::Range;

/// Lines of text below a picture.
pub(super) const CAPTION_LINES: u16 = 2;
const MIN_TILE_WIDTH: u16 = 8;
const MIN_TILE_HEIGHT: u16 = CAPTION_LINES + 2;
/// How much a picture of another width than the usual one counts against unused cells.
const WIDTH_WEIGHT: f64 = 1.5;
/// What a single row counts: it shows too little of a page.
const SINGLE_ROW_COST: f64 = 0.8;

/// The rows of tiles on screen. The first `longer_rows` have `columns` tiles, the others one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TileArrangement {
    pub columns: u16,
    pub rows: u16,
    longer_rows: u16,
}

/// The cells that the tiles share, and the size of a cell in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileSpace {
    pub width: u16,
    pub height: u16,
    pub cell: (u16, u16),
}

impl TileArrangement {
    /// A result that fits on the screen gets tiles that fill it; a longer one tiles with pictures of about
    /// `picture_width` columns. `None` where no picture fits.
    pub fn choose(space: TileSpace, count: usize, picture_width: u16) -> Option<Self> {
        let usual = Self::of_long_result(space, picture_width)?;
        if count == 0 || count > usual.capacity() {
            return Some(usual);
        }
        Self::of_short_result(space, u16::try_from(count).ok()?).or(Some(usual))
    }

    pub fn list(rows: u16) -> Self {
        Self { columns: 1, rows, longer_rows: rows }
    }

    fn of_long_result(space: TileSpace, picture_width: u16) -> Option<Self> {
        let wanted = f64::from(picture_width) * f64::from(space.cell.0.max(1));
        let cost = |tiles: &Self| {
            let width = space.picture_width(*tiles);
            let shape = f64::from(tiles.columns) * f64::from(tiles.rows) * width * width * 0.75;
            let single = if tiles.rows == 1 { SINGLE_ROW_COST } else { 0.0 };
            WIDTH_WEIGHT * (width / wanted).ln().abs() - shape / space.pixels() + single
        };
        // The rows whose pictures are as wide as the tiles, and one more of lower pictures.
        let all = (1..=space.width / (MIN_TILE_WIDTH + 1)).flat_map(|columns| {
            let fit = space.rows_of_width(tile_length(space.width, columns));
            [fit.max(1), fit + 1].map(|rows| Self { columns, rows, longer_rows: rows })
        });
        let fitting = all.filter(|tiles| space.holds(*tiles)).map(|tiles| (cost(&tiles), tiles));
        fitting.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, tiles)| tiles)
    }

    /// The rows differ by at most one tile, and the pictures are as large as possible.
    fn of_short_result(space: TileSpace, count: u16) -> Option<Self> {
        let shared = (1..=count.min(space.height / MIN_TILE_HEIGHT)).map(|rows| {
            let columns = count.div_ceil(rows);
            Self { columns, rows, longer_rows: count - (columns - 1) * rows }
        });
        let fitting = shared.filter(|tiles| tiles.columns > 1 || tiles.longer_rows == tiles.rows);
        let fitting = fitting.filter(|tiles| space.holds(*tiles));
        fitting.max_by(|a, b| space.picture_width(*a).total_cmp(&space.picture_width(*b)))
    }

    /// The tiles that are on screen at once.
    pub fn capacity(self) -> usize {
        usize::from(self.columns - 1) * usize::from(self.rows) + usize::from(self.longer_rows)
    }

    fn has_equal_rows(self) -> bool {
        self.longer_rows == self.rows
    }

    /// The row of a tile. Rows of equal length go on below the screen.
    pub fn row_of(self, index: usize) -> usize {
        let (columns, longer) = (usize::from(self.columns), usize::from(self.longer_rows));
        if self.has_equal_rows() || index < columns * longer {
            index / columns
        } else {
            longer + (index - columns * longer) / (columns - 1).max(1)
        }
    }

    /// The tiles of a row, as far as the result goes.
    pub fn tiles_of_row(self, row: usize) -> Range<usize> {
        let (columns, longer) = (usize::from(self.columns), usize::from(self.longer_rows));
        if self.has_equal_rows() || row < longer {
            return row * columns..(row + 1) * columns;
        }
        let first = longer * columns + (row - longer) * (columns - 1);
        first..first + columns - 1
    }
}

impl TileSpace {
    fn pixels(self) -> f64 {
        let (width, height) = (self.cell.0.max(1), self.cell.1.max(1));
        f64::from(self.width) * f64::from(width) * f64::from(self.height) * f64::from(height)
    }

    /// The rows of tiles whose pictures of 4:3 have this many columns.
    fn rows_of_width(self, columns: u16) -> u16 {
        let rows = rows_of_picture(columns, self.cell, (4, 3));
        self.height.saturating_sub(1) / rows.saturating_add(CAPTION_LINES + 1)
    }

    /// The size of a tile in the longest row, without the margin of one cell around it.
    fn tile_size(self, tiles: TileArrangement) -> (u16, u16) {
        (tile_length(self.width, tiles.columns), tile_length(self.height, tiles.rows))
    }

    fn holds(self, tiles: TileArrangement) -> bool {
        let (width, height) = self.tile_size(tiles);
        width >= MIN_TILE_WIDTH && height >= MIN_TILE_HEIGHT
    }

    /// The width in pixels of a picture of 4:3 in a tile.
    fn picture_width(self, tiles: TileArrangement) -> f64 {
        let (width, height) = self.tile_size(tiles);
        let rows = height.saturating_sub(CAPTION_LINES);
        let across = f64::from(width) * f64::from(self.cell.0.max(1));
        across.min(f64::from(rows) * f64::from(self.cell.1.max(1)) * 4.0 / 3.0)
    }
}

/// The rows of a picture of this many columns, for an aspect (width, height) and the pixels of a cell.
pub(super) fn rows_of_picture(columns: u16, cell: (u16, u16), aspect: (u16, u16)) -> u16 {
    let pixels = u32::from(columns) * u32::from(cell.0.max(1)) * u32::from(aspect.1);
    let rows = pixels.div_ceil(u32::from(cell.1.max(1)) * u32::from(aspect.0.max(1)));
    u16::try_from(rows).unwrap_or(u16::MAX).max(1)
}

/// The cells of each of `count` tiles that share `cells` with margins of one cell.
pub(super) fn tile_length(cells: u16, count: u16) -> u16 {
    (cells.saturating_sub(1) / count.max(1)).saturating_sub(1)
}

/// Where each of `count` tiles begins. What remains of `cells` widens the margins between them.
pub(super) fn tile_start(cells: u16, count: u16, index: u16) -> u16 {
    let shared = u32::from(cells.saturating_sub(1)) * u32::from(index) / u32::from(count.max(1));
    u16::try_from(shared).unwrap_or(u16::MAX).saturating_add(1)
}
