//! Where edges run, and in which direction: orientation histograms on a soft grid.

use super::grid::{Share, fold, shares};

/// Directions told apart over a half turn (an edge has no sign).
const DIRECTIONS: usize = 8;
/// Edge strength below which a cell counts as flat, in luma times pixels.
const FLAT: f32 = 1e-2;

/// Orientation histograms of a square grey picture (`side` x `side`, 0.0 to 1.0) on `cells` x
/// `cells` cells, folded: `cells` squared times eight numbers.
pub fn orientations(grey: &[f32], side: usize, cells: usize) -> Vec<f32> {
    let mut grid = histograms(grey, side, cells);
    normalise(&mut grid, cells);
    fold(&grid, cells, DIRECTIONS)
}

/// Sums edge strength by cell and direction, shared softly in both.
fn histograms(grey: &[f32], side: usize, cells: usize) -> Vec<f32> {
    let shares = shares(side, cells);
    let width = cells * DIRECTIONS;
    let mut grid = vec![0.0; cells * width];
    for (y, down) in shares.iter().enumerate() {
        let across = line(grey, side, y, &shares, width);
        for (row, weight) in [down.first, down.second] {
            for (sum, value) in grid[row * width..][..width].iter_mut().zip(&across) {
                *sum += weight * value;
            }
        }
    }
    grid
}

/// The histograms of one line of pixels. Gradients across the border do not exist and count as 0.
fn line(grey: &[f32], side: usize, y: usize, shares: &[Share], width: usize) -> Vec<f32> {
    let mut across = vec![0.0; width];
    let row = &grey[y * side..][..side];
    let inner = (1..side - 1).contains(&y);
    let above = &grey[y.saturating_sub(1) * side..][..side];
    let below = &grey[(y + 1).min(side - 1) * side..][..side];
    for (x, share) in shares.iter().enumerate() {
        let dx = if x > 0 && x + 1 < side { row[x + 1] - row[x - 1] } else { 0.0 };
        let dy = if inner { below[x] - above[x] } else { 0.0 };
        let strength = (dx * dx + dy * dy).sqrt();
        if strength == 0.0 {
            continue;
        }
        let (direction, part) = direction(dx, dy);
        for (cell, weight) in [share.first, share.second] {
            let bins = &mut across[cell * DIRECTIONS..][..DIRECTIONS];
            bins[direction] += strength * weight * (1.0 - part);
            bins[(direction + 1) % DIRECTIONS] += strength * weight * part;
        }
    }
    across
}

/// The bin whose centre lies just before the direction, and how far it is on the way to the next.
fn direction(dx: f32, dy: f32) -> (usize, f32) {
    let turn = dy.atan2(dx) / std::f32::consts::PI * DIRECTIONS as f32;
    let place = turn + 2.0 * DIRECTIONS as f32 - 0.5;
    (place as usize % DIRECTIONS, place.fract())
}

/// Divides every cell by the geometric mean of its own strength and the picture's: half-way
/// between forgetting contrast altogether and keeping it. The root keeps strong edges from
/// drowning the rest.
fn normalise(grid: &mut [f32], cells: usize) {
    let mean = grid.iter().sum::<f32>() / (cells * cells) as f32;
    for cell in grid.chunks_exact_mut(DIRECTIONS) {
        let strength = cell.iter().sum::<f32>();
        let scale = 1.0 / ((strength * mean).sqrt() + FLAT);
        for bin in cell {
            *bin = (*bin * scale).sqrt();
        }
    }
}
