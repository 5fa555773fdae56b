//! Crops a picture before it is fitted, or outlines a region in its pixels afterwards.

use std::borrow::Cow;

use image::{Rgb, RgbImage, imageops::crop_imm};

use crate::{canvas::Protocol, view::Crop};
use tessera_model::Region;

/// The outline, and the line around it that keeps it visible on any background.
const LINE_COLOR: [u8; 3] = [255, 255, 255];
const EDGE_COLOR: [u8; 3] = [0, 0, 0];

impl Crop {
    /// The size of the crop of a picture; each side is at least 1.
    pub(super) fn size_in(self, original: (u32, u32)) -> (u32, u32) {
        match self {
            Self::Full | Self::Highlighted(_) => original,
            Self::Region(region) => region.pixels(original).1,
        }
    }

    pub(super) fn apply(self, picture: &RgbImage) -> Cow<'_, RgbImage> {
        match self {
            Self::Full | Self::Highlighted(_) => Cow::Borrowed(picture),
            Self::Region(region) => {
                let ((x, y), (width, height)) = region.pixels(picture.dimensions());
                Cow::Owned(crop_imm(picture, x, y, width, height).to_image())
            }
        }
    }

    /// Dims the pixels around a highlighted region, and outlines it. Half-blocks are too coarse for
    /// lines: the drawing layer draws characters over them.
    pub(super) fn draw_highlight(self, picture: &mut RgbImage, protocol: Protocol) {
        if let Self::Highlighted(region) = self {
            dim_outside(picture, region, protocol != Protocol::HalfBlock);
        }
    }
}

/// Dims the pixels outside the region; with `lines` it draws a dark and a bright line inside.
fn dim_outside(picture: &mut RgbImage, region: Region, lines: bool) {
    let ((left, top), (width, height)) = region.pixels(picture.dimensions());
    // The distance in pixels from the border of the region; 0 is outside.
    let depth = |at: u32, start: u32, length: u32| {
        let end = start + length;
        if (start..end).contains(&at) { (at - start + 1).min(end - at) } else { 0 }
    };
    for (x, y, Rgb(pixel)) in picture.enumerate_pixels_mut() {
        match depth(x, left, width).min(depth(y, top, height)) {
            0 => *pixel = pixel.map(|sample| sample / 2),
            1 if lines => *pixel = EDGE_COLOR,
            2 | 3 if lines => *pixel = LINE_COLOR,
            _ => {}
        }
    }
}
