//! Computes the mosaic of the results: rows of pictures that have the same height in a row and the widths that follow
//! from their aspect ratios. Each row fills the width of the pane, as in a gallery of photographs.

use std::ops::Range;

use crate::app::tile_rows::TileRows;

/// The width of a picture whose size the service does not state, relative to its height.
const USUAL_ASPECT: f64 = 4.0 / 3.0;
/// The limits of the width of a tile relative to the height of its picture. Without them, a panorama would take a whole
/// row, and a tall picture would leave no width for its text.
const ASPECTS: (f64, f64) = (0.4, 3.0);
/// The minimum number of columns of a tile before its row is fitted into the pane.
const MIN_COLUMNS: f64 = 8.0;

/// The space of a mosaic: its columns, the number of rows of tiles on screen, the lines of the highest picture, and the
/// size of a cell in pixels.
#[derive(Clone, Copy, Debug)]
pub(in crate::app) struct MosaicSpace {
    pub width: u16,
    pub rows: u16,
    pub picture_lines: u16,
    pub cell: (u16, u16),
}

impl MosaicSpace {
    /// Returns the columns that a tile with the highest picture has, from the width and height of the picture.
    fn columns_of(self, size: Option<(u32, u32)>) -> f64 {
        let aspect =
            |(width, height): (u32, u32)| f64::from(width.max(1)) / f64::from(height.max(1));
        let aspect = size.map_or(USUAL_ASPECT, aspect).clamp(ASPECTS.0, ASPECTS.1);
        let height = f64::from(self.picture_lines) * f64::from(self.cell.1.max(1));
        (height * aspect / f64::from(self.cell.0.max(1))).max(MIN_COLUMNS)
    }

    /// Returns the columns that the tiles of a row share, each with its margin of one column.
    fn shared_columns(self) -> f64 {
        f64::from(self.width.saturating_sub(1))
    }
}

/// Arranges a result that is longer than the screen. A row depends only on the tiles before its end, so that the rows
/// stay while more tiles are loaded. The last row is not stretched, because it may be incomplete.
pub(in crate::app) fn mosaic_of_long_result(
    sizes: &[Option<(u32, u32)>],
    space: MosaicSpace,
) -> TileRows {
    let columns: Vec<f64> = sizes.iter().map(|size| space.columns_of(*size)).collect();
    let mut mosaic = TileRows::default();
    for tiles in rows_of_width(&columns, |_, _| space.shared_columns()) {
        let may_stretch = tiles.end < columns.len();
        add_row(&mut mosaic, &columns[tiles], space, may_stretch);
    }
    mosaic
}

/// Arranges a result that fits on the screen. Its rows have about the same width.
pub(in crate::app) fn mosaic_of_short_result(
    sizes: &[Option<(u32, u32)>],
    space: MosaicSpace,
) -> TileRows {
    let columns: Vec<f64> = sizes.iter().map(|size| space.columns_of(*size)).collect();
    let share = |row: usize, rest: f64| {
        let rows_left = usize::from(space.rows).saturating_sub(row).max(1);
        rest / as_f64(rows_left)
    };
    let mut mosaic = TileRows::default();
    for tiles in rows_of_width(&columns, share) {
        add_row(&mut mosaic, &columns[tiles], space, true);
    }
    mosaic
}

/// Adds a row of tiles with these columns. If its pictures are too wide, they become lower. If they are too narrow,
/// their tiles become wider.
fn add_row(mosaic: &mut TileRows, row: &[f64], space: MosaicSpace, may_stretch: bool) {
    let available = (space.shared_columns() - as_f64(row.len())).max(0.0);
    let scale = available / row.iter().sum::<f64>();
    let scale = if may_stretch { scale } else { scale.min(1.0) };
    let (mut spans, mut used, mut picture_lines) = (Vec::new(), 0.0, space.picture_lines);
    for tile in row {
        let start = rounded(used).saturating_add(1);
        used += tile * scale + 1.0;
        let width = rounded(used).saturating_sub(start);
        spans.push((start, width));
        // A picture covers whole cells, so the lowest picture decides the height of all.
        let fitting = f64::from(space.picture_lines) * f64::from(width) / tile;
        picture_lines = picture_lines.min(rounded(fitting)).max(1);
    }
    mosaic.add(spans, picture_lines);
}

/// Divides tiles into rows. `wanted` returns the width of a row from its number and from the width of all tiles that
/// are left. A tile belongs to a row if the row is nearer to its width with the tile than without it.
fn rows_of_width(columns: &[f64], wanted: impl Fn(usize, f64) -> f64) -> Vec<Range<usize>> {
    let width = |tile: usize| columns[tile] + 1.0;
    let mut rest: f64 = (0..columns.len()).map(width).sum();
    let (mut rows, mut start) = (Vec::new(), 0);
    while start < columns.len() {
        let wanted = wanted(rows.len(), rest);
        let (mut end, mut used) = (start + 1, width(start));
        while end < columns.len() && used + width(end) / 2.0 <= wanted {
            used += width(end);
            end += 1;
        }
        rest -= used;
        rows.push(start..end);
        start = end;
    }
    rows
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn rounded(cells: f64) -> u16 {
    cells.round() as u16
}
