//! Pictures over cells.

mod color_depth;
mod diacritics;
mod kitty;
mod layer;
mod overdraw;

pub use color_depth::ColorDepth;
pub use layer::{GraphicsSettings, PictureKey, PictureLayer, TerminalWrites, delete_all_pictures};
