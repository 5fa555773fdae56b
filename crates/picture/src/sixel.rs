//! Encodes sixel graphics. Grids have a fixed palette and ordered dithering, which is several times faster and smaller
//! than an adaptive palette, and does not flicker. The full-size view has an adaptive palette, so that details can be
//! judged.
//!
//! The fixed palette has 6 levels of red, 7 of green and 6 of blue, because the eye is most sensitive to green. These
//! are 252 colors; most terminals have 256 registers.

use std::{cmp::Reverse, fmt::Write};

use image::RgbImage;

use crate::adaptive_palette::{self, ErrorDiffusion};

const LEVELS: [u8; 3] = [6, 7, 6];
/// The levels in percent.
const FIXED_PERCENTS: [&[u8]; 3] =
    [&[0, 20, 40, 60, 80, 100], &[0, 17, 34, 50, 67, 84, 100], &[0, 20, 40, 60, 80, 100]];

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

/// Encodes a picture with the fixed palette.
pub fn encode(picture: &RgbImage) -> String {
    let palette: Vec<[u8; 3]> = FIXED_PERCENTS[0]
        .iter()
        .flat_map(|red| FIXED_PERCENTS[1].iter().map(move |green| (red, green)))
        .flat_map(|(red, green)| FIXED_PERCENTS[2].iter().map(|blue| [*red, *green, *blue]))
        .collect();
    write_picture(picture, &palette, |pixel, x, y| dithered_color(pixel, BAYER[y % 8][x % 8]))
}

/// Encodes a picture with colors that are chosen for it.
pub fn encode_with_adaptive_palette(picture: &RgbImage) -> String {
    let palette = adaptive_palette::palette(picture);
    let mut diffusion = ErrorDiffusion::new(&palette, picture.width() as usize);
    write_picture(picture, &palette, |pixel, x, _| diffusion.color_of(pixel, x))
}

/// Writes a picture in colors of a palette, which is in percent. `color_of` chooses the color of the pixel in a column
/// and a row.
fn write_picture(
    picture: &RgbImage,
    palette: &[[u8; 3]],
    mut color_of: impl FnMut([u8; 3], usize, usize) -> usize,
) -> String {
    let width = (picture.width() as usize).max(1);
    let pixels = picture.as_chunks::<3>().0;
    // The 1 in the second parameter keeps pixels that are not painted.
    let mut out = format!("\x1bP0;1;0q\"1;1;{};{}", picture.width(), picture.height());
    let mut registers = Registers { palette, defined: vec![false; palette.len()] };
    let mut band = SixelBand::new(width, palette.len());
    for (index, rows) in pixels.chunks(6 * width).enumerate() {
        if index > 0 {
            out.push('-');
        }
        band.fill(rows, |pixel, x, y| color_of(pixel, x, index * 6 + y));
        band.write(&mut out, &mut registers);
    }
    out.push_str("\x1b\\");
    out
}

/// Six rows of pixels. For each color and column, a bit mask says which of the six pixels have the color.
struct SixelBand {
    width: usize,
    /// A row of `width` masks for each color. Bit 0 is the top row.
    masks: Vec<u8>,
    /// The columns in which each color occurs. The range is empty if the color is not used.
    columns: Vec<Columns>,
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
    fn new(width: usize, colors: usize) -> Self {
        Self {
            width,
            masks: vec![0; colors * width],
            columns: vec![Columns::EMPTY; colors],
            used: Vec::with_capacity(colors),
            painted: vec![0; width],
        }
    }

    fn fill(&mut self, rows: &[[u8; 3]], mut color_of: impl FnMut([u8; 3], usize, usize) -> usize) {
        for (y, row) in rows.chunks(self.width).enumerate() {
            for (x, &pixel) in row.iter().enumerate() {
                let color = color_of(pixel, x, y);
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
    fn write(&mut self, out: &mut String, registers: &mut Registers) {
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
            registers.select(out, color);
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

/// The color registers of a picture.
struct Registers<'a> {
    palette: &'a [[u8; 3]],
    defined: Vec<bool>,
}

impl Registers<'_> {
    /// Selects a register. The register is defined when this picture uses it for the first time.
    fn select(&mut self, out: &mut String, color: usize) {
        if !std::mem::replace(&mut self.defined[color], true) {
            let [red, green, blue] = self.palette[color];
            // Writing into a string cannot fail.
            let _ = write!(out, "#{color};2;{red};{green};{blue}");
        }
        out.push('#');
        write_number(out, color);
    }
}

/// Writes the masks of one color in the longest possible runs. A run may paint any pixel that is not `painted` yet,
/// because the color of that pixel is written later.
fn write_runs(out: &mut String, masks: &[u8], painted: &[u8]) {
    let (mut mask, mut excluded, mut length) = (0, 0, 0);
    for (&next, &painted) in masks.iter().zip(painted) {
        if (mask | next) & (excluded | painted) != 0 {
            write_run(out, char::from(b'?' + mask), length);
            (mask, excluded, length) = (0, 0, 0);
        }
        mask |= next;
        excluded |= painted;
        length += 1;
    }
    write_run(out, char::from(b'?' + mask), length);
}

/// Writes a run. From a length of four, the length is written as a number, which is shorter.
pub(crate) fn write_run(out: &mut String, sixel: char, length: usize) {
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
