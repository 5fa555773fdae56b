//! The layout of the detail: the large picture, the text, and a strip with the previews of the cluster.

use std::ops::Range;

use ratatui::layout::Rect;
use tessera_picture::Protocol;

use crate::app::{
    App,
    areas::inner_area,
    tile_arrangement::{rows_of_picture, tile_length, tile_start},
};

/// A pane that is this many columns wider than its picture shows text and strip beside it.
const SIDE_COLUMNS: u16 = 26;
/// A picture is not made lower than this for a strip (rows).
const MIN_PICTURE_ROWS: u16 = 8;
/// Columns of a small preview in a narrow and in a wide strip.
const STRIP_WIDTHS: (u16, u16) = (8, 12);

/// Where the parts of the detail are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DetailLayout {
    pub picture: Rect,
    pub text: Rect,
    /// The small previews: the index of each, and its area. Below each is a line that marks the large one.
    pub strip: Vec<(usize, Rect)>,
}

impl DetailLayout {
    pub fn new(app: &App, detail: Rect) -> Self {
        let inner = inner_area(detail);
        let cell = app.screen.cell_size;
        let (previews, selected) =
            app.cluster().zip(app.view()).map_or((0, 0), |(cluster, view)| {
                (
                    cluster.previews.len(),
                    view.preview_index.min(cluster.previews.len().saturating_sub(1)),
                )
            });
        let previews = if app.screen.protocol == Protocol::None { 0 } else { previews };
        let beside = columns_of_picture(inner.height, cell);
        if inner.width >= beside.saturating_add(SIDE_COLUMNS) {
            return Self::side_by_side(inner, beside, (previews, selected), cell);
        }
        Self::stacked(inner, (previews, selected), cell)
    }

    /// In a wide pane: the picture, and beside it the text above the strip.
    fn side_by_side(inner: Rect, columns: u16, shown: (usize, usize), cell: (u16, u16)) -> Self {
        let picture = Rect { width: columns, ..inner };
        let side = Rect { x: inner.x + columns, width: inner.width - columns, ..inner };
        let free = side.height.saturating_sub(text_rows(inner.height));
        let strip = Strip::new(side.width, shown.0, cell);
        let rows = strip.rows_in(free);
        let (text, below) = split_rows(side, side.height - strip.height(rows));
        Self { picture, text, strip: strip.areas(below, rows, shown) }
    }

    /// The picture, at most a square, above the strip and the text.
    fn stacked(inner: Rect, shown: (usize, usize), cell: (u16, u16)) -> Self {
        let free = inner.height.saturating_sub(text_rows(inner.height));
        let square = rows_of_picture(inner.width, cell, (1, 1));
        let strip = Strip::new(inner.width, shown.0, cell);
        let unused = free.saturating_sub(rows_of_picture(inner.width, cell, (4, 3)));
        let rows =
            strip.rows_in(unused).max(strip.rows_in(free.saturating_sub(MIN_PICTURE_ROWS)).min(1));
        let height = free.saturating_sub(strip.height(rows)).min(square);
        let (picture, rest) = split_rows(inner, height);
        let (below, text) = split_rows(rest, strip.height(rows));
        Self { picture, text, strip: strip.areas(below, rows, shown) }
    }

    /// The small preview at a position of the screen.
    pub fn preview_at(&self, column: u16, row: u16) -> Option<usize> {
        let hit = self.strip.iter().find(|(_, area)| area.contains((column, row).into()));
        hit.map(|(index, _)| *index)
    }
}

/// Rows of small previews, each above its mark.
#[derive(Clone, Copy)]
struct Strip {
    columns: u16,
    picture_rows: u16,
    count: usize,
}

impl Strip {
    fn new(width: u16, count: usize, cell: (u16, u16)) -> Self {
        let small = if width < 40 { STRIP_WIDTHS.0 } else { STRIP_WIDTHS.1 };
        let columns = (width.saturating_sub(1) / (small + 1)).max(1);
        let picture_rows = rows_of_picture(tile_length(width, columns), cell, (4, 3));
        Self { columns, picture_rows, count }
    }

    /// The rows that fit into `height` and are needed; a single preview needs none.
    fn rows_in(self, height: u16) -> u16 {
        let needed = self.count.div_ceil(usize::from(self.columns));
        let needed = if self.count > 1 { u16::try_from(needed).unwrap_or(u16::MAX) } else { 0 };
        needed.min(height / (self.picture_rows + 1))
    }

    fn height(self, rows: u16) -> u16 {
        rows * (self.picture_rows + 1)
    }

    /// The previews in `rows` rows, among them the selected one.
    fn areas(self, area: Rect, rows: u16, (count, selected): (usize, usize)) -> Vec<(usize, Rect)> {
        let columns = usize::from(self.columns);
        let top = (selected / columns + 1).saturating_sub(usize::from(rows));
        let visible: Range<usize> = top * columns..count.min((top + usize::from(rows)) * columns);
        let places = (0..rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        let place = |(row, column): (u16, u16)| Rect {
            x: area.x + tile_start(area.width, self.columns, column),
            y: area.y + self.height(row),
            width: tile_length(area.width, self.columns),
            height: self.picture_rows,
        };
        visible.zip(places.map(place)).collect()
    }
}

/// The lines of text that a pane of this height keeps.
fn text_rows(height: u16) -> u16 {
    if height > 24 { 10 } else { 6 }
}

/// The columns of a picture of 4:3 that is as high as an area.
fn columns_of_picture(rows: u16, cell: (u16, u16)) -> u16 {
    let pixels = u32::from(rows) * u32::from(cell.1.max(1)) * 4 / 3;
    u16::try_from(pixels / u32::from(cell.0.max(1))).unwrap_or(u16::MAX)
}

fn split_rows(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let rest = Rect { y: area.y + rows, height: area.height - rows, ..area };
    (Rect { height: rows, ..area }, rest)
}
