//! Things of the sky: a hot-air balloon and a gull.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use tiny_skia::{Path, PathBuilder};

use crate::brush::{
    Canvas, Ink, Rgb, WHITE, rgb,
    shape::{arc, polygon, stroke},
};

const GORES: u8 = 9;

/// A balloon around its own centre, its envelope about 1.6 wide.
pub fn balloon(c: &mut Canvas, colours: [Rgb; 3], dark: Rgb, lit: bool) {
    for side in [-1.0, 1.0] {
        c.line(stroke(&[(side * 0.22, 0.9), (side * 0.13, 1.2)]), 0.018, dark);
    }
    let edge = |i: u8| -(f32::from(i) / f32::from(GORES) * std::f32::consts::PI).cos() * 0.8;
    for gore in 0..GORES {
        let (a, b) = (edge(gore), edge(gore + 1));
        let side = (a + b) / 1.6;
        let tone =
            colours[usize::from(gore % 3)].scale(1.08 - 0.2 * (side + 0.45).powi(2) - 0.12 * side);
        let low = if lit { tone.screen(rgb(0xff9a3c).scale(0.75)) } else { tone.scale(0.72) };
        let top = if lit { tone.scale(0.85) } else { tone.mix(WHITE, 0.14) };
        c.fill(gore_shape(a, b + 0.012), Ink::fall(-0.9, top, 0.95, low));
    }
    c.fill(
        polygon(&[(-0.2, 0.86), (0.2, 0.86), (0.14, 0.97), (-0.14, 0.97)]),
        dark.mix(colours[0], 0.3),
    );
    if lit {
        c.fill(polygon(&[(-0.05, 1.14), (0.0, 0.96), (0.05, 1.14)]), rgb(0xfff0b0));
    }
    c.fill(
        polygon(&[(-0.15, 1.18), (0.15, 1.18), (0.12, 1.4), (-0.12, 1.4)]),
        Ink::fall(1.18, dark.mix(rgb(0xb98a54), 0.5), 1.4, dark),
    );
    c.line(
        arc((-0.5, -0.42), (-0.42, -0.66), (-0.2, -0.78)),
        0.05,
        Ink::Thin(WHITE, if lit { 0.0 } else { 0.3 }),
    );
}

fn gore_shape(a: f32, b: f32) -> Option<Path> {
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

pub fn gull(c: &mut Canvas, ink: Rgb) {
    c.line(arc((-1.0, -0.1), (-0.4, -0.6), (0.0, 0.1)), 0.13, ink);
    c.line(arc((0.0, 0.1), (0.45, -0.65), (1.0, -0.2)), 0.13, ink);
}
