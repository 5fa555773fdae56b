//! Air: sky, sun, moon, stars, clouds, mist, and what falls from above.
//! Strokes here fade out softly; most work on pixels, not on shapes.

use super::{
    BLACK, Canvas, Ink, Noise, Rgb, WHITE, gradient,
    shape::{disc, oval, stroke},
    smooth,
};
use crate::{dice::Dice, light::Light};

/// Washes the canvas with the sky, its last colour reached at the row `horizon`.
pub fn sky(c: &mut Canvas, light: &Light, horizon: f32) {
    wash(c, &light.sky, 0.0, horizon);
}

/// A vertical gradient through `stops`, from the row `top` to `bottom`, on the whole canvas.
pub fn wash(c: &mut Canvas, stops: &[Rgb], top: f32, bottom: f32) {
    let (mut row, mut colour) = (usize::MAX, BLACK);
    c.each((0.0, c.w), (0.0, c.h), |_, y, _| {
        if y as usize != row {
            (row, colour) = (y as usize, gradient(stops, (y - top) / (bottom - top)));
        }
        colour
    });
}

/// Light around a point, fading to nothing at the radius.
pub fn glow(c: &mut Canvas, (x, y): (f32, f32), radius: f32, colour: Rgb, strength: f32) {
    let reach = 1.0 / (radius * radius);
    c.each((x - radius, x + radius), (y - radius, y + radius), |px, py, now| {
        let near = 1.0 - ((px - x) * (px - x) + (py - y) * (py - y)) * reach;
        if near <= 0.0 {
            return now;
        }
        now.screen(colour.scale(near * near * near * strength))
    });
}

/// A sun with its halo.
pub fn sun(c: &mut Canvas, light: &Light, (x, y): (f32, f32), radius: f32) {
    let warm = light.sun.mix(light.sky[3], 0.45);
    glow(c, (x, y), radius * 9.0, warm, 0.4);
    glow(c, (x, y), radius * 3.2, light.sun, 0.55);
    c.fill(disc(x, y, radius), Ink::Ball((x, y), radius, WHITE, light.sun));
}

/// A moon with its halo and seas; `phase` 0.0 is full, 0.7 a crescent.
pub fn moon(c: &mut Canvas, light: &Light, (x, y): (f32, f32), radius: f32, phase: f32) {
    const SEAS: [(f32, f32, f32); 4] =
        [(-0.3, -0.25, 0.3), (0.25, 0.12, 0.36), (-0.15, 0.45, 0.22), (0.4, -0.42, 0.16)];
    glow(c, (x, y), radius * 8.0, light.sun.mix(light.sky[3], 0.6), 0.42);
    glow(c, (x, y), radius * 2.6, light.sun, 0.3);
    let shadow = (x + radius * (1.9 - phase * 1.9), y - radius * 0.12);
    let (columns, rows) =
        ((x - radius - 1.0, x + radius + 2.0), (y - radius - 1.0, y + radius + 2.0));
    c.each(columns, rows, |px, py, now| {
        let inside = smooth(radius + 0.8, radius - 0.8, (px - x).hypot(py - y));
        let bite = (px - shadow.0).hypot(py - shadow.1);
        let lit = if phase > 0.0 { smooth(radius * 0.94, radius * 1.02, bite) } else { 1.0 };
        let sea = SEAS.iter().fold(0.0f32, |deepest, (dx, dy, r)| {
            let far = ((px - x) / radius - dx).hypot((py - y) / radius - dy);
            deepest.max(smooth(*r, *r * 0.6, far))
        });
        now.mix(light.sun.mix(light.sky[3], 0.3 * sea), inside * lit)
    });
}

/// Stars above the row `bottom`, thinning out towards it; `amount` 1.0 is a clear night.
pub fn stars(c: &mut Canvas, mut dice: Dice, bottom: f32, amount: f32) {
    if c.is_blind() {
        return;
    }
    let count = (amount * 260.0 * (c.w * bottom) / (c.unit() * c.unit())) as usize;
    for _ in 0..count {
        let (x, depth) = (dice.range(0.0, c.w), dice.unit());
        let y = depth * depth.sqrt() * bottom;
        let size = dice.unit().powi(6) * 1.5 + 0.45;
        let tint = dice.pick(&[WHITE, Rgb(0.8, 0.88, 1.0), Rgb(1.0, 0.9, 0.76)]);
        let alpha = dice.range(0.25, 1.0) * (1.0 - depth * 0.7);
        let r = size * c.unit() / 480.0;
        c.fill(disc(x, y, r), Ink::Thin(tint, alpha));
        if size > 1.45 {
            glow(c, (x, y), r * 4.5, tint, 0.35);
        }
    }
}

/// A deck of clouds seen from below, shrinking towards the row `horizon`. `cover` 0.0-1.0.
pub fn clouds(c: &mut Canvas, light: &Light, seed: u64, horizon: f32, cover: f32) {
    let noise = Noise::new(seed);
    let (height, width, unit) = (horizon.max(1.0), c.w, c.unit());
    let edge = 0.72 - cover * 0.42;
    let (bright, dark) = cloud_colours(light);
    let density = |x: f32, y: f32| {
        let rise = 1.0 - y / height;
        let away = 0.22 + rise;
        let (u, v) = ((x - width * 0.5) / unit / away * 1.5 + 40.0, 3.4 / away);
        let bend = noise.at(u * 0.7 + 9.0, v * 0.9) * 0.9;
        noise.cloud(u + bend, v * 1.5 + bend, 4)
    };
    coarse(c, (0.0, horizon), 4.0, |x, y| {
        let here = density(x, y);
        let lit = smooth(-0.10, 0.12, here - density(x, y - unit * 0.03));
        let thick = smooth(edge, edge + 0.24, here);
        let low = smooth(1.0, 0.82, y / height);
        (dark.mix(bright, lit * (1.0 - 0.45 * thick) + 0.25), thick * low * 0.92)
    });
}

fn cloud_colours(light: &Light) -> (Rgb, Rgb) {
    let bright = if light.is_dark() {
        light.sky[3].mix(light.sun, 0.12)
    } else {
        light.sun.mix(light.sky[3], 0.18)
    };
    (bright, light.sky[1].mix(light.haze, 0.45).scale(0.92))
}

/// Paints a soft layer from a colour and opacity worked out every `step` pixels only.
pub fn coarse(
    c: &mut Canvas,
    (top, bottom): (f32, f32),
    step: f32,
    layer: impl Fn(f32, f32) -> (Rgb, f32),
) {
    let (top, bottom) = (top.floor().max(0.0), bottom.ceil().min(c.h));
    if c.is_blind() || bottom <= top {
        return;
    }
    let columns = (c.w / step) as usize + 2;
    let rows = ((bottom - top) / step) as usize + 2;
    let grid: Vec<(Rgb, f32)> = (0..columns * rows)
        .map(|i| layer((i % columns) as f32 * step, top + (i / columns) as f32 * step))
        .collect();
    let blend = |a: (Rgb, f32), b: (Rgb, f32), k: f32| (a.0.mix(b.0, k), a.1 + (b.1 - a.1) * k);
    let inverse = 1.0 / step;
    let (mut row, mut line) = (usize::MAX, Vec::new());
    c.each((0.0, c.w), (top, bottom), |x, y, now| {
        if y as usize != row {
            row = y as usize;
            let v = (y - top) / step;
            let (upper, lower) = grid[v as usize * columns..].split_at(columns);
            line.clear();
            line.extend(upper.iter().zip(lower).map(|(a, b)| blend(*a, *b, v.fract())));
        }
        let u = x * inverse;
        let left = u as usize;
        let (colour, alpha) = blend(line[left], line[left + 1], u - left as f32);
        now.mix(colour, alpha)
    });
}

/// A heap cloud with a flat base, `size` pixels wide.
pub fn heap_cloud(c: &mut Canvas, light: &Light, mut dice: Dice, (x, y): (f32, f32), size: f32) {
    if c.is_blind() {
        return;
    }
    let (bright, dark) = cloud_colours(light);
    let ink = Ink::fall(y - size * 0.32, bright, y + size * 0.02, bright.mix(dark, 0.55));
    c.fill(oval(x, y - size * 0.03, size * 0.5, size * 0.06), ink);
    for _ in 0..13 {
        let along = dice.sway(0.42);
        let bulge = 1.0 - (along * 2.2).powi(2);
        let r = size * (0.05 + 0.12 * bulge.max(0.05) * dice.range(0.6, 1.0));
        let lift = size * 0.14 * bulge.max(0.0) * dice.unit();
        c.fill(disc(x + along * size, y - r * 0.7 - lift, r), ink);
    }
}

/// A bank of mist around the row `middle`.
pub fn mist(c: &mut Canvas, seed: u64, colour: Rgb, middle: f32, reach: f32, strength: f32) {
    let (noise, unit) = (Noise::new(seed), c.unit());
    coarse(c, ((middle - reach).max(0.0), (middle + reach).min(c.h)), 5.0, |x, y| {
        let near = 1.0 - ((y - middle) / reach).powi(2);
        let wisp = noise.cloud(x / unit * 2.2, y / unit * 7.0, 3);
        (colour, (near.max(0.0) * (0.45 + wisp) * strength).clamp(0.0, 1.0))
    });
}

/// Slanting rain.
pub fn rain(c: &mut Canvas, mut dice: Dice, colour: Rgb, amount: usize) {
    if c.is_blind() {
        return;
    }
    let unit = c.unit();
    for _ in 0..amount {
        let (x, y, near) = (dice.range(0.0, c.w * 1.1), dice.range(-0.1, 1.0) * c.h, dice.unit());
        let length = unit * (0.03 + 0.05 * near);
        let drop = stroke(&[(x, y), (x - length * 0.22, y + length)]);
        c.line(drop, unit * (0.001 + 0.0012 * near), Ink::Thin(colour, 0.14 + 0.2 * near));
    }
}
