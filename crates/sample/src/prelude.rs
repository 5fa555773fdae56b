//! What scenes and props need.

pub(super) use super::caption;
pub use super::{
    drawing::{
        BLACK, Canvas, Fill, Noise, Rgb, WHITE, gradient, rgb,
        shape::{
            Point, circle, closed_curve, closed_path, closed_spline, curve, ellipse, leaf,
            place_at, polygon, polyline, rect, rounded_rect,
        },
        sky, smoothstep,
        terrain::Terrain,
        tree::{Foliage, broadleaf_tree},
        water::{Water, draw_glitter, draw_water},
    },
    light::{Light, TimeOfDay},
    rng::Rng,
    scene::Scene,
};
pub use tessera_model::text::capitalize;
