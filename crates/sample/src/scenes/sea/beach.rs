//! A beach with parasols or palms.
//! One mood of its kind: paints on the easel and notes each thing it paints.

use super::{island, plural};
use crate::{
    brush::{
        Noise, Rgb, WHITE, air,
        land::{self, Skyline},
        rgb,
        shape::place,
        smooth,
        tree::{self, Leaves},
        water::{self, Water},
    },
    easel::Easel,
    light::Time,
    props::beach::parasol,
    scenes::parts,
    words,
};

pub fn paint(e: &mut Easel) {
    e.light_of(&[Time::Noon, Time::Morning]);
    let horizon = e.canvas.h * e.dice.range(0.34, 0.46);
    air::sky(&mut e.canvas, &e.light, horizon);
    parts::heap_clouds(e, horizon);
    if e.dice.chance(0.5) {
        island(e, horizon);
    }
    let seed = e.dice.next();
    let (deep, shallow) =
        e.dice.pick(&[(0x0f6fae, 0x46cfc8), (0x1583b5, 0x7adfc4), (0x0b5f9c, 0x3fb6d0)]);
    water::water(
        &mut e.canvas,
        seed,
        Water {
            top: horizon,
            deep: e.light.on(rgb(deep), 0.0),
            mirror: 0.25,
            rough: 0.5,
            crest: WHITE,
        },
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

fn palms(e: &mut Easel, shore: &Skyline) -> String {
    let count = e.dice.count(1, 2);
    let side = e.dice.pick(&[0.14, 0.84]);
    let leaves =
        Leaves { lit: e.light.on(rgb(0x8cc44a), 0.0), shaded: e.light.on(rgb(0x1f5f3c), 0.0) };
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
