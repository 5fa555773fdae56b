//! Histograms of edge orientations on a soft grid.

use super::grid::{CellWeights, cell_weights, fold_mirror};

/// Orientation bins over a half turn (edges have no sign).
const DIRECTION_BINS: usize = 8;
/// Edge strength below which a cell counts as flat, in luma times pixels.
const FLAT_STRENGTH: f32 = 1e-2;

/// Orientation histograms of a square gray image (`side` x `side`, 0.0 to 1.0) on `cells` x `cells`
/// cells, folded: `cells` squared times eight numbers.
pub fn orientation_descriptor(gray: &[f32], side: usize, cells: usize) -> Vec<f32> {
    let mut grid = cell_histograms(gray, side, cells);
    normalize(&mut grid, cells);
    fold_mirror(&grid, cells, DIRECTION_BINS)
}

/// Edge strength by cell and orientation, with linear interpolation in both.
fn cell_histograms(gray: &[f32], side: usize, cells: usize) -> Vec<f32> {
    let shares = cell_weights(side, cells);
    let width = cells * DIRECTION_BINS;
    let mut grid = vec![0.0; cells * width];
    for (y, down) in shares.iter().enumerate() {
        let across = row_histograms(gray, side, y, &shares, width);
        for (row, weight) in [down.first, down.second] {
            for (sum, value) in grid[row * width..][..width].iter_mut().zip(&across) {
                *sum += weight * value;
            }
        }
    }
    grid
}

/// The histograms of one row of pixels. Gradients at the border count as 0.
fn row_histograms(
    gray: &[f32],
    side: usize,
    y: usize,
    shares: &[CellWeights],
    width: usize,
) -> Vec<f32> {
    let mut across = vec![0.0; width];
    let row = &gray[y * side..][..side];
    let inner = (1..side - 1).contains(&y);
    let above = &gray[y.saturating_sub(1) * side..][..side];
    let below = &gray[(y + 1).min(side - 1) * side..][..side];
    for (x, share) in shares.iter().enumerate() {
        let dx = if x > 0 && x + 1 < side { row[x + 1] - row[x - 1] } else { 0.0 };
        let dy = if inner { below[x] - above[x] } else { 0.0 };
        let strength = (dx * dx + dy * dy).sqrt();
        if strength == 0.0 {
            continue;
        }
        let (direction, part) = direction_bin(dx, dy);
        for (cell, weight) in [share.first, share.second] {
            let bins = &mut across[cell * DIRECTION_BINS..][..DIRECTION_BINS];
            bins[direction] += strength * weight * (1.0 - part);
            bins[(direction + 1) % DIRECTION_BINS] += strength * weight * part;
        }
    }
    across
}

/// The bin whose center precedes the orientation, and the fraction towards the next bin.
fn direction_bin(dx: f32, dy: f32) -> (usize, f32) {
    let turn = dy.atan2(dx) / std::f32::consts::PI * DIRECTION_BINS as f32;
    let position = turn + 2.0 * DIRECTION_BINS as f32 - 0.5;
    (position as usize % DIRECTION_BINS, position.fract())
}

/// Divides every cell by the geometric mean of its own strength and the mean strength: a compromise
/// between ignoring contrast and keeping it. The square root limits the influence of strong edges.
fn normalize(grid: &mut [f32], cells: usize) {
    let mean = grid.iter().sum::<f32>() / (cells * cells) as f32;
    for cell in grid.chunks_exact_mut(DIRECTION_BINS) {
        let strength = cell.iter().sum::<f32>();
        let scale = 1.0 / ((strength * mean).sqrt() + FLAT_STRENGTH);
        for bin in cell {
            *bin = (*bin * scale).sqrt();
        }
    }
}
