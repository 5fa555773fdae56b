//! The grid of the results pane: how many tiles there are side by side and below each other, where each
//! is, and the collage of previews in a tile. The number and the size of the tiles are chosen together, so that
//! the tiles fill the area.

use std::ops::Range;

use ratatui::layout::Rect;
use tessera_model::Preview;
use tessera_picture::{Canvas, Protocol};

use crate::app::{
    App, Tile, areas::inner_area, pane::scroll_top, results_header::results_header_rows,
};

/// The tiles of the results. A tile is a picture with lines of text below it, in a margin of one cell,
/// which carries the frame of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    area: Rect,
    tiles: TileArrangement,
    is_list: bool,
    cell: (u16, u16),
    /// How many tiles the result has.
    count: usize,
}

impl TileGrid {
    /// The grid inside the results pane; a list of lines where pictures do not fit.
    pub fn new(app: &App, results: Rect) -> Self {
        let inner = inner_area(results);
        // The first lines inside the frame explain the results and their scores.
        let head = results_header_rows(app, inner);
        let area = Rect { y: inner.y + head, height: inner.height.saturating_sub(head), ..inner };
        let (cell, count) = (app.screen.cell_size, app.tile_count());
        let has_pictures =
            app.screen.has_room_for_pictures() && app.screen.protocol != Protocol::None;
        let space = TileSpace { width: area.width, height: area.height, cell };
        let tiles = has_pictures
            .then(|| TileArrangement::choose(space, count, app.panes.tile_size.columns()))
            .flatten();
        let lines = || TileArrangement::list(list_rows(area.height, count));
        Self { area, tiles: tiles.unwrap_or_else(lines), is_list: tiles.is_none(), cell, count }
    }

    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// Tiles side by side in the longest row, at least 1.
    pub fn columns(&self) -> usize {
        usize::from(self.tiles.columns)
    }

    /// The tiles that are wholly visible at once, at least 1.
    pub fn capacity(&self) -> usize {
        self.tiles.capacity()
    }

    /// The first visible tile while `top` is the first visible row.
    pub fn first_visible(&self, top: usize) -> usize {
        self.tiles.tiles_of_row(top).start
    }

    /// The first visible row, so that a tile is visible with the least scrolling and without blank rows.
    pub fn scroll_top(&self, top: usize, index: usize) -> usize {
        let (rows, all) = self.scroll_range();
        let last = all.saturating_sub(rows);
        scroll_top(top.min(last), self.tiles.row_of(index), rows)
    }

    /// How many rows are visible, and how many the result has.
    pub fn scroll_range(&self) -> (usize, usize) {
        let all = self.tiles.row_of(self.count.saturating_sub(1)) + 1;
        (usize::from(self.tiles.rows), all)
    }

    /// How many tiles further the tile in the same place of the next row is, or of the previous one.
    pub fn vertical_step(&self, index: usize, down: bool) -> isize {
        let row = self.tiles.row_of(index);
        let current = self.tiles.tiles_of_row(row);
        let Some(next) = (if down { row.checked_add(1) } else { row.checked_sub(1) }) else {
            return -self.columns().cast_signed();
        };
        let next = self.tiles.tiles_of_row(next);
        let target = (next.start + index - current.start).min(next.end.saturating_sub(1));
        if down && target <= index {
            return self.columns().cast_signed();
        }
        target.cast_signed() - index.cast_signed()
    }

    /// The area of a visible tile (0 is the top left one) without its margin; `None` when it is off screen.
    pub fn tile_area(&self, place: usize) -> Option<Rect> {
        if place >= self.capacity() {
            return None;
        }
        let row = self.tiles.row_of(place);
        let places = self.tiles.tiles_of_row(row);
        let index = |number: usize| u16::try_from(number).ok();
        let (column, row, in_row) =
            (index(place - places.start)?, index(row)?, index(places.len())?);
        let Rect { x, y, width, height } = self.area;
        let tile = if self.is_list {
            let lines = (height / self.tiles.rows).max(1);
            Rect { y: y + row * lines, height: lines, ..self.area }
        } else {
            Rect {
                x: x + tile_start(width, in_row, column),
                y: y + tile_start(height, self.tiles.rows, row),
                width: tile_length(width, in_row),
                height: tile_length(height, self.tiles.rows),
            }
        };
        (tile.bottom() <= self.area.bottom()).then_some(tile)
    }

    /// The picture of a tile: at most as high as a square, so that the text of a high tile has more lines.
    pub fn picture_area(&self, tile: Rect) -> Rect {
        let square = rows_of_picture(tile.width, self.cell, (1, 1));
        let rows = tile.height.saturating_sub(CAPTION_LINES).min(square);
        Rect { height: if self.is_list { 0 } else { rows }, ..tile }
    }

    /// The pictures of a tile, the largest first, each with its area: those of a cluster are a collage.
    pub fn pictures<'a>(
        &self,
        app: &App,
        tile: Rect,
        shown: &Tile<'a>,
    ) -> Vec<(&'a Preview, Rect)> {
        let picture = self.picture_area(tile);
        if app.results.shows_members() {
            return shown.preview.map(|preview| (preview, picture)).into_iter().collect();
        }
        let previews = &shown.cluster.previews;
        let canvas = app.screen.canvas(picture.width, picture.height);
        previews.iter().zip(collage_areas(picture, canvas, previews.len())).collect()
    }

    pub fn index_at(&self, column: u16, row: u16) -> Option<usize> {
        (0..self.capacity()).find(|&place| {
            self.tile_area(place).is_some_and(|tile| tile.contains((column, row).into()))
        })
    }
}

/// The rows of a list. Those of a short result have several lines.
fn list_rows(height: u16, count: usize) -> u16 {
    let height = height.max(1);
    u16::try_from(count).map_or(height, |count| count.clamp(1, height))
}

/// Lines of text below a picture.
pub(in crate::app) const CAPTION_LINES: u16 = 2;
const MIN_TILE_WIDTH: u16 = 8;
const MIN_TILE_HEIGHT: u16 = CAPTION_LINES + 2;
/// How much a picture of another width than the usual one counts against unused cells.
const WIDTH_WEIGHT: f64 = 1.5;
/// What a single row counts: it shows too little of a page.
const SINGLE_ROW_COST: f64 = 0.8;

/// The rows of tiles on screen. The first `longer_rows` have `columns` tiles, the others one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) struct TileArrangement {
    pub columns: u16,
    pub rows: u16,
    longer_rows: u16,
}

/// The cells that the tiles share, and the size of a cell in pixels.
#[derive(Clone, Copy, Debug)]
pub(in crate::app) struct TileSpace {
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
pub(in crate::app) fn rows_of_picture(columns: u16, cell: (u16, u16), aspect: (u16, u16)) -> u16 {
    let pixels = u32::from(columns) * u32::from(cell.0.max(1)) * u32::from(aspect.1);
    let rows = pixels.div_ceil(u32::from(cell.1.max(1)) * u32::from(aspect.0.max(1)));
    u16::try_from(rows).unwrap_or(u16::MAX).max(1)
}

/// The cells of each of `count` tiles that share `cells` with margins of one cell.
pub(in crate::app) fn tile_length(cells: u16, count: u16) -> u16 {
    (cells.saturating_sub(1) / count.max(1)).saturating_sub(1)
}

/// Where each of `count` tiles begins. What remains of `cells` widens the margins between them.
pub(in crate::app) fn tile_start(cells: u16, count: u16, index: u16) -> u16 {
    let shared = u32::from(cells.saturating_sub(1)) * u32::from(index) / u32::from(count.max(1));
    u16::try_from(shared).unwrap_or(u16::MAX).saturating_add(1)
}

/// How many previews are small.
const MAX_SMALL: u16 = 3;
/// The least width of a small preview: in pixels, or in columns of half-blocks.
const MIN_SMALL_PIXELS: u16 = 48;
const MIN_SMALL_COLUMNS: u16 = 8;

/// The areas of the large preview and of the small ones in the picture of a tile, as its canvas describes it.
/// Where a small one would have too few pixels, there is only the large one.
pub(in crate::app) fn collage_areas(picture: Rect, canvas: Canvas, previews: usize) -> Vec<Rect> {
    let small_ones = u16::try_from(previews.saturating_sub(1)).unwrap_or(MAX_SMALL).min(MAX_SMALL);
    let all = [below(picture, canvas.cell), beside(picture, canvas.cell)];
    let usable = all.into_iter().filter(|[large, small]| {
        let least = match canvas.protocol {
            Protocol::HalfBlock => MIN_SMALL_COLUMNS,
            _ => MIN_SMALL_PIXELS.div_ceil(canvas.cell.0.max(1)),
        };
        small.width >= least && small.height > 0 && large.height > small.height
    });
    let best = usable.max_by_key(|[large, _]| {
        let by_height = u32::from(large.height) * u32::from(canvas.cell.1.max(1)) * 4 / 3;
        by_height.min(u32::from(large.width) * u32::from(canvas.cell.0.max(1)))
    });
    let Some([large, small]) = best.filter(|_| small_ones > 0) else { return vec![picture] };
    let is_below = small.y > large.y;
    let smalls = (0..small_ones).map(|index| {
        if is_below {
            Rect { x: small.x + index * (small.width + 1), ..small }
        } else {
            Rect { y: small.y + index * small.height, ..small }
        }
    });
    std::iter::once(large).chain(smalls).collect()
}

/// The large preview above a row of three, of which the first is returned.
fn below(picture: Rect, cell: (u16, u16)) -> [Rect; 2] {
    // Margins only between the previews: those at the ends are the tile's.
    let width = tile_length(picture.width.saturating_add(2), MAX_SMALL);
    let height = rows_of_picture(width, cell, (4, 3)).min(picture.height / 3);
    let y = picture.y + picture.height - height;
    let large = Rect { height: picture.height - height, ..picture };
    [large, Rect { y, width, height, ..picture }]
}

/// The large preview at the left of a column of three, of which the first is returned.
fn beside(picture: Rect, cell: (u16, u16)) -> [Rect; 2] {
    let height = picture.height / MAX_SMALL;
    let pixels = u32::from(height) * u32::from(cell.1.max(1)) * 4 / 3;
    let width = u16::try_from(pixels / u32::from(cell.0.max(1))).unwrap_or(u16::MAX);
    let width = width.min(picture.width / 3);
    let large =
        Rect { width: picture.width - width.saturating_add(1).min(picture.width), ..picture };
    let x = picture.x + picture.width - width;
    // Also where the picture is not a multiple of three rows high, the small ones end with it.
    [large, Rect { x, width, height, ..picture }]
}
