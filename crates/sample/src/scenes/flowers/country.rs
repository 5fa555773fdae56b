//! Sky and distant hills above the flowers.

use super::prelude::*;

/// A name for captions, and the colors of petals, inner petals and center.
pub type FlowerColors = (&'static str, [u32; 3]);

pub fn draw_country(s: &mut Scene, horizon: f32, green: Rgb) {
    s.fill_sky(horizon);
    s.add_cumulus(horizon * 0.8);
    let h = s.canvas.h;
    for step in 0..2 {
        let base = horizon / h + 0.02 * step as f32;
        let line = Terrain::rolling_hills(&s.canvas, s.rng.next(), base, 0.1, 1.8);
        let color = s.light.tint(green.mix(rgb(0x2f6a50), 0.4), 0.55 - 0.3 * step as f32);
        line.fill_gradient(&mut s.canvas, color, color.mix(s.light.haze, 0.3), h * 0.1);
    }
}
