//! Deserts: golden dunes, red mesas with cacti, pyramids under the stars.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{
        Ink, Noise, Rgb, air,
        land::{self, Skyline},
        rgb,
        shape::{Spot, place, polygon},
        smooth,
    },
    easel::Easel,
    light::Time,
    props::desert::{cactus, camel},
    scenes::parts,
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
    let (high, unit) = (e.somewhere((0.15, 0.85), (0.12, 0.3)), e.canvas.unit());
    if e.light.is_dark() {
        parts::stars(e, horizon, 1.5);
        let (radius, phase) = (unit * e.dice.range(0.04, 0.07), e.dice.pick(&[0.0, 0.7]));
        parts::moon(e, high, radius, phase);
        return "under moon and stars";
    }
    parts::clouds(e, horizon, (0.15, 0.3));
    let radius = unit * e.dice.range(0.05, 0.09);
    let low = (high.0, horizon - radius * 2.4);
    parts::sun(e, if e.light.time == Time::Noon { high } else { low }, radius);
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

fn pyramids(e: &mut Easel) {
    e.light_of(&[Time::Night, Time::Dusk, Time::Sunset]);
    let horizon = e.canvas.h * e.dice.range(0.6, 0.7);
    let sky = heavens(e, horizon);
    let (sand, level) = (rgb(0xe6ba7c), horizon / e.canvas.h);
    dune(e, level + 0.06, 0.07, 0.3, sand);
    let (count, side) = (e.dice.count(1, 3), e.dice.pick(&[0.32, 0.68]));
    for index in 0..count {
        let near = (index + 1) as f32 / count as f32;
        let slot = ((index * 2) % count) as f32 + e.dice.range(0.35, 0.65);
        let foot = (e.canvas.w * slot / count as f32, horizon + e.canvas.h * 0.05);
        pyramid(e, foot, side, near, sand);
    }
    for step in [0.0, 1.0] {
        dune(e, level + 0.2 + 0.25 * step, 0.14, 0.6 + 0.4 * step, sand);
    }
    e.label("sand");
    let n = words::count(count, "a great");
    let rise = if count == 1 { "pyramid rises" } else { "pyramids rise" };
    e.caption = words::sentence(&format!("{n} {rise} from the desert {sky}"));
}

/// A pyramid on the point `foot`, its edge at the fraction `side` of its width.
fn pyramid(e: &mut Easel, foot: Spot, side: f32, near: f32, sand: Rgb) {
    let light = e.light;
    let half = e.canvas.unit() * (0.16 + 0.17 * near);
    let (left, right) = ((foot.0 - half, foot.1), (foot.0 + half, foot.1));
    let top = (foot.0, foot.1 - half * 1.22);
    let edge = (left.0 + 2.0 * half * side, foot.1 + half * 0.04);
    e.box_object("pyramid", (left.0, top.1), right);
    let bright = light.on(sand, 0.25 * (1.0 - near)).mix(light.sun, 0.12);
    let dark = light.on(sand.scale(0.5), 0.2 * (1.0 - near)).mix(light.shade, 0.45);
    let faces = if side < 0.5 { [dark, bright] } else { [bright, dark] };
    for (corner, tone) in [left, right].into_iter().zip(faces) {
        let fade = Ink::fall(top.1, tone, foot.1, tone.mix(light.haze, 0.25));
        e.canvas.fill(polygon(&[corner, top, edge]), fade);
    }
}
