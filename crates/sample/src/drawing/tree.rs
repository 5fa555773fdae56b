//! Trees.

use tiny_skia::Path;

use super::super::rng::Rng;
use super::{
    Canvas, Fill, Rgb,
    shape::{Point, closed_spline, polygon},
};

#[derive(Clone, Copy)]
pub struct Foliage {
    pub lit: Rgb,
    pub shaded: Rgb,
}

/// A tree with a round crown, `height` pixels tall, standing on the point.
pub fn broadleaf_tree(c: &mut Canvas, mut rng: Rng, (x, y): Point, height: f32, leaves: Foliage) {
    if c.is_dry_run() {
        return;
    }
    let trunk = leaves.shaded.mix(Rgb(0.25, 0.17, 0.12), 0.6);
    let (w, top) = (height * 0.045, y - height * 0.4);
    c.fill(polygon(&[(x - w, y), (x - w * 0.6, top), (x + w * 0.6, top), (x + w, y)]), trunk);
    let (cy, r) = (y - height * 0.6, height * 0.38);
    let upper = leaves.shaded.mix(leaves.lit, 0.35);
    let crown = bumpy_ellipse(&mut rng, (x, cy), r, r * 0.95);
    c.fill(crown, Fill::vertical(cy - r, upper, cy + r, leaves.shaded));
    for _ in 0..9 {
        let (dx, dy) = (rng.jitter(0.62) - 0.1, rng.range(-0.66, 0.4));
        let size = r * rng.range(0.28, 0.46);
        let (lx, ly) = (x + dx * r, cy + dy * r);
        let top = leaves.lit.mix(leaves.shaded, (dy + 0.6) * 0.7);
        let lump = bumpy_ellipse(&mut rng, (lx, ly), size, size * 0.8);
        c.fill(lump, Fill::vertical(ly - size, top, ly + size, top.mix(leaves.shaded, 0.8)));
    }
}

fn bumpy_ellipse(rng: &mut Rng, (x, y): Point, rx: f32, ry: f32) -> Option<Path> {
    let points: Vec<Point> = (0..13)
        .map(|i| {
            let angle = i as f32 / 13.0 * std::f32::consts::TAU;
            let k = rng.range(0.9, 1.08);
            (x + angle.cos() * rx * k, y + angle.sin() * ry * k)
        })
        .collect();
    closed_spline(&points)
}
