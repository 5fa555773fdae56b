//! Converts the four colors of printing to sRGB, and decodes JPEGs that store them as CMYK or YCCK. The JPEG crate that
//! `image` uses is called directly, because `image` converts these colors without their profile.

use image::{ColorType, RgbImage};
use zune_jpeg::{
    JpegDecoder,
    errors::DecodeErrors,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

use crate::{
    jpeg::{Jpeg, ycbcr_to_rgb},
    limits::{DecodeError, lock_memory},
    raster::to_picture,
    source_colors::{SourceColors, cmyk_to_srgb},
};

/// Converts rows of `N` samples per pixel to RGB in place, so that no second buffer of this size is needed. `inks_of`
/// returns the amounts of cyan, magenta, yellow and black.
pub fn convert_cmyk_rows<const N: usize>(
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

/// Converts inks that have no profile, in the same way as most programs.
fn without_profile([cyan, magenta, yellow, black]: [u8; 4]) -> [u8; 3] {
    [cyan, magenta, yellow].map(|ink| {
        let light = u32::from(255 - ink) * u32::from(255 - black);
        u8::try_from((light + 127) / 255).unwrap_or(u8::MAX)
    })
}

/// Decodes the JPEG to sRGB, with at least `min_side` pixels on the shorter side.
pub fn decode_cmyk_jpeg(bytes: &[u8], jpeg: &Jpeg, min_side: u32) -> Result<RgbImage, DecodeError> {
    let size = jpeg.size();
    let _lock = lock_memory(jpeg.estimated_bytes())?;
    let mut samples = if jpeg.has_common_layout() {
        decode_samples(bytes, jpeg.is_ycck())
            .map_err(|error| DecodeError(format!("damaged JPEG: {error}")))?
    } else {
        jpeg.decode_uncommon_samples()?
    };
    if samples.len() as u64 != 4 * u64::from(size.0) * u64::from(size.1) {
        return Err(DecodeError("the decoder gave too few pixels".to_owned()));
    }
    let width = usize::try_from(size.0).unwrap_or(usize::MAX);
    let (is_ycck, colors) = (jpeg.is_ycck(), jpeg.source_colors());
    convert_cmyk_rows(&mut samples, width, colors.as_ref(), |stored| stored_inks(stored, is_ycck));
    to_picture(samples, size, ColorType::Rgb8, min_side, None)
}

/// Returns the samples as stored.
fn decode_samples(bytes: &[u8], is_ycck: bool) -> Result<Vec<u8>, DecodeErrors> {
    let stored = if is_ycck { ColorSpace::YCCK } else { ColorSpace::CMYK };
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::MAX)
        .set_max_height(usize::MAX)
        .jpeg_set_out_colorspace(stored);
    JpegDecoder::new_with_options(ZCursor::new(bytes), options).decode()
}

/// Returns the amounts of cyan, magenta, yellow and black. A JPEG stores inks inverted, which Adobe began and every
/// program expects. In YCCK, all inks except black are converted like red, green and blue.
fn stored_inks([first, second, third, black]: [u8; 4], is_ycck: bool) -> [u8; 4] {
    let [cyan, magenta, yellow] = if is_ycck {
        ycbcr_to_rgb([first, second, third])
    } else {
        [first, second, third].map(|sample| 255 - sample)
    };
    [cyan, magenta, yellow, 255 - black]
}
