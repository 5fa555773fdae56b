//! The view: reads `&App` and writes cells, with a file per pane named like its state in `app/pane`.
//!
//! It keeps no state, except the [`PictureLayer`]: terminals store pictures.

mod bars;
mod draw_context;
mod hints;
mod hover;
mod overlay;
mod pane;
pub mod picture_layer;
mod results_header;
mod screen;
mod suggested_actions;
pub mod theme;
mod tile;
mod viewer;
pub mod welcome;
mod widget;

use draw_context::DrawContext;
pub use hover::HoverTexts;
pub use picture_layer::PictureLayer;
pub use results_header::arrangement_text;
pub use screen::{draw, draw_with_texts};
pub use theme::Theme;
