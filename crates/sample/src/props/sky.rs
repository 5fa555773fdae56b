//! A hot-air balloon and a gull.

use tiny_skia::{Path, PathBuilder};

use super::prelude::*;

const PANELS: u8 = 9;

/// A balloon around its center, its envelope about 1.6 wide; `lit` from inside by its burner.
pub fn balloon(c: &mut Canvas, colors: [Rgb; 3], dark: Rgb, lit: bool) {
    for side in [-1.0, 1.0] {
        c.stroke(polyline(&[(side * 0.22, 0.9), (side * 0.13, 1.2)]), 0.018, dark);
    }
    let edge = |i: u8| -(f32::from(i) / f32::from(PANELS) * std::f32::consts::PI).cos() * 0.8;
    for index in 0..PANELS {
        let (a, b) = (edge(index), edge(index + 1));
        let side = (a + b) / 1.6;
        let shading = 1.08 - 0.2 * (side + 0.45).powi(2) - 0.12 * side;
        let color = colors[usize::from(index % 3)].scale(shading);
        let low = if lit { color.screen(rgb(0xff9a3c).scale(0.75)) } else { color.scale(0.72) };
        let top = if lit { color.scale(0.85) } else { color.mix(WHITE, 0.14) };
        c.fill(panel(a, b + 0.012), Fill::vertical(-0.9, top, 0.95, low));
    }
    let collar = polygon(&[(-0.2, 0.86), (0.2, 0.86), (0.14, 0.97), (-0.14, 0.97)]);
    c.fill(collar, dark.mix(colors[0], 0.3));
    if lit {
        c.fill(polygon(&[(-0.05, 1.14), (0.0, 0.96), (0.05, 1.14)]), rgb(0xfff0b0));
    }
    let basket = polygon(&[(-0.15, 1.18), (0.15, 1.18), (0.12, 1.4), (-0.12, 1.4)]);
    c.fill(basket, Fill::vertical(1.18, dark.mix(rgb(0xb98a54), 0.5), 1.4, dark));
    if !lit {
        let gloss = curve((-0.5, -0.42), (-0.42, -0.66), (-0.2, -0.78));
        c.stroke(gloss, 0.05, Fill::Alpha(WHITE, 0.3));
    }
}

/// One panel of the envelope, between two positions on its equator.
fn panel(a: f32, b: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.move_to(0.0, -0.9);
    path.cubic_to(a * 0.95, -0.9, a * 1.22, -0.25, a, 0.12);
    path.cubic_to(a * 0.82, 0.5, a * 0.36, 0.68, a * 0.26, 0.9);
    path.line_to(b * 0.26, 0.9);
    path.cubic_to(b * 0.36, 0.68, b * 0.82, 0.5, b, 0.12);
    path.cubic_to(b * 1.22, -0.25, b * 0.95, -0.9, 0.0, -0.9);
    path.close();
    path.finish()
}

pub fn gull(c: &mut Canvas, color: Rgb) {
    c.stroke(curve((-1.0, -0.1), (-0.4, -0.6), (0.0, 0.1)), 0.13, color);
    c.stroke(curve((0.0, 0.1), (0.45, -0.65), (1.0, -0.2)), 0.13, color);
}
