//! Forests: conifers in the mist, birches in autumn, a green wood with shafts of light.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

mod birches;
mod misty;

use crate::{
    brush::{
        Ink, Noise, Rgb, WHITE, air, land, rgb,
        shape::{oval, place, polygon},
        smooth,
    },
    easel::Easel,
    light::Time,
    props::wood,
    words,
};

#[derive(Clone, Copy)]
enum Mood {
    Misty,
    Birches,
    Green,
}

pub fn paint(e: &mut Easel) {
    e.label("trees");
    match e.mood(&[Mood::Misty, Mood::Birches, Mood::Green]) {
        Mood::Misty => misty::paint(e),
        Mood::Birches => birches::paint(e),
        Mood::Green => green(e),
    }
}

fn green(e: &mut Easel) {
    e.light_of(&[Time::Morning, Time::Noon]);
    let (h, unit, seed) = (e.canvas.h, e.canvas.unit(), e.dice.next());
    let tint = e.dice.pick(&[rgb(0xcfe88a), rgb(0xb8e8a0), rgb(0xe6ea90)]);
    let stops = [rgb(0x3f7a48).mix(tint, 0.2), tint.mix(WHITE, 0.25), rgb(0x6fa658), rgb(0x2f5c38)];
    air::wash(&mut e.canvas, &stops, 0.0, h);
    for depth in 0..3 {
        trunks(e, depth as f32 / 2.0, tint);
    }
    let from = (e.canvas.w * e.dice.range(0.2, 0.8), -h * 0.2);
    air::shafts(&mut e.canvas, seed, from, tint.mix(WHITE, 0.55), 0.5);
    let floor = land::rolling(&e.canvas, seed, 0.86, 0.06, 1.3);
    let path = e.dice.chance(0.6);
    let (middle, noise, w) = (e.dice.range(0.35, 0.65), Noise::new(seed), e.canvas.w);
    land::textured(&mut e.canvas, &floor, |x, y, down| {
        let moss = rgb(0x5c9440).mix(rgb(0x1f4428), smooth(0.0, h * 0.2, down));
        let near = smooth(h * 0.8, h, y);
        let off = (x / w - middle - 0.08 * (1.0 - near)).abs() / (0.03 + 0.16 * near);
        let worn = if path { smooth(1.1, 0.7, off) } else { 0.0 };
        let grain = noise.cloud(x / unit * 26.0, y / unit * 40.0, 2);
        moss.mix(rgb(0xc9aa6c), worn * 0.8).scale(0.75 + 0.5 * grain)
    });
    let count = e.dice.count(1, 4);
    let guests = if e.dice.chance(0.65) { mushrooms(e, count) } else { fox(e) };
    let when = e.when();
    let wood = e.dice.pick(&[
        "a green forest",
        "a sunlit forest",
        "an old mossy forest",
        "a quiet forest",
    ]);
    let way = if path { " beside a path" } else { "" };
    e.caption = words::sentence(&format!("{guests}{way} in {wood} {when}"));
}

fn trunks(e: &mut Easel, near: f32, haze: Rgb) {
    let mut dice = e.dice.fork();
    let (w, h, unit) = (e.canvas.w, e.canvas.h, e.canvas.unit());
    let count = (w / unit * (11.0 - 7.0 * near)) as usize;
    for index in 0..count {
        let x = w * (index as f32 + dice.range(0.1, 0.9)) / count as f32;
        let half = unit * (0.012 + 0.035 * near) * dice.range(0.7, 1.3);
        let foot = h * (0.8 + 0.12 * near);
        let lean = dice.sway(half * 2.0);
        let dark = rgb(0x33402a).mix(haze, 0.72 - 0.62 * near);
        let trunk = polygon(&[
            (x - half * 1.7, foot + half),
            (x - half, foot - half * 3.0),
            (x - half * 0.8 + lean, 0.0),
            (x + half * 0.8 + lean, 0.0),
            (x + half, foot - half * 3.0),
            (x + half * 1.7, foot + half),
        ]);
        e.canvas
            .fill(trunk, Ink::Fade((x - half, 0.0), dark.mix(haze, 0.22), (x + half, 0.0), dark));
        for _ in 0..3 {
            let (bx, by, r) = (
                x + dice.sway(unit * 0.14),
                h * dice.range(-0.02, 0.2),
                unit * dice.range(0.05, 0.12),
            );
            let leaf = rgb(0x4f9440).mix(haze, 0.6 - 0.55 * near);
            e.canvas.fill(
                oval(bx, by, r * 1.4, r),
                Ink::fall(by - r, leaf.mix(haze, 0.3), by + r, leaf.scale(0.8)),
            );
        }
    }
}

fn mushrooms(e: &mut Easel, count: usize) -> String {
    let (name, hex) = e.dice.pick(&[("red", 0xd8362c), ("brown", 0xa8683a), ("orange", 0xe88a34)]);
    for index in 0..count {
        let (x, y) = e.somewhere((0.08, 0.92), (0.88, 0.96));
        let size = e.canvas.unit() * e.dice.range(0.09, 0.17) * if index == 0 { 1.3 } else { 1.0 };
        let pose = place(x, y, size).pre_rotate(e.dice.sway(8.0));
        e.object("mushroom", pose, [-0.62, -1.12, 0.62, 0.02]);
        e.canvas.posed(pose, |c| wood::mushroom(c, rgb(hex)));
    }
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {name} mushroom{plural}", words::count(count, "a"))
}

fn fox(e: &mut Easel) -> String {
    let (x, y) = e.somewhere((0.25, 0.75), (0.92, 0.96));
    let size = e.canvas.unit() * e.dice.range(0.24, 0.32);
    let pose = place(x, y, size).pre_scale(e.dice.pick(&[-1.0, 1.0]), 1.0);
    e.object("fox", pose, [-0.75, -1.02, 0.45, 0.02]);
    e.canvas.posed(pose, wood::fox);
    "a red fox".to_owned()
}
