//! Mountains: a snow peak over a lake, blue ridges fading away, autumn slopes, a starry range.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{
        Rgb, air,
        land::{self, Rock, Skyline},
        rgb,
        tree::{self, Leaves},
        water::{self, Water},
    },
    easel::Easel,
    light::Time,
    scenes::parts,
};

#[derive(Clone, Copy)]
enum Mood {
    Lake,
    Ridges,
    Autumn,
    Starry,
}

pub fn paint(e: &mut Easel) {
    match e.mood(&[Mood::Lake, Mood::Ridges, Mood::Autumn, Mood::Starry]) {
        Mood::Lake => lake(e),
        Mood::Ridges => ridges(e),
        Mood::Autumn => autumn(e),
        Mood::Starry => starry(e),
    }
}

/// Snow peaks and the wooded hills before them, standing on the row `foot` (a fraction).
fn range(e: &mut Easel, foot: f32, wood: Rgb) {
    let h = e.canvas.h;
    let (tall, scale) = (e.dice.range(0.72, 0.9) * foot, e.dice.range(0.9, 1.5));
    let (seed, back) = (e.dice.next(), e.dice.next());
    let light = e.light;
    let rock = |distance: f32| Rock {
        lit: light.on(rgb(0xa89a90), distance).mix(light.sun, 0.12),
        shaded: light.on(rgb(0x55607c), distance),
        snow: (
            light.on(rgb(0xffffff), distance * 0.6).mix(light.sun, 0.3),
            light.on(rgb(0x9fb3dc), distance * 0.8),
        ),
        haze: light.haze,
    };
    let far = land::jagged(&e.canvas, back, foot, tall * 0.9, scale * 1.3);
    land::peaks(&mut e.canvas, &far, back, rock(0.5), h * tall * 0.28, h * tall * 0.8);
    let near = land::jagged(&e.canvas, seed, foot + 0.08, tall * 1.25, scale);
    let snow = h * tall * e.dice.range(0.3, 0.5);
    land::peaks(&mut e.canvas, &near, seed, rock(0.1), snow, h * tall * 0.95);
    for step in 0..2 {
        let distance = 0.42 - 0.3 * step as f32;
        let line = land::rolling(
            &e.canvas,
            e.dice.next(),
            foot + 0.01 * step as f32,
            0.13 - 0.05 * step as f32,
            2.4,
        );
        let green = light.on(wood, distance);
        land::ridge(&mut e.canvas, &line, green, green.mix(light.haze, 0.4), h * 0.13);
    }
}

/// A dark fringe of conifers along the bottom.
fn pines(e: &mut Easel, leaves: Leaves, low: f32, tall: f32) {
    let mut dice = e.dice.fork();
    let gap = dice.range(0.3, 0.7);
    let count = (e.canvas.w / e.canvas.unit() * 34.0) as usize;
    let unit = e.canvas.unit();
    if e.canvas.is_blind() {
        return;
    }
    for index in 0..count {
        let across = (index as f32 + dice.sway(0.6)) / count as f32;
        let rise = ((across - gap).abs() * 2.0).min(1.0).powf(1.3);
        let height = unit * tall * (0.3 + 0.9 * rise) * dice.range(0.6, 1.25);
        let spot = (e.canvas.w * across, e.canvas.h * (low + dice.sway(0.015)));
        tree::pine(&mut e.canvas, dice.fork(), spot, height, leaves);
    }
}

fn lake(e: &mut Easel) {
    e.light_of(&[Time::Morning, Time::Noon, Time::Golden, Time::Dawn]);
    let foot = e.dice.range(0.52, 0.66);
    let h = e.canvas.h;
    air::sky(&mut e.canvas, &e.light, h * foot);
    let seed = e.dice.next();
    parts::clouds(e, h * foot, (0.1, 0.5));
    range(e, foot, rgb(0x3c6b4c));
    let deep = e.light.on(e.dice.pick(&[rgb(0x1c6d84), rgb(0x20567e), rgb(0x23806f)]), 0.0);
    let crest = e.light.sky[3];
    water::water(
        &mut e.canvas,
        seed,
        Water { top: h * foot, deep, mirror: 0.8, rough: 0.1, crest },
    );
    let haze = e.light.haze.mix(e.light.sun, 0.3);
    air::mist(&mut e.canvas, seed, haze, h * foot, h * 0.05, 0.55);
    let leaves = Leaves {
        lit: e.light.on(rgb(0x4f8052), 0.0),
        shaded: e.light.shade.mix(e.light.on(rgb(0x1f4a3a), 0.0), 0.6),
    };
    pines(e, leaves, 1.02, 0.3);
    e.labels.extend(["lake", "snow"]);
    let when = e.when();
    let lake = e.dice.pick(&["a still lake", "a mirror lake", "a cold lake", "an alpine lake"]);
    let verb = e.dice.pick(&["rise over", "are reflected in", "stand behind"]);
    e.caption = format!("Snowy mountains {verb} {lake} {when}");
}

fn ridges(e: &mut Easel) {
    e.light_of(&[Time::Dawn, Time::Sunset, Time::Dusk, Time::Mist]);
    let (h, unit, top) = (e.canvas.h, e.canvas.unit(), e.dice.range(0.3, 0.45));
    air::sky(&mut e.canvas, &e.light, h * (top + 0.2));
    if e.light.time != Time::Mist && e.dice.chance(0.75) {
        let spot = e.somewhere((0.2, 0.8), (top - 0.05, top - 0.03));
        let radius = unit * e.dice.range(0.05, 0.11);
        parts::sun(e, spot, radius);
    }
    let count = e.dice.count(5, 7);
    for index in 0..count {
        fading_ridge(e, top, index as f32 / (count - 1) as f32);
    }
    let dark = e.light.shade.scale(0.8);
    let leaves = Leaves { lit: dark.mix(e.light.haze, 0.12), shaded: dark };
    pines(e, leaves, 1.03, 0.24);
    e.label("pines");
    let when = e.when();
    let many = e.dice.pick(&[
        "Layer upon layer of mountains",
        "Blue mountains behind mountains",
        "Silent mountains",
        "Pine slopes and far mountains",
    ]);
    let fade = e.dice.pick(&["fading into haze", "under a wide sky", "to the horizon"]);
    e.caption = format!("{many} {fade} {when}");
}

/// One ridge between the farthest (0.0), at the height `top`, and the nearest (1.0).
fn fading_ridge(e: &mut Easel, top: f32, near: f32) {
    let (seed, light) = (e.dice.next(), e.light);
    let base = top + 0.08 + (1.02 - top) * near.powf(1.15) * 0.8;
    let tall = 0.16 + 0.08 * near;
    let line = if e.dice.chance(0.4) {
        land::rolling(&e.canvas, seed, base, tall, 2.2)
    } else {
        land::jagged(&e.canvas, seed, base, tall, 1.6)
    };
    let air = light.haze.mix(light.sky[1], near.min(0.5) * 0.9);
    let tone = air.mix(light.shade, near.powf(1.2));
    let foot = tone.mix(light.haze, 0.5 * (1.0 - near));
    let depth = e.canvas.h * 0.2;
    land::ridge(&mut e.canvas, &line, tone, foot, depth);
}

fn autumn(e: &mut Easel) {
    e.light_of(&[Time::Golden, Time::Morning, Time::Noon]);
    let h = e.canvas.h;
    let foot = e.dice.range(0.6, 0.72);
    air::sky(&mut e.canvas, &e.light, h * foot);
    parts::clouds(e, h * foot, (0.2, 0.6));
    range(e, foot, rgb(0xa06a34));
    let meadow = land::rolling(&e.canvas, e.dice.next(), foot + 0.08, 0.06, 1.2);
    let grass = e.light.on(e.dice.pick(&[rgb(0xb08a3c), rgb(0x8c9444), rgb(0xa87a38)]), 0.05);
    land::ridge(&mut e.canvas, &meadow, grass, grass.scale(0.6), h * 0.35);
    grove(e, &meadow);
    e.labels.extend(["autumn", "trees", "snow"]);
    let when = e.when();
    let trees = e.dice.pick(&["Golden trees", "Autumn trees", "Orange and yellow trees"]);
    let place = e.dice.pick(&[
        "below snowy mountains",
        "in a valley under the mountains",
        "at the foot of the mountains",
    ]);
    e.caption = format!("{trees} {place} {when}");
}

/// Trees in autumn colours over a meadow, larger towards the viewer.
fn grove(e: &mut Easel, meadow: &Skyline) {
    const TREES: usize = 26;
    let (mut dice, light) = (e.dice.fork(), e.light);
    if e.canvas.is_blind() {
        return;
    }
    for index in 0..TREES {
        let near = index as f32 / TREES as f32;
        let across = dice.unit();
        let down = meadow.at(across) + e.canvas.h * near * near * 0.32;
        let lit = rgb(dice.pick(&[0xf2a32e, 0xe8742a, 0xf6c544, 0xc94a2c]));
        let leaves = Leaves {
            lit: light.on(lit, 0.15 * (1.0 - near)),
            shaded: light.on(lit.mix(rgb(0x5c2a1c), 0.55), 0.1),
        };
        let (spot, height) = ((e.canvas.w * across, down), e.canvas.unit() * (0.07 + 0.2 * near));
        tree::broad(&mut e.canvas, dice.fork(), spot, height, leaves);
    }
}

fn starry(e: &mut Easel) {
    e.light_of(&[Time::Night, Time::Dusk]);
    let h = e.canvas.h;
    let foot = e.dice.range(0.68, 0.8);
    air::sky(&mut e.canvas, &e.light, h * foot);
    parts::stars(e, h * foot, 1.6);
    parts::clouds(e, h * foot, (0.1, 0.25));
    let moon = e.dice.chance(0.6);
    if moon {
        let (radius, phase) =
            (e.canvas.unit() * e.dice.range(0.04, 0.07), e.dice.pick(&[0.0, 0.7]));
        let spot = e.somewhere((0.15, 0.85), (0.16, 0.16));
        parts::moon(e, spot, radius, phase);
    }
    range(e, foot, rgb(0x2c4a4c));
    let dark = e.light.shade;
    pines(e, Leaves { lit: dark.mix(e.light.haze, 0.25), shaded: dark }, 1.02, 0.34);
    e.labels.extend(["stars", "snow"]);
    let when = e.when();
    let moon = if moon { "a moon and " } else { "" };
    let stars = e.dice.pick(&["countless stars", "bright stars", "a sky full of stars"]);
    e.caption = format!("Snowy mountains below {moon}{stars} {when}");
}
