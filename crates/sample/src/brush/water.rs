//! Water: the picture above it mirrored, broken by ripples, with the path of the sun on it.
//! Painted after everything that stands above the water, for it reads those pixels.

use super::{Canvas, Noise, Rgb, smooth};

/// How a body of water looks.
#[derive(Clone, Copy)]
pub struct Water {
    /// First row of the water, in pixels.
    pub top: f32,
    /// Its own colour, near the viewer.
    pub deep: Rgb,
    /// How much it mirrors, 0.0-1.0.
    pub mirror: f32,
    /// How rough it is: 0.0 a pond, 1.0 open sea.
    pub rough: f32,
    /// Colour of the lit flanks of ripples.
    pub crest: Rgb,
}

/// Paints the water over everything below its first row.
pub fn water(c: &mut Canvas, seed: u64, water: Water) {
    let (noise, unit, width) = (Noise::new(seed), c.unit(), c.w);
    let span = (c.h - water.top).max(1.0);
    c.each_with_look((water.top, c.h), |x, y, _, look| {
        let near = ((y - water.top) / span).clamp(0.0, 1.0);
        let away = 0.06 + near;
        let (u, v) =
            ((x - width * 0.5) / unit / away * 2.6 + 60.0, 9.0 / away.sqrt() / away.sqrt());
        let wave = noise.at(u, v * 2.2) * 0.65 + noise.at(u * 2.3 + 5.0, v * 5.1) * 0.35 - 0.5;
        let shake = wave * unit * (0.02 + 0.16 * near) * (0.25 + water.rough);
        let mirrored =
            look(x + shake * 0.5, (water.top - 1.0) - (y - water.top) * 0.92 + shake * 1.4);
        let own = (1.0 - water.mirror) + 0.35 * near * water.mirror;
        let base = mirrored.mix(water.deep, own.clamp(0.0, 1.0));
        let light = smooth(0.06, 0.3, wave) * (0.25 + 0.75 * near) * (0.2 + 0.5 * water.rough);
        let dark = smooth(0.02, -0.3, wave) * near * (0.15 + 0.3 * water.rough);
        base.mix(water.crest, light * 0.6).mix(water.deep.scale(0.6), dark)
    });
}

/// The broken path of light on water below a sun or moon at the column `x`.
pub fn glitter(c: &mut Canvas, seed: u64, top: f32, x: f32, colour: Rgb, strength: f32) {
    let (noise, unit, span) = (Noise::new(seed), c.unit(), (c.h - top).max(1.0));
    c.each((0.0, c.w), (top, c.h), |px, py, now| {
        let near = (py - top) / span;
        let reach = unit * (0.035 + 0.16 * near);
        let off = ((px - x) / reach).abs();
        if off > 2.2 {
            return now;
        }
        let away = 0.08 + near;
        let fine = away.sqrt();
        let wave = noise.at((px - x) / unit / fine * 9.0 + 30.0, 64.0 / (0.16 + fine));
        let spark = smooth(0.42 + 0.18 * off, 0.62 + 0.2 * off, wave);
        now.screen(colour.scale(spark * strength * (1.0 - 0.35 * near)))
    });
}
