//! Converts the colors of printing to sRGB.

use crate::color_profile::{SourceColors, cmyk_to_srgb};

/// Converts rows of `N` samples a pixel to RGB in place, which needs no second buffer of this size. `inks` gives the
/// amounts of cyan, magenta, yellow and black.
pub fn convert_rows<const N: usize>(
    samples: &mut Vec<u8>,
    width: usize,
    colors: Option<&SourceColors>,
    inks_of: impl Fn([u8; N]) -> [u8; 4],
) {
    let transform = colors.and_then(cmyk_to_srgb);
    let (mut inks, mut converted) = (vec![[0; 4]; width], vec![[0; 3]; width]);
    let rows = samples.len() / (N * width);
    for y in 0..rows {
        for (ink, stored) in inks.iter_mut().zip(samples[N * width * y..].as_chunks().0) {
            *ink = inks_of(*stored);
        }
        let transformed = transform.as_ref().is_some_and(|transform| {
            transform.transform(inks.as_flattened(), converted.as_flattened_mut()).is_ok()
        });
        if !transformed {
            for (color, ink) in converted.iter_mut().zip(&inks) {
                *color = without_profile(*ink);
            }
        }
        samples[3 * width * y..][..3 * width].copy_from_slice(converted.as_flattened());
    }
    samples.truncate(3 * width * rows);
}

/// The usual conversion of inks of which nothing is known.
fn without_profile([cyan, magenta, yellow, black]: [u8; 4]) -> [u8; 3] {
    [cyan, magenta, yellow].map(|ink| {
        let light = u32::from(255 - ink) * u32::from(255 - black);
        u8::try_from((light + 127) / 255).unwrap_or(u8::MAX)
    })
}
