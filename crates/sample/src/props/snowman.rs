//! A snowman.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use crate::brush::{
    Canvas, Ink, Rgb, rgb,
    shape::{block, disc, polygon},
};

/// A snowman with a hat and a scarf, 1.1 high.
pub fn snowman(c: &mut Canvas, [snow, shade]: [Rgb; 2], coal: Rgb, scarf: Rgb) {
    for (y, r) in [(-0.26, 0.32), (-0.62, 0.23), (-0.88, 0.16)] {
        c.fill(disc(0.0, y, r), Ink::Ball((-r * 0.3, y - r * 0.3), r * 1.5, snow, shade));
    }
    c.fill(block(-0.17, -0.79, 0.34, 0.07), scarf);
    c.fill(block(0.06, -0.78, 0.08, 0.24), scarf.scale(0.85));
    c.fill(block(-0.2, -1.02, 0.4, 0.04), coal);
    c.fill(block(-0.12, -1.16, 0.24, 0.16), coal);
    c.fill(polygon(&[(0.0, -0.9), (0.2, -0.86), (0.0, -0.84)]), rgb(0xf08a2c));
    for (x, y) in [(-0.06, -0.93), (0.07, -0.93), (0.0, -0.66), (0.0, -0.56), (0.0, -0.34)] {
        c.fill(disc(x, y, 0.022), coal);
    }
}
