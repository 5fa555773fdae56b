//! Pictures over cells.

mod color_depth;
mod diacritics;
mod kitty;
mod layer;
mod overdraw;

pub use color_depth::ColorDepth;
pub use kitty::delete_all_pictures;
pub use layer::{GraphicsSettings, PictureLayer, TerminalWrites};

use tessera_picture::{Canvas, PictureView};

/// The key of a picture: equal keys have equal pixels.
pub type PictureKey = (PictureView, Canvas);
