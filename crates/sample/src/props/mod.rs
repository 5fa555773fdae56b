//! Single objects about one unit tall, drawn in their own coordinates and with the scene's colors.

pub mod desert;
pub mod flower;
pub mod sailboat;
pub mod sky;

use super::prelude;
