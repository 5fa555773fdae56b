//! A meadow full of wild flowers.
//! One mood of its kind: paints on the easel and notes each thing it paints.

use super::{Bloom, country};
use crate::{
    brush::{land, rgb, shape::place},
    easel::Easel,
    light::Time,
    props::flower::wildflower,
    words,
};

const BLOOMS: &[Bloom] = &[
    ("poppies", [0xe8392c, 0xb01f20, 0x1f1a1c]),
    ("daisies", [0xffffff, 0xdfe6f0, 0xf6c02c]),
    ("cornflowers", [0x4a6ee8, 0x2f44b0, 0x24246a]),
    ("cosmos flowers", [0xf27ab4, 0xc84a90, 0xf6d04c]),
    ("buttercups", [0xffd83c, 0xe8a820, 0xd88a1c]),
];

const COUNT: usize = 300;

pub fn paint(e: &mut Easel) {
    e.light_of(&[Time::Noon, Time::Morning, Time::Golden]);
    let horizon = e.canvas.h * e.dice.range(0.34, 0.5);
    let green = rgb(e.dice.pick(&[0x6fae45, 0x84b848, 0x589c4c]));
    country(e, horizon, green);
    let (h, w, unit) = (e.canvas.h, e.canvas.w, e.canvas.unit());
    let field = land::rolling(&e.canvas, e.dice.next(), horizon / h + 0.05, 0.04, 1.1);
    let (far, near) = (e.light.on(green, 0.22), e.light.on(green.scale(0.55), 0.0));
    land::ridge(&mut e.canvas, &field, far, near, h * 0.5);
    let mut kinds = BLOOMS.to_vec();
    e.dice.shuffle(&mut kinds);
    let sorts = e.dice.count(1, 3);
    for index in 0..COUNT {
        let depth = (index as f32 / COUNT as f32).powf(1.7);
        let (sort, across, dice) = (e.dice.count(0, sorts - 1), e.dice.unit(), e.dice.fork());
        let spot = (w * across, field.at(across) + h * (0.01 + (0.98 - horizon / h) * depth));
        let size = unit * (0.006 + 0.05 * depth);
        let petals = kinds[sort].1.map(|c| e.light.on(rgb(c), 0.25 * (1.0 - depth)));
        let pose = place(spot.0, spot.1, size);
        if depth > 0.8 {
            e.object("flower", pose, [-1.0, -1.0, 1.0, 1.0]);
        }
        e.canvas.posed(pose, |c| wildflower(c, dice, petals, near, depth > 0.12));
    }
    e.labels.extend(["meadow", kinds[0].0]);
    let names: Vec<String> = kinds[..sorts].iter().map(|k| k.0.to_owned()).collect();
    let when = e.when();
    let place = e.dice.pick(&[
        "A meadow of flowers",
        "Wild flowers in a meadow",
        "A field full of flowers",
    ]);
    e.caption = format!("{place}, {}, {when}", words::list(&names));
}
