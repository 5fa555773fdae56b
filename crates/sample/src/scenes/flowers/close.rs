//! One to three blossoms close up, before a garden out of focus.
//! One mood of its kind: paints on the easel and notes each thing it paints.

use super::Bloom;
use crate::{
    brush::{
        Ink, Rgb, WHITE, air, rgb,
        shape::{Spot, arc, disc, leaf, place},
    },
    easel::Easel,
    light::Time,
    props::flower::blossom,
    words,
};

const BLOOMS: &[Bloom] = &[
    ("sunflower", [0xfcc81e, 0xe88a10, 0x4a2a16]),
    ("daisy", [0xffffff, 0xc8d4ea, 0xf8c02a]),
    ("pink gerbera", [0xf5619a, 0xb82a6a, 0x6a1f3a]),
    ("red dahlia", [0xe0383a, 0x8c1420, 0xf2b03a]),
    ("violet aster", [0x9a6ae0, 0x5a34a4, 0xf6c63a]),
    ("orange marigold", [0xff9324, 0xd4520f, 0x8c3a10]),
];

pub fn paint(e: &mut Easel) {
    e.light_of(&[Time::Morning, Time::Golden, Time::Noon]);
    let (name, hex) = e.dice.pick(BLOOMS);
    backdrop(e, rgb(hex[0]));
    let count = e.dice.pick(&[1, 1, 2, 3, 3]);
    for index in 0..count {
        let across = (((index * 2) % count) as f32 + e.dice.range(0.38, 0.62)) / count as f32;
        let size = e.canvas.unit() * e.dice.range(0.28, 0.36) * [1.0, 0.72, 0.56][count - 1];
        let spot = e.somewhere((across, across), (0.34, 0.56));
        stem(e, spot, size);
        e.round_object("flower", spot, size * 1.02);
        let tones = hex.map(|c| e.light.on(rgb(c), 0.0));
        let pose = place(spot.0, spot.1, size).pre_rotate(e.dice.sway(20.0));
        let dice = e.dice.fork();
        e.canvas.posed(pose, |c| blossom(c, dice, tones, name));
    }
    e.labels.extend([name, "close-up"]);
    let when = e.when();
    let before =
        e.dice.pick(&["before a soft blurred garden", "close up", "with lights dancing behind"]);
    let bloom = e.dice.pick(&["a single flower", "a flower in full bloom"]);
    let flowers = match (count, name) {
        (1, _) => format!("{} {name}, {bloom}", words::article(name)),
        (n, "daisy") => format!("{} daisies, white flowers", words::count(n, "a")),
        (n, _) => format!("{} {name}s, flowers", words::count(n, "a")),
    };
    e.caption = words::sentence(&format!("{flowers} {before} {when}"));
}

/// The stem of a blossom, with one leaf.
fn stem(e: &mut Easel, spot: Spot, size: f32) {
    let green = e.light.on(rgb(0x4a8a3a), 0.0);
    let (bright, dark) = (green.mix(WHITE, 0.2), green.scale(0.65));
    let bend = e.dice.sway(e.canvas.unit() * 0.12);
    let foot = (spot.0 + bend * 1.4, e.canvas.h * 1.05);
    let curve = arc(spot, (spot.0 - bend, spot.1.midpoint(foot.1)), foot);
    let half = size * 0.05;
    let round = Ink::Fade((spot.0 - half, 0.0), bright, (spot.0 + half, 0.0), dark);
    e.canvas.line(curve, size * 0.11, round);
    let way = e.dice.pick(&[-1.0, 1.0]);
    let knot = (spot.0 + bend * 0.25, spot.1 + (foot.1 - spot.1) * 0.62);
    let tip = (knot.0 + way * size * 0.9, knot.1 - size * 0.5);
    e.canvas.fill(leaf(knot, tip, size * 0.4), Ink::fall(tip.1, bright, knot.1, dark));
}

/// An out-of-focus garden with discs of light.
fn backdrop(e: &mut Easel, bloom: Rgb) {
    let base = rgb(e.dice.pick(&[0x4a8a4c, 0x2f7a6a, 0x7a9a3c, 0x2a5f7a, 0x7a4a6c]));
    let top = e.light.on(base.mix(WHITE, 0.3), 0.35);
    let low = e.light.on(base.scale(0.5), 0.0);
    let (h, unit) = (e.canvas.h, e.canvas.unit());
    air::wash(&mut e.canvas, &[top, top.mix(low, 0.4), low], 0.0, h);
    let glow = e.somewhere((0.1, 0.9), (0.0, 0.3));
    air::glow(&mut e.canvas, glow, unit * 0.9, e.light.sun, 0.55);
    let mut dice = e.dice.fork();
    for _ in 0..26 {
        let (x, y) = (dice.unit() * e.canvas.w, dice.unit() * h);
        let r = unit * dice.range(0.03, 0.11);
        let tint = dice.pick(&[
            e.light.sun,
            bloom.mix(e.light.sun, 0.4),
            base.mix(WHITE, 0.5),
            e.light.haze,
        ]);
        e.canvas.fill(disc(x, y, r), Ink::Thin(tint, dice.range(0.06, 0.24)));
    }
}
