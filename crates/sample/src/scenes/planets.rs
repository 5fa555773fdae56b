//! Planets: a ringed giant, a blue world with moons, a rust-coloured desert world.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{BLACK, Canvas, Noise, Rgb, WHITE, air, gradient, rgb, smooth},
    easel::Easel,
    words,
};

#[derive(Clone, Copy)]
enum Mood {
    Ringed,
    Blue,
    Rust,
}

/// A sphere lit from one side.
struct Globe {
    centre: (f32, f32),
    radius: f32,
    /// Colours from pole to pole or from deep to high.
    stops: [Rgb; 5],
    /// Bands of gas, not continents.
    banded: bool,
    /// Direction of the light: x, y, z.
    sun: (f32, f32, f32),
    seed: u64,
}

pub fn paint(e: &mut Easel) {
    let mood = e.mood(&[Mood::Ringed, Mood::Blue, Mood::Rust]);
    e.labels.extend(["space", "stars"]);
    let nebula = nebula(e);
    let side = e.dice.pick(&[-1.0, 1.0]);
    let sun = (side * e.dice.range(0.5, 0.75), -e.dice.range(0.25, 0.55), e.dice.range(0.35, 0.6));
    let unit = e.canvas.unit();
    let moons = e.dice.count(0, 3);
    let (name, stops, banded) = colours(e, mood);
    let radius = unit * e.dice.range(0.2, 0.33);
    let centre = e.somewhere((0.36, 0.64), (0.52, 0.52));
    let globe = Globe { centre, radius, stops, banded, sun, seed: e.dice.next() };
    air::glow(&mut e.canvas, centre, radius * 1.7, stops[3], 0.55);
    let ringed = matches!(mood, Mood::Ringed);
    let tilt = e.dice.sway(0.5);
    if ringed {
        ring(&mut e.canvas, &globe, tilt, false);
    }
    sphere(&mut e.canvas, &globe);
    if ringed {
        ring(&mut e.canvas, &globe, tilt, true);
    }
    e.round_object("planet", centre, radius);
    for index in 0..moons {
        moon(e, &globe, index);
    }
    caption(e, (name, nebula), ringed, moons);
}

fn caption(e: &mut Easel, (name, nebula): (&str, &str), ringed: bool, moons: usize) {
    let with = match (ringed, moons) {
        (true, 0) => " with wide rings".to_owned(),
        (true, n) => format!(" with rings and {} {}", words::count(n, "a small"), plural(n)),
        (false, 0) => String::new(),
        (false, n) => format!(" with {} {}", words::count(n, "a single"), plural(n)),
    };
    let place = e.dice.pick(&["among the stars", "in deep space", "in the dark"]);
    e.caption =
        words::sentence(&format!("{} {name} planet{with} {place}, {nebula}", words::article(name)));
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "moon" } else { "moons" }
}

/// Stars and coloured gas; gives the words for it.
fn nebula(e: &mut Easel) -> &'static str {
    let (words, near, far) = e.dice.pick(&[
        ("before a violet nebula", rgb(0x7a3fa8), rgb(0x1a2f7a)),
        ("before a teal nebula", rgb(0x1f8f96), rgb(0x2a2470)),
        ("before a rosy nebula", rgb(0xb8466f), rgb(0x2a1f66)),
        ("before faint blue gas", rgb(0x2f5fb4), rgb(0x121a44)),
    ]);
    let (w, h, unit) = (e.canvas.w, e.canvas.h, e.canvas.unit());
    air::wash(&mut e.canvas, &[rgb(0x05060f), rgb(0x0b0e24), rgb(0x06070f)], 0.0, h);
    let noise = Noise::new(e.dice.next());
    let slope = e.dice.sway(0.8);
    air::coarse(&mut e.canvas, (0.0, h), 4.0, |x, y| {
        let band = ((y - h * 0.5) - slope * (x - w * 0.5)) / unit;
        let (u, v) = (x / unit * 2.6, y / unit * 2.6);
        let bend = noise.cloud(u + 7.0, v, 3);
        let gas = noise.cloud(u + bend * 2.0, v + bend * 1.4, 4);
        let veil = smooth(0.38, 0.78, gas) * smooth(0.75, 0.0, band.abs());
        (far.mix(near, smooth(0.4, 0.7, bend)), veil * 0.85)
    });
    let sprinkle = e.dice.fork();
    air::stars(&mut e.canvas, sprinkle.clone(), h * 1.8, 1.0);
    words
}

fn colours(e: &mut Easel, mood: Mood) -> (&'static str, [Rgb; 5], bool) {
    let (name, hex) = match mood {
        Mood::Ringed => e.dice.pick(&[
            ("golden", [0x8a5a34, 0xd9a866, 0xf3d9a2, 0xe8bd7c, 0xa06a42]),
            ("pale blue", [0x2f5f8c, 0x6fb0cf, 0xd2eef0, 0x8cc4da, 0x3f7ba6]),
            ("pink", [0x7a3458, 0xc9708a, 0xf6c8bd, 0xe09aa0, 0x8f4468]),
        ]),
        Mood::Blue => e.dice.pick(&[
            ("blue", [0x0c2f6e, 0x14509a, 0x2f8fc4, 0x5fa04c, 0xd8cfa0]),
            ("green", [0x0b3f54, 0x146a70, 0x2f9c86, 0x86b04a, 0xe6dca0]),
        ]),
        Mood::Rust => e.dice.pick(&[
            ("red", [0x5c1f18, 0x963a22, 0xc8623a, 0xe2945c, 0xf3c596]),
            ("orange", [0x6e3312, 0xa8561c, 0xd98a34, 0xefb45c, 0xfbe0a0]),
            ("purple", [0x2f1a52, 0x5a2f86, 0x8c56b4, 0xbc8ad2, 0xe6c6ee]),
        ]),
    };
    (name, hex.map(rgb), matches!(mood, Mood::Ringed))
}

fn sphere(c: &mut Canvas, globe: &Globe) {
    let (noise, (cx, cy), r) = (Noise::new(globe.seed), globe.centre, globe.radius);
    let ocean = !globe.banded && globe.stops[0].2 > globe.stops[0].0 * 2.5;
    c.each((cx - r - 1.0, cx + r + 2.0), (cy - r - 1.0, cy + r + 2.0), |x, y, now| {
        let (dx, dy) = ((x - cx) / r, (y - cy) / r);
        let flat = dx * dx + dy * dy;
        let inside = smooth(1.0 + 1.0 / r, 1.0 - 1.0 / r, flat.sqrt());
        if inside <= 0.0 {
            return now;
        }
        let dz = (1.0 - flat).max(0.0).sqrt();
        let (u, v) = (dx / (0.45 + dz) + 20.0, dy / (0.7 + dz * 0.3));
        let swirl = noise.cloud(u * 1.6, v * 3.2 + 9.0, 3);
        let tone = if globe.banded {
            noise.ridge(v * 5.5 + 30.0 + (swirl - 0.5) * 0.9, 3) * 1.5 - 0.25
        } else {
            smooth(0.2, 0.8, noise.cloud(u * 2.1, v * 2.4, 5))
        };
        let mut ground = gradient(&globe.stops, tone);
        if ocean {
            let cloud = noise.cloud(u * 2.2 + swirl * 2.0 + 50.0, v * 5.0, 4);
            ground = ground.mix(WHITE, smooth(0.52, 0.72, cloud) * 0.85);
        }
        let facing = dx * globe.sun.0 + dy * globe.sun.1 + dz * globe.sun.2;
        let day = smooth(-0.12, 0.75, facing);
        let rim = (1.0 - dz).powi(3) * smooth(-0.2, 0.5, facing);
        let paint =
            ground.scale(0.05 + 1.12 * day).screen(globe.stops[3].mix(WHITE, 0.4).scale(rim * 0.6));
        now.mix(paint, inside)
    });
}

/// Half of a ring system: behind the globe or in front of it.
fn ring(c: &mut Canvas, globe: &Globe, tilt: f32, front: bool) {
    let (noise, (cx, cy), r) = (Noise::new(globe.seed ^ 5), globe.centre, globe.radius);
    let (sin, cos) = tilt.sin_cos();
    let reach = r * 2.3;
    c.each((cx - reach, cx + reach), (cy - reach, cy + reach), |x, y, now| {
        let (dx, dy) = ((x - cx) / r, (y - cy) / r);
        let (u, v) = (dx * cos + dy * sin, (dy * cos - dx * sin) / 0.3);
        if (v > 0.0) != front {
            return now;
        }
        let far = u.hypot(v);
        if !(1.25..2.25).contains(&far) {
            return now;
        }
        let edge = smooth(1.25, 1.32, far) * smooth(2.25, 2.15, far);
        let gap = 1.0 - 0.85 * smooth(0.05, 0.02, (far - 1.82).abs());
        let grooves = 0.45 + 0.55 * noise.ridge(far * 16.0, 3);
        let shadow = if !front && u * globe.sun.0 < 0.0 && u.abs() < 1.0 { 0.25 } else { 1.0 };
        let paint = gradient(&globe.stops, 0.25 + 0.5 * grooves).mix(WHITE, 0.18).scale(shadow);
        now.mix(paint, edge * gap * grooves * 0.95)
    });
}

fn moon(e: &mut Easel, globe: &Globe, index: usize) {
    let angle = e.dice.range(0.0, 1.4) + index as f32 * 2.1;
    let far = globe.radius * e.dice.range(1.45, 1.8);
    let radius = globe.radius * e.dice.range(0.09, 0.2);
    let centre = (
        (globe.centre.0 + angle.cos() * far * 1.25).clamp(radius * 2.0, e.canvas.w - radius * 2.0),
        (globe.centre.1 + angle.sin() * far).clamp(radius * 2.0, e.canvas.h - radius * 2.0),
    );
    let grey = e.dice.pick(&[rgb(0xb8b4ae), rgb(0xc9a98c), rgb(0x9fb0c4)]);
    let stops = [grey.scale(0.5), grey.scale(0.75), grey, grey.mix(WHITE, 0.3), WHITE];
    air::glow(&mut e.canvas, centre, radius * 1.6, BLACK.mix(grey, 0.3), 0.5);
    sphere(
        &mut e.canvas,
        &Globe { centre, radius, stops, banded: false, sun: globe.sun, seed: e.dice.next() },
    );
    e.round_object("moon", centre, radius);
}
