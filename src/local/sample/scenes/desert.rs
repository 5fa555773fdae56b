//! Deserts: golden dunes, red mesas with cacti, pyramids under the stars.

use crate::local::sample::{
    brush::{
        Canvas, Ink, Noise, Rgb, air, land,
        land::Skyline,
        rgb,
        shape::{blob, disc, pill, place, polygon, stroke},
        smooth,
    },
    easel::Easel,
    light::Time,
    words,
};

#[derive(Clone, Copy)]
enum Mood {
    Dunes,
    Mesas,
    Pyramids,
}

pub fn paint(e: &mut Easel) {
    match e.mood(&[Mood::Dunes, Mood::Mesas, Mood::Pyramids]) {
        Mood::Dunes => dunes(e),
        Mood::Mesas => mesas(e),
        Mood::Pyramids => pyramids(e),
    }
}

/// Sky with a sun, or with moon and stars; gives the words for it.
fn heavens(e: &mut Easel, horizon: f32) -> &'static str {
    air::sky(&mut e.canvas, &e.light, horizon);
    let (sprinkle, seed, unit) = (e.dice.fork(), e.dice.next(), e.canvas.unit());
    let (x, y) = e.somewhere((0.15, 0.85), (0.12, 0.3));
    if e.light.is_dark() {
        air::stars(&mut e.canvas, sprinkle, horizon, 1.5);
        let (radius, phase) = (unit * e.dice.range(0.04, 0.07), e.dice.pick(&[0.0, 0.7]));
        air::moon(&mut e.canvas, &e.light, (x, y), radius, phase);
        e.round_object("moon", (x, y), radius);
        return "under moon and stars";
    }
    air::clouds(&mut e.canvas, &e.light, seed, horizon, 0.22);
    let radius = unit * e.dice.range(0.05, 0.09);
    let y = if e.light.time == Time::Noon { y } else { horizon - radius * 2.4 };
    air::sun(&mut e.canvas, &e.light, (x, y), radius);
    e.round_object("sun", (x, y), radius);
    e.when()
}

/// A dune: one side in the light, the other in the shade, rippled by wind.
fn dune(e: &mut Easel, base: f32, tall: f32, near: f32, sand: Rgb) -> Skyline {
    let (seed, unit, h) = (e.dice.next(), e.canvas.unit(), e.canvas.h);
    let (noise, aspect) = (Noise::new(seed), e.canvas.w / unit);
    let pace = e.dice.range(1.1, 1.7);
    let shape = move |x: f32| {
        let t = noise.along(x * pace * aspect + 2.0);
        base - tall * (t * 0.75 + 0.25 * (1.0 - (2.0 * t - 1.0).abs()))
    };
    let line = Skyline::new(&e.canvas, shape);
    let lit = e.light.on(sand, 0.42 * (1.0 - near)).mix(e.light.sun, 0.12);
    let dark = e.light.on(sand.under(rgb(0x9c6456)), 0.4 * (1.0 - near)).mix(e.light.shade, 0.22);
    let w = e.canvas.w;
    let crest = e.dice.range(0.2, 0.8);
    land::textured(&mut e.canvas, &line, |x, y, down| {
        let d = down / unit;
        let across = x / w + (noise.at(y / unit * 1.6, 3.0) - 0.5) * 0.16;
        let lean = shape(across - d * 0.3) - shape(across - d * 0.3 + 0.03);
        let flank = smooth(-0.003, 0.003, lean * if crest > 0.5 { 1.0 } else { -1.0 });
        let ripple = noise.at(x / unit * 5.0 + y / unit * 9.0, y / unit * 80.0 / (0.5 + near));
        let tone = dark.mix(lit, 0.25 + 0.75 * flank);
        tone.scale(1.0 + (ripple - 0.5) * 0.1 * near - 0.25 * smooth(0.0, h * 0.5, down))
    });
    line
}

fn dunes(e: &mut Easel) {
    e.light_of(&[Time::Golden, Time::Noon, Time::Sunset, Time::Dawn]);
    let horizon = e.canvas.h * e.dice.range(0.45, 0.58);
    let sky = heavens(e, horizon);
    let sand = rgb(e.dice.pick(&[0xe8b46a, 0xf0c684, 0xe09a5a, 0xe8a06c]));
    let level = horizon / e.canvas.h;
    let mut lines = Vec::new();
    for step in 0..4 {
        let near = step as f32 / 3.0;
        lines.push(dune(e, level + 0.1 + 0.4 * near, 0.2 + 0.12 * near, near, sand));
    }
    let camels = e.dice.pick(&[0, 1, 2, 3, 4, 5]);
    let start = e.dice.range(0.12, 0.5);
    for index in 0..camels {
        let across = start + index as f32 * 0.095;
        let size = e.canvas.unit() * 0.115;
        let pose = place(e.canvas.w * across, lines[2].at(across) + size * 0.06, size);
        e.object("camel", pose, [-0.55, -0.95, 0.62, 0.05]);
        let ink = e.light.shade.mix(e.light.on(rgb(0x7a4a2c), 0.0), 0.4);
        e.canvas.posed(pose, |c| camel(c, ink));
    }
    e.labels.extend(["dunes", "sand"]);
    let dunes = e.dice.pick(&["Golden dunes", "Wind-shaped dunes", "Soft dunes", "High dunes"]);
    let with = match camels {
        0 => String::new(),
        1 => ", crossed by a camel,".to_owned(),
        n => format!(", crossed by {} camels,", words::count(n, "a")),
    };
    e.caption = format!("{dunes} in the desert{with} {sky}");
}

fn camel(c: &mut Canvas, ink: Rgb) {
    for x in [-0.3, -0.2, 0.16, 0.26] {
        c.line(stroke(&[(x, -0.4), (x - 0.02, 0.0)]), 0.07, ink);
    }
    let body = blob(&[(-0.42, -0.5), (-0.26, -0.62), (-0.12, -0.84), (0.02, -0.64), (0.14, -0.82), (0.28, -0.6), (0.34, -0.45), (0.1, -0.34), (-0.3, -0.34)]);
    c.fill(body, ink);
    c.line(crate::local::sample::brush::shape::arc((0.28, -0.5), (0.5, -0.42), (0.48, -0.84)), 0.09, ink);
    c.fill(blob(&[(0.44, -0.92), (0.64, -0.84), (0.6, -0.78), (0.44, -0.8)]), ink);
}

fn mesas(e: &mut Easel) {
    e.light_of(&[Time::Sunset, Time::Noon, Time::Golden, Time::Dusk]);
    let horizon = e.canvas.h * e.dice.range(0.56, 0.66);
    let sky = heavens(e, horizon);
    let rock = rgb(e.dice.pick(&[0xc8583a, 0xb84a34, 0xd4743c]));
    let level = horizon / e.canvas.h;
    for step in 0..3 {
        let near = step as f32 / 2.0;
        mesa(e, level + 0.02 + 0.03 * near, near, rock);
    }
    let ground = dune(e, level + 0.2, 0.12, 0.9, rock.mix(rgb(0xf0b070), 0.5));
    let count = e.dice.count(1, 5);
    for index in 0..count {
        let near = (index + 1) as f32 / count as f32;
        let across = (((index * 2) % count) as f32 + e.dice.range(0.2, 0.8)) / count as f32;
        let size = e.canvas.unit() * (0.12 + 0.2 * near);
        let foot = ground.at(across) + e.canvas.h * (0.03 + 0.13 * near);
        let pose = place(e.canvas.w * across, foot, size).pre_scale(e.dice.pick(&[-1.0, 1.0]), 1.0);
        e.object("cactus", pose, [-0.36, -1.0, 0.36, 0.0]);
        let green = e.light.on(rgb(0x4c8a4a), 0.15 * (1.0 - near)).mix(e.light.shade, 0.2);
        e.canvas.posed(pose, |c| cactus(c, green));
    }
    e.labels.extend(["mesas", "rocks"]);
    let n = words::count(count, "a lone");
    let cacti = if count == 1 { "cactus" } else { "cacti" };
    let before = e.dice.pick(&["before red mesas", "below red rocks", "among red cliffs"]);
    e.caption = words::sentence(&format!("{n} {cacti} in the desert {before} {sky}"));
}

/// Table mountains in strata.
fn mesa(e: &mut Easel, base: f32, near: f32, rock: Rgb) {
    let (noise, unit, h) = (Noise::new(e.dice.next()), e.canvas.unit(), e.canvas.h);
    let (pace, aspect) = (e.dice.range(1.6, 2.4), e.canvas.w / unit);
    let tall = (0.3 - 0.06 * near) * e.dice.range(0.8, 1.2);
    let line = Skyline::new(&e.canvas, move |x| {
        let t = noise.along(x * pace * aspect + 11.0);
        let step = 0.55 * smooth(0.46, 0.52, t) + 0.45 * smooth(0.64, 0.68, t);
        base - tall * step - 0.012 * noise.ridge(x * 24.0, 2) - 0.035 * smooth(0.3, 0.5, t)
    });
    let tone = e.light.on(rock, 0.55 * (1.0 - near));
    let haze = e.light.haze;
    land::textured(&mut e.canvas, &line, |x, y, down| {
        let band = noise.ridge(y / unit * 22.0 + 40.0, 2);
        let crack = smooth(0.5, 0.62, noise.at(x / unit * 26.0, y / unit * 3.0));
        let face = tone.scale(0.82 + 0.36 * band).mix(tone.scale(0.55), crack * 0.5);
        face.mix(haze, 0.35 * smooth(0.0, h * 0.3, down) * (1.0 - 0.5 * near))
    });
}

fn cactus(c: &mut Canvas, green: Rgb) {
    let shade = |left: f32, right: f32| Ink::Fade((left, 0.0), green.scale(1.25), (right, 0.0), green.scale(0.62));
    c.fill(pill(-0.1, -1.0, 0.2, 1.0, 0.1), shade(-0.1, 0.1));
    c.fill(pill(-0.34, -0.76, 0.13, 0.36, 0.065), shade(-0.34, -0.21));
    c.fill(pill(-0.34, -0.5, 0.28, 0.13, 0.06), shade(-0.34, 0.0));
    c.fill(pill(0.21, -0.86, 0.13, 0.34, 0.065), shade(0.21, 0.34));
    c.fill(pill(0.06, -0.62, 0.28, 0.13, 0.06), shade(0.0, 0.34));
    for x in [-0.04, 0.03] {
        c.line(stroke(&[(x, -0.93), (x, -0.05)]), 0.012, Ink::Thin(green.scale(0.5), 0.6));
    }
    c.fill(disc(0.0, -1.0, 0.035), rgb(0xf06a8c));
}

fn pyramids(e: &mut Easel) {
    e.light_of(&[Time::Night, Time::Dusk, Time::Sunset]);
    let horizon = e.canvas.h * e.dice.range(0.6, 0.7);
    let sky = heavens(e, horizon);
    let sand = rgb(0xe6ba7c);
    let level = horizon / e.canvas.h;
    dune(e, level + 0.06, 0.07, 0.3, sand);
    let count = e.dice.count(1, 3);
    let side = e.dice.pick(&[0.32, 0.68]);
    for index in 0..count {
        let near = (index + 1) as f32 / count as f32;
        let middle = e.canvas.w * (((index * 2) % count) as f32 + e.dice.range(0.35, 0.65)) / count as f32;
        let half = e.canvas.unit() * (0.16 + 0.17 * near);
        let (tall, foot) = (half * 1.22, horizon + e.canvas.h * 0.05);
        let edge = middle - half + 2.0 * half * side;
        let lit = e.light.on(sand, 0.25 * (1.0 - near)).mix(e.light.sun, 0.12);
        let dark = e.light.on(sand.scale(0.5), 0.2 * (1.0 - near)).mix(e.light.shade, 0.45);
        let bounds = [middle - half, foot - tall, middle + half, foot];
        e.object("pyramid", tiny_skia::Transform::identity(), bounds);
        let faces = if side < 0.5 { (dark, lit) } else { (lit, dark) };
        let top = (middle, foot - tall);
        let fade = |tone: Rgb| Ink::fall(foot - tall, tone, foot, tone.mix(e.light.haze, 0.25));
        e.canvas.fill(polygon(&[(middle - half, foot), top, (edge, foot + half * 0.04)]), fade(faces.0));
        e.canvas.fill(polygon(&[(middle + half, foot), top, (edge, foot + half * 0.04)]), fade(faces.1));
    }
    for step in 0..2 {
        dune(e, level + 0.2 + 0.25 * step as f32, 0.14, 0.6 + 0.4 * step as f32, sand);
    }
    e.label("sand");
    let n = words::count(count, "a great");
    let plural = if count == 1 { "" } else { "s" };
    let rise = if count == 1 { "rises" } else { "rise" };
    e.caption = words::sentence(&format!("{n} pyramid{plural} {rise} from the desert {sky}"));
}
