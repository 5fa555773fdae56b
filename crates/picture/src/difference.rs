//! Shows where two pictures differ: the first one dimmed and gray, the differences in red.

use image::{Rgb, RgbImage};

use crate::{
    canvas::Canvas,
    decode::decode_for,
    error::DecodeError,
    fit::{Fit, resize},
    thumbnail::{Thumbnail, encode, fit_picture},
    view::Crop,
};

/// Smaller differences of a color channel come from the compression.
const MIN_DIFFERENCE: u8 = 16;
/// The red of the smallest difference that is shown.
const MIN_RED: u8 = 96;

/// Draws the difference of two pictures within the crop. The second one is scaled to the size of the
/// first, so that copies of another size can be compared.
pub fn difference(
    [one, other]: [&[u8]; 2],
    crop: &Crop,
    canvas: Canvas,
) -> Result<Thumbnail, DecodeError> {
    let mut fitted = fit_picture(one, crop, canvas)?;
    let other = fit_to(other, crop, fitted.fit)?;
    for (pixel, other) in fitted.picture.pixels_mut().zip(other.pixels()) {
        *pixel = difference_color(*pixel, *other);
    }
    encode(fitted, canvas)
}

/// The crop of a picture at the size of another one.
fn fit_to(bytes: &[u8], crop: &Crop, fit: Fit) -> Result<RgbImage, DecodeError> {
    let decoded =
        decode_for(bytes, |original| fit.min_decoded_side(crop.size_in(original), original))?;
    resize(&crop.apply(&decoded.pixels), fit.pixels)
}

fn difference_color(Rgb(one): Rgb<u8>, Rgb(other): Rgb<u8>) -> Rgb<u8> {
    let mean = one.iter().map(|channel| u16::from(*channel)).sum::<u16>() / 3;
    let gray = u8::try_from(mean / 3).unwrap_or(u8::MAX);
    let channels = one.iter().zip(&other).map(|(one, other)| one.abs_diff(*other));
    match channels.max().unwrap_or(0) {
        0..MIN_DIFFERENCE => Rgb([gray; 3]),
        most => Rgb([MIN_RED.saturating_add(most), gray / 2, gray / 2]),
    }
}
