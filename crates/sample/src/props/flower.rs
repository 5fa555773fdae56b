//! A wildflower, a tulip and a blossom in close-up.

use std::f32::consts::TAU;

use super::prelude::*;

/// A flower seen from the side, its head about 2 wide; in the distance only a dot of color.
pub fn wildflower(
    c: &mut Canvas,
    mut rng: Rng,
    [petal, deep, heart]: [Rgb; 3],
    stem: Rgb,
    detailed: bool,
) {
    if !detailed {
        c.fill(circle(0.0, 0.0, 1.0), petal);
        return;
    }
    let lean = rng.jitter(0.5);
    c.stroke(
        curve((0.0, 0.0), (lean, 1.6), (lean * 0.5, 3.4)),
        0.16,
        stem.mix(rgb(0x7ab04a), 0.35),
    );
    let turn = rng.range(0.0, TAU);
    for index in 0..6 {
        let angle = turn + index as f32 / 6.0 * TAU;
        let tip = (angle.cos() * 1.0, angle.sin() * 0.72);
        let color = if index % 2 == 0 { petal } else { petal.mix(deep, 0.35) };
        c.fill(leaf((0.0, 0.0), tip, 0.85), color);
    }
    c.fill(ellipse(0.0, 0.0, 0.3, 0.24), heart);
}

pub fn tulip(c: &mut Canvas, color: Rgb) {
    c.stroke(curve((0.0, 0.4), (0.1, 1.2), (0.0, 2.0)), 0.16, rgb(0x4f8a3c));
    let outer = [(-0.62, -0.7), (-0.66, 0.1), (0.0, 0.62), (0.66, 0.1), (0.62, -0.7), (0.0, -0.2)];
    let fill = Fill::vertical(-1.0, color.mix(WHITE, 0.15), 0.7, color.scale(0.7));
    c.fill(closed_spline(&outer), fill);
    let fill = Fill::vertical(-1.1, color.mix(WHITE, 0.28), 0.6, color.scale(0.86));
    c.fill(leaf((0.0, 0.6), (0.0, -1.15), 0.75), fill);
}

/// A blossom seen from the front, with a radius of 1.
pub fn blossom(c: &mut Canvas, mut rng: Rng, [petal, deep, heart]: [Rgb; 3], name: &str) {
    let rings: &[(usize, f32)] = match name {
        "daisy" | "violet aster" => &[(21, 1.0), (21, 0.94)],
        "red dahlia" | "orange marigold" => {
            &[(18, 1.0), (16, 0.86), (14, 0.7), (12, 0.54), (9, 0.4)]
        }
        _ => &[(17, 1.0), (17, 0.92), (13, 0.74)],
    };
    for (ring, &(count, reach)) in rings.iter().enumerate() {
        for index in 0..count {
            let angle = (index as f32 + ring as f32 * 0.5) / count as f32 * TAU;
            let length = reach * rng.range(0.93, 1.03);
            let tip = (angle.cos() * length, angle.sin() * length);
            let light = 0.5 - 0.5 * (angle - 0.8).sin();
            let outer =
                petal.mix(WHITE, 0.12 * light).scale(0.82 + 0.06 * ring as f32 + 0.16 * light);
            let width = reach * 4.4 / count as f32;
            let fill = Fill::Radial((0.0, 0.0), length, deep.scale(0.9), outer);
            c.fill(leaf((0.0, 0.0), tip, width), fill);
        }
    }
    let middle = if rings.len() > 3 { 0.16 } else { 0.34 };
    let (bright, dark) = (heart.mix(WHITE, 0.18), heart.scale(0.6));
    let fill = Fill::Radial((-0.08, -0.1), middle * 1.2, bright, dark);
    c.fill(circle(0.0, 0.0, middle), fill);
    for index in 0..70 {
        let (angle, far) = (index as f32 * 2.4, (index as f32 / 70.0).sqrt() * middle * 0.92);
        let dot = heart.mix(rgb(0xffd070), rng.range(0.0, 0.5));
        c.fill(circle(angle.cos() * far, angle.sin() * far, middle * 0.055), Fill::Alpha(dot, 0.8));
    }
}
