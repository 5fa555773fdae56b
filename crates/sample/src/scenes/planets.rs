//! Planets in space: a ringed gas giant, a planet with oceans, or a desert planet.

use super::prelude::*;

/// A name for captions, and the colors from pole to pole or from low to high ground.
type PlanetColors = (&'static str, [u32; 5]);

const GAS_GIANT_COLORS: &[PlanetColors] = &[
    ("golden", [0x8a5a34, 0xd9a866, 0xf3d9a2, 0xe8bd7c, 0xa06a42]),
    ("pale blue", [0x2f5f8c, 0x6fb0cf, 0xd2eef0, 0x8cc4da, 0x3f7ba6]),
    ("pink", [0x7a3458, 0xc9708a, 0xf6c8bd, 0xe09aa0, 0x8f4468]),
];
const OCEAN_PLANET_COLORS: &[PlanetColors] = &[
    ("blue", [0x0c2f6e, 0x14509a, 0x2f8fc4, 0x5fa04c, 0xd8cfa0]),
    ("green", [0x0b3f54, 0x146a70, 0x2f9c86, 0x86b04a, 0xe6dca0]),
];
const DESERT_PLANET_COLORS: &[PlanetColors] = &[
    ("red", [0x5c1f18, 0x963a22, 0xc8623a, 0xe2945c, 0xf3c596]),
    ("orange", [0x6e3312, 0xa8561c, 0xd98a34, 0xefb45c, 0xfbe0a0]),
    ("purple", [0x2f1a52, 0x5a2f86, 0x8c56b4, 0xbc8ad2, 0xe6c6ee]),
];

struct Globe {
    center: Point,
    radius: f32,
    colors: [Rgb; 5],
    /// Whether the planet is covered with bands of gas instead of continents.
    banded: bool,
    /// The direction to the sun: x, y, z.
    sun: (f32, f32, f32),
    seed: u64,
}

pub fn draw(s: &mut Scene) {
    let (planet_colors, ringed) = s.variant(&[
        (GAS_GIANT_COLORS, true),
        (OCEAN_PLANET_COLORS, false),
        (DESERT_PLANET_COLORS, false),
    ]);
    s.labels.extend(["space", "stars"]);
    let nebula = draw_nebula(s);
    let side = s.rng.pick(&[-1.0, 1.0]);
    let sun = (side * s.rng.range(0.5, 0.75), -s.rng.range(0.25, 0.55), s.rng.range(0.35, 0.6));
    let unit = s.canvas.unit();
    let moons = s.rng.int(0, 3);
    let (name, hex) = s.rng.pick(planet_colors);
    let radius = unit * s.rng.range(0.2, 0.33);
    let center = s.random_point(0.36..0.64, 0.52..0.52);
    let globe =
        Globe { center, radius, colors: hex.map(rgb), banded: ringed, sun, seed: s.rng.next() };
    s.canvas.glow(center, radius * 1.7, globe.colors[3], 0.55);
    let tilt = s.rng.jitter(0.5);
    if ringed {
        draw_ring(&mut s.canvas, &globe, tilt, false);
    }
    draw_globe(&mut s.canvas, &globe);
    if ringed {
        draw_ring(&mut s.canvas, &globe, tilt, true);
    }
    s.add_circle("planet", center, radius);
    for index in 0..moons {
        draw_moon(s, &globe, index);
    }
    let with = match (ringed, moons) {
        (true, 0) => " with wide rings".to_owned(),
        (true, n) => format!(" with rings and {} moon{}", number_word(n, "a small"), plural(n)),
        (false, 0) => String::new(),
        (false, n) => format!(" with {} moon{}", number_word(n, "a single"), plural(n)),
    };
    let place = s.rng.pick(&["among the stars", "in deep space", "in the dark"]);
    let article = article(name);
    s.caption = capitalize(&format!("{article} {name} planet{with} {place}, {nebula}"));
}

/// Draws stars and a nebula. Returns the phrase for the nebula.
fn draw_nebula(s: &mut Scene) -> &'static str {
    let (phrase, near, far) = s.rng.pick(&[
        ("before a violet nebula", rgb(0x7a3fa8), rgb(0x1a2f7a)),
        ("before a teal nebula", rgb(0x1f8f96), rgb(0x2a2470)),
        ("before a rosy nebula", rgb(0xb8466f), rgb(0x2a1f66)),
        ("before faint blue gas", rgb(0x2f5fb4), rgb(0x121a44)),
    ]);
    let (w, h, unit) = (s.canvas.w, s.canvas.h, s.canvas.unit());
    s.canvas.vertical_gradient(&[rgb(0x05060f), rgb(0x0b0e24), rgb(0x06070f)], h);
    let noise = Noise::new(s.rng.next());
    let slope = s.rng.jitter(0.8);
    s.canvas.soft_layer(0.0..h, 4.0, |x, y| {
        let band = ((y - h * 0.5) - slope * (x - w * 0.5)) / unit;
        let (u, v) = (x / unit * 2.6, y / unit * 2.6);
        let bend = noise.fbm(u + 7.0, v, 3);
        let gas = noise.fbm(u + bend * 2.0, v + bend * 1.4, 4);
        let opacity = smoothstep(0.38, 0.78, gas) * smoothstep(0.75, 0.0, band.abs());
        (far.mix(near, smoothstep(0.4, 0.7, bend)), opacity * 0.85)
    });
    s.add_stars(h * 1.8, 1.0);
    phrase
}

fn draw_globe(c: &mut Canvas, globe: &Globe) {
    let (noise, (cx, cy), r) = (Noise::new(globe.seed), globe.center, globe.radius);
    let has_clouds = !globe.banded && globe.colors[0].2 > globe.colors[0].0 * 2.5;
    c.map_pixels(cx - r - 1.0..cx + r + 2.0, cy - r - 1.0..cy + r + 2.0, |x, y, now| {
        let (dx, dy) = ((x - cx) / r, (y - cy) / r);
        let flat = dx * dx + dy * dy;
        let inside = smoothstep(1.0 + 1.0 / r, 1.0 - 1.0 / r, flat.sqrt());
        if inside <= 0.0 {
            return now;
        }
        let dz = (1.0 - flat).max(0.0).sqrt();
        let (u, v) = (dx / (0.45 + dz) + 20.0, dy / (0.7 + dz * 0.3));
        let swirl = noise.fbm(u * 1.6, v * 3.2 + 9.0, 3);
        let level = if globe.banded {
            noise.fbm_1d(v * 5.5 + 30.0 + (swirl - 0.5) * 0.9, 3) * 1.5 - 0.25
        } else {
            smoothstep(0.2, 0.8, noise.fbm(u * 2.1, v * 2.4, 5))
        };
        let mut ground = gradient(&globe.colors, level);
        if has_clouds {
            let cloud = noise.fbm(u * 2.2 + swirl * 2.0 + 50.0, v * 5.0, 4);
            ground = ground.mix(WHITE, smoothstep(0.52, 0.72, cloud) * 0.85);
        }
        let facing = dx * globe.sun.0 + dy * globe.sun.1 + dz * globe.sun.2;
        let day = smoothstep(-0.12, 0.75, facing);
        let rim = (1.0 - dz).powi(3) * smoothstep(-0.2, 0.5, facing);
        let rim_light = globe.colors[3].mix(WHITE, 0.4).scale(rim * 0.6);
        now.mix(ground.scale(0.05 + 1.12 * day).screen(rim_light), inside)
    });
}

/// Draws half of a ring system, in front of the globe or behind it.
fn draw_ring(c: &mut Canvas, globe: &Globe, tilt: f32, front: bool) {
    let (noise, (cx, cy), r) = (Noise::new(globe.seed ^ 5), globe.center, globe.radius);
    let (sin, cos) = tilt.sin_cos();
    let reach = r * 2.3;
    c.map_pixels(cx - reach..cx + reach, cy - reach..cy + reach, |x, y, now| {
        let (dx, dy) = ((x - cx) / r, (y - cy) / r);
        let (u, v) = (dx * cos + dy * sin, (dy * cos - dx * sin) / 0.3);
        if (v > 0.0) != front {
            return now;
        }
        let far = u.hypot(v);
        if !(1.25..2.25).contains(&far) {
            return now;
        }
        let edge = smoothstep(1.25, 1.32, far) * smoothstep(2.25, 2.15, far);
        let gap = 1.0 - 0.85 * smoothstep(0.05, 0.02, (far - 1.82).abs());
        let grooves = 0.45 + 0.55 * noise.fbm_1d(far * 16.0, 3);
        let shadow = if !front && u * globe.sun.0 < 0.0 && u.abs() < 1.0 { 0.25 } else { 1.0 };
        let color = gradient(&globe.colors, 0.25 + 0.5 * grooves).mix(WHITE, 0.18).scale(shadow);
        now.mix(color, edge * gap * grooves * 0.95)
    });
}

fn draw_moon(s: &mut Scene, globe: &Globe, index: usize) {
    let angle = s.rng.range(0.0, 1.4) + index as f32 * 2.1;
    let far = globe.radius * s.rng.range(1.45, 1.8);
    let radius = globe.radius * s.rng.range(0.09, 0.2);
    let center = (
        (globe.center.0 + angle.cos() * far * 1.25).clamp(radius * 2.0, s.canvas.w - radius * 2.0),
        (globe.center.1 + angle.sin() * far).clamp(radius * 2.0, s.canvas.h - radius * 2.0),
    );
    let gray = s.rng.pick(&[rgb(0xb8b4ae), rgb(0xc9a98c), rgb(0x9fb0c4)]);
    let colors = [gray.scale(0.5), gray.scale(0.75), gray, gray.mix(WHITE, 0.3), WHITE];
    s.canvas.glow(center, radius * 1.6, BLACK.mix(gray, 0.3), 0.5);
    let moon = Globe { center, radius, colors, banded: false, sun: globe.sun, seed: s.rng.next() };
    draw_globe(&mut s.canvas, &moon);
    s.add_circle("moon", center, radius);
}
