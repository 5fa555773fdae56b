//! Converts the samples of a TIFF to eight bits. A page may state the range of its samples; 16 bits per sample often
//! contain only the 10 or 12 bits of a sensor.

use tiff::decoder::DecodingResult;

use crate::tone_map::to_eight_bits;

/// The range of samples that a page states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedRange {
    /// The samples that are black and white.
    black: f64,
    white: f64,
    /// Whether the range is chosen for display, so that samples may be outside.
    is_for_display: bool,
}

impl StatedRange {
    /// Reads the range in a description that `ImageJ` wrote.
    pub fn of_imagej(description: &str) -> Option<Self> {
        let lines = description.strip_prefix("ImageJ=")?.lines();
        let number = |key: &str| {
            let text = lines.clone().find_map(|line| line.strip_prefix(key))?;
            text.trim().parse().ok()
        };
        Self { black: number("min=")?, white: number("max=")?, is_for_display: true }.validated()
    }

    /// Reads the ranges of the first channels in the metadata that `ImageJ` wrote. The first of the `parts` is a header,
    /// which lists the kinds of the other parts, and their number.
    pub fn of_imagej_channels(metadata: &[u8], parts: &[u32], channels: usize) -> Option<Self> {
        let mut parts = parts.iter().map(|&length| length as usize);
        let (header, mut rest) = metadata.split_at_checked(parts.next()?)?;
        let (magic, kinds) = header.split_first_chunk()?;
        let in_order = |bytes: &[u8; 4]| match magic {
            b"IJIJ" => u32::from_be_bytes(*bytes),
            _ => u32::from_le_bytes(*bytes),
        };
        for [kind, count] in kinds.as_chunks::<4>().0.as_chunks().0 {
            let length = parts.by_ref().take(in_order(count) as usize).sum();
            let (part, after) = rest.split_at_checked(length)?;
            if in_order(kind) == u32::from_be_bytes(*b"rang") {
                let limits = part.as_chunks().0.iter().take(2 * channels);
                let limits: Vec<f64> = match magic {
                    b"IJIJ" => limits.map(|bytes| f64::from_be_bytes(*bytes)).collect(),
                    _ => limits.map(|bytes| f64::from_le_bytes(*bytes)).collect(),
                };
                let range = Self::of_samples(&limits, &limits)?;
                return Some(Self { is_for_display: true, ..range });
            }
            rest = after;
        }
        None
    }

    /// Makes a range of the smallest and largest sample of each channel. The smallest sample is 0 if it is missing.
    pub fn of_samples(smallest: &[f64], largest: &[f64]) -> Option<Self> {
        let black = smallest.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let white = largest.iter().copied().reduce(f64::max)?;
        Self { black, white, is_for_display: false }.validated()
    }

    /// Returns the range of samples that fill neither eight nor 16 bits, but are stored in 16 bits.
    pub fn of_bits(bits: u8) -> Option<Self> {
        let white = f64::from((1_u32 << bits.min(16)) - 1);
        let range = Self { black: 0.0, white, is_for_display: false };
        (9..16).contains(&bits).then_some(range)
    }

    fn validated(self) -> Option<Self> {
        let is_valid = self.black.is_finite() && self.white.is_finite() && self.black < self.white;
        is_valid.then_some(self)
    }

    /// Scales samples from this range to eight bits. Returns `None` if the samples contradict the range, or if they
    /// have eight bits already, for which other programs ignore the largest sample.
    fn scale(self, stored: &DecodingResult) -> Option<Vec<u8>> {
        #[expect(clippy::cast_precision_loss, reason = "for eight bits")]
        match stored {
            DecodingResult::U8(_) if !self.is_for_display => None,
            DecodingResult::U8(samples) => self.scale_each(samples, f64::from),
            DecodingResult::U16(samples) => self.scale_each(samples, f64::from),
            DecodingResult::U32(samples) => self.scale_each(samples, f64::from),
            DecodingResult::U64(samples) => self.scale_each(samples, |sample| sample as f64),
            DecodingResult::I8(samples) => self.scale_each(samples, f64::from),
            DecodingResult::I16(samples) => self.scale_each(samples, f64::from),
            DecodingResult::I32(samples) => self.scale_each(samples, f64::from),
            DecodingResult::I64(samples) => self.scale_each(samples, |sample| sample as f64),
            DecodingResult::F16(samples) => self.scale_each(samples, f64::from),
            DecodingResult::F32(samples) => self.scale_each(samples, f64::from),
            DecodingResult::F64(samples) => self.scale_each(samples, f64::from),
        }
    }

    fn scale_each<T: Copy>(self, samples: &[T], number: impl Fn(T) -> f64) -> Option<Vec<u8>> {
        // Samples may have fewer digits than the range.
        let tolerance = (self.white - self.black) / 1000.0;
        let is_outside = |&sample: &T| number(sample) > self.white + tolerance;
        if !self.is_for_display && samples.iter().any(is_outside) {
            return None;
        }
        let scaled = |&sample: &T| {
            let level = (number(sample) - self.black) / (self.white - self.black);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let byte = (level.clamp(0.0, 1.0) * 255.0).round() as u8;
            byte
        };
        Some(samples.iter().map(scaled).collect())
    }
}

/// Converts samples of whole bytes to eight bits, and interleaves the samples of each pixel. `planes` is the number of
/// planes that are stored one after the other, each with one sample of every pixel. Samples fill the stated range.
/// Without it, unsigned integers fill the range of their type, and all other samples are light, which is tone-mapped.
pub fn to_bytes(
    stored: DecodingResult,
    planes: usize,
    channels: usize,
    range: Option<StatedRange>,
) -> Vec<u8> {
    if let Some(samples) = range.and_then(|range| range.scale(&stored)) {
        return interleaved(samples, planes, channels);
    }
    let light = match stored {
        DecodingResult::U8(samples) => return interleaved(samples, planes, channels),
        DecodingResult::U16(samples) => {
            return first_bytes(samples, [planes, channels], u16::to_be_bytes);
        }
        DecodingResult::U32(samples) => {
            return first_bytes(samples, [planes, channels], u32::to_be_bytes);
        }
        DecodingResult::U64(samples) => {
            return first_bytes(samples, [planes, channels], u64::to_be_bytes);
        }
        DecodingResult::F32(samples) => interleaved(samples, planes, channels),
        DecodingResult::I8(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::I16(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::F16(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::I32(samples) => {
            to_light(samples, [planes, channels], |sample| approximate(sample.into()))
        }
        #[expect(clippy::cast_precision_loss, reason = "for eight bits")]
        DecodingResult::I64(samples) => {
            to_light(samples, [planes, channels], |sample| sample as f32)
        }
        DecodingResult::F64(samples) => to_light(samples, [planes, channels], approximate),
    };
    to_eight_bits(&light, channels)
}

fn first_bytes<T: Copy, const N: usize>(
    samples: Vec<T>,
    [planes, channels]: [usize; 2],
    bytes: fn(T) -> [u8; N],
) -> Vec<u8> {
    interleaved(samples.into_iter().map(|sample| bytes(sample)[0]).collect(), planes, channels)
}

fn to_light<T: Copy>(
    samples: Vec<T>,
    [planes, channels]: [usize; 2],
    light: impl Fn(T) -> f32,
) -> Vec<f32> {
    interleaved(samples.into_iter().map(light).collect(), planes, channels)
}

#[expect(clippy::cast_possible_truncation, reason = "for eight bits")]
fn approximate(sample: f64) -> f32 {
    sample as f32
}

fn interleaved<T: Copy>(samples: Vec<T>, planes: usize, channels: usize) -> Vec<T> {
    let length = samples.len() / planes.max(1);
    if planes <= 1 || length == 0 {
        return samples;
    }
    let planes: Vec<&[T]> = samples.chunks_exact(length).take(channels).collect();
    (0..length).flat_map(|pixel| planes.iter().map(move |plane| plane[pixel])).collect()
}

/// Scales samples of less than eight bits to eight bits.
pub fn scale_to_byte(samples: &mut [u8], bits: u8) {
    if bits < 8 {
        let factor = u8::MAX / ((1 << bits) - 1);
        for sample in samples {
            *sample = sample.saturating_mul(factor);
        }
    }
}

pub fn divide_by_alpha(samples: &mut [u8], channels: usize) {
    for pixel in samples.chunks_exact_mut(channels) {
        if let Some((alpha @ 1.., colors)) = pixel.split_last_mut() {
            for color in colors {
                let divided = u32::from(*color) * 255 / u32::from(*alpha);
                *color = u8::try_from(divided).unwrap_or(u8::MAX);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_become_pixels() {
        let planes = DecodingResult::U16(vec![0x0100, 0x0200, 0x0A00, 0x0B00, 0x1000, 0x1100]);
        assert_eq!(to_bytes(planes, 3, 3, None), [1, 10, 16, 2, 11, 17]);
    }

    #[test]
    fn whole_numbers_fill_their_range_and_light_is_encoded() {
        assert_eq!(
            to_bytes(DecodingResult::U32(vec![0, 1 << 31, u32::MAX]), 1, 1, None),
            [0, 128, 255]
        );
        assert_eq!(to_bytes(DecodingResult::F64(vec![-1.0, 0.5, 1.0]), 1, 1, None), [0, 188, 255]);
        let heights = to_bytes(DecodingResult::I16(vec![-5, 300, 3000]), 1, 1, None);
        assert!(heights.is_sorted() && heights[0] == 0 && heights[2] == 255, "{heights:?}");
    }
}
