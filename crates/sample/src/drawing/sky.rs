//! Sun, moon, stars, clouds, mist and rain.

use super::super::{light::Light, rng::Rng};
use super::{
    Canvas, Fill, Noise, Rgb, WHITE,
    shape::{Point, circle, ellipse, polyline},
    smoothstep,
};

pub fn sun(c: &mut Canvas, light: &Light, (x, y): Point, radius: f32) {
    let warm = light.sun.mix(light.sky[3], 0.45);
    c.glow((x, y), radius * 9.0, warm, 0.4);
    c.glow((x, y), radius * 3.2, light.sun, 0.55);
    c.fill(circle(x, y, radius), Fill::Radial((x, y), radius, WHITE, light.sun));
}

/// A moon with its halo and dark spots; `phase` 0.0 is full, 0.7 a crescent.
pub fn moon(c: &mut Canvas, light: &Light, (x, y): Point, radius: f32, phase: f32) {
    const SPOTS: [(f32, f32, f32); 4] =
        [(-0.3, -0.25, 0.3), (0.25, 0.12, 0.36), (-0.15, 0.45, 0.22), (0.4, -0.42, 0.16)];
    c.glow((x, y), radius * 8.0, light.sun.mix(light.sky[3], 0.6), 0.42);
    c.glow((x, y), radius * 2.6, light.sun, 0.3);
    let shadow = (x + radius * (1.9 - phase * 1.9), y - radius * 0.12);
    let (columns, rows) =
        ((x - radius - 1.0, x + radius + 2.0), (y - radius - 1.0, y + radius + 2.0));
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

/// Stars above the row `bottom`, fewer towards it; `amount` 1.0 is a clear night.
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

/// A layer of clouds in perspective, smaller towards the row `horizon`; `cover` is 0.0-1.0.
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
    c.soft_layer((0.0, horizon), 4.0, |x, y| {
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

/// A cumulus cloud, `size` pixels wide.
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
    c.soft_layer(((middle - reach).max(0.0), (middle + reach).min(c.h)), 5.0, |x, y| {
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
