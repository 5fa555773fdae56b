//! Keeps the tiles of a result in rows: where each tile is in its row, and how high the pictures of a row are. A grid and
//! a mosaic differ only in how these rows are computed.

use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::app) struct TileRows {
    /// The first column and the columns of each tile, without its margin.
    spans: Vec<(u16, u16)>,
    rows: Vec<TileRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TileRow {
    tiles: Range<usize>,
    picture_lines: u16,
}

impl TileRows {
    /// Adds a row: the first column and the columns of each of its tiles, and the lines of its pictures.
    pub fn add(&mut self, spans: impl IntoIterator<Item = (u16, u16)>, picture_lines: u16) {
        let start = self.spans.len();
        self.spans.extend(spans);
        self.rows.push(TileRow { tiles: start..self.spans.len(), picture_lines });
    }

    pub fn tile_count(&self) -> usize {
        self.spans.len()
    }

    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the lines of the pictures in the row with the lowest pictures.
    pub fn min_picture_lines(&self) -> u16 {
        self.rows.iter().map(|row| row.picture_lines).min().unwrap_or(0)
    }

    /// Returns the lines of the pictures in a row.
    pub fn picture_lines(&self, row: usize) -> u16 {
        self.rows.get(row).map_or(0, |row| row.picture_lines)
    }

    /// Returns the row of a tile. After the last tile, returns the number of rows.
    pub fn row_of(&self, tile: usize) -> usize {
        self.rows.partition_point(|row| row.tiles.end <= tile)
    }

    /// Returns the tiles of a row, which are none after the last row.
    pub fn tiles_of_row(&self, row: usize) -> Range<usize> {
        let count = self.spans.len();
        self.rows.get(row).map_or(count..count, |row| row.tiles.clone())
    }

    /// Returns the first column of a tile and its columns.
    pub fn span(&self, tile: usize) -> Option<(u16, u16)> {
        self.spans.get(tile).copied()
    }

    /// Returns the tile of a row whose middle is nearest to the middle of a tile in another row.
    pub fn nearest_tile(&self, row: Range<usize>, tile: usize) -> Option<usize> {
        let middle =
            |tile| self.span(tile).map(|(start, width)| 2 * u32::from(start) + u32::from(width));
        let wanted = middle(tile)?;
        row.min_by_key(|&other| middle(other).map(|middle| middle.abs_diff(wanted)))
    }
}
