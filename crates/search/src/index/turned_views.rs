//! A picture as it looks when it is turned by quarters, to recognize copies that were turned.

use image::{RgbImage, imageops};

use super::{Keypoints, channel::Channel, perceptual_hash, quality, thumbnail};
use tessera_picture::decode::{DecodeError, decode};

/// The views of a picture turned by 90, 180 and 270 degrees.
pub struct TurnedViews([TurnedView; 3]);

pub struct TurnedView {
    pixels: RgbImage,
    /// The perceptual hashes of the view and of its mirror image.
    pub hashes: [u64; 2],
}

impl TurnedViews {
    /// Turns the picture of a thumbnail.
    pub fn new(jpeg: &[u8]) -> Result<Self, DecodeError> {
        let upright = decode(jpeg, thumbnail::THUMBNAIL_SIDE)?.pixels;
        let [quarter, half, three] = [imageops::rotate90, imageops::rotate180, imageops::rotate270]
            .map(|turn: fn(&RgbImage) -> RgbImage| TurnedView::new(turn(&upright)));
        Ok(Self([quarter?, half?, three?]))
    }

    pub fn iter(&self) -> impl Iterator<Item = &TurnedView> {
        self.0.iter()
    }
}

impl TurnedView {
    fn new(pixels: RgbImage) -> Result<Self, DecodeError> {
        let square = thumbnail::square(&pixels)?;
        let mirrored = imageops::flip_horizontal(&square);
        let hashes = [&square, &mirrored].map(perceptual_hash::compute);
        Ok(Self { pixels, hashes })
    }

    pub fn keypoints(&self) -> Keypoints {
        let luma = quality::luma(&self.pixels);
        Keypoints::detect(&Channel::from_luma(self.pixels.width(), luma).smooth())
    }
}
