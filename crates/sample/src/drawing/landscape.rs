//! The parts of outdoor scenes: sun, moon, stars, clouds, mist and rain; hills and dunes; trees; and water, which
//! reflects what is already drawn above it.

use tiny_skia::Path;

use super::{
    super::random::{Noise, Rng},
    Canvas, Fill, Rgb, WHITE,
    light::Light,
    shape::{Point, circle, closed_spline, ellipse, polygon, polyline},
    smoothstep,
};

pub fn sun(c: &mut Canvas, light: &Light, (x, y): Point, radius: f32) {
    let warm = light.sun.mix(light.sky[3], 0.45);
    c.glow((x, y), radius * 9.0, warm, 0.4);
    c.glow((x, y), radius * 3.2, light.sun, 0.55);
    c.fill(circle(x, y, radius), Fill::Radial((x, y), radius, WHITE, light.sun));
}

/// Draws a moon with its halo and dark spots. A `phase` of 0.0 is a full moon, and 0.7 is a crescent.
pub fn moon(c: &mut Canvas, light: &Light, (x, y): Point, radius: f32, phase: f32) {
    const SPOTS: [(f32, f32, f32); 4] =
        [(-0.3, -0.25, 0.3), (0.25, 0.12, 0.36), (-0.15, 0.45, 0.22), (0.4, -0.42, 0.16)];
    c.glow((x, y), radius * 8.0, light.sun.mix(light.sky[3], 0.6), 0.42);
    c.glow((x, y), radius * 2.6, light.sun, 0.3);
    let shadow = (x + radius * (1.9 - phase * 1.9), y - radius * 0.12);
    let (columns, rows) = (x - radius - 1.0..x + radius + 2.0, y - radius - 1.0..y + radius + 2.0);
    c.map_pixels(columns, rows, |px, py, now| {
        let inside = smoothstep(radius + 0.8, radius - 0.8, (px - x).hypot(py - y));
        let from_shadow = (px - shadow.0).hypot(py - shadow.1);
        let lit = match phase {
            0.0 => 1.0,
            _ => smoothstep(radius * 0.94, radius * 1.02, from_shadow),
        };
        let spot = SPOTS.iter().fold(0.0f32, |deepest, (dx, dy, r)| {
            let distance = ((px - x) / radius - dx).hypot((py - y) / radius - dy);
            deepest.max(smoothstep(*r, *r * 0.6, distance))
        });
        now.mix(light.sun.mix(light.sky[3], 0.3 * spot), inside * lit)
    });
}

/// Draws stars above the row `bottom`, fewer of them towards it. An `amount` of 1.0 is a clear night.
pub fn stars(c: &mut Canvas, mut rng: Rng, bottom: f32, amount: f32) {
    if c.is_dry_run() {
        return;
    }
    let count = (amount * 260.0 * (c.w * bottom) / (c.unit() * c.unit())) as usize;
    for _ in 0..count {
        let (x, depth) = (rng.range(0.0, c.w), rng.unit());
        let y = depth * depth.sqrt() * bottom;
        let size = rng.unit().powi(6) * 1.5 + 0.45;
        let tint = rng.pick(&[WHITE, Rgb(0.8, 0.88, 1.0), Rgb(1.0, 0.9, 0.76)]);
        let alpha = rng.range(0.25, 1.0) * (1.0 - depth * 0.7);
        let r = size * c.unit() / 480.0;
        c.fill(circle(x, y, r), Fill::Alpha(tint, alpha));
        if size > 1.45 {
            c.glow((x, y), r * 4.5, tint, 0.35);
        }
    }
}

/// Draws a layer of clouds in perspective, smaller towards the row `horizon`. `cover` is from 0.0 to 1.0.
pub fn clouds(c: &mut Canvas, light: &Light, seed: u64, horizon: f32, cover: f32) {
    let noise = Noise::new(seed);
    let (height, width, unit) = (horizon.max(1.0), c.w, c.unit());
    let edge = 0.72 - cover * 0.42;
    let (bright, dark) = cloud_colors(light);
    let density = |x: f32, y: f32| {
        let scale = 0.22 + (1.0 - y / height);
        let (u, v) = ((x - width * 0.5) / unit / scale * 1.5 + 40.0, 3.4 / scale);
        let bend = noise.at(u * 0.7 + 9.0, v * 0.9) * 0.9;
        noise.fbm(u + bend, v * 1.5 + bend, 4)
    };
    c.soft_layer(0.0..horizon, 4.0, |x, y| {
        let here = density(x, y);
        let lit = smoothstep(-0.10, 0.12, here - density(x, y - unit * 0.03));
        let thickness = smoothstep(edge, edge + 0.24, here);
        let fade = smoothstep(1.0, 0.82, y / height);
        (dark.mix(bright, lit * (1.0 - 0.45 * thickness) + 0.25), thickness * fade * 0.92)
    });
}

fn cloud_colors(light: &Light) -> (Rgb, Rgb) {
    let bright = if light.is_dark() {
        light.sky[3].mix(light.sun, 0.12)
    } else {
        light.sun.mix(light.sky[3], 0.18)
    };
    (bright, light.sky[1].mix(light.haze, 0.45).scale(0.92))
}

/// Draws a cumulus cloud that is `size` pixels wide.
pub fn cumulus(c: &mut Canvas, light: &Light, mut rng: Rng, (x, y): Point, size: f32) {
    if c.is_dry_run() {
        return;
    }
    let (bright, dark) = cloud_colors(light);
    let fill = Fill::vertical(y - size * 0.32, bright, y + size * 0.02, bright.mix(dark, 0.55));
    c.fill(ellipse(x, y - size * 0.03, size * 0.5, size * 0.06), fill);
    for _ in 0..13 {
        let along = rng.jitter(0.42);
        let bulge = 1.0 - (along * 2.2).powi(2);
        let r = size * (0.05 + 0.12 * bulge.max(0.05) * rng.range(0.6, 1.0));
        let lift = size * 0.14 * bulge.max(0.0) * rng.unit();
        c.fill(circle(x + along * size, y - r * 0.7 - lift, r), fill);
    }
}

pub fn mist(c: &mut Canvas, seed: u64, color: Rgb, middle: f32, reach: f32, strength: f32) {
    let (noise, unit) = (Noise::new(seed), c.unit());
    c.soft_layer((middle - reach).max(0.0)..(middle + reach).min(c.h), 5.0, |x, y| {
        let near = 1.0 - ((y - middle) / reach).powi(2);
        let density = noise.fbm(x / unit * 2.2, y / unit * 7.0, 3);
        (color, (near.max(0.0) * (0.45 + density) * strength).clamp(0.0, 1.0))
    });
}

pub fn rain(c: &mut Canvas, mut rng: Rng, color: Rgb, amount: usize) {
    if c.is_dry_run() {
        return;
    }
    let unit = c.unit();
    for _ in 0..amount {
        let (x, y, near) = (rng.range(0.0, c.w * 1.1), rng.range(-0.1, 1.0) * c.h, rng.unit());
        let length = unit * (0.03 + 0.05 * near);
        let drop = polyline(&[(x, y), (x - length * 0.22, y + length)]);
        c.stroke(drop, unit * (0.001 + 0.0012 * near), Fill::Alpha(color, 0.14 + 0.2 * near));
    }
}

/// Hills, dunes or cliffs below a line across the canvas.
pub struct Terrain {
    /// Maps a fraction of the width to a fraction of the height.
    line: Box<dyn Fn(f32) -> f32>,
    /// The height of the line in pixels for every column. Empty on a dry run.
    columns: Vec<f32>,
    height: f32,
}

impl Terrain {
    pub fn new(c: &Canvas, line: impl Fn(f32) -> f32 + 'static) -> Self {
        let count = if c.is_dry_run() { 0 } else { c.w as usize };
        let columns = (0..count).map(|x| line(x as f32 / c.w) * c.h).collect();
        Self { line: Box::new(line), columns, height: c.h }
    }

    /// Creates smooth hills. `base` and `height` are fractions of the canvas.
    pub fn rolling_hills(c: &Canvas, seed: u64, base: f32, height: f32, scale: f32) -> Self {
        let noise = Noise::new(seed);
        let aspect = c.w / c.unit();
        Self::new(c, move |x| base - height * noise.fbm_1d(x * scale * aspect + 3.0, 2))
    }

    /// Returns the row of the line in pixels at a fraction of the width.
    pub fn y_at(&self, across: f32) -> f32 {
        (self.line)(across) * self.height
    }

    /// Fills the terrain with a gradient from `top` at the line to `base`, which is reached `depth` pixels below it.
    pub fn fill_gradient(&self, c: &mut Canvas, top: Rgb, base: Rgb, depth: f32) {
        self.fill_with(c, |_, _, below| top.mix(base, smoothstep(0.0, depth, below)));
    }

    /// Fills the terrain by a function of the pixel and its distance below the line.
    pub fn fill_with(&self, c: &mut Canvas, color: impl Fn(f32, f32, f32) -> Rgb) {
        if c.is_dry_run() {
            return;
        }
        let top = self.columns.iter().copied().fold(f32::MAX, f32::min);
        c.map_pixels(0.0..c.w, top - 1.0..c.h, |x, y, now| {
            let below = y + 1.0 - self.columns[x as usize];
            if below <= 0.0 {
                return now;
            }
            now.mix(color(x, y, below), below.min(1.0))
        });
    }
}

#[derive(Clone, Copy)]
pub struct Foliage {
    pub lit: Rgb,
    pub shaded: Rgb,
}

/// Draws a tree with a round crown. The tree stands on the point and is `height` pixels tall.
pub fn broadleaf_tree(c: &mut Canvas, mut rng: Rng, (x, y): Point, height: f32, leaves: Foliage) {
    if c.is_dry_run() {
        return;
    }
    let trunk = leaves.shaded.mix(Rgb(0.25, 0.17, 0.12), 0.6);
    let (w, top) = (height * 0.045, y - height * 0.4);
    c.fill(polygon(&[(x - w, y), (x - w * 0.6, top), (x + w * 0.6, top), (x + w, y)]), trunk);
    let (cy, r) = (y - height * 0.6, height * 0.38);
    let upper = leaves.shaded.mix(leaves.lit, 0.35);
    let crown = bumpy_ellipse(&mut rng, (x, cy), r, r * 0.95);
    c.fill(crown, Fill::vertical(cy - r, upper, cy + r, leaves.shaded));
    for _ in 0..9 {
        let (dx, dy) = (rng.jitter(0.62) - 0.1, rng.range(-0.66, 0.4));
        let size = r * rng.range(0.28, 0.46);
        let (lx, ly) = (x + dx * r, cy + dy * r);
        let top = leaves.lit.mix(leaves.shaded, (dy + 0.6) * 0.7);
        let lump = bumpy_ellipse(&mut rng, (lx, ly), size, size * 0.8);
        c.fill(lump, Fill::vertical(ly - size, top, ly + size, top.mix(leaves.shaded, 0.8)));
    }
}

fn bumpy_ellipse(rng: &mut Rng, (x, y): Point, rx: f32, ry: f32) -> Option<Path> {
    let points: Vec<Point> = (0..13)
        .map(|i| {
            let angle = i as f32 / 13.0 * std::f32::consts::TAU;
            let k = rng.range(0.9, 1.08);
            (x + angle.cos() * rx * k, y + angle.sin() * ry * k)
        })
        .collect();
    closed_spline(&points)
}

#[derive(Clone, Copy)]
pub struct Water {
    /// First row of the water, in pixels.
    pub top: f32,
    pub deep: Rgb,
    /// How much the water reflects, 0.0-1.0.
    pub reflectivity: f32,
    /// 0.0 for a pond, 1.0 for open sea.
    pub roughness: f32,
    pub highlight: Rgb,
}

/// Draws water over everything below its first row, which reflects what is above that row.
pub fn draw_water(c: &mut Canvas, seed: u64, water: Water) {
    let (noise, unit, width) = (Noise::new(seed), c.unit(), c.w);
    let span = (c.h - water.top).max(1.0);
    c.map_pixels_with_source(water.top, |x, y, source| {
        let near = ((y - water.top) / span).clamp(0.0, 1.0);
        let scale = 0.06 + near;
        let (u, v) =
            ((x - width * 0.5) / unit / scale * 2.6 + 60.0, 9.0 / scale.sqrt() / scale.sqrt());
        let wave = noise.at(u, v * 2.2) * 0.65 + noise.at(u * 2.3 + 5.0, v * 5.1) * 0.35 - 0.5;
        let shift = wave * unit * (0.02 + 0.16 * near) * (0.25 + water.roughness);
        let reflection =
            source(x + shift * 0.5, (water.top - 1.0) - (y - water.top) * 0.92 + shift * 1.4);
        let depth = (1.0 - water.reflectivity) + 0.35 * near * water.reflectivity;
        let base = reflection.mix(water.deep, depth.clamp(0.0, 1.0));
        let light =
            smoothstep(0.06, 0.3, wave) * (0.25 + 0.75 * near) * (0.2 + 0.5 * water.roughness);
        let dark = smoothstep(0.02, -0.3, wave) * near * (0.15 + 0.3 * water.roughness);
        base.mix(water.highlight, light * 0.6).mix(water.deep.scale(0.6), dark)
    });
}

/// Draws the broken reflection of a sun or moon at the column `x`.
pub fn draw_glitter(c: &mut Canvas, seed: u64, top: f32, x: f32, color: Rgb, strength: f32) {
    let (noise, unit, span) = (Noise::new(seed), c.unit(), (c.h - top).max(1.0));
    c.map_pixels(0.0..c.w, top..c.h, |px, py, now| {
        let near = (py - top) / span;
        let offset = ((px - x) / (unit * (0.035 + 0.16 * near))).abs();
        if offset > 2.2 {
            return now;
        }
        let scale = (0.08 + near).sqrt();
        let wave = noise.at((px - x) / unit / scale * 9.0 + 30.0, 64.0 / (0.16 + scale));
        let spark = smoothstep(0.42 + 0.18 * offset, 0.62 + 0.2 * offset, wave);
        now.screen(color.scale(spark * strength * (1.0 - 0.35 * near)))
    });
}
