//! A single-channel image, with smoothing and scaling for image pyramids.

/// Smoothing kernel: a Gaussian of one pixel, two pixels to either side.
const SMOOTHING_KERNEL: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

#[derive(Clone, Debug)]
pub struct Channel {
    /// Numbers per row, at least 1.
    pub width: usize,
    pub values: Vec<f32>,
}

impl Channel {
    pub fn new(width: usize, values: Vec<f32>) -> Self {
        Self { width, values }
    }

    pub fn from_luma(width: u32, luma: Vec<u8>) -> Self {
        Self::new(width as usize, luma.into_iter().map(f32::from).collect())
    }

    pub fn height(&self) -> usize {
        self.values.len() / self.width
    }

    /// One row; rows beyond the border repeat the outermost one.
    pub fn row(&self, y: isize) -> &[f32] {
        let y = y.clamp(0, self.height() as isize - 1) as usize;
        &self.values[y * self.width..][..self.width]
    }

    pub fn smooth(&self) -> Self {
        let mut values = vec![0.0; self.values.len()];
        let mut padded = vec![0.0; self.width + 4];
        for (y, smoothed) in (0..).zip(values.chunks_exact_mut(self.width)) {
            let lines = [-2, -1, 0, 1, 2].map(|step| self.row(y + step));
            weighted_sums(lines, &mut padded[2..self.width + 2]);
            let (first, last) = (padded[2], padded[self.width + 1]);
            padded[..2].fill(first);
            padded[self.width + 2..].fill(last);
            let steps: [&[f32]; 5] = std::array::from_fn(|step| &padded[step..][..self.width]);
            weighted_sums(steps, smoothed);
        }
        Self { width: self.width, values }
    }

    /// Returns a copy scaled by `factor`, 0.5 to 1.0, with linear interpolation. Smooth first.
    pub fn shrink(&self, factor: f32) -> Self {
        let scaled = |side: usize| ((side as f32 * factor).round() as usize).max(1);
        let (width, height) = (scaled(self.width), scaled(self.height()));
        let columns: Vec<(usize, f32)> = sample_positions(width, self.width).collect();
        let mut values = Vec::with_capacity(width * height);
        for (y, below) in sample_positions(height, self.height()) {
            let (top, bottom) = (self.row(y as isize), self.row(y as isize + 1));
            values.extend(columns.iter().map(|&(x, right)| {
                let next = (x + 1).min(self.width - 1);
                let upper = top[x] + (top[next] - top[x]) * right;
                let lower = bottom[x] + (bottom[next] - bottom[x]) * right;
                upper + (lower - upper) * below
            }));
        }
        Self { width, values }
    }
}

/// The sums of five rows, each with its weight of the [`SMOOTHING_KERNEL`].
fn weighted_sums([first, second, third, fourth, fifth]: [&[f32]; 5], sums: &mut [f32]) {
    let rows = first.iter().zip(second).zip(third).zip(fourth).zip(fifth);
    let [outer, inner, middle, ..] = SMOOTHING_KERNEL;
    for (sum, ((((first, second), third), fourth), fifth)) in sums.iter_mut().zip(rows) {
        *sum = first * outer + second * inner + third * middle + fourth * inner + fifth * outer;
    }
}

/// For each of `to` positions along `from`: the preceding one, and the fraction to the next.
fn sample_positions(to: usize, from: usize) -> impl Iterator<Item = (usize, f32)> {
    let step = from as f32 / to as f32;
    (0..to).map(move |position| {
        let exact = ((position as f32 + 0.5) * step - 0.5).clamp(0.0, (from - 1) as f32);
        (exact as usize, exact.fract())
    })
}
