//! Sixel graphics with a fixed palette and an ordered dither: several times faster and smaller
//! than an adaptive palette, and stable from frame to frame.
//!
//! The palette has 6 levels of red, 7 of green and 6 of blue (252 colours, as most terminals have
//! 256 registers); green gets most because the eye does.

use std::fmt::Write;

use super::Encoded;

/// Levels of red, green and blue.
const LEVELS: [u8; 3] = [6, 7, 6];
const COLORS: usize = 6 * 7 * 6;

/// An 8x8 Bayer matrix: thresholds 0..64, each once.
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

/// Encodes packed RGB rows of `size` pixels.
#[must_use]
pub fn encode(rgb: &[u8], size: (u32, u32)) -> Encoded {
    let width = (size.0 as usize).max(1);
    let pixels = rgb.as_chunks::<3>().0;
    // 1 in the second place leaves pixels that are not painted as they are.
    let mut out = format!("\x1bP0;1;0q\"1;1;{};{}", size.0, size.1);
    let mut seen = [false; COLORS];
    let mut band = SixelBand::new(width);
    for (index, rows) in pixels.chunks(6 * width).enumerate() {
        if index > 0 {
            out.push('-');
        }
        band.fill(rows, width, index * 6);
        band.write(&mut out, &mut seen);
    }
    out.push_str("\x1b\\");
    Encoded::Sequence(out.into())
}

/// Six rows of pixels: for each colour, which of the six it paints in each column.
struct SixelBand {
    width: usize,
    /// `COLOURS` rows of `width` masks, bit 0 the top row.
    masks: Vec<u8>,
    used: Vec<usize>,
    is_used: [bool; COLORS],
}

impl SixelBand {
    fn new(width: usize) -> Self {
        Self {
            width,
            masks: vec![0; COLORS * width],
            used: Vec::with_capacity(COLORS),
            is_used: [false; COLORS],
        }
    }

    fn fill(&mut self, rows: &[[u8; 3]], width: usize, top: usize) {
        for (y, row) in rows.chunks(width).enumerate() {
            let thresholds = &BAYER[(top + y) % 8];
            for (x, &pixel) in row.iter().enumerate() {
                let colour = dithered_color(pixel, thresholds[x % 8]);
                if !self.is_used[colour] {
                    self.is_used[colour] = true;
                    self.used.push(colour);
                }
                self.masks[colour * self.width + x] |= 1 << y;
            }
        }
    }

    /// Writes the band and leaves it empty for the next one.
    fn write(&mut self, out: &mut String, seen: &mut [bool; COLORS]) {
        for (index, &colour) in self.used.iter().enumerate() {
            if index > 0 {
                out.push('$');
            }
            select_color(out, colour, &mut seen[colour]);
            let masks = &mut self.masks[colour * self.width..][..self.width];
            write_runs(out, masks);
            masks.fill(0);
            self.is_used[colour] = false;
        }
        self.used.clear();
    }
}

/// The palette entry for a pixel, with the dither's `threshold` (0..64) deciding between the two
/// nearest levels of each channel. Green goes up where red and blue go down, so that the pattern
/// is mostly one of hue, which the eye hardly resolves.
fn dithered_color(pixel: [u8; 3], threshold: u8) -> usize {
    let thresholds = [threshold, 63 - threshold, threshold].map(u32::from);
    let mut colour = 0;
    for ((sample, levels), threshold) in pixel.into_iter().zip(LEVELS).zip(thresholds) {
        // In units of 1/64 level.
        let position = u32::from(sample) * u32::from(levels - 1) * 64 / 255;
        let level = (position + threshold) >> 6;
        colour = colour * usize::from(levels) + level.min(u32::from(levels) - 1) as usize;
    }
    colour
}

/// Selects a colour register, after defining it (in percent) on its first use in this picture: to
/// define one is not yet to select it.
fn select_color(out: &mut String, colour: usize, seen: &mut bool) {
    // Writing into a string cannot fail.
    if !std::mem::replace(seen, true) {
        let [_, green, blue] = LEVELS.map(usize::from);
        let percent = |level: usize, levels: u8| (level * 100).div_ceil(usize::from(levels) - 1);
        let _ = write!(
            out,
            "#{colour};2;{};{};{}",
            percent(colour / (green * blue), LEVELS[0]),
            percent(colour / blue % green, LEVELS[1]),
            percent(colour % blue, LEVELS[2]),
        );
    }
    let _ = write!(out, "#{colour}");
}

/// Writes one colour's masks, runs of four and more as a count, without the blank end.
fn write_runs(out: &mut String, masks: &[u8]) {
    let end = masks.iter().rposition(|&mask| mask != 0).map_or(0, |last| last + 1);
    for run in masks[..end].chunk_by(|a, b| a == b) {
        let sixel = char::from(b'?' + run[0]);
        if run.len() > 3 {
            let _ = write!(out, "!{}{sixel}", run.len());
        } else {
            out.extend(std::iter::repeat_n(sixel, run.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(rgb: &[u8], size: (u32, u32)) -> String {
        match encode(rgb, size) {
            Encoded::Sequence(sequence) => sequence.to_string(),
            other => panic!("not a sequence: {other:?}"),
        }
    }

    /// Paints a sequence as a terminal would: colours in percent, by pixel.
    fn paint(sequence: &str, width: usize, height: usize) -> Vec<Option<[u8; 3]>> {
        let mut pixels = vec![None; width * height];
        let mut palette = vec![[0; 3]; 256];
        let body = sequence.strip_prefix("\x1bP0;1;0q").and_then(|s| s.strip_suffix("\x1b\\"));
        let body = body.expect("one device control string");
        let (mut x, mut band, mut colour) = (0, 0, 0);
        let mut bytes = body.bytes().peekable();
        let numbers = |bytes: &mut std::iter::Peekable<std::str::Bytes>| {
            let mut text = String::new();
            while let Some(&next) = bytes.peek().filter(|b| b.is_ascii_digit() || **b == b';') {
                text.push(char::from(next));
                bytes.next();
            }
            text.split(';').map(|n| n.parse::<usize>().expect("a number")).collect::<Vec<_>>()
        };
        while let Some(byte) = bytes.next() {
            let mut count = 1;
            let mut six = byte;
            match byte {
                b'"' => assert_eq!(numbers(&mut bytes), [1, 1, width, height]),
                b'#' => {
                    let given = numbers(&mut bytes);
                    if let [register, 2, r, g, b] = given[..] {
                        palette[register] = [r, g, b].map(|p| u8::try_from(p).expect("percent"));
                    } else {
                        colour = given[0];
                    }
                }
                b'$' => x = 0,
                b'-' => (x, band) = (0, band + 1),
                b'!' => {
                    count = numbers(&mut bytes)[0];
                    six = bytes.next().expect("a sixel");
                }
                b'?'..=b'~' => {}
                other => panic!("stray byte {other}"),
            }
            if (b'?'..=b'~').contains(&six) {
                for _ in 0..count {
                    for bit in (0..6).filter(|bit| (six - b'?') >> bit & 1 == 1) {
                        pixels[(band * 6 + bit) * width + x] = Some(palette[colour]);
                    }
                    x += 1;
                }
            }
        }
        pixels
    }

    #[test]
    fn every_pixel_is_painted_once_in_nearly_its_colour() {
        let (width, height) = (37_usize, 20_usize);
        let rgb: Vec<u8> = (0..width * height)
            .flat_map(|i| {
                [(i % width * 6).to_le_bytes()[0], (i / width * 12).to_le_bytes()[0], 128]
            })
            .collect();
        let painted = paint(&sequence(&rgb, (37, 20)), width, height);
        let mut error = [0_i32; 3];
        for (pixel, given) in painted.iter().zip(rgb.as_chunks::<3>().0) {
            let percent = pixel.expect("painted");
            for (channel, error) in error.iter_mut().enumerate() {
                let level = i32::from(percent[channel]) * 255 / 100;
                assert!((level - i32::from(given[channel])).abs() <= 52);
                *error += level - i32::from(given[channel]);
            }
        }
        // The dither is right on the average.
        assert!(error.iter().all(|sum| sum.abs() / 740 <= 2), "{error:?}");
    }

    #[test]
    fn pure_colours_stay_pure() {
        for (pixel, percent) in [([0, 0, 0], [0, 0, 0]), ([255, 255, 255], [100, 100, 100])] {
            let rgb: Vec<u8> = pixel.repeat(64);
            let painted = paint(&sequence(&rgb, (8, 8)), 8, 8);
            assert!(painted.iter().all(|pixel| *pixel == Some(percent)));
        }
    }
}
