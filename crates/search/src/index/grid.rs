//! Soft grids over the square copy of an image, and folding that makes them invariant to mirroring.

/// Pixels per side of the square copy.
pub const SQUARE_SIDE: usize = 64;

/// The two cells that a position belongs to, with weights: pixels between two cell centers are
/// shared, so small shifts have a small effect.
#[derive(Clone, Copy, Debug)]
pub struct CellWeights {
    pub first: (usize, f32),
    /// The next cell and its weight; the same cell beyond the outermost centers.
    pub second: (usize, f32),
}

pub fn cell_weights(length: usize, cells: usize) -> Vec<CellWeights> {
    (0..length)
        .map(|pixel| {
            let position = (pixel as f32 + 0.5) / length as f32 * cells as f32 - 0.5;
            let position = position.clamp(0.0, (cells - 1) as f32);
            let (cell, part) = (position as usize, position.fract());
            CellWeights { first: (cell, 1.0 - part), second: ((cell + 1).min(cells - 1), part) }
        })
        .collect()
}

/// Averages `values` (`side` x `side`) over a soft grid of `cells` x `cells`.
pub fn soft_pool(values: &[f32], side: usize, cells: usize) -> Vec<f32> {
    let shares = cell_weights(side, cells);
    let mut grid = vec![0.0; cells * cells];
    for (line, down) in values.chunks_exact(side).zip(&shares) {
        let mut across = vec![0.0; cells];
        for (value, share) in line.iter().zip(&shares) {
            across[share.first.0] += value * share.first.1;
            across[share.second.0] += value * share.second.1;
        }
        for (row, weight) in [down.first, down.second] {
            for (cell, sum) in grid[row * cells..][..cells].iter_mut().zip(&across) {
                *cell += weight * sum;
            }
        }
    }
    let scale = (cells * cells) as f32 / (side * side) as f32;
    for cell in &mut grid {
        *cell *= scale;
    }
    grid
}

/// Halves the size of a square image by averaging.
pub fn downsample_2x(values: &[f32], side: usize) -> Vec<f32> {
    let half = side / 2;
    (0..half * half)
        .map(|at| {
            let corner = at / half * 2 * side + at % half * 2;
            (values[corner]
                + values[corner + 1]
                + values[corner + side]
                + values[corner + side + 1])
                / 4.0
        })
        .collect()
}

/// Folds a grid of `cells` x `cells`, each with `depth` numbers, along its vertical axis: first the
/// means, then the absolute differences, of every number and its mirrored counterpart.
///
/// Mirroring reverses the numbers within a cell: they are orientation bins over a half turn, or a
/// single value.
pub fn fold_mirror(grid: &[f32], cells: usize, depth: usize) -> Vec<f32> {
    let pairs: Vec<(f32, f32)> = (0..cells)
        .flat_map(|row| (0..cells / 2).map(move |column| (row, column)))
        .flat_map(|(row, column)| {
            let left = &grid[(row * cells + column) * depth..][..depth];
            let right = &grid[(row * cells + cells - 1 - column) * depth..][..depth];
            left.iter().copied().zip(right.iter().rev().copied())
        })
        .collect();
    let means = pairs.iter().map(|(left, right)| (left + right) / 2.0);
    let differences = pairs.iter().map(|(left, right)| (left - right).abs() / 2.0);
    means.chain(differences).collect()
}
