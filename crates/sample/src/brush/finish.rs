//! The last touch on every picture: darker corners and a breath of grain.
//! It runs over every pixel once, after the scene.

use super::{Canvas, Rgb};

/// Darkens the corners and strews grain, different for every `seed`.
pub fn finish(c: &mut Canvas, seed: u64) {
    const VIGNETTE: f32 = 0.3;
    let (w, h) = (c.w, c.h);
    let mut state = seed as u32 | 1;
    c.each((0.0, w), (0.0, h), |x, y, now| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let toss = (state >> 16) as f32 + (state & 0xFFFF) as f32;
        let grain = (toss / 65_536.0 - 1.0) * 0.016;
        let (dx, dy) = (x / w - 0.5, y / h - 0.5);
        let corner = (dx * dx + dy * dy) * 2.0;
        let k = 1.0 - VIGNETTE * corner * corner;
        Rgb(now.0 * k + grain, now.1 * k + grain, now.2 * k + grain)
    });
}
