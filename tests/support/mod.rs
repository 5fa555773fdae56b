//! Helpers that the tests of the core, the screens and hostile text share.

pub mod app_harness;
pub mod duplicates;
pub mod frames;
pub mod map;
pub mod scene;
pub mod styled;
