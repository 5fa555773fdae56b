//! Hot-air balloons over hills: in the mist of dawn, on a clear day, glowing at dusk.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{
        Rgb, air, land, rgb,
        shape::place,
        tree::{self, Leaves},
    },
    easel::Easel,
    light::Time,
    props::sky::balloon,
    scenes::parts,
    words,
};

/// A balloon's name in captions and the colours of its gores.
type Dress = (&'static str, [u32; 3]);

const DRESSES: &[Dress] = &[
    ("red", [0xd8322f, 0xf6e9d2, 0xd8322f]),
    ("yellow", [0xf6b722, 0xfbe08a, 0xe8862a]),
    ("blue", [0x2459b8, 0x6fb6e8, 0xf4f0e2]),
    ("green", [0x2f8f5a, 0xd8e8a0, 0x1f6f58]),
    ("orange", [0xee6c22, 0xfbd25a, 0xc83a24]),
    ("purple", [0x6a3aa4, 0xd890c8, 0x4a2a86]),
    ("rainbow", [0xe23c3c, 0xf6c22c, 0x2f7fd0]),
    ("white", [0xf4f0e8, 0xdfe6ea, 0xe2574c]),
];

pub fn paint(e: &mut Easel) {
    match e.mood(&[0, 1, 2]) {
        0 => e.light_of(&[Time::Dawn, Time::Golden]),
        1 => e.light_of(&[Time::Noon, Time::Morning]),
        _ => e.light_of(&[Time::Dusk, Time::Sunset]),
    }
    let horizon = e.canvas.h * e.dice.range(0.68, 0.8);
    air::sky(&mut e.canvas, &e.light, horizon);
    if matches!(e.light.time, Time::Noon | Time::Morning) {
        parts::heap_clouds(e, horizon);
    } else {
        parts::clouds(e, horizon, (0.2, 0.55));
    }
    let ground = hills(e, horizon);
    let names = fleet(e, horizon);
    e.label("hills");
    let when = e.when();
    let drift = e.dice.pick(&["over", "drifting over", "floating above", "high above"]);
    let balloons = match names.as_slice() {
        [one] => format!("{} {one} balloon", words::article(one)),
        [a, b] => format!("{} {a} and {} {b} balloon", words::article(a), words::article(b)),
        many => format!(
            "{} balloons, one of them {},",
            words::count(many.len(), "a"),
            many[many.len() - 1]
        ),
    };
    e.caption = words::sentence(&format!("{balloons} {drift} {ground} {when}"));
}

fn hills(e: &mut Easel, horizon: f32) -> &'static str {
    let h = e.canvas.h;
    let (name, near) = e.dice.pick(&[
        ("green hills", rgb(0x6f9c45)),
        ("wooded hills", rgb(0x3f7048)),
        ("golden fields", rgb(0xc9a44a)),
        ("soft blue hills", rgb(0x5c86a0)),
    ]);
    for step in 0..4 {
        let depth = step as f32 / 3.0;
        let base = horizon / h + 0.02 + depth * 0.2;
        let line = land::rolling(&e.canvas, e.dice.next(), base, 0.15 - 0.04 * depth, 1.5);
        let tone = e.light.on(near.scale(1.05 - 0.3 * depth), 0.72 * (1.0 - depth));
        let foot = tone.mix(e.light.haze, 0.45 * (1.0 - depth)).mix(e.light.shade, 0.35 * depth);
        land::ridge(&mut e.canvas, &line, tone, foot, h * 0.16);
        if step > 0 {
            copse(e, &line, depth, near);
        }
        if step == 1 && !matches!(e.light.time, Time::Noon) {
            let haze = e.light.haze.mix(e.light.sun, 0.25);
            let seed = e.dice.next();
            air::mist(&mut e.canvas, seed, haze, base * h, h * 0.07, 0.6);
        }
    }
    name
}

/// A few trees along a hill.
fn copse(e: &mut Easel, line: &land::Skyline, depth: f32, green: Rgb) {
    for _ in 0..e.dice.count(2, 6) {
        let across = e.dice.unit();
        let spot = (e.canvas.w * across, line.at(across) + e.canvas.h * 0.012);
        let size = e.canvas.unit() * (0.03 + 0.07 * depth) * e.dice.range(0.7, 1.2);
        let lit = e.light.on(green.mix(rgb(0x7a9a3a), 0.3), 0.5 * (1.0 - depth));
        let leaves = Leaves { lit, shaded: lit.mix(e.light.shade, 0.6) };
        let dice = e.dice.fork();
        tree::broad(&mut e.canvas, dice, spot, size, leaves);
    }
}

/// Balloons from far to near, each in a cell of its own; gives their names.
fn fleet(e: &mut Easel, horizon: f32) -> Vec<&'static str> {
    let count = e.dice.pick(&[1, 2, 2, 3, 4, 5, 6]);
    let mut dresses = DRESSES.to_vec();
    e.dice.shuffle(&mut dresses);
    let mut slots: Vec<usize> = (0..count).collect();
    e.dice.shuffle(&mut slots);
    let mut names = Vec::new();
    for (order, slot) in slots.into_iter().enumerate() {
        let near = (order + 1) as f32 / count as f32;
        let across = (slot as f32 + e.dice.range(0.35, 0.65)) / count as f32;
        let size =
            e.canvas.unit() * (0.1 + 0.17 * near.powf(1.4)) * if count == 1 { 1.25 } else { 1.0 };
        let y = (horizon * e.dice.range(0.3, 0.62) - size * 0.2).max(size);
        let (name, hex) = dresses[order];
        let pose = place(e.canvas.w * across, y, size).pre_rotate(e.dice.sway(4.0));
        e.object("balloon", pose, [-0.8, -0.9, 0.8, 1.42]);
        let distance = 0.4 * (1.0 - near);
        let colours = hex.map(|h| e.light.on(rgb(h), distance));
        let dark = e.light.on(rgb(0x4a3320), distance);
        let lit = e.light.is_dark() || matches!(e.light.time, Time::Sunset);
        let spot = (e.canvas.w * across, y + size * 0.1);
        if lit {
            air::glow(&mut e.canvas, spot, size * 1.9, rgb(0xffb060), 0.45);
        }
        e.canvas.posed(pose, |c| balloon(c, colours, dark, lit));
        names.push(name);
    }
    names
}
