//! The scenes, one file per kind. Each kind has several variants. Light, counts and colors vary with the seed.

pub mod balloons;
pub mod city;
pub mod desert;
pub mod flowers;
pub mod lighthouse;
pub mod planets;
pub mod sailing;

/// The names that all scenes need.
mod prelude {
    pub use super::super::{
        drawing::{
            BLACK, Canvas, Fill, Rgb, WHITE, gradient,
            landscape::{self, Foliage, Terrain, Water, broadleaf_tree, draw_glitter},
            light::{Light, TimeOfDay},
            rgb,
            shape::{
                Point, circle, closed_curve, closed_path, closed_spline, curve, ellipse, leaf,
                place_at, polygon, polyline, rect, rounded_rect,
            },
            smoothstep,
        },
        random::{Noise, Rng},
        scene::{Scene, article, join_words, number_word, plural},
    };
    pub use tessera_model::text::capitalize;
}
