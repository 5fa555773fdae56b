//! A car.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use crate::brush::{
    Canvas, Ink, Rgb, WHITE, rgb,
    shape::{block, curved, disc, oval, pill, polygon, stroke},
};

/// A car driving to the right, about 1.9 long, its wheels on the ground.
pub fn car(c: &mut Canvas, paint: Rgb, glass: Rgb, dark: Rgb, van: bool) {
    c.fill(oval(0.0, 0.02, 1.0, 0.07), Ink::Thin(dark, 0.55));
    let (back, front, roof) = if van { (-0.9, 0.62, -0.82) } else { (-0.72, 0.5, -0.72) };
    let cabin = curved(
        (back, -0.38),
        &[
            ((back + 0.12, roof), (back + 0.32, roof)),
            ((0.0, roof), (front - 0.42, roof)),
            ((front - 0.16, roof + 0.02), (front, -0.4)),
        ],
    );
    c.fill(cabin, Ink::fall(roof, paint.mix(WHITE, 0.22), -0.38, paint));
    for (a, b) in [(back + 0.16, -0.12), (-0.06, front - 0.1)] {
        let slope = if b > 0.0 { 0.2 } else { 0.0 };
        c.fill(
            polygon(&[(a, -0.42), (a + 0.08, roof + 0.08), (b - slope, roof + 0.08), (b, -0.42)]),
            Ink::fall(roof, glass.mix(WHITE, 0.3), -0.42, glass.scale(0.62)),
        );
    }
    c.fill(
        pill(-0.96, -0.46, 1.92, 0.34, 0.14),
        Ink::fall(-0.46, paint.mix(WHITE, 0.12), -0.12, paint.scale(0.62)),
    );
    c.fill(block(-0.92, -0.19, 1.84, 0.04), Ink::Thin(dark, 0.35));
    c.line(stroke(&[(-0.07, -0.42), (-0.07, -0.17)]), 0.015, Ink::Thin(dark, 0.4));
    c.fill(pill(0.84, -0.38, 0.11, 0.09, 0.04), rgb(0xfff4d0));
    c.fill(pill(-0.95, -0.38, 0.08, 0.09, 0.03), rgb(0xe8382c));
    for x in [-0.55, 0.56] {
        c.fill(disc(x, -0.13, 0.185), dark.scale(0.7));
        c.fill(disc(x, -0.13, 0.16), rgb(0x1c1d22));
        c.fill(disc(x, -0.13, 0.085), rgb(0xb4b8c0).mix(dark, 0.25));
    }
}
