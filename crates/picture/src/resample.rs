//! Scales pictures. Whole pictures are scaled for the terminal; parts of pictures are scaled to an exact size, with the
//! filter with which learned models were trained.

use fast_image_resize::{
    FilterType, ResizeAlg, ResizeOptions, Resizer,
    images::{TypedImage, TypedImageRef},
    pixels::U8x3,
};
use image::RgbImage;

use crate::limits::DecodeError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResampleFilter {
    Nearest,
    Box,
    Bilinear,
    Hamming,
    Bicubic,
    Lanczos,
}

/// A part of a picture. The coordinates are in pixels and may be fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PicturePart {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// Resamples a part of a picture.
///
/// # Errors
/// The part is not inside the picture.
pub fn resample(
    picture: &RgbImage,
    part: PicturePart,
    size: (u32, u32),
    filter: ResampleFilter,
) -> Result<RgbImage, DecodeError> {
    let algorithm = match filter {
        ResampleFilter::Nearest => ResizeAlg::Nearest,
        ResampleFilter::Box => ResizeAlg::Convolution(FilterType::Box),
        ResampleFilter::Bilinear => ResizeAlg::Convolution(FilterType::Bilinear),
        ResampleFilter::Hamming => ResizeAlg::Convolution(FilterType::Hamming),
        ResampleFilter::Bicubic => ResizeAlg::Convolution(FilterType::CatmullRom),
        ResampleFilter::Lanczos => ResizeAlg::Convolution(FilterType::Lanczos3),
    };
    let PicturePart { left, top, width, height } = part;
    let options = ResizeOptions::new().resize_alg(algorithm).crop(left, top, width, height);
    resize_with(picture, size, &options)
}

/// Resizes a whole picture.
pub fn resize(picture: &RgbImage, size: (u32, u32)) -> Result<RgbImage, DecodeError> {
    if picture.dimensions() == size {
        return Ok(picture.clone());
    }
    // The Hamming filter keeps edges crisp in a small tile, without the ringing of a wider filter.
    let filter =
        if size.0 < picture.width() { FilterType::Hamming } else { FilterType::CatmullRom };
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter));
    resize_with(picture, size, &options)
}

fn resize_with(
    picture: &RgbImage,
    size: (u32, u32),
    options: &ResizeOptions,
) -> Result<RgbImage, DecodeError> {
    let describe = |error: &dyn std::fmt::Display| DecodeError(format!("cannot resize: {error}"));
    let (width, height) = picture.dimensions();
    // The pixel type is given explicitly, because `resize` would compile the filters for thirteen types.
    let from = TypedImageRef::<U8x3>::from_buffer(width, height, picture.as_raw())
        .map_err(|error| describe(&error))?;
    let mut resized = RgbImage::new(size.0, size.1);
    let mut to = TypedImage::<U8x3>::from_buffer(size.0, size.1, &mut resized)
        .map_err(|error| describe(&error))?;
    Resizer::new().resize_typed(&from, &mut to, options).map_err(|error| describe(&error))?;
    Ok(resized)
}
