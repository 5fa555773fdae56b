//! Sailing boats: a bright regatta, boats in the evening sun, a quiet morning bay.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use tiny_skia::Transform;

use crate::{
    brush::{
        Ink, Rgb, air, land, rgb,
        shape::{place, stroke},
        water::{self, Water},
    },
    easel::Easel,
    light::Time,
    props::vessel::sloop,
    scenes::parts,
    words,
};

#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Regatta,
    Evening,
    Bay,
}

/// A boat's name in captions, main sail and foresail.
type Rig = (&'static str, u32, u32);

const RIGS: &[Rig] = &[
    ("white", 0xfffaf0, 0xeef2f6),
    ("red", 0xe0392f, 0xf6efe4),
    ("blue", 0x2a6ac0, 0xf4f4f0),
    ("yellow", 0xf8c42c, 0xfff2d0),
    ("orange", 0xf07a2a, 0xfff0dc),
    ("green", 0x2f9a6a, 0xf2f6e8),
    ("pink", 0xf07aa0, 0xfff0f0),
];

pub fn paint(e: &mut Easel) {
    let mood = e.mood(&[Mood::Regatta, Mood::Evening, Mood::Bay]);
    e.light_of(match mood {
        Mood::Regatta => &[Time::Noon, Time::Morning],
        Mood::Evening => &[Time::Sunset, Time::Golden, Time::Dusk],
        Mood::Bay => &[Time::Mist, Time::Dawn, Time::Night],
    });
    let horizon = e.canvas.h * e.dice.range(0.46, 0.58);
    let glint = heavens(e, horizon);
    coast(e, horizon);
    let seed = e.dice.next();
    let deep = match mood {
        Mood::Regatta => e.light.on(rgb(e.dice.pick(&[0x1a6ab0, 0x16809c, 0x2458a8])), 0.0),
        Mood::Evening | Mood::Bay => e.light.sky[1].mix(e.light.shade, 0.4),
    };
    let (mirror, rough) = if mood == Mood::Regatta { (0.4, 0.7) } else { (0.75, 0.25) };
    let crest = e.light.sky[3];
    water::water(&mut e.canvas, seed, Water { top: horizon, deep, mirror, rough, crest });
    if let Some(x) = glint {
        water::glitter(&mut e.canvas, seed, horizon, x, e.light.sun, 0.8);
    }
    let names = fleet(e, mood, horizon, deep);
    let gulls = parts::gulls(e, horizon * 0.7);
    e.label("sea");
    caption(e, mood, &names, gulls);
}

fn caption(e: &mut Easel, mood: Mood, names: &[&str], gulls: usize) {
    let when = e.when();
    let boats = match names {
        [one] => format!("a sailing boat with {one} sails"),
        many => format!(
            "{} sailing boats, the nearest with {} sails,",
            words::count(many.len(), "a"),
            many[many.len() - 1]
        ),
    };
    let verb = match mood {
        Mood::Regatta => {
            e.dice.pick(&["in a fresh breeze", "racing over blue water", "on a sparkling sea"])
        }
        Mood::Evening => e.dice.pick(&["on golden water", "heading home", "before the low sun"]),
        Mood::Bay => e.dice.pick(&["in a quiet bay", "on still water", "resting on a calm sea"]),
    };
    let air = if gulls > 0 { ", with gulls" } else { "" };
    e.caption = words::sentence(&format!("{boats} {verb}{air} {when}"));
}

/// Sky with its sun or moon; gives the column where the water will glitter.
fn heavens(e: &mut Easel, horizon: f32) -> Option<f32> {
    let (seed, sprinkle, unit) = (e.dice.next(), e.dice.fork(), e.canvas.unit());
    air::sky(&mut e.canvas, &e.light, horizon);
    let low = horizon / e.canvas.h;
    let radius = unit * e.dice.range(0.045, 0.085);
    match e.light.time {
        Time::Noon => {
            parts::heap_clouds(e, horizon);
            None
        }
        Time::Night => {
            air::stars(&mut e.canvas, sprinkle, horizon, 0.9);
            let spot = e.somewhere((0.2, 0.8), (0.12, 0.28));
            parts::moon(e, spot, radius, 0.0);
            Some(spot.0)
        }
        Time::Mist | Time::Morning => {
            air::clouds(&mut e.canvas, &e.light, seed, horizon, 0.4);
            None
        }
        _ => {
            let cover = e.dice.range(0.3, 0.6);
            air::clouds(&mut e.canvas, &e.light, seed, horizon, cover);
            let spot = e.somewhere((0.2, 0.8), (low - 0.14, low - 0.02));
            parts::sun(e, spot, radius);
            Some(spot.0)
        }
    }
}

fn coast(e: &mut Easel, horizon: f32) {
    let h = e.canvas.h;
    for step in 0..e.dice.count(1, 3) {
        let tall = e.dice.range(0.05, 0.13) * (1.0 - 0.25 * step as f32);
        let line = land::rolling(&e.canvas, e.dice.next(), horizon / h + 0.015, tall, 1.5);
        let tone = e.light.on(rgb(0x4a7a70), 0.72 - 0.18 * step as f32);
        land::ridge(&mut e.canvas, &line, tone, tone.mix(e.light.haze, 0.5), h * 0.1);
    }
}

/// Boats from far to near; gives the names of their sails.
fn fleet(e: &mut Easel, mood: Mood, horizon: f32, deep: Rgb) -> Vec<&'static str> {
    let racing = mood == Mood::Regatta;
    let count = if racing { e.dice.count(3, 7) } else { e.dice.pick(&[1, 1, 2, 3]) };
    let mut names = Vec::new();
    for index in 0..count {
        let near = (index + 1) as f32 / count as f32;
        let across = (((index * 2) % count) as f32 + e.dice.range(0.3, 0.7)) / count as f32;
        let crowd = if count > 4 { 0.85 } else { 1.0 };
        let size = e.canvas.unit() * (0.1 + 0.32 * near.powf(1.5)) * crowd;
        let foot = horizon + (e.canvas.h - horizon) * (0.08 + 0.42 * near.powf(1.4));
        let rig = e.dice.pick(if racing { RIGS } else { &RIGS[..3] });
        let lean = if racing { e.dice.range(4.0, 13.0) } else { e.dice.range(-2.0, 3.0) };
        let way = if e.dice.chance(0.8) { 1.0 } else { -1.0 };
        let pose = place(e.canvas.w * across, foot, size).pre_scale(way, 1.0);
        boat(e, pose, lean, rig, (near, deep));
        names.push(rig.0);
    }
    names
}

/// One boat with its mirror image in the water.
fn boat(e: &mut Easel, pose: Transform, lean: f32, rig: Rig, (near, deep): (f32, Rgb)) {
    let upright = pose.pre_rotate(lean);
    e.object("sailing boat", upright, [-0.45, -1.02, 0.45, 0.1]);
    let distance = 0.4 * (1.0 - near);
    let sails = [rig.1, rig.2].map(|c| e.light.on(rgb(c), distance).mix(e.light.sun, 0.1));
    let paint = rgb(e.dice.pick(&[0xf6f2ea, 0x2a3c5a, 0x8c2f2a, 0x7a4a2a]));
    let (hull, dark) = (e.light.on(paint, distance), e.light.shade.mix(deep, 0.4));
    let mirrored = pose.pre_scale(1.0, -0.7).pre_rotate(lean);
    let faded = sails.map(|sail| sail.mix(deep, 0.25));
    e.canvas.thinned(0.42, |c| c.posed(mirrored, |c| sloop(c, faded, dark, dark)));
    ripples(e, (pose.tx, pose.ty), pose.sy, deep);
    e.canvas.posed(upright, |c| sloop(c, sails, hull, dark));
}

/// Bars of water over a boat's mirror image.
fn ripples(e: &mut Easel, (x, y): (f32, f32), size: f32, deep: Rgb) {
    let mut dice = e.dice.fork();
    for index in 0..9 {
        let down = index as f32 / 9.0;
        let half = size * dice.range(0.14, 0.4);
        let bar = stroke(&[
            (x + dice.sway(size * 0.25) - half, y + size * (0.05 + 0.68 * down)),
            (x + half, y + size * (0.05 + 0.68 * down)),
        ]);
        e.canvas.line(
            bar,
            size * (0.012 + 0.016 * down),
            Ink::Thin(deep.mix(e.light.sky[2], 0.2), 0.5),
        );
    }
}
