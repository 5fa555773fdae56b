//! Drawing primitives: the canvas and its colors, shapes, and parts of landscapes.

pub mod canvas;
pub mod landscape;
pub mod light;
pub mod shape;

pub use canvas::{BLACK, Canvas, Fill, Rgb, WHITE, gradient, rgb, smoothstep};
