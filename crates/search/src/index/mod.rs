//! Computes the features by which an image is compared and judged: descriptor, perceptual hash, keypoints and quality.
//! Start at `extract`.
//!
//! An image is decoded once and resized to thumbnail size once. All features are computed from those pixels.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "pixel arithmetic: counts are small and values clamped to their range"
)]

mod descriptor;
mod features;
mod keypoints;
pub mod quality;

pub use descriptor::DIMENSION;
pub use features::{
    Features, THUMBNAIL_SIDE, decode_regions, extract, extract_regions, region_in_pixels,
    whole_pixels,
};
pub(crate) use features::{TurnedView, turned_views};
pub(crate) use keypoints::decode_keypoints;
pub use keypoints::{CornerColor, Keypoint, Keypoints};
