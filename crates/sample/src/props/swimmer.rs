//! What swims: a fish, a fish of the shoal, a jellyfish.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use crate::brush::{
    Canvas, Ink, Rgb, WHITE, rgb,
    shape::{arc, blob, disc, leaf, polygon, stroke},
};

/// A fish swimming to the right, about 1.7 long.
pub fn fish(c: &mut Canvas, [body, belly, stripe]: [Rgb; 3]) {
    let fin = Ink::fall(-0.4, body.scale(0.75), 0.4, body.mix(belly, 0.6));
    c.fill(
        blob(&[
            (-0.5, 0.0),
            (-0.72, -0.18),
            (-0.98, -0.38),
            (-0.84, 0.0),
            (-0.98, 0.38),
            (-0.72, 0.18),
        ]),
        fin,
    );
    c.fill(polygon(&[(-0.3, -0.22), (-0.12, -0.46), (0.22, -0.44), (0.34, -0.2)]), fin);
    c.fill(polygon(&[(-0.25, 0.22), (-0.2, 0.42), (0.05, 0.4), (0.15, 0.24)]), fin);
    let outline = [
        (0.72, 0.02),
        (0.48, -0.22),
        (0.05, -0.34),
        (-0.38, -0.16),
        (-0.6, 0.0),
        (-0.38, 0.16),
        (0.05, 0.32),
        (0.48, 0.22),
    ];
    c.fill(blob(&outline), Ink::fall(-0.32, body, 0.34, belly));
    for (x, half) in [(0.22, 0.29), (-0.14, 0.26)] {
        let band = blob(&[
            (x - 0.06, -half),
            (x + 0.06, -half),
            (x + 0.1, 0.0),
            (x + 0.05, half),
            (x - 0.07, half),
            (x - 0.02, 0.0),
        ]);
        c.fill(band, Ink::Thin(stripe, 0.9));
    }
    c.fill(leaf((0.12, 0.06), (-0.18, 0.2), 0.16), body.scale(0.85));
    c.fill(disc(0.48, -0.05, 0.075), WHITE);
    c.fill(disc(0.5, -0.05, 0.045), rgb(0x14141f));
    c.fill(disc(0.515, -0.068, 0.014), WHITE);
}

pub fn jellyfish(c: &mut Canvas, colour: Rgb, sway: f32) {
    for index in 0..7 {
        let x = -0.75 + index as f32 * 0.25;
        let length = 1.5 + 0.7 * ((index * 5) % 4) as f32 / 3.0;
        c.line(
            arc((x, 0.2), (x * 1.3 + sway, length * 0.5), (x * 0.8 - sway * 0.6, length)),
            0.06,
            Ink::Thin(colour.mix(WHITE, 0.3), 0.5),
        );
    }
    let bell = blob(&[
        (0.0, -1.0),
        (0.75, -0.62),
        (1.0, 0.1),
        (0.5, 0.28),
        (0.0, 0.2),
        (-0.5, 0.28),
        (-1.0, 0.1),
        (-0.75, -0.62),
    ]);
    c.thinned(0.82, |c| {
        c.fill(bell, Ink::Ball((0.0, 0.1), 1.25, colour.mix(WHITE, 0.75), colour));
    });
    c.line(
        stroke(&[(-0.8, 0.2), (-0.3, 0.12), (0.3, 0.12), (0.8, 0.2)]),
        0.05,
        Ink::Thin(WHITE, 0.4),
    );
}

/// A plain fish of a shoal, swimming to the right, 2 long.
pub fn herring(c: &mut Canvas, tone: Rgb) {
    c.fill(
        leaf((-0.7, 0.0), (1.0, 0.0), 0.62),
        Ink::fall(-0.3, tone.scale(0.62), 0.3, tone.mix(WHITE, 0.3)),
    );
    c.fill(polygon(&[(-0.6, 0.0), (-1.0, -0.3), (-0.88, 0.0), (-1.0, 0.3)]), tone.scale(0.8));
    c.fill(disc(0.68, -0.05, 0.07), rgb(0x10203a));
}
