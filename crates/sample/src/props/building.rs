//! Buildings: a cottage in the snow, a windmill, a barn, a hay bale, the lantern of a lighthouse.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use tiny_skia::Transform;

use crate::brush::{
    Canvas, Ink, Rgb, WHITE, rgb,
    shape::{block, disc, oval, polygon, stroke},
};

pub fn cottage(c: &mut Canvas, wall: Rgb, snow: Rgb, shade: Rgb, lamp: Rgb) {
    c.fill(oval(0.0, 0.0, 0.62, 0.07), Ink::Thin(shade, 0.7));
    c.fill(block(0.2, -0.84, 0.1, 0.3), wall.scale(0.7));
    c.fill(block(0.18, -0.87, 0.14, 0.05), snow);
    c.fill(
        block(-0.44, -0.42, 0.88, 0.42),
        Ink::Fade((-0.44, 0.0), wall.scale(1.12), (0.44, 0.0), wall.scale(0.68)),
    );
    c.fill(polygon(&[(-0.44, -0.41), (-0.14, -0.72), (0.16, -0.41)]), wall.scale(1.05));
    let roof = [
        (-0.14, -0.8),
        (0.3, -0.8),
        (0.56, -0.4),
        (0.5, -0.34),
        (0.14, -0.36),
        (-0.14, -0.68),
        (-0.48, -0.34),
        (-0.56, -0.4),
    ];
    c.fill(polygon(&roof), Ink::fall(-0.8, snow, -0.34, shade.mix(snow, 0.35)));
    for (x, y, s) in
        [(-0.3, -0.32, 0.13), (-0.07, -0.32, 0.13), (0.24, -0.32, 0.14), (-0.19, -0.56, 0.09)]
    {
        c.fill(block(x, y, s, s), lamp);
        c.line(stroke(&[(x + s / 2.0, y), (x + s / 2.0, y + s)]), 0.012, wall.scale(0.5));
        c.fill(block(x - 0.01, y + s, s + 0.02, 0.02), snow);
    }
    c.fill(block(0.08, -0.24, 0.12, 0.24), wall.scale(0.45));
}

pub fn windmill(c: &mut Canvas, wall: Rgb, cap: Rgb, dark: Rgb, turn: f32) {
    let ink = Ink::Fade((-0.2, 0.0), wall.mix(WHITE, 0.1), (0.2, 0.0), wall.scale(0.6));
    c.fill(polygon(&[(-0.22, 0.0), (-0.13, -0.72), (0.13, -0.72), (0.22, 0.0)]), ink);
    c.fill(polygon(&[(-0.16, -0.7), (-0.1, -0.84), (0.0, -0.9), (0.1, -0.84), (0.16, -0.7)]), cap);
    c.fill(block(-0.05, -0.2, 0.1, 0.2), dark);
    c.fill(block(-0.035, -0.52, 0.07, 0.09), dark);
    for sail in 0..4 {
        let pose = Transform::from_translate(0.0, -0.74).pre_rotate(turn + sail as f32 * 90.0);
        c.posed(pose, |c| {
            c.line(stroke(&[(0.0, 0.0), (0.0, -0.5)]), 0.022, dark);
            c.fill(block(0.005, -0.5, 0.11, 0.4), Ink::Thin(wall.mix(WHITE, 0.3), 0.88));
            for y in [-0.4, -0.3, -0.2] {
                c.line(stroke(&[(0.0, y), (0.11, y)]), 0.009, dark);
            }
        });
    }
    c.fill(disc(0.0, -0.74, 0.03), dark);
}

pub fn barn(c: &mut Canvas, red: Rgb, trim: Rgb, dark: Rgb) {
    let roof =
        [(-0.64, -0.46), (-0.46, -0.72), (0.0, -0.88), (0.46, -0.72), (0.64, -0.46), (0.56, -0.46)];
    c.fill(
        block(-0.56, -0.5, 1.12, 0.5),
        Ink::Fade((-0.56, 0.0), red.scale(1.15), (0.56, 0.0), red.scale(0.6)),
    );
    c.fill(polygon(&roof), Ink::fall(-0.88, dark.mix(red, 0.35), -0.46, dark));
    c.fill(block(-0.2, -0.36, 0.4, 0.36), red.scale(0.5));
    for line in [
        [(-0.2, -0.36), (0.2, 0.0)],
        [(0.2, -0.36), (-0.2, 0.0)],
        [(-0.2, -0.36), (0.2, -0.36)],
        [(-0.2, -0.36), (-0.2, 0.0)],
        [(0.2, -0.36), (0.2, 0.0)],
    ] {
        c.line(stroke(&line), 0.025, trim);
    }
    c.fill(block(-0.08, -0.68, 0.16, 0.13), trim.scale(0.85));
}

pub fn lantern(c: &mut Canvas, roof: Rgb, lit: bool) {
    c.fill(block(-0.14, -0.95, 0.28, 0.035), roof.scale(0.7));
    let glass = if lit { rgb(0xffefb4) } else { rgb(0xcfe6f0) };
    c.fill(block(-0.075, -1.07, 0.15, 0.12), glass);
    for x in [-0.075, -0.03, 0.02, 0.065] {
        c.fill(block(x, -1.07, 0.01, 0.12), roof.scale(0.6));
    }
    c.fill(polygon(&[(-0.1, -1.065), (0.0, -1.17), (0.1, -1.065)]), roof);
    c.fill(disc(0.0, -1.18, 0.018), roof);
}

/// A round bale of hay, about 2 high.
pub fn hay_bale(c: &mut Canvas, hay: Rgb, sun: Rgb, shade: Rgb) {
    c.fill(oval(0.35, 0.02, 1.5, 0.22), Ink::Thin(shade, 0.4));
    c.fill(oval(0.6, -0.9, 0.9, 0.98), Ink::fall(-1.9, hay, 0.1, hay.scale(0.55).mix(shade, 0.2)));
    c.fill(
        oval(-0.1, -0.9, 0.86, 0.98),
        Ink::Ball((-0.2, -1.1), 1.2, hay.mix(sun, 0.2), hay.scale(0.75)),
    );
    for ring in [0.7, 0.45, 0.2] {
        c.line(oval(-0.1, -0.9, ring * 0.86, ring), 0.06, Ink::Thin(hay.scale(0.55), 0.6));
    }
}
