//! Encodes sixel graphics with a fixed palette and ordered dithering. The encoding is several times faster and smaller
//! than with an adaptive palette, and does not flicker.
//!
//! The palette has 6 levels of red, 7 of green and 6 of blue, because the eye is most sensitive to green. These are 252
//! colors; most terminals have 256 registers.

use std::{cmp::Reverse, fmt::Write};

use image::RgbImage;

const LEVELS: [u8; 3] = [6, 7, 6];
const COLORS: usize = 6 * 7 * 6;

/// An 8x8 Bayer matrix, in which each threshold from 0 to 63 occurs once.
const BAYER: [[u8; 8]; 8] = [
    [0, 32, 8, 40, 2, 34, 10, 42],
    [48, 16, 56, 24, 50, 18, 58, 26],
    [12, 44, 4, 36, 14, 46, 6, 38],
    [60, 28, 52, 20, 62, 30, 54, 22],
    [3, 35, 11, 43, 1, 33, 9, 41],
    [51, 19, 59, 27, 49, 17, 57, 25],
    [15, 47, 7, 39, 13, 45, 5, 37],
    [63, 31, 55, 23, 61, 29, 53, 21],
];

pub fn encode(picture: &RgbImage) -> String {
    let width = (picture.width() as usize).max(1);
    let pixels = picture.as_chunks::<3>().0;
    // The 1 in the second parameter keeps pixels that are not painted.
    let mut out = format!("\x1bP0;1;0q\"1;1;{};{}", picture.width(), picture.height());
    let mut defined = [false; COLORS];
    let mut band = SixelBand::new(width);
    for (index, rows) in pixels.chunks(6 * width).enumerate() {
        if index > 0 {
            out.push('-');
        }
        band.fill(rows, index * 6);
        band.write(&mut out, &mut defined);
    }
    out.push_str("\x1b\\");
    out
}

/// Six rows of pixels. For each color and column, a bit mask says which of the six pixels have the color.
struct SixelBand {
    width: usize,
    /// `COLORS` rows of `width` masks. Bit 0 is the top row.
    masks: Vec<u8>,
    /// The columns in which each color occurs. The range is empty if the color is not used.
    columns: [Columns; COLORS],
    used: Vec<usize>,
    /// The pixels of all colors written so far, as one mask per column.
    painted: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Columns {
    start: usize,
    end: usize,
}

impl Columns {
    const EMPTY: Self = Self { start: usize::MAX, end: 0 };
}

impl SixelBand {
    fn new(width: usize) -> Self {
        Self {
            width,
            masks: vec![0; COLORS * width],
            columns: [Columns::EMPTY; COLORS],
            used: Vec::with_capacity(COLORS),
            painted: vec![0; width],
        }
    }

    fn fill(&mut self, rows: &[[u8; 3]], top: usize) {
        for (y, row) in rows.chunks(self.width).enumerate() {
            let thresholds = &BAYER[(top + y) % 8];
            for (x, &pixel) in row.iter().enumerate() {
                let color = dithered_color(pixel, thresholds[x % 8]);
                let columns = &mut self.columns[color];
                if columns.end == 0 {
                    self.used.push(color);
                }
                *columns = Columns { start: columns.start.min(x), end: columns.end.max(x + 1) };
                self.masks[color * self.width + x] |= 1 << y;
            }
        }
    }

    /// Writes the band and clears it. A color is written right after a color that ends before it starts, so that few
    /// colors return to the first column.
    fn write(&mut self, out: &mut String, defined: &mut [bool; COLORS]) {
        let order = |color: &usize| {
            let Columns { start, end } = self.columns[*color];
            (start, Reverse(end), *color)
        };
        self.used.sort_unstable_by_key(order);
        self.painted.fill(0);
        let mut x = 0;
        while !self.used.is_empty() {
            let next = self.used.iter().position(|&color| self.columns[color].start >= x);
            if next.is_none() {
                out.push('$');
                x = 0;
            }
            let color = self.used.remove(next.unwrap_or(0));
            let Columns { start, end } =
                std::mem::replace(&mut self.columns[color], Columns::EMPTY);
            select_color(out, color, &mut defined[color]);
            let masks = &mut self.masks[color * self.width..][..end];
            write_runs(out, &masks[x..], &self.painted[x..end]);
            for (painted, mask) in self.painted[start..end].iter_mut().zip(&mut masks[start..]) {
                *painted |= std::mem::take(mask);
            }
            x = end;
        }
    }
}

/// Returns the palette entry of a pixel. The dithering `threshold` (0..64) selects one of the two nearest levels of
/// each channel. The threshold of green is inverted, so that the pattern varies mostly in hue, which is hardly visible.
fn dithered_color(pixel: [u8; 3], threshold: u8) -> usize {
    let thresholds = [threshold, 63 - threshold, threshold].map(u32::from);
    let mut color = 0;
    for ((sample, levels), threshold) in pixel.into_iter().zip(LEVELS).zip(thresholds) {
        // The position is in units of 1/64 level.
        let position = u32::from(sample) * u32::from(levels - 1) * 64 / 255;
        let level = (position + threshold) >> 6;
        color = color * usize::from(levels) + level.min(u32::from(levels) - 1) as usize;
    }
    color
}

/// Selects a color register. The register is defined (in percent) when this picture uses it for the first time.
fn select_color(out: &mut String, color: usize, defined: &mut bool) {
    // Writing into a string cannot fail.
    if !std::mem::replace(defined, true) {
        let [_, green, blue] = LEVELS.map(usize::from);
        let percent = |level: usize, levels: u8| (level * 100).div_ceil(usize::from(levels) - 1);
        let _ = write!(
            out,
            "#{color};2;{};{};{}",
            percent(color / (green * blue), LEVELS[0]),
            percent(color / blue % green, LEVELS[1]),
            percent(color % blue, LEVELS[2]),
        );
    }
    out.push('#');
    write_number(out, color);
}

/// Writes the masks of one color in the longest possible runs. A run may paint any pixel that is not `painted` yet,
/// because the color of that pixel is written later.
fn write_runs(out: &mut String, masks: &[u8], painted: &[u8]) {
    let (mut mask, mut excluded, mut length) = (0, 0, 0);
    for (&next, &painted) in masks.iter().zip(painted) {
        if (mask | next) & (excluded | painted) != 0 {
            write_run(out, mask, length);
            (mask, excluded, length) = (0, 0, 0);
        }
        mask |= next;
        excluded |= painted;
        length += 1;
    }
    write_run(out, mask, length);
}

/// Writes a run. From a length of four, the length is written as a number, which is shorter.
fn write_run(out: &mut String, mask: u8, length: usize) {
    let sixel = char::from(b'?' + mask);
    if length > 3 {
        out.push('!');
        write_number(out, length);
        out.push(sixel);
    } else {
        out.extend(std::iter::repeat_n(sixel, length));
    }
}

/// Writes a number. With `write!`, numbers took a seventh of the encoding time.
fn write_number(out: &mut String, number: usize) {
    if number > 9 {
        write_number(out, number / 10);
    }
    out.push(char::from(b"0123456789"[number % 10]));
}
