//! A displayed picture: which picture it is, and which part of it is shown. Equal views have equal pixels on equal
//! canvases, so a view is the key of all picture caches. A picture is cropped first, then fitted, and regions are
//! outlined in the fitted pixels.

use std::{borrow::Cow, path::PathBuf, sync::Arc};

use image::{Rgb, RgbImage, imageops::crop_imm};

use crate::{
    decode::with_spare_pixels,
    fit::{Canvas, Fit, Protocol},
};
use tessera_model::{MediaId, Region};

/// A picture, identified independently of its link, because links expire.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureSubject {
    Media(MediaId),
    File(PathBuf),
    ArchiveEntry(PathBuf, String),
    /// The difference between two media items.
    Difference(MediaId, MediaId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Crop {
    Full,
    /// The whole picture, with the region outlined and the rest dimmed.
    Highlighted(Region),
    Region(Region),
    /// A region, enlarged as far as the canvas allows, with outlined boxes (in fractions of the whole picture).
    Zoomed(Region, Arc<[Region]>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PictureView {
    pub subject: PictureSubject,
    pub crop: Crop,
}

impl PictureView {
    pub fn differs_only_in_region(&self, other: &Self) -> bool {
        let like = matches!(
            (&self.crop, &other.crop),
            (Crop::Full, Crop::Full)
                | (Crop::Highlighted(_), Crop::Highlighted(_))
                | (Crop::Region(_), Crop::Region(_))
                | (Crop::Zoomed(..), Crop::Zoomed(..))
        );
        like && self.subject == other.subject
    }
}

impl From<MediaId> for PictureView {
    fn from(media: MediaId) -> Self {
        Self { subject: PictureSubject::Media(media), crop: Crop::Full }
    }
}

/// The color of an outline, and the color of the edge around it, which keeps it visible on any background.
const LINE_COLOR: [u8; 3] = [255, 255, 255];
const EDGE_COLOR: [u8; 3] = [0, 0, 0];
/// The colors of the lines from the outside to the inside.
const LINE_COLORS: [[u8; 3]; 4] = [EDGE_COLOR, LINE_COLOR, LINE_COLOR, EDGE_COLOR];

impl Crop {
    /// Returns the size of the crop of a picture. Each side is at least 1.
    pub(super) fn size_in(&self, original: (u32, u32)) -> (u32, u32) {
        match self {
            Self::Full | Self::Highlighted(_) => original,
            Self::Region(region) | Self::Zoomed(region, _) => region.pixels(original).1,
        }
    }

    /// Fits the crop of a picture of `original` pixels into the canvas.
    pub(super) fn fit(&self, original: (u32, u32), canvas: Canvas) -> Fit {
        let size = self.size_in(original);
        match self {
            Self::Full | Self::Highlighted(_) | Self::Region(_) => Fit::new(size, canvas),
            Self::Zoomed(..) => Fit::enlarged(size, canvas),
        }
    }

    /// Returns the shorter side, in pixels, that a decode of the picture must have so that the crop is not enlarged on
    /// the canvas.
    pub fn min_decoded_side(&self, original: (u32, u32), canvas: Canvas) -> u32 {
        self.min_decoded_side_for(self.fit(original, canvas), original)
    }

    /// Like [`Self::min_decoded_side`], for a crop that is fitted to the size of another picture.
    pub(super) fn min_decoded_side_for(&self, fit: Fit, original: (u32, u32)) -> u32 {
        let side = fit.min_decoded_side(self.size_in(original), original);
        if matches!(self, Self::Zoomed(..)) { with_spare_pixels(side) } else { side }
    }

    pub(super) fn apply<'a>(&self, picture: &'a RgbImage) -> Cow<'a, RgbImage> {
        match self {
            Self::Full | Self::Highlighted(_) => Cow::Borrowed(picture),
            Self::Region(region) | Self::Zoomed(region, _) => {
                let ((x, y), (width, height)) = region.pixels(picture.dimensions());
                Cow::Owned(crop_imm(picture, x, y, width, height).to_image())
            }
        }
    }

    /// Dims the pixels around a highlighted region and outlines it. Half-blocks are too coarse for the lines of a
    /// highlighted region, so the drawing layer draws characters over them. The boxes of a zoomed region are always
    /// drawn.
    pub(super) fn draw_outlines(&self, picture: &mut RgbImage, protocol: Protocol) {
        match self {
            Self::Full | Self::Region(_) => {}
            Self::Highlighted(region) => {
                dim_outside(picture, *region, protocol != Protocol::HalfBlock);
            }
            Self::Zoomed(part, boxes) => {
                for each in boxes.iter() {
                    outline(picture, *part, *each, protocol == Protocol::HalfBlock);
                }
            }
        }
    }
}

/// Dims the pixels outside the region. With `lines`, also draws a dark and a bright line inside the region.
fn dim_outside(picture: &mut RgbImage, region: Region, lines: bool) {
    let ((left, top), (width, height)) = region.pixels(picture.dimensions());
    // The distance in pixels from the border of the region, or 0 outside the region.
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

/// Outlines the visible part of a box in a picture that shows `part`. If `is_coarse`, the outline is one bright line;
/// otherwise it is a bright line between two dark ones.
fn outline(picture: &mut RgbImage, part: Region, outlined: Region, is_coarse: bool) {
    let size = (f64::from(picture.width()), f64::from(picture.height()));
    let position = |(x, y): (f64, f64)| {
        ((x - part.x) / part.width * size.0, (y - part.y) / part.height * size.1)
    };
    let (start, end) = (position(outlined.top_left()), position(outlined.bottom_right()));
    let colors: &[[u8; 3]] = if is_coarse { &[LINE_COLOR] } else { &LINE_COLORS };
    for (color, inset) in colors.iter().zip([0.0, 1.0, 2.0, 3.0]) {
        let (left, top) = ((start.0 + inset).round(), (start.1 + inset).round());
        let right = ((end.0 - inset).round() - 1.0).max(left);
        let bottom = ((end.1 - inset).round() - 1.0).max(top);
        let (horizontal, vertical) = (clip(left, right, size.0), clip(top, bottom, size.1));
        for x in horizontal {
            set_pixel(picture, (f64::from(x), top), *color);
            set_pixel(picture, (f64::from(x), bottom), *color);
        }
        for y in vertical {
            set_pixel(picture, (left, f64::from(y)), *color);
            set_pixel(picture, (right, f64::from(y)), *color);
        }
    }
}

/// Returns the pixels of a side that lie between two positions.
fn clip(from: f64, to: f64, side: f64) -> std::ops::Range<u32> {
    let pixel = |at: f64| to_pixel(at.clamp(0.0, side));
    pixel(from)..pixel(to + 1.0)
}

/// Colors a pixel if it is inside the picture.
fn set_pixel(picture: &mut RgbImage, (x, y): (f64, f64), color: [u8; 3]) {
    if x >= 0.0
        && y >= 0.0
        && let Some(pixel) = picture.get_pixel_mut_checked(to_pixel(x), to_pixel(y))
    {
        *pixel = Rgb(color);
    }
}

fn to_pixel(position: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and a float cast saturates"
    )]
    let pixel = position as u32;
    pixel
}
