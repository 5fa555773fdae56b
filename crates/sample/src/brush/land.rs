//! Land: ridges, snow peaks and rolling ground, drawn column by column under a skyline.
//! The land covers what was painted before, so scenes go from far to near.

use super::{Canvas, Noise, Rgb, smooth};

/// A line across the canvas with land below it.
pub struct Skyline {
    /// From the place across the canvas to that down it, both as fractions.
    line: Box<dyn Fn(f32) -> f32>,
    /// The line in pixels, for every column; empty on a blind canvas.
    columns: Vec<f32>,
    height: f32,
}

impl Skyline {
    /// A skyline from a function of the place across the canvas (0.0-1.0) to that down it.
    pub fn new(c: &Canvas, line: impl Fn(f32) -> f32 + 'static) -> Self {
        let count = if c.is_blind() { 0 } else { c.w as usize };
        let columns = (0..count).map(|x| line(x as f32 / c.w) * c.h).collect();
        Self { line: Box::new(line), columns, height: c.h }
    }

    /// The height in pixels at a place across the canvas (0.0-1.0).
    pub fn at(&self, across: f32) -> f32 {
        (self.line)(across) * self.height
    }

    fn top(&self) -> f32 {
        self.columns.iter().copied().fold(f32::MAX, f32::min)
    }
}

/// Fills below a skyline: `top` colour at the line, `base` once `depth` pixels below it.
pub fn ridge(c: &mut Canvas, line: &Skyline, top: Rgb, base: Rgb, depth: f32) {
    textured(c, line, |_, _, down| top.mix(base, smooth(0.0, depth, down)));
}

/// Fills below a skyline by a function of the pixel and its distance below the line.
pub fn textured(c: &mut Canvas, line: &Skyline, colour: impl Fn(f32, f32, f32) -> Rgb) {
    if c.is_blind() {
        return;
    }
    c.each((0.0, c.w), (line.top() - 1.0, c.h), |x, y, now| {
        let down = y + 1.0 - line.columns[x as usize];
        if down <= 0.0 {
            return now;
        }
        let paint = colour(x, y, down);
        if down >= 1.0 { paint } else { now.mix(paint, down) }
    });
}

/// A skyline of soft hills.
pub fn rolling(c: &Canvas, seed: u64, base: f32, height: f32, scale: f32) -> Skyline {
    let noise = Noise::new(seed);
    let aspect = c.w / c.unit();
    Skyline::new(c, move |x| base - height * noise.ridge(x * scale * aspect + 3.0, 2))
}
