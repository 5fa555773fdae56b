//! A sailing boat.

use super::prelude::*;

/// A boat on its waterline, its mast 1 high.
pub fn sailboat(c: &mut Canvas, [main, fore]: [Rgb; 2], hull: Rgb, dark: Rgb) {
    c.fill(rect(-0.006, -1.0, 0.014, 1.0), dark);
    let (head, tack) = ((-0.015, -0.98), (-0.4, -0.15));
    let sail = closed_curve((-0.02, -0.13), &[((-0.015, -0.6), head), ((-0.28, -0.5), tack)]);
    c.fill(sail, Fill::Linear((-0.4, 0.0), main, (0.0, 0.0), main.scale(0.8)));
    let (head, tack) = ((0.02, -0.92), (0.03, -0.12));
    let jib = closed_curve((0.4, -0.1), &[((0.2, -0.45), head), ((0.07, -0.5), tack)]);
    c.fill(jib, Fill::Linear((0.02, 0.0), fore.scale(0.84), (0.4, 0.0), fore));
    for y in [-0.35, -0.58] {
        let seam = polyline(&[(-0.29 - (y + 0.35) * 0.45, y), (-0.02, y - 0.02)]);
        c.stroke(seam, 0.008, Fill::Alpha(dark, 0.35));
    }
    let body = closed_curve(
        (-0.42, -0.1),
        &[
            ((0.0, -0.12), (0.46, -0.12)),
            ((0.34, 0.06), (0.2, 0.08)),
            ((0.0, 0.09), (-0.3, 0.08)),
            ((-0.4, 0.04), (-0.42, -0.1)),
        ],
    );
    c.fill(body, Fill::vertical(-0.12, hull.mix(WHITE, 0.15), 0.08, hull.scale(0.6)));
    c.stroke(polyline(&[(-0.41, -0.06), (0.42, -0.08)]), 0.014, Fill::Alpha(dark, 0.6));
}
