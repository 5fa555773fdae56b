//! Water: reflects what is above it, broken by ripples. Draw it after everything that it reflects.

use super::{Canvas, Noise, Rgb, smoothstep};

#[derive(Clone, Copy)]
pub struct Water {
    /// First row of the water, in pixels.
    pub top: f32,
    pub deep: Rgb,
    /// How much it reflects, 0.0-1.0.
    pub reflectivity: f32,
    /// 0.0 for a pond, 1.0 for open sea.
    pub roughness: f32,
    pub highlight: Rgb,
}

pub fn draw_water(c: &mut Canvas, seed: u64, water: Water) {
    let (noise, unit, width) = (Noise::new(seed), c.unit(), c.w);
    let span = (c.h - water.top).max(1.0);
    c.map_pixels_with_source(water.top, |x, y, source| {
        let near = ((y - water.top) / span).clamp(0.0, 1.0);
        let scale = 0.06 + near;
        let (u, v) =
            ((x - width * 0.5) / unit / scale * 2.6 + 60.0, 9.0 / scale.sqrt() / scale.sqrt());
        let wave = noise.at(u, v * 2.2) * 0.65 + noise.at(u * 2.3 + 5.0, v * 5.1) * 0.35 - 0.5;
        let shift = wave * unit * (0.02 + 0.16 * near) * (0.25 + water.roughness);
        let reflection =
            source(x + shift * 0.5, (water.top - 1.0) - (y - water.top) * 0.92 + shift * 1.4);
        let own = (1.0 - water.reflectivity) + 0.35 * near * water.reflectivity;
        let base = reflection.mix(water.deep, own.clamp(0.0, 1.0));
        let light =
            smoothstep(0.06, 0.3, wave) * (0.25 + 0.75 * near) * (0.2 + 0.5 * water.roughness);
        let dark = smoothstep(0.02, -0.3, wave) * near * (0.15 + 0.3 * water.roughness);
        base.mix(water.highlight, light * 0.6).mix(water.deep.scale(0.6), dark)
    });
}

/// Draws the broken reflection of a sun or moon at the column `x`.
pub fn draw_glitter(c: &mut Canvas, seed: u64, top: f32, x: f32, color: Rgb, strength: f32) {
    let (noise, unit, span) = (Noise::new(seed), c.unit(), (c.h - top).max(1.0));
    c.map_pixels((0.0, c.w), (top, c.h), |px, py, now| {
        let near = (py - top) / span;
        let offset = ((px - x) / (unit * (0.035 + 0.16 * near))).abs();
        if offset > 2.2 {
            return now;
        }
        let scale = (0.08 + near).sqrt();
        let wave = noise.at((px - x) / unit / scale * 9.0 + 30.0, 64.0 / (0.16 + scale));
        let spark = smoothstep(0.42 + 0.18 * offset, 0.62 + 0.2 * offset, wave);
        now.screen(color.scale(spark * strength * (1.0 - 0.35 * near)))
    });
}
