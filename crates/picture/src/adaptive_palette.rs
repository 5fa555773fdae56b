//! Chooses the 256 colors that suit a picture best, and one of them for each pixel. Come here to change how the
//! full-size view looks in terminals with sixel graphics. Grids use the fixed palette of `sixel`, which is faster.
//!
//! The colors of the picture are counted in bins. The bins are divided into 256 groups, always the group with the
//! largest squared error at the mean of its widest channel, and k-means improves the groups. The error of each pixel is
//! passed on to its neighbors (Floyd-Steinberg), so that smooth areas have no steps.

use image::RgbImage;

/// The number of color registers that most terminals have.
const MAX_COLORS: usize = 256;
/// The bits of a channel by which colors are counted, and by which the nearest color is looked up. A sixth bit would
/// double the time of the lookup for 0.4 dB.
const BITS: u32 = 5;
const K_MEANS_ROUNDS: usize = 2;

/// Sums over pixels of similar colors.
#[derive(Clone, Copy, Default)]
struct Bin {
    count: f32,
    sums: [f32; 3],
}

impl Bin {
    fn mean(&self) -> [f32; 3] {
        self.sums.map(|sum| sum / self.count)
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        for (sum, other) in self.sums.iter_mut().zip(other.sums) {
            *sum += other;
        }
    }
}

/// Returns the bins that have pixels.
fn count_colors(picture: &RgbImage) -> Vec<Bin> {
    let mut sums = vec![[0_u64; 4]; 1 << (3 * BITS)];
    for pixel in picture.as_chunks::<3>().0 {
        let [count, red, green, blue] = &mut sums[packed(*pixel)];
        *count += 1;
        for (sum, sample) in [red, green, blue].into_iter().zip(pixel) {
            *sum += u64::from(*sample);
        }
    }
    let bin = |[count, sums @ ..]: [u64; 4]| {
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 24 bits")]
        let [count, sums] = [[count; 3], sums].map(|values| values.map(|value| value as f32));
        Bin { count: count[0], sums }
    };
    sums.into_iter().filter(|sums| sums[0] > 0).map(bin).collect()
}

/// Packs the upper bits of the channels into a number.
fn packed(pixel: [u8; 3]) -> usize {
    pixel.iter().fold(0, |packed, sample| (packed << BITS) | usize::from(sample >> (8 - BITS)))
}

/// A group of bins with its mean, the channel in which the group is widest, and the squared error of this channel.
struct Group<'a> {
    bins: &'a mut [Bin],
    mean: [f32; 3],
    widest: usize,
    error: f32,
}

impl<'a> Group<'a> {
    fn new(bins: &'a mut [Bin]) -> Self {
        let mut total = Bin::default();
        for bin in &*bins {
            total.add(bin);
        }
        let mean = total.mean();
        let mut errors = [0.0_f32; 3];
        for bin in &*bins {
            for ((error, of_bin), mean) in errors.iter_mut().zip(bin.mean()).zip(mean) {
                *error += bin.count * (of_bin - mean).powi(2);
            }
        }
        let widest = (0..3).max_by(|one, other| errors[*one].total_cmp(&errors[*other]));
        let widest = widest.unwrap_or(0);
        Self { bins, mean, widest, error: errors[widest] }
    }

    /// Divides the group at its mean. A side without bins is `None`.
    fn split(self) -> [Option<Self>; 2] {
        let Self { bins, mean, widest, .. } = self;
        let mut low = 0;
        for index in 0..bins.len() {
            if bins[index].mean()[widest] < mean[widest] {
                bins.swap(index, low);
                low += 1;
            }
        }
        let (low, high) = bins.split_at_mut(low);
        [low, high].map(|bins| (!bins.is_empty()).then(|| Self::new(bins)))
    }
}

fn divide(bins: &mut [Bin]) -> Vec<[f32; 3]> {
    let mut groups = vec![Group::new(bins)];
    while groups.len() < MAX_COLORS {
        let errors = groups.iter().enumerate();
        let worst = errors.max_by(|(_, one), (_, other)| one.error.total_cmp(&other.error));
        let Some((index, _)) = worst.filter(|(_, group)| group.error > 0.0) else { break };
        let halves = groups.swap_remove(index).split();
        let is_whole = halves.iter().any(Option::is_none);
        for half in halves.into_iter().flatten() {
            // A group that rounding keeps on one side is not divided again.
            groups.push(if is_whole { Group { error: 0.0, ..half } } else { half });
        }
    }
    groups.into_iter().map(|group| group.mean).collect()
}

fn squared_distance(one: [f32; 3], other: [f32; 3]) -> f32 {
    one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum()
}

fn nearest(colors: &[[f32; 3]], color: [f32; 3]) -> usize {
    let (mut best, mut smallest) = (0, f32::INFINITY);
    for (index, other) in colors.iter().enumerate() {
        let distance = squared_distance(color, *other);
        if distance < smallest {
            (best, smallest) = (index, distance);
        }
    }
    best
}

/// Returns the colors for a picture, in percent.
pub(super) fn palette(picture: &RgbImage) -> Vec<[u8; 3]> {
    let mut bins = count_colors(picture);
    if bins.is_empty() {
        return vec![[0; 3]];
    }
    let mut colors = divide(&mut bins);
    for _ in 0..K_MEANS_ROUNDS {
        let mut groups = vec![Bin::default(); colors.len()];
        for bin in &bins {
            groups[nearest(&colors, bin.mean())].add(bin);
        }
        for (color, group) in colors.iter_mut().zip(&groups).filter(|(_, group)| group.count > 0.0)
        {
            *color = group.mean();
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mean of samples is at most 255"
    )]
    let percent = |sample: f32| (sample / 2.55).round() as u8;
    colors.into_iter().map(|color| color.map(percent)).collect()
}

/// Chooses the colors of pixels, row by row from the left.
pub(super) struct ErrorDiffusion {
    /// The colors as a terminal shows them.
    colors: Vec<[f32; 3]>,
    /// The index of the color that is nearest to the middle of each cell of the color cube, as far as it is known.
    nearest: Vec<Option<u8>>,
    /// What is added to the next pixel, and to the pixels of the next row. Both ends have a pixel outside the picture.
    right: [f32; 3],
    row: Vec<[f32; 3]>,
    below: Vec<[f32; 3]>,
}

impl ErrorDiffusion {
    pub fn new(palette: &[[u8; 3]], width: usize) -> Self {
        let shown = |percent: &[u8; 3]| percent.map(|part| f32::from(part) * 2.55);
        Self {
            colors: palette.iter().map(shown).collect(),
            nearest: vec![None; 1 << (3 * BITS)],
            right: [0.0; 3],
            row: vec![[0.0; 3]; width + 2],
            below: vec![[0.0; 3]; width + 2],
        }
    }

    pub fn color_of(&mut self, pixel: [u8; 3], x: usize) -> usize {
        if x == 0 {
            self.right = [0.0; 3];
            std::mem::swap(&mut self.row, &mut self.below);
            self.below.fill([0.0; 3]);
        }
        let mut wanted = [0.0; 3];
        for (channel, wanted) in wanted.iter_mut().enumerate() {
            let passed_on = self.right[channel] + self.row[x + 1][channel];
            *wanted = (f32::from(pixel[channel]) + passed_on).clamp(0.0, 255.0);
        }
        let color = self.nearest_to(wanted);
        for (channel, wanted) in wanted.into_iter().enumerate() {
            let error = (wanted - self.colors[color][channel]) / 16.0;
            self.right[channel] = error * 7.0;
            self.below[x][channel] += error * 3.0;
            self.below[x + 1][channel] += error * 5.0;
            self.below[x + 2][channel] += error;
        }
        color
    }

    fn nearest_to(&mut self, wanted: [f32; 3]) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the samples are from 0 to 255"
        )]
        let pixel = wanted.map(|sample| sample as u8);
        let (colors, cell) = (&self.colors, &mut self.nearest[packed(pixel)]);
        let color = cell.get_or_insert_with(|| {
            let middle = |sample| f32::from((sample >> (8 - BITS) << (8 - BITS)) | 1 << (7 - BITS));
            u8::try_from(nearest(colors, pixel.map(middle))).unwrap_or(u8::MAX)
        });
        usize::from(*color)
    }
}
