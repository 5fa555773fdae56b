//! Renders the sample dataset: small landscapes whose captions, labels and bounding boxes are known.
//!
//! A seed and a number of images determine a plan. The plan lists every fact without rendering a pixel, and each of its
//! images can be rendered alone, in any order, on any core. Some images have a planted issue (near-duplicate, blurred,
//! dark, bright), which is the ground truth for search and curation.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::unreadable_literal,
    reason = "rendering: pixels are counted and placed in fractions by x, y, w and h, and colors are written as in style sheets"
)]

mod drawing;
mod folder;
mod plan;
mod random;
mod sample_image;
mod scene;
mod scenes;

pub use folder::write;
pub use plan::plan;
pub use sample_image::{Edit, PlantedIssue, SampleImage, SceneKind, render};
pub use scene::LabeledBox;
