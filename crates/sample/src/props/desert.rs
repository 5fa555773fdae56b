//! A camel and a cactus.

use super::prelude::*;

pub fn camel(c: &mut Canvas, color: Rgb) {
    for x in [-0.3, -0.2, 0.16, 0.26] {
        c.stroke(polyline(&[(x, -0.4), (x - 0.02, 0.0)]), 0.07, color);
    }
    let body = closed_spline(&[
        (-0.42, -0.5),
        (-0.26, -0.62),
        (-0.12, -0.84),
        (0.02, -0.64),
        (0.14, -0.82),
        (0.28, -0.6),
        (0.34, -0.45),
        (0.1, -0.34),
        (-0.3, -0.34),
    ]);
    c.fill(body, color);
    c.stroke(curve((0.28, -0.5), (0.5, -0.42), (0.48, -0.84)), 0.09, color);
    c.fill(closed_spline(&[(0.44, -0.92), (0.64, -0.84), (0.6, -0.78), (0.44, -0.8)]), color);
}

pub fn cactus(c: &mut Canvas, green: Rgb) {
    let shade = |left: f32, right: f32| {
        Fill::Linear((left, 0.0), green.scale(1.25), (right, 0.0), green.scale(0.62))
    };
    c.fill(rounded_rect(-0.1, -1.0, 0.2, 1.0, 0.1), shade(-0.1, 0.1));
    c.fill(rounded_rect(-0.34, -0.76, 0.13, 0.36, 0.065), shade(-0.34, -0.21));
    c.fill(rounded_rect(-0.34, -0.5, 0.28, 0.13, 0.06), shade(-0.34, 0.0));
    c.fill(rounded_rect(0.21, -0.86, 0.13, 0.34, 0.065), shade(0.21, 0.34));
    c.fill(rounded_rect(0.06, -0.62, 0.28, 0.13, 0.06), shade(0.0, 0.34));
    for x in [-0.04, 0.03] {
        c.stroke(polyline(&[(x, -0.93), (x, -0.05)]), 0.012, Fill::Alpha(green.scale(0.5), 0.6));
    }
    c.fill(circle(0.0, -1.0, 0.035), rgb(0xf06a8c));
}
