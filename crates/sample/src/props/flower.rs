//! Flowers: of the meadow, a tulip, a blossom close up.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use std::f32::consts::TAU;

use crate::{
    brush::{
        Canvas, Ink, Rgb, WHITE, rgb,
        shape::{arc, blob, disc, leaf, oval},
    },
    dice::Dice,
};

/// A flower of the meadow, seen from the side, its head about 2 wide.
pub fn wildflower(
    c: &mut Canvas,
    mut dice: Dice,
    [petal, deep, heart]: [Rgb; 3],
    stem: Rgb,
    whole: bool,
) {
    if !whole {
        c.fill(disc(0.0, 0.0, 1.0), petal);
        return;
    }
    let lean = dice.sway(0.5);
    c.line(arc((0.0, 0.0), (lean, 1.6), (lean * 0.5, 3.4)), 0.16, stem.mix(rgb(0x7ab04a), 0.35));
    let turn = dice.range(0.0, TAU);
    for index in 0..6 {
        let angle = turn + index as f32 / 6.0 * TAU;
        let tip = (angle.cos() * 1.0, angle.sin() * 0.72);
        c.fill(
            leaf((0.0, 0.0), tip, 0.85),
            if index % 2 == 0 { petal } else { petal.mix(deep, 0.35) },
        );
    }
    c.fill(oval(0.0, 0.0, 0.3, 0.24), heart);
}

pub fn tulip(c: &mut Canvas, tone: Rgb) {
    c.line(arc((0.0, 0.4), (0.1, 1.2), (0.0, 2.0)), 0.16, rgb(0x4f8a3c));
    c.fill(
        blob(&[(-0.62, -0.7), (-0.66, 0.1), (0.0, 0.62), (0.66, 0.1), (0.62, -0.7), (0.0, -0.2)]),
        Ink::fall(-1.0, tone.mix(WHITE, 0.15), 0.7, tone.scale(0.7)),
    );
    c.fill(
        leaf((0.0, 0.6), (0.0, -1.15), 0.75),
        Ink::fall(-1.1, tone.mix(WHITE, 0.28), 0.6, tone.scale(0.86)),
    );
}

/// A blossom seen from the front, with a radius of 1.
pub fn blossom(c: &mut Canvas, mut dice: Dice, [petal, deep, heart]: [Rgb; 3], name: &str) {
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
            let length = reach * dice.range(0.93, 1.03);
            let tip = (angle.cos() * length, angle.sin() * length);
            let light = 0.5 - 0.5 * (angle - 0.8).sin();
            let outer =
                petal.mix(WHITE, 0.12 * light).scale(0.82 + 0.06 * ring as f32 + 0.16 * light);
            let width = reach * 4.4 / count as f32;
            c.fill(
                leaf((0.0, 0.0), tip, width),
                Ink::Ball((0.0, 0.0), length, deep.scale(0.9), outer),
            );
        }
    }
    let middle = if rings.len() > 3 { 0.16 } else { 0.34 };
    c.fill(
        disc(0.0, 0.0, middle),
        Ink::Ball((-0.08, -0.1), middle * 1.2, heart.mix(WHITE, 0.18), heart.scale(0.6)),
    );
    for index in 0..70 {
        let (angle, far) = (index as f32 * 2.4, (index as f32 / 70.0).sqrt() * middle * 0.92);
        let dot = heart.mix(rgb(0xffd070), dice.range(0.0, 0.5));
        c.fill(disc(angle.cos() * far, angle.sin() * far, middle * 0.055), Ink::Thin(dot, 0.8));
    }
}
