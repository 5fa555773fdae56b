//! Drawing primitives: canvas, colors, shapes, sky, terrain, trees and water.

pub mod canvas;
pub mod color;
pub mod noise;
pub mod shape;
pub mod sky;
pub mod terrain;
pub mod tree;
pub mod water;

pub use canvas::{Canvas, Fill};
pub use color::{BLACK, Rgb, WHITE, gradient, rgb, smoothstep};
pub use noise::Noise;
