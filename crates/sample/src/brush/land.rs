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

/// The colours of a snow peak.
#[derive(Clone, Copy)]
pub struct Rock {
    /// Faces towards the light and away from it.
    pub lit: Rgb,
    pub shaded: Rgb,
    /// Snow in light and in shade.
    pub snow: (Rgb, Rgb),
    /// Where the foot fades to.
    pub haze: Rgb,
}

/// Mountains with lit and shaded faces; snow reaches `snow` pixels below the highest summit.
pub fn peaks(c: &mut Canvas, line: &Skyline, seed: u64, rock: Rock, snow: f32, foot: f32) {
    if c.is_blind() {
        return;
    }
    let (noise, unit) = (Noise::new(seed), c.unit());
    let last = line.columns.len() - 1;
    let reach = (c.w * 0.016) as usize;
    let slope: Vec<f32> = (0..=last)
        .map(|x| line.columns[(x + reach).min(last)] - line.columns[x.saturating_sub(reach)])
        .collect();
    let summit = line.top();
    textured(c, line, |x, y, down| {
        let fold = noise.at(x / unit * 7.0, y / unit * 11.0) - 0.5;
        let crag = noise.at(x / unit * 24.0, y / unit * 34.0) - 0.5;
        let from = x + (fold + crag * 0.35) * (down * 0.9 + unit * 0.02);
        let tilt = slope[(from.max(0.0) as usize).min(last)] / reach as f32;
        let lit = smooth(0.2, -0.4, tilt + crag * 0.35);
        let stone = rock.shaded.mix(rock.lit, lit);
        let white = rock.snow.1.mix(rock.snow.0, lit);
        let edge = snow * (0.8 + fold * 0.7 + crag * 0.5 + 0.25 * (lit - 0.5));
        let cover = smooth(edge + unit * 0.015, edge - unit * 0.015, y - summit);
        stone.mix(white, cover).mix(rock.haze, smooth(0.15, 1.0, down / foot) * 0.75)
    });
}

/// A skyline of sharp peaks: `base` and `height` are fractions of the canvas.
pub fn jagged(c: &Canvas, seed: u64, base: f32, height: f32, scale: f32) -> Skyline {
    let noise = Noise::new(seed);
    let aspect = c.w / c.unit();
    Skyline::new(c, move |x| base - height * noise.crest(x * scale * aspect + 7.0, 5))
}

/// A skyline of soft hills.
pub fn rolling(c: &Canvas, seed: u64, base: f32, height: f32, scale: f32) -> Skyline {
    let noise = Noise::new(seed);
    let aspect = c.w / c.unit();
    Skyline::new(c, move |x| base - height * noise.ridge(x * scale * aspect + 3.0, 2))
}
