//! The sea: low sun over calm water, a beach, a storm, moonlight.

use super::parts;
use crate::local::sample::{
    brush::{
        Canvas, Ink, Noise, Rgb, WHITE, air,
        land::{self, Skyline},
        rgb,
        shape::{arc, disc, place, polygon},
        smooth,
        tree::{self, Leaves},
        water::{self, Water},
    },
    easel::Easel,
    light::Time,
    words,
};

#[derive(Clone, Copy)]
enum Mood {
    LowSun,
    Beach,
    Storm,
    Moonlight,
}

pub fn paint(e: &mut Easel) {
    match e.mood(&[Mood::LowSun, Mood::Beach, Mood::Storm, Mood::Moonlight]) {
        Mood::LowSun => low_sun(e),
        Mood::Beach => beach(e),
        Mood::Storm => storm(e),
        Mood::Moonlight => moonlight(e),
    }
}

fn low_sun(e: &mut Easel) {
    e.light_of(&[Time::Dawn, Time::Sunset, Time::Golden]);
    let (across, down) = (e.dice.range(0.2, 0.8), e.dice.range(0.44, 0.62));
    let horizon = e.canvas.h * down;
    let radius = e.canvas.unit() * e.dice.range(0.045, 0.085);
    let sun = (e.canvas.w * across, horizon - radius * e.dice.range(-0.2, 2.2));
    let (cover, seed) = (e.dice.range(0.25, 0.75), e.dice.next());
    air::sky(&mut e.canvas, &e.light, horizon);
    air::clouds(&mut e.canvas, &e.light, seed, horizon, cover);
    air::sun(&mut e.canvas, &e.light, sun, radius);
    e.round_object("sun", sun, radius);
    let island = e.dice.chance(0.6).then(|| island(e, horizon));
    let deep = e.light.sky[1].mix(e.light.shade, 0.45);
    let crest = e.light.sky[3].mix(e.light.sun, 0.3);
    let rough = e.dice.range(0.3, 0.7);
    water::water(
        &mut e.canvas,
        seed,
        Water { top: horizon, deep, mirror: 0.72, rough, crest },
    );
    water::glitter(&mut e.canvas, seed, horizon, sun.0, e.light.sun, 0.85);
    let gulls = parts::gulls(e, horizon);
    let when = e.when();
    let calm = e.dice.pick(&["The calm sea", "The open sea", "A quiet sea", "Gentle waves on the sea"]);
    let with = match (island, gulls) {
        (Some(()), 0) => " with a distant island".to_owned(),
        (None, 0) => String::new(),
        (Some(()), n) => format!(" with an island and {} gull{}", words::count(n, "a"), plural(n)),
        (None, n) => format!(" with {} gull{}", words::count(n, "a"), plural(n)),
    };
    e.caption = format!("{calm}{with} {when}");
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn island(e: &mut Easel, horizon: f32) {
    let (middle, width) = (e.dice.range(0.1, 0.9), e.dice.range(0.1, 0.3));
    let height = e.dice.range(0.03, 0.11);
    let (noise, level) = (Noise::new(e.dice.next()), horizon / e.canvas.h);
    let line = Skyline::new(&e.canvas, move |x| {
        let bump = smooth(1.0, 0.0, (x - middle).abs() / width);
        level + 0.002 - height * bump * (0.45 + noise.ridge(x * 11.0, 3))
    });
    let near = e.light.on(e.light.shade.mix(e.light.sky[1], 0.3), 0.45);
    let depth = e.canvas.h * height * 1.5;
    land::ridge(&mut e.canvas, &line, near, e.light.haze, depth);
    e.object(
        "island",
        tiny_skia::Transform::identity(),
        [
            (middle - width * 0.8) * e.canvas.w,
            line.at(middle),
            (middle + width * 0.8) * e.canvas.w,
            horizon,
        ],
    );
}

fn beach(e: &mut Easel) {
    e.light_of(&[Time::Noon, Time::Morning]);
    let horizon = e.canvas.h * e.dice.range(0.34, 0.46);
    air::sky(&mut e.canvas, &e.light, horizon);
    parts::heap_clouds(e, horizon);
    if e.dice.chance(0.5) {
        island(e, horizon);
    }
    let seed = e.dice.next();
    let (deep, shallow) = e.dice.pick(&[(0x0f6fae, 0x46cfc8), (0x1583b5, 0x7adfc4), (0x0b5f9c, 0x3fb6d0)]);
    water::water(
        &mut e.canvas,
        seed,
        Water { top: horizon, deep: e.light.on(rgb(deep), 0.0), mirror: 0.25, rough: 0.5, crest: WHITE },
    );
    let shore = shore(e, seed, horizon, rgb(shallow));
    let shade_things = if e.dice.chance(0.6) { parasols(e, &shore) } else { palms(e, &shore) };
    let gulls = parts::gulls(e, horizon);
    e.label("beach");
    let when = e.when();
    let sea = e.dice.pick(&["a turquoise sea", "the blue sea", "a clear warm sea"]);
    let air = if gulls > 0 { ", gulls in the air" } else { "" };
    e.caption = format!("A sandy beach with {shade_things} by {sea} {when}{air}");
}

/// Shallows, foam and sand; gives the line where the sand begins.
fn shore(e: &mut Easel, seed: u64, horizon: f32, shallow: Rgb) -> Skyline {
    let (noise, level) = (Noise::new(seed), e.dice.range(0.68, 0.8));
    let tilt = e.dice.sway(0.22);
    let line = move |x: f32| level + tilt * (x - 0.5) + 0.05 * (noise.ridge(x * 2.6, 2) - 0.5);
    let (h, unit) = (e.canvas.h, e.canvas.unit());
    let shallow = e.light.on(shallow, 0.0);
    let line_at = Skyline::new(&e.canvas, line);
    let light = e.light;
    let w = e.canvas.w;
    e.canvas.each((0.0, w), (horizon, h), |x, y, now| {
        let edge = line(x / w) * h;
        let near = smooth(horizon, edge, y);
        let surf = noise.cloud(x / unit * 9.0, y / unit * 24.0, 2);
        let wave = smooth(0.035, 0.0, ((edge - y) / h - 0.085 - 0.05 * (surf - 0.5)).abs());
        now.mix(shallow, near * near * 0.85).mix(WHITE, wave * 0.55 * smooth(0.35, 0.6, surf))
    });
    let sand = light.on(e.dice.pick(&[rgb(0xf1d9a8), rgb(0xead0a0), rgb(0xf6e2bd)]), 0.0);
    land::textured(&mut e.canvas, &line_at, |x, y, down| {
        let grain = noise.cloud(x / unit * 13.0, y / unit * 50.0, 2) - 0.5;
        let wet = smooth(unit * 0.07, unit * 0.02, down);
        let foam = smooth(unit * 0.02, unit * 0.008, down + grain * unit * 0.02);
        sand.scale(1.0 + grain * 0.14).mix(sand.scale(0.72), wet).mix(WHITE, foam * 0.9)
    });
    line_at
}

fn parasols(e: &mut Easel, shore: &Skyline) -> String {
    let count = e.dice.count(1, 3);
    let mut colours = Vec::new();
    for index in 0..count {
        let across = (index as f32 + e.dice.range(0.25, 0.75)) / count as f32;
        let (name, colour) = e.dice.pick(&[
            ("red", rgb(0xe2463f)),
            ("yellow", rgb(0xf4b62c)),
            ("blue", rgb(0x2d6fc4)),
            ("orange", rgb(0xf07f2f)),
        ]);
        let size = e.canvas.unit() * e.dice.range(0.2, 0.3);
        let foot = shore.at(across) + e.canvas.h * e.dice.range(0.08, 0.17);
        let pose = place(e.canvas.w * across, foot, size).pre_rotate(e.dice.sway(9.0));
        let colour = e.light.on(colour, 0.0);
        e.object("parasol", pose, [-0.55, -1.05, 0.55, 0.0]);
        e.canvas.posed(pose, |c| parasol(c, colour));
        colours.push(format!("{} {name}", words::article(name)));
    }
    colours.dedup();
    format!("{} parasol{}", words::list(&colours), plural(colours.len()))
}

fn parasol(c: &mut Canvas, colour: Rgb) {
    c.fill(crate::local::sample::brush::shape::oval(0.12, 0.0, 0.5, 0.06), Ink::Thin(Rgb(0.3, 0.2, 0.1), 0.35));
    c.line(arc((0.0, 0.0), (0.0, -0.5), (0.0, -1.0)), 0.035, rgb(0xf5efe4));
    for panel in 0..6 {
        let edge = |i: i32| -0.55 + 1.1 * (0.5 - 0.5 * (i as f32 / 6.0 * std::f32::consts::PI).cos());
        let (a, b) = (edge(panel), edge(panel + 1));
        let ink = if panel % 2 == 0 { colour } else { rgb(0xfff6e8) };
        let dim = 1.0 - 0.05 * panel as f32;
        let mut path = tiny_skia::PathBuilder::new();
        path.move_to(0.0, -1.05);
        path.quad_to(a * 0.95, -1.0, a, -0.62);
        path.quad_to((a + b) / 2.0, -0.68, b, -0.62);
        path.quad_to(b * 0.95, -1.0, 0.0, -1.05);
        path.close();
        c.fill(path.finish(), ink.scale(dim));
    }
}

fn palms(e: &mut Easel, shore: &Skyline) -> String {
    let count = e.dice.count(1, 2);
    let side = e.dice.pick(&[0.14, 0.84]);
    let leaves = Leaves {
        lit: e.light.on(rgb(0x8cc44a), 0.0),
        shaded: e.light.on(rgb(0x1f5f3c), 0.0),
    };
    for _ in 0..count {
        let across = side + e.dice.sway(0.1);
        let foot = (e.canvas.w * across, shore.at(across) + e.canvas.h * e.dice.range(0.03, 0.12));
        let height = e.canvas.unit() * e.dice.range(0.5, 0.75);
        tree::palm(&mut e.canvas, e.dice.fork(), foot, height, leaves);
        let pose = place(foot.0, foot.1, height);
        e.object("palm", pose, [-0.5, -1.1, 0.5, 0.0]);
    }
    if count == 1 { "a palm".into() } else { "two palms".into() }
}

fn storm(e: &mut Easel) {
    e.light_of(&[Time::Storm]);
    let horizon = e.canvas.h * e.dice.range(0.36, 0.5);
    let seed = e.dice.next();
    air::sky(&mut e.canvas, &e.light, horizon);
    air::clouds(&mut e.canvas, &e.light, seed, horizon, 0.95);
    let lightning = e.dice.chance(0.45);
    if lightning {
        bolt(e, horizon);
    }
    let rows = e.dice.count(5, 6);
    let ship_row = e.dice.chance(0.5).then(|| e.dice.count(1, 2));
    for row in 0..rows {
        if ship_row == Some(row) {
            ship(e, horizon, row as f32 / rows as f32);
        }
        wave(e, horizon, row as f32 / (rows - 1) as f32);
    }
    let falling = e.dice.fork();
    let drops = e.light.sky[3];
    air::rain(&mut e.canvas, falling, drops, 160);
    e.label("waves");
    let waves = e.dice.pick(&["High waves", "Great dark waves", "Foaming waves", "Steep grey waves"]);
    let with = match (ship_row, lightning) {
        (Some(_), true) => " toss a ship while lightning strikes",
        (Some(_), false) => " toss a small ship",
        (None, true) => " roll under lightning",
        (None, false) => " roll in the rain",
    };
    let when = e.when();
    e.caption = format!("{waves}{with} on the sea {when}");
}

fn bolt(e: &mut Easel, horizon: f32) {
    let mut dice = e.dice.fork();
    let (mut x, mut y) = (e.canvas.w * dice.range(0.15, 0.85), 0.0);
    let step = horizon / 12.0;
    air::glow(&mut e.canvas, (x, horizon * 0.4), horizon * 1.1, rgb(0xb9c8ff), 0.5);
    let mut spots = vec![(x, y)];
    while y < horizon {
        x += dice.sway(step * 0.9);
        y += step * dice.range(0.5, 1.1);
        spots.push((x, y));
    }
    let path = crate::local::sample::brush::shape::stroke(&spots);
    let unit = e.canvas.unit();
    e.canvas.line(path.clone(), unit * 0.014, Ink::Thin(rgb(0xc9d4ff), 0.35));
    e.canvas.line(path, unit * 0.005, WHITE);
    e.label("lightning");
}

fn wave(e: &mut Easel, horizon: f32, near: f32) {
    let noise = Noise::new(e.dice.next());
    let (h, unit) = (e.canvas.h, e.canvas.unit());
    let level = horizon / h + near.powf(1.5) * (0.93 - horizon / h) + 0.01;
    let swell = 0.015 + 0.13 * near;
    let pace = 9.0 - 6.5 * near;
    let line = Skyline::new(&e.canvas, move |x| level - swell * noise.crest(x * pace, 2));
    let tint = e.dice.pick(&[rgb(0x3f8a86), rgb(0x4a8f99)]);
    let crest = e.light.on(tint, 0.45 - 0.4 * near).scale(1.0 + 0.35 * near);
    let deep = e.light.shade.mix(e.light.on(rgb(0x1d4a55), 0.0), 0.75).mix(e.light.haze, 0.3 * (1.0 - near));
    let size = 0.2 + 0.8 * near;
    land::textured(&mut e.canvas, &line, |x, y, down| {
        let d = down / unit / size;
        let streak = noise.cloud(x / unit / size * 6.0, (y / unit - d * 0.4) / size * 14.0, 3);
        let foam = smooth(0.03, 0.0, d - 0.05 * (streak - 0.35)) + 0.5 * smooth(0.6, 0.72, streak) * smooth(0.25, 0.02, d);
        crest.mix(deep, smooth(0.0, 0.22, d)).scale(0.88 + 0.24 * streak).mix(rgb(0xe9f2ee), foam.min(1.0) * (0.35 + 0.55 * near))
    });
}

fn ship(e: &mut Easel, horizon: f32, near: f32) {
    let size = e.canvas.unit() * (0.11 + 0.1 * near);
    let spot = (e.canvas.w * e.dice.range(0.2, 0.8), horizon + e.canvas.h * near * 0.06);
    let pose = place(spot.0, spot.1, size).pre_rotate(e.dice.sway(14.0));
    e.object("ship", pose, [-0.9, -0.75, 0.9, 0.12]);
    let (hull, house) = (e.light.shade.mix(rgb(0x8c3030), 0.45), e.light.on(rgb(0xf2efe6), 0.1));
    e.canvas.posed(pose, |c| {
        c.fill(polygon(&[(-0.9, -0.22), (0.95, -0.28), (0.72, 0.2), (-0.7, 0.2)]), hull);
        c.fill(polygon(&[(-0.5, -0.5), (0.15, -0.5), (0.25, -0.2), (-0.5, -0.2)]), house);
        c.fill(polygon(&[(-0.35, -0.78), (-0.12, -0.78), (-0.12, -0.5), (-0.35, -0.5)]), hull.scale(0.8));
        c.fill(disc(0.02, -0.36, 0.06), rgb(0xffd98a));
    });
}

fn moonlight(e: &mut Easel) {
    e.light_of(&[Time::Night]);
    let horizon = e.canvas.h * e.dice.range(0.48, 0.64);
    let radius = e.canvas.unit() * e.dice.range(0.055, 0.1);
    let level = horizon / e.canvas.h;
    let moon = e.somewhere((0.2, 0.8), (level * 0.25, level * 0.7));
    let (seed, cover) = (e.dice.next(), e.dice.range(0.1, 0.5));
    let phase = e.dice.pick(&[0.0, 0.0, 0.68, 0.76]);
    let sprinkle = e.dice.fork();
    air::sky(&mut e.canvas, &e.light, horizon);
    air::stars(&mut e.canvas, sprinkle, horizon, 0.8);
    air::clouds(&mut e.canvas, &e.light, seed, horizon, cover);
    air::moon(&mut e.canvas, &e.light, moon, radius, phase);
    e.round_object("moon", moon, radius);
    let islands = e.dice.count(0, 2);
    for _ in 0..islands {
        island(e, horizon);
    }
    let deep = e.light.sky[0].mix(e.light.sky[2], 0.25);
    let crest = e.light.sky[3];
    water::water(&mut e.canvas, seed, Water { top: horizon, deep, mirror: 0.7, rough: 0.4, crest });
    water::glitter(&mut e.canvas, seed, horizon, moon.0, e.light.sun, 0.8);
    let shape = if phase > 0.3 { "crescent moon" } else { "full moon" };
    let land = ["", " and a dark island", " and dark islands"][islands];
    let over = e.dice.pick(&["over the sea", "above a silver sea", "shining on the sea"]);
    let stars = e.dice.pick(&["", ", stars above", " on a quiet night"]);
    e.caption = format!("A {shape}{land} {over}{stars}");
}
