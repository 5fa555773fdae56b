//! Computes the tiles of the results pane: their rows, their areas, and the collage of previews in a tile. The number
//! and the size of the tiles are chosen together, so that the tiles fill the area. The cursor, the mouse and drawing
//! use the same areas, for a grid of equal tiles as well as for a mosaic.

use std::{iter, ops::Range};

use ratatui::layout::Rect;
use tessera_config::TileLayout;
use tessera_model::Preview;
use tessera_picture::{Canvas, Protocol};

use crate::app::{
    App, Tile,
    mosaic::{MosaicSpace, mosaic_of_long_result, mosaic_of_short_result},
    pane::{inner_area, scroll_top},
    results_header::results_header_rows,
    tile_rows::TileRows,
};

/// The tiles of the results. A tile is a picture with lines of text below it. It has a margin of one cell, in which the
/// frame of the cursor is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileGrid {
    area: Rect,
    tiles: TileRows,
    layout: TileLayout,
    is_list: bool,
    /// The number of tiles of the result.
    count: usize,
    /// The first visible row.
    top: usize,
    /// The number of rows on screen.
    rows: u16,
}

impl TileGrid {
    /// Creates the grid inside the results pane. If pictures do not fit, the grid is a list of
    /// lines.
    pub fn new(app: &App, results: Rect) -> Self {
        let inner = inner_area(results);
        // The first lines inside the frame explain the results and their scores.
        let head = results_header_rows(app, inner);
        let area = Rect { y: inner.y + head, height: inner.height.saturating_sub(head), ..inner };
        let (layout, count) = (app.panes.tile_layout, app.tile_count());
        let has_pictures =
            app.screen.has_room_for_pictures() && app.screen.protocol != Protocol::None;
        let cell = app.screen.cell_size;
        let space = TileSpace { width: area.width, height: area.height, cell };
        let picture_width = app.panes.tile_size.columns();
        let choose = || match layout {
            TileLayout::Grid => {
                let tiles = TileArrangement::choose(space, count, picture_width)?;
                Some((tiles.rows_of(count, space), tiles.rows))
            }
            TileLayout::Mosaic => choose_mosaic(space, &tile_sizes(app, count), picture_width),
        };
        let chosen = if has_pictures { choose() } else { None };
        let is_list = chosen.is_none();
        let (tiles, rows) = chosen.unwrap_or_else(|| {
            let mut lines = TileRows::default();
            (0..count).for_each(|_| lines.add([(0, area.width)], 0));
            (lines, list_rows(area.height, count))
        });
        let top = app.results.tile_cursor().top_row;
        Self { area, tiles, layout, is_list, count, top, rows }
    }

    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns the number of tiles in the longest row on screen, at least 1.
    pub fn columns(&self) -> usize {
        let rows = self.top..self.top + usize::from(self.rows);
        rows.map(|row| self.tiles.tiles_of_row(row).len()).max().unwrap_or(0).max(1)
    }

    /// Returns the tiles that are wholly visible.
    pub fn visible(&self) -> Range<usize> {
        let last = self.top + usize::from(self.rows).saturating_sub(1);
        self.tiles.tiles_of_row(self.top).start..self.tiles.tiles_of_row(last).end
    }

    /// Returns the first visible row. It scrolls as little as possible so that a tile is visible, and leaves no blank
    /// rows.
    pub fn scroll_top(&self, top: usize, index: usize) -> usize {
        let (rows, all) = self.scroll_range();
        let last = all.saturating_sub(rows);
        scroll_top(top.min(last), self.tiles.row_of(index), rows)
    }

    /// Returns how many rows are visible, and how many rows the result has.
    pub fn scroll_range(&self) -> (usize, usize) {
        let all = self.tiles.row_of(self.count.saturating_sub(1)) + 1;
        (usize::from(self.rows), all)
    }

    /// Returns the distance, in tiles, to the tile above or below. In a grid, this is the tile at the same place in its
    /// row.
    pub fn vertical_step(&self, index: usize, down: bool) -> isize {
        let row = self.tiles.row_of(index);
        let current = self.tiles.tiles_of_row(row);
        let past_end = current.len().max(1).cast_signed();
        let Some(next) = (if down { row.checked_add(1) } else { row.checked_sub(1) }) else {
            return -past_end;
        };
        let next = self.tiles.tiles_of_row(next);
        let target = match self.layout {
            TileLayout::Grid => {
                (next.start + index - current.start).min(next.end.saturating_sub(1))
            }
            TileLayout::Mosaic => self.tiles.nearest_tile(next, index).unwrap_or(index),
        };
        if down && target <= index {
            return past_end;
        }
        target.cast_signed() - index.cast_signed()
    }

    /// Returns the area of a tile without its margin. Returns `None` if the tile is off screen.
    pub fn tile_area(&self, index: usize) -> Option<Rect> {
        let row = self.tiles.row_of(index);
        let place = u16::try_from(row.checked_sub(self.top)?).ok();
        let place = place.filter(|place| *place < self.rows)?;
        let (start, width) = self.tiles.span(index)?;
        let Rect { x, y, height, .. } = self.area;
        let (top, height) = if self.is_list {
            let lines = (height / self.rows).max(1);
            (place * lines, lines)
        } else {
            (tile_start(height, self.rows, place), tile_length(height, self.rows))
        };
        let tile = Rect { x: x + start, y: y + top, width, height };
        (tile.bottom() <= self.area.bottom()).then_some(tile)
    }

    /// Returns the area of the picture in the area of a tile. In a grid, the picture is at most as high as a square, so
    /// that a high tile has more lines of text.
    pub fn picture_area(&self, index: usize, tile: Rect) -> Rect {
        let highest = self.tiles.picture_lines(self.tiles.row_of(index));
        Rect { height: tile.height.saturating_sub(CAPTION_LINES).min(highest), ..tile }
    }

    /// Returns the pictures of a tile with their areas, the largest first. In a grid, the pictures of a cluster form a
    /// collage.
    pub fn pictures<'a>(
        &self,
        app: &App,
        index: usize,
        tile: Rect,
        shown: &Tile<'a>,
    ) -> Vec<(&'a Preview, Rect)> {
        let picture = self.picture_area(index, tile);
        if app.results.shows_members() || self.layout == TileLayout::Mosaic {
            return shown.preview.map(|preview| (preview, picture)).into_iter().collect();
        }
        let previews = &shown.cluster.previews;
        let collage = |picture: Rect, previews| {
            let canvas = app.screen.canvas(picture.width, picture.height);
            collage_areas(picture, canvas, previews)
        };
        // The tiles of the first row are the narrowest ones. If these have no room for small previews, no tile has any.
        let first = self.visible().start;
        let narrowest =
            self.tile_area(first).map_or(picture, |tile| self.picture_area(first, tile));
        let has_room = collage(narrowest, 2).len() > 1;
        let areas = collage(picture, if has_room { previews.len() } else { 1 });
        previews.iter().zip(areas).collect()
    }

    /// Returns the tile at a position on the screen.
    pub fn index_at(&self, column: u16, row: u16) -> Option<usize> {
        self.visible().find(|&index| {
            self.tile_area(index).is_some_and(|it| it.contains((column, row).into()))
        })
    }
}

/// Returns the sizes of the pictures of all tiles. Tiles that are not loaded, or that a filter hides while it is typed,
/// have no known size, so that the rows of the screen keep their number.
fn tile_sizes(app: &App, count: usize) -> Vec<Option<(u32, u32)>> {
    let tiles = app.results.tiles();
    let known = tiles.iter().map(|tile| tile.preview.and_then(|preview| preview.dimensions));
    known.chain(iter::repeat(None)).take(count.max(tiles.len())).collect()
}

/// Chooses the mosaic, with the number of its rows on screen. A result that fits on the screen gets the largest
/// pictures with which it still fits. Returns `None` if no picture fits.
fn choose_mosaic(
    space: TileSpace,
    sizes: &[Option<(u32, u32)>],
    picture_width: u16,
) -> Option<(TileRows, u16)> {
    let usual = TileArrangement::of_long_result(space, picture_width)?.rows;
    let mosaic_space = |rows| {
        let picture_lines = tile_length(space.height, rows).saturating_sub(CAPTION_LINES);
        MosaicSpace { width: space.width, rows, picture_lines, cell: space.cell }
    };
    let long = mosaic_of_long_result(sizes, mosaic_space(usual));
    if long.row_count() > usize::from(usual) {
        return Some((long, usual));
    }
    let max_rows = space.height.saturating_sub(1) / (MIN_TILE_HEIGHT + 1);
    let rows = 1..=u16::try_from(sizes.len()).unwrap_or(max_rows).min(max_rows);
    let short = rows.map(|rows| (mosaic_of_short_result(sizes, mosaic_space(rows)), rows));
    short.max_by_key(|(mosaic, _)| mosaic.min_picture_lines())
}

/// Returns the number of rows of a list. In a short result, a row has several lines.
fn list_rows(height: u16, count: usize) -> u16 {
    let height = height.max(1);
    u16::try_from(count).map_or(height, |count| count.clamp(1, height))
}

/// The number of lines of text below a picture.
pub(in crate::app) const CAPTION_LINES: u16 = 2;
const MIN_TILE_WIDTH: u16 = 8;
const MIN_TILE_HEIGHT: u16 = CAPTION_LINES + 2;
/// The weight of a picture whose width differs from the usual one, relative to unused cells.
const WIDTH_WEIGHT: f64 = 1.5;
/// The cost of a layout with a single row, because a single row shows too little of a page.
const SINGLE_ROW_COST: f64 = 0.8;

/// The rows of tiles on screen. The first `longer_rows` rows have `columns` tiles, and the other
/// rows have one tile less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TileArrangement {
    pub columns: u16,
    pub rows: u16,
    longer_rows: u16,
}

/// The cells that the tiles share, and the size of a cell in pixels.
#[derive(Clone, Copy, Debug)]
struct TileSpace {
    pub width: u16,
    pub height: u16,
    pub cell: (u16, u16),
}

impl TileArrangement {
    /// Chooses the tiles. A result that fits on the screen gets tiles that fill the screen. A longer result gets tiles
    /// with pictures of about `picture_width` columns. Returns `None` if no picture fits.
    pub fn choose(space: TileSpace, count: usize, picture_width: u16) -> Option<Self> {
        let usual = Self::of_long_result(space, picture_width)?;
        if count == 0 || count > usual.capacity() {
            return Some(usual);
        }
        Self::of_short_result(space, u16::try_from(count).ok()?).or(Some(usual))
    }

    fn of_long_result(space: TileSpace, picture_width: u16) -> Option<Self> {
        let wanted = f64::from(picture_width) * f64::from(space.cell.0.max(1));
        let cost = |tiles: &Self| {
            let width = space.picture_width(*tiles);
            let shape = f64::from(tiles.columns) * f64::from(tiles.rows) * width * width * 0.75;
            let single = if tiles.rows == 1 { SINGLE_ROW_COST } else { 0.0 };
            WIDTH_WEIGHT * (width / wanted).ln().abs() - shape / space.pixels() + single
        };
        // The candidates are the rows whose pictures are as wide as the tiles, and one more row of
        // lower pictures.
        let all = (1..=space.width / (MIN_TILE_WIDTH + 1)).flat_map(|columns| {
            let fit = space.rows_of_width(tile_length(space.width, columns));
            [fit.max(1), fit + 1].map(|rows| Self { columns, rows, longer_rows: rows })
        });
        let fitting = all.filter(|tiles| space.holds(*tiles)).map(|tiles| (cost(&tiles), tiles));
        fitting.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, tiles)| tiles)
    }

    /// Chooses the tiles of a short result. The rows differ by at most one tile, and the pictures
    /// are as large as possible.
    fn of_short_result(space: TileSpace, count: u16) -> Option<Self> {
        let shared = (1..=count.min(space.height / MIN_TILE_HEIGHT)).map(|rows| {
            let columns = count.div_ceil(rows);
            Self { columns, rows, longer_rows: count - (columns - 1) * rows }
        });
        let fitting = shared.filter(|tiles| tiles.columns > 1 || tiles.longer_rows == tiles.rows);
        let fitting = fitting.filter(|tiles| space.holds(*tiles));
        fitting.max_by(|a, b| space.picture_width(*a).total_cmp(&space.picture_width(*b)))
    }

    /// Returns how many tiles are on screen at once.
    pub fn capacity(self) -> usize {
        usize::from(self.columns - 1) * usize::from(self.rows) + usize::from(self.longer_rows)
    }

    /// Returns the tiles of a result in rows. If all rows have the same length, rows continue below the screen.
    fn rows_of(self, count: usize, space: TileSpace) -> TileRows {
        let mut tiles = TileRows::default();
        while tiles.tile_count() < count {
            let is_shorter =
                self.longer_rows < self.rows && tiles.row_count() >= usize::from(self.longer_rows);
            let columns = (self.columns - u16::from(is_shorter)).max(1);
            let width = tile_length(space.width, columns);
            let start = |column| tile_start(space.width, columns, column);
            let spans = (0..columns).map(|column| (start(column), width));
            let left = count - tiles.tile_count();
            // The picture is at most a square, so that a high tile has more lines of text.
            tiles.add(spans.take(left), rows_of_picture(width, space.cell, (1, 1)));
        }
        tiles
    }
}

impl TileSpace {
    fn pixels(self) -> f64 {
        let (width, height) = (self.cell.0.max(1), self.cell.1.max(1));
        f64::from(self.width) * f64::from(width) * f64::from(self.height) * f64::from(height)
    }

    /// Returns how many rows of tiles fit if their 4:3 pictures have this many columns.
    fn rows_of_width(self, columns: u16) -> u16 {
        let rows = rows_of_picture(columns, self.cell, (4, 3));
        self.height.saturating_sub(1) / rows.saturating_add(CAPTION_LINES + 1)
    }

    /// Returns the size of a tile in the longest row, without the margin of one cell around it.
    fn tile_size(self, tiles: TileArrangement) -> (u16, u16) {
        (tile_length(self.width, tiles.columns), tile_length(self.height, tiles.rows))
    }

    fn holds(self, tiles: TileArrangement) -> bool {
        let (width, height) = self.tile_size(tiles);
        width >= MIN_TILE_WIDTH && height >= MIN_TILE_HEIGHT
    }

    /// Returns the width in pixels of a 4:3 picture in a tile.
    fn picture_width(self, tiles: TileArrangement) -> f64 {
        let (width, height) = self.tile_size(tiles);
        let rows = height.saturating_sub(CAPTION_LINES);
        let across = f64::from(width) * f64::from(self.cell.0.max(1));
        across.min(f64::from(rows) * f64::from(self.cell.1.max(1)) * 4.0 / 3.0)
    }
}

/// Returns the rows of a picture with this many columns, for an aspect ratio (width, height) and the size of a cell in
/// pixels.
pub(in crate::app) fn rows_of_picture(columns: u16, cell: (u16, u16), aspect: (u16, u16)) -> u16 {
    let pixels = u32::from(columns) * u32::from(cell.0.max(1)) * u32::from(aspect.1);
    let rows = pixels.div_ceil(u32::from(cell.1.max(1)) * u32::from(aspect.0.max(1)));
    u16::try_from(rows).unwrap_or(u16::MAX).max(1)
}

/// Returns the cells of each of `count` tiles that share `cells` cells with margins of one cell.
pub(in crate::app) fn tile_length(cells: u16, count: u16) -> u16 {
    (cells.saturating_sub(1) / count.max(1)).saturating_sub(1)
}

/// Returns where a tile begins if `count` tiles share `cells` cells. Cells that are left over widen
/// the margins between the tiles.
pub(in crate::app) fn tile_start(cells: u16, count: u16, index: u16) -> u16 {
    let shared = u32::from(cells.saturating_sub(1)) * u32::from(index) / u32::from(count.max(1));
    u16::try_from(shared).unwrap_or(u16::MAX).saturating_add(1)
}

/// The maximum number of small previews.
const MAX_SMALL: u16 = 3;
/// The minimum width of a small preview, in pixels, or in columns for half-blocks.
const MIN_SMALL_PIXELS: u16 = 48;
const MIN_SMALL_COLUMNS: u16 = 8;

/// Returns the areas of the large preview and of the small previews in the picture of a tile with this canvas. If a
/// small preview would have too few pixels, there is only the large preview.
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

/// Arranges the large preview above a row of three small ones. Returns the large preview and the
/// first small one.
fn below(picture: Rect, cell: (u16, u16)) -> [Rect; 2] {
    // There are margins only between the previews, because the margins at the ends belong to the
    // tile.
    let width = tile_length(picture.width.saturating_add(2), MAX_SMALL);
    let height = rows_of_picture(width, cell, (4, 3)).min(picture.height / 3);
    let y = picture.y + picture.height - height;
    let large = Rect { height: picture.height - height, ..picture };
    [large, Rect { y, width, height, ..picture }]
}

/// Arranges the large preview to the left of a column of three small ones. Returns the large
/// preview and the first small one.
fn beside(picture: Rect, cell: (u16, u16)) -> [Rect; 2] {
    let height = picture.height / MAX_SMALL;
    let pixels = u32::from(height) * u32::from(cell.1.max(1)) * 4 / 3;
    let width = u16::try_from(pixels / u32::from(cell.0.max(1))).unwrap_or(u16::MAX);
    let width = width.min(picture.width / 3);
    let large =
        Rect { width: picture.width - width.saturating_add(1).min(picture.width), ..picture };
    let x = picture.x + picture.width - width;
    // The small previews end at the same row as the large one, even if the height is not a multiple
    // of three rows.
    [large, Rect { x, width, height, ..picture }]
}
