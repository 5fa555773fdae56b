//! The brushes: a canvas, colours, shapes, and the strokes that make air, land and water.
//! They know pixels, chances and light, but no scene.

pub mod air;
pub mod canvas;
pub mod colour;
pub mod finish;
pub mod land;
pub mod noise;
pub mod shape;
pub mod tree;
pub mod water;

pub use canvas::{Canvas, Ink};
pub use colour::{BLACK, Rgb, WHITE, gradient, rgb, smooth};
pub use noise::Noise;
