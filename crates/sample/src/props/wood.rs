//! What lives in the wood: a fox and a mushroom.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use crate::brush::{
    Canvas, Ink, Rgb, WHITE, rgb,
    shape::{arc, blob, disc, oval, polygon},
};

/// A fox sitting, 1 high, looking to the right.
pub fn fox(c: &mut Canvas) {
    let (red, white, dark) = (rgb(0xe0702a), rgb(0xfdf2e2), rgb(0x3a2418));
    c.fill(oval(-0.1, 0.0, 0.6, 0.06), Ink::Thin(rgb(0x0f2414), 0.4));
    c.line(arc((-0.15, -0.1), (-0.75, 0.02), (-0.6, -0.42)), 0.2, red.scale(0.9));
    c.fill(disc(-0.6, -0.47, 0.09), white);
    c.fill(
        blob(&[
            (0.05, -0.72),
            (0.24, -0.4),
            (0.22, 0.0),
            (-0.28, 0.0),
            (-0.3, -0.3),
            (-0.12, -0.6),
        ]),
        Ink::fall(-0.7, red, 0.0, red.scale(0.75)),
    );
    c.fill(blob(&[(0.12, -0.6), (0.2, -0.35), (0.12, -0.12), (0.02, -0.35)]), white);
    c.fill(polygon(&[(0.06, 0.0), (0.08, -0.25), (0.2, -0.25), (0.2, 0.0)]), dark);
    fox_head(c, red, white, dark);
}

fn fox_head(c: &mut Canvas, red: Rgb, white: Rgb, dark: Rgb) {
    c.fill(polygon(&[(-0.12, -0.82), (-0.08, -1.04), (0.06, -0.88)]), red.scale(0.8));
    c.fill(polygon(&[(0.14, -0.88), (0.24, -1.04), (0.28, -0.82)]), red.scale(0.8));
    c.fill(
        blob(&[
            (0.08, -0.92),
            (0.28, -0.82),
            (0.36, -0.66),
            (0.1, -0.56),
            (-0.14, -0.68),
            (-0.1, -0.84),
        ]),
        red,
    );
    c.fill(blob(&[(0.18, -0.7), (0.36, -0.67), (0.2, -0.58), (0.06, -0.6)]), white);
    c.fill(disc(0.36, -0.67, 0.03), dark);
    c.fill(disc(0.14, -0.76, 0.025), dark);
}

/// A mushroom, 1.1 high.
pub fn mushroom(c: &mut Canvas, cap: Rgb) {
    c.fill(oval(0.0, 0.0, 0.5, 0.07), Ink::Thin(rgb(0x0f2414), 0.4));
    c.fill(
        blob(&[(-0.15, 0.0), (-0.12, -0.6), (0.12, -0.6), (0.17, 0.0)]),
        Ink::Fade((-0.15, 0.0), rgb(0xfbf3e0), (0.2, 0.0), rgb(0xc9b896)),
    );
    let dome = blob(&[
        (0.0, -1.1),
        (0.42, -0.92),
        (0.6, -0.52),
        (0.3, -0.5),
        (-0.3, -0.5),
        (-0.6, -0.52),
        (-0.42, -0.92),
    ]);
    c.fill(dome, Ink::Ball((-0.2, -0.9), 0.95, cap.mix(WHITE, 0.22), cap.scale(0.62)));
    for (sx, sy, r) in
        [(-0.28, -0.8, 0.08), (0.05, -0.94, 0.07), (0.3, -0.72, 0.08), (0.0, -0.68, 0.06)]
    {
        c.fill(oval(sx, sy, r, r * 0.8), rgb(0xfff6e6));
    }
}
