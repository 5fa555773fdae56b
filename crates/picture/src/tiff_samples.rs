//! Converts the samples of a TIFF to eight bits. A page may state the range of its samples; 16 bits per sample often
//! contain only the 10 or 12 bits of a sensor.

use crate::tone_map::to_eight_bits;

/// The range of samples that a page states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedRange {
    /// The samples that are black and white.
    black: f64,
    white: f64,
    /// Whether the range is chosen for display, so that samples may be outside.
    pub is_for_display: bool,
}

impl StatedRange {
    pub const UNIT: Self = Self { black: 0.0, white: 1.0, is_for_display: false };

    /// Reads the range in a description that `ImageJ` wrote.
    pub fn of_imagej(description: &str) -> Option<Self> {
        let lines = description.strip_prefix("ImageJ=")?.lines();
        let number = |key: &str| {
            let text = lines.clone().find_map(|line| line.strip_prefix(key))?;
            text.trim().parse().ok()
        };
        Self { black: number("min=")?, white: number("max=")?, is_for_display: true }.validated()
    }

    /// Reads the number of bits that a microscope fills, in the XML of OME-TIFF.
    pub fn of_ome(description: &str) -> Option<Self> {
        let (_, rest) = description.split_once("<OME")?.1.split_once(" SignificantBits=\"")?;
        Self::of_bits(rest.split_once('"')?.0.parse().ok()?)
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

    /// Whether a sample contradicts the range. Samples may have fewer digits than the range.
    pub fn is_exceeded_by(self, sample: f64) -> bool {
        !self.is_for_display && sample > self.white + (self.white - self.black) / 1000.0
    }

    /// Scales a sample from this range to eight bits.
    pub fn to_byte(self, sample: f64) -> u8 {
        let level = (sample - self.black) / (self.white - self.black);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let byte = (level.clamp(0.0, 1.0) * 255.0).round() as u8;
        byte
    }
}

/// The samples of a page, pixel by pixel.
pub enum Samples {
    Bytes(Vec<u8>),
    /// Linear light, which is tone-mapped.
    Light(Vec<f32>),
}

impl Samples {
    pub fn into_bytes(self, channels: usize) -> Vec<u8> {
        match self {
            Self::Bytes(samples) => samples,
            Self::Light(samples) => to_eight_bits(&samples, channels),
        }
    }
}

/// Interleaves the samples of each pixel. `planes` is the number of planes that are stored one after the other, each
/// with one sample of every pixel.
pub fn interleaved(samples: Vec<u8>, planes: usize, channels: usize) -> Vec<u8> {
    let length = samples.len() / planes.max(1);
    if planes <= 1 || length == 0 {
        return samples;
    }
    let planes: Vec<&[u8]> = samples.chunks_exact(length).take(channels).collect();
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
        assert_eq!(interleaved(vec![1, 2, 10, 11, 16, 17], 3, 3), [1, 10, 16, 2, 11, 17]);
    }

    #[test]
    fn the_bits_of_a_microscope_are_read() {
        let xml = |attribute| format!("<?xml version=\"1.0\"?><OME><Image><Pixels {attribute}/>");
        let of = |attribute| StatedRange::of_ome(&xml(attribute));
        assert_eq!(of("ID=\"1\" SignificantBits=\"12\""), StatedRange::of_bits(12));
        assert_eq!(of("SignificantBits=\"16\""), None);
        assert_eq!(of("Type=\"uint16\""), None);
    }

    #[test]
    fn light_is_encoded() {
        let encoded = |light: &[f32]| Samples::Light(light.to_vec()).into_bytes(1);
        assert_eq!(encoded(&[-1.0, 0.5, 1.0]), [0, 188, 255]);
        let heights = encoded(&[-5.0, 300.0, 3000.0]);
        assert!(heights.is_sorted() && heights[0] == 0 && heights[2] == 255, "{heights:?}");
    }
}
