//! A street with cars: coloured houses in the sun, lamps in the evening, umbrellas of rain.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{
        Ink, WHITE, air, rgb,
        shape::{arc, block, oval, place, stroke},
        tree::{self, Leaves},
        water::{self, Water},
    },
    easel::Easel,
    light::Time,
    props::{car::car, house_front::Front},
    words,
};

#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Sunny,
    Evening,
    Rainy,
}

const PAINTS: &[(&str, u32)] = &[
    ("red", 0xd8352c),
    ("yellow", 0xf6bf2a),
    ("blue", 0x2f6ac4),
    ("green", 0x3a9a6a),
    ("white", 0xf2f0ea),
    ("orange", 0xee7a2c),
    ("turquoise", 0x3fb8b8),
    ("black", 0x2c2e38),
];

pub fn paint(e: &mut Easel) {
    let mood = e.mood(&[Mood::Sunny, Mood::Evening, Mood::Rainy]);
    e.light_of(match mood {
        Mood::Sunny => &[Time::Noon, Time::Morning, Time::Golden],
        Mood::Evening => &[Time::Dusk, Time::Night],
        Mood::Rainy => &[Time::Storm],
    });
    let (h, unit) = (e.canvas.h, e.canvas.unit());
    let kerb = h - unit * e.dice.range(0.27, 0.32);
    let (seed, sprinkle) = (e.dice.next(), e.dice.fork());
    air::sky(&mut e.canvas, &e.light, kerb);
    if e.light.time == Time::Night {
        air::stars(&mut e.canvas, sprinkle, kerb, 0.8);
    } else {
        air::clouds(
            &mut e.canvas,
            &e.light,
            seed,
            kerb,
            if mood == Mood::Rainy { 0.9 } else { 0.4 },
        );
    }
    let lit = mood != Mood::Sunny;
    houses(e, kerb, lit);
    road(e, kerb);
    furniture(e, kerb, lit);
    let names = cars(e, kerb, lit);
    if mood == Mood::Rainy {
        wet(e, seed, kerb);
    }
    caption(e, mood, &names);
}

fn caption(e: &mut Easel, mood: Mood, names: &[&str]) {
    let when = e.when();
    let cars = match names {
        [one] => format!("{} {one} car", words::article(one)),
        [a, b] => format!("{} {a} and {} {b} car", words::article(a), words::article(b)),
        many => format!("{} cars, the first one {},", words::count(many.len(), "a"), many[0]),
    };
    let street = match mood {
        Mood::Sunny => e.dice.pick(&[
            "in a street of coloured houses",
            "on a sunny street",
            "before pastel houses in a street",
        ]),
        Mood::Evening => e.dice.pick(&[
            "in a street with lit windows",
            "on a lamplit street",
            "in a quiet street",
        ]),
        Mood::Rainy => {
            e.dice.pick(&["on a wet street", "in a rainy street", "in a street full of puddles"])
        }
    };
    e.caption = words::sentence(&format!("{cars} {street} {when}"));
}

/// House fronts side by side.
fn houses(e: &mut Easel, kerb: f32, lit: bool) {
    const WALLS: &[u32] =
        &[0xf2c6a0, 0xe8a08c, 0xf4dc9c, 0xa8cfc0, 0x9fbcd8, 0xe8b8c4, 0xc8d49c, 0xf0e6d6, 0xd8886a];
    let (w, unit, light) = (e.canvas.w, e.canvas.unit(), e.light);
    let mut x = -unit * e.dice.range(0.02, 0.2);
    while x < w {
        let (width, floors) = (unit * e.dice.range(0.2, 0.34), e.dice.count(2, 4));
        let height = unit * (0.1 + 0.105 * floors as f32);
        let (wall, peak) = (light.on(rgb(e.dice.pick(WALLS)), 0.06), e.dice.chance(0.5));
        let front = Front { x, kerb, width, height, floors, peak, lit, wall, light };
        e.box_object("house", (x, front.top()), (x + width, kerb));
        let dice = e.dice.fork();
        front.paint(&mut e.canvas, dice);
        x += width;
    }
}

fn road(e: &mut Easel, kerb: f32) {
    let (w, h, unit, light) = (e.canvas.w, e.canvas.h, e.canvas.unit(), e.light);
    let walk = light.on(rgb(0xc8bfb4), 0.08);
    e.canvas.fill(
        block(0.0, kerb, w, h - kerb),
        Ink::fall(kerb, walk, kerb + unit * 0.05, walk.scale(0.86)),
    );
    let tar = light.on(rgb(0x6a6c76), 0.05);
    let top = kerb + unit * 0.055;
    e.canvas.fill(block(0.0, top, w, h - top), Ink::fall(top, tar.scale(0.8), h, tar.scale(1.05)));
    e.canvas.fill(block(0.0, top - unit * 0.012, w, unit * 0.012), walk.scale(0.6));
    let mut x = -unit * 0.05;
    while x < w {
        e.canvas.fill(
            block(x, kerb + unit * 0.165, unit * 0.11, unit * 0.011),
            light.on(rgb(0xf4f0e4), 0.1),
        );
        x += unit * 0.2;
    }
}

/// Trees and lamps along the kerb.
fn furniture(e: &mut Easel, kerb: f32, lit: bool) {
    let (w, unit) = (e.canvas.w, e.canvas.unit());
    let count = e.dice.count(2, 4);
    for index in 0..count {
        let x = w * (index as f32 + e.dice.range(0.2, 0.8)) / count as f32;
        let foot = (x, kerb + unit * 0.03);
        if e.dice.chance(0.5) {
            let height = unit * e.dice.range(0.26, 0.36);
            let lit = e.light.on(rgb(0x86b84e), 0.05);
            let leaves = Leaves { lit, shaded: lit.mix(e.light.shade, 0.55) };
            let dice = e.dice.fork();
            e.object("tree", place(foot.0, foot.1, height), [-0.38, -1.0, 0.38, 0.0]);
            tree::broad(&mut e.canvas, dice, foot, height, leaves);
        } else {
            let size = unit * 0.36;
            e.object("lamp", place(foot.0, foot.1, size), [-0.06, -1.0, 0.26, 0.0]);
            let iron = e.light.shade;
            e.canvas.posed(place(foot.0, foot.1, size), |c| {
                c.line(stroke(&[(0.0, 0.0), (0.0, -0.86)]), 0.03, iron);
                c.line(arc((0.0, -0.86), (0.02, -0.98), (0.18, -0.96)), 0.024, iron);
                c.fill(oval(0.2, -0.93, 0.06, 0.035), if lit { rgb(0xfff0c0) } else { iron });
            });
            if lit {
                let lamp = (foot.0 + size * 0.2, foot.1 - size * 0.92);
                air::glow(&mut e.canvas, lamp, unit * 0.26, rgb(0xffc46a), 0.75);
            }
        }
    }
}

/// Cars on two lanes; gives their colours from the first lane to the near one.
fn cars(e: &mut Easel, kerb: f32, lit: bool) -> Vec<&'static str> {
    let count = e.dice.count(1, 4);
    let unit = e.canvas.unit();
    let mut paints = PAINTS.to_vec();
    e.dice.shuffle(&mut paints);
    let mut names = Vec::new();
    for (index, &(name, hex)) in paints.iter().take(count).enumerate() {
        let near = index >= count.div_ceil(2);
        let slots = if near { count / 2 } else { count.div_ceil(2) };
        let slot = if near { index - count.div_ceil(2) } else { index };
        let across = (slot as f32 + e.dice.range(0.36, 0.64)) / slots as f32;
        let size = unit * if near { 0.22 } else { 0.17 } * e.dice.range(0.95, 1.1);
        let road = kerb + unit * if near { 0.255 } else { 0.14 };
        let way = if near { 1.0 } else { -1.0 };
        let pose = place(e.canvas.w * across, road, size).pre_scale(way, 1.0);
        e.object("car", pose, [-0.98, -0.74, 0.98, 0.04]);
        let (light, van) = (e.light, e.dice.chance(0.25));
        let paint = light.on(rgb(hex), 0.0);
        e.canvas.posed(pose, |c| {
            car(c, paint, light.on(rgb(0x9cc4dc), 0.1), light.shade, van);
        });
        if lit {
            let lamp = (e.canvas.w * across + way * size * 0.94, road - size * 0.3);
            air::glow(&mut e.canvas, lamp, size * 0.5, rgb(0xfff0c0), 0.95);
            let tail = (e.canvas.w * across - way * size * 0.94, road - size * 0.32);
            air::glow(&mut e.canvas, tail, size * 0.28, rgb(0xff3a2c), 0.9);
        }
        names.push(name);
    }
    names
}

/// Rain, and a road that mirrors the lights.
fn wet(e: &mut Easel, seed: u64, kerb: f32) {
    let unit = e.canvas.unit();
    let deep = e.light.shade.mix(e.light.haze, 0.35);
    let top = kerb + unit * 0.26;
    let crest = e.light.sky[3];
    water::water(&mut e.canvas, seed, Water { top, deep, mirror: 0.75, rough: 0.25, crest });
    let falling = e.dice.fork();
    let tint = e.light.sky[3].mix(WHITE, 0.3);
    air::rain(&mut e.canvas, falling, tint, 200);
    e.label("rain");
}
