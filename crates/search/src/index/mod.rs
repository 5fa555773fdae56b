//! Computes the features of an image.
//!
//! An image is decoded once and resized to thumbnail size once; descriptor, perceptual hash and
//! quality scores are computed from those pixels.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "pixel arithmetic: counts are small and values clamped to their range"
)]

mod channel;
mod color;
mod corners;
mod descriptor;
mod descriptor_mean;
mod features;
mod grid;
mod keypoints;
mod orientation_histogram;
mod perceptual_hash;
pub mod quality;
mod region;
mod thumbnail;
mod turned_views;

pub use descriptor_mean::DIMENSION;
pub use features::{Features, decode_regions, extract, extract_regions};
pub use keypoints::{Keypoint, Keypoints, decode_keypoints};
pub use region::{region_in_pixels, whole_pixels};
pub use thumbnail::THUMBNAIL_SIDE;
pub use turned_views::{TurnedView, TurnedViews};
