//! The grid of the results pane: the size of its tiles, how many fit, and where each is.

use ratatui::layout::Rect;
use tessera_model::{Page, Preview};
use tessera_picture::Protocol;

use crate::app::{
    App, Tile,
    areas::inner_area,
    collage::collage_areas,
    overlay::sort_filter::FilterInput,
    pane::scroll_top,
    tile_arrangement::{
        CAPTION_LINES, TileArrangement, TileSpace, rows_of_picture, tile_length, tile_start,
    },
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
        let head = app.results_header_rows(inner);
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
        if app.shows_members() {
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

impl App {
    /// How many tiles the result has. While a page loads, and while a filter is typed, it is that of the
    /// whole page, so that the layout stays.
    fn tile_count(&self) -> usize {
        match self.page() {
            None => Page::SIZE,
            Some(_) if self.shows_members() => self.tiles().len(),
            Some(page) if self.overlays.dialog::<FilterInput>().is_some() => page.clusters.len(),
            Some(_) => self.visible_clusters().len(),
        }
    }
}
