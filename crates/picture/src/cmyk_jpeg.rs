//! Decodes JPEGs with the four colors of printing, stored as CMYK or YCCK, by the crate that `image` uses: that converts
//! them without their profile.

use image::{ColorType, RgbImage};
use zune_jpeg::{
    JpegDecoder,
    errors::DecodeErrors,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

use crate::{
    cmyk::convert_rows,
    error::DecodeError,
    jpeg::{Jpeg, ycbcr_to_rgb},
    raster::{lock_memory, to_picture},
};

/// Decodes to sRGB, with at least `min_side` pixels on the shorter side.
pub fn decode(bytes: &[u8], jpeg: &Jpeg, min_side: u32) -> Result<RgbImage, DecodeError> {
    let size = jpeg.size();
    // Four samples a pixel, and their coefficients of two bytes.
    let bytes_per_pixel = if jpeg.is_progressive() { 12 } else { 4 };
    let _lock = lock_memory(bytes_per_pixel * u64::from(size.0) * u64::from(size.1))?;
    let (mut samples, stored_colors) =
        decode_samples(bytes).map_err(|error| DecodeError(format!("damaged JPEG: {error}")))?;
    if samples.len() as u64 != 4 * u64::from(size.0) * u64::from(size.1) {
        return Err(DecodeError("the decoder gave too few pixels".to_owned()));
    }
    let width = usize::try_from(size.0).unwrap_or(usize::MAX);
    let is_ycck = stored_colors == ColorSpace::YCCK;
    let colors = jpeg.source_colors();
    convert_rows(&mut samples, width, colors.as_ref(), |stored| stored_inks(stored, is_ycck));
    to_picture(samples, size, ColorType::Rgb8, min_side, None)
}

/// The samples as stored, and whether they are CMYK or YCCK.
fn decode_samples(bytes: &[u8]) -> Result<(Vec<u8>, ColorSpace), DecodeErrors> {
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::MAX)
        .set_max_height(usize::MAX);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers()?;
    let colors = decoder.input_colorspace().unwrap_or(ColorSpace::CMYK);
    decoder.set_options(options.jpeg_set_out_colorspace(colors));
    Ok((decoder.decode()?, colors))
}

/// The amounts of cyan, magenta, yellow and black. They are stored inverted, as Adobe does and everyone expects; those
/// of YCCK are converted like red, green and blue, but black.
fn stored_inks([first, second, third, black]: [u8; 4], is_ycck: bool) -> [u8; 4] {
    let [cyan, magenta, yellow] = if is_ycck {
        ycbcr_to_rgb([first, second, third])
    } else {
        [first, second, third].map(|sample| 255 - sample)
    };
    [cyan, magenta, yellow, 255 - black]
}
