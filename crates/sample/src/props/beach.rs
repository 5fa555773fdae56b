//! Things of the beach: a parasol.
//! Drawn in coordinates of its own, with the colours the scene gives it.

use crate::brush::{
    Canvas, Ink, Rgb, rgb,
    shape::{arc, curved, oval},
};

/// A striped parasol, 1.1 wide, its foot in the sand.
pub fn parasol(c: &mut Canvas, colour: Rgb) {
    c.fill(oval(0.12, 0.0, 0.42, 0.045), Ink::Thin(rgb(0x4a3020), 0.3));
    c.line(arc((0.0, 0.0), (0.0, -0.5), (0.0, -1.0)), 0.035, rgb(0xf5efe4));
    let edge = |i: u8| -0.55 * (f32::from(i) / 6.0 * std::f32::consts::PI).cos();
    for panel in 0..6 {
        let (a, b) = (edge(panel), edge(panel + 1));
        let tone = if panel % 2 == 0 { colour } else { rgb(0xfff6e8) };
        let rim = (a.midpoint(b), -0.68);
        let cloth = curved(
            (0.0, -1.05),
            &[((a * 0.95, -1.0), (a, -0.62)), (rim, (b, -0.62)), ((b * 0.95, -1.0), (0.0, -1.05))],
        );
        c.fill(cloth, tone.scale(1.0 - 0.05 * f32::from(panel)));
    }
}
