//! The lantern of a lighthouse.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use crate::brush::{
    Canvas, Rgb, rgb,
    shape::{block, disc, polygon},
};

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
