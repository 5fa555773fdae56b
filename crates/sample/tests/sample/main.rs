//! The sample dataset: its plan, its pictures, and its folder.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod folder;
mod plan;
mod render;
