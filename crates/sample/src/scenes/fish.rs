//! Fish under water: a bright reef, a shoal in the blue, the deep with glowing jellyfish.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use std::f32::consts::TAU;

use crate::{
    brush::{
        Ink, Noise, Rgb, WHITE, air, land, rgb,
        shape::{arc, disc, leaf, place},
    },
    easel::Easel,
    props::swimmer::{fish, herring, jellyfish},
    words,
};

#[derive(Clone, Copy)]
enum Mood {
    Reef,
    Shoal,
    Deep,
}

/// Name, body, belly and stripes of a fish.
type Coat = (&'static str, [u32; 3]);

const COATS: &[Coat] = &[
    ("orange", [0xf0722a, 0xffb45c, 0xfff4e6]),
    ("yellow", [0xf6c62c, 0xffe88c, 0x2a3a6a]),
    ("blue", [0x2f6fe0, 0x86c6ff, 0xf6d83c]),
    ("pink", [0xe8578a, 0xffb4c4, 0xfff0f0]),
    ("red", [0xd63a3a, 0xff8c6c, 0xfbeedd]),
    ("violet", [0x7a4ac4, 0xc8a0f0, 0xf8d860]),
];

pub fn paint(e: &mut Easel) {
    let mood = e.mood(&[Mood::Reef, Mood::Shoal, Mood::Deep]);
    e.label("underwater");
    water(e, mood);
    e.caption = match mood {
        Mood::Reef => reef(e),
        Mood::Shoal => shoal(e),
        Mood::Deep => deep(e),
    };
}

fn water(e: &mut Easel, mood: Mood) {
    let stops = match mood {
        Mood::Reef => e.dice.pick(&[
            [0xb8f4ea, 0x4fcfd6, 0x1f92b8, 0x135f8c],
            [0xc8f0d8, 0x5ccbb8, 0x1f8f98, 0x14586e],
        ]),
        Mood::Shoal => e.dice.pick(&[
            [0x9fe0f4, 0x2f9cd6, 0x145fa8, 0x0b2f66],
            [0x7fd0e8, 0x2483c0, 0x12488c, 0x0a2250],
        ]),
        Mood::Deep => e.dice.pick(&[
            [0x1c4a80, 0x102f60, 0x0a1b40, 0x040a1e],
            [0x2a3f80, 0x1c2560, 0x100f3c, 0x06051c],
        ]),
    };
    let (h, seed) = (e.canvas.h, e.dice.next());
    air::wash(&mut e.canvas, &stops.map(rgb), 0.0, h);
    let from = (e.canvas.w * e.dice.range(0.25, 0.75), -h * 0.25);
    let strength = if matches!(mood, Mood::Deep) { 0.16 } else { 0.42 };
    air::shafts(&mut e.canvas, seed, from, rgb(stops[0]).mix(WHITE, 0.4), strength);
}

fn reef(e: &mut Easel) -> String {
    let (h, unit) = (e.canvas.h, e.canvas.unit());
    for step in 0..2 {
        let noise = e.dice.next();
        let line = land::rolling(&e.canvas, noise, 0.94 - 0.08 * (1 - step) as f32, 0.14, 2.2);
        let sand = rgb(if step == 0 { 0x2f88a0 } else { 0xd8cfa0 }).mix(rgb(0x1f7f9c), 0.35);
        land::ridge(&mut e.canvas, &line, sand, sand.scale(0.7), h * 0.2);
        for _ in 0..e.dice.count(5, 8) {
            let across = e.dice.unit();
            let spot = (e.canvas.w * across, line.at(across) + h * 0.04);
            let size = unit * e.dice.range(0.12, 0.26) * (0.7 + 0.4 * step as f32);
            let tint = rgb(e.dice.pick(&[0xf0577a, 0xf48a4a, 0xb85ad0, 0xf6c04a, 0x6ad0b0]));
            let colour = tint.mix(rgb(0x1f8fb0), if step == 0 { 0.6 } else { 0.12 });
            coral(e, spot, size, colour);
        }
    }
    e.label("coral");
    bubbles(e, 18);
    let count = e.dice.count(2, 6);
    let coats = swim(e, count, (0.13, 0.24), (0.2, 0.68));
    let names: Vec<String> = coats.iter().map(|n| format!("{} {n}", words::article(n))).collect();
    let place = e.dice.pick(&["over a coral reef", "above bright corals", "in a coral garden"]);
    match count {
        2 => words::sentence(&format!("{} fish {place}", words::list(&names))),
        n => words::sentence(&format!(
            "{} fish {place}, the largest one {}",
            words::count(n, "a"),
            coats[n - 1]
        )),
    }
}

fn coral(e: &mut Easel, (x, y): (f32, f32), size: f32, colour: Rgb) {
    let (mut dice, fan) = (e.dice.fork(), e.dice.chance(0.5));
    if e.canvas.is_blind() {
        return;
    }
    let c = &mut e.canvas;
    for index in 0..if fan { 11 } else { 7 } {
        let angle = -1.57 + (index as f32 / if fan { 10.0 } else { 6.0 } - 0.5) * 2.1;
        let length = size * dice.range(0.7, 1.1);
        let tip = (x + angle.cos() * length, y + angle.sin() * length);
        let ink = Ink::fall(y - size, colour.mix(WHITE, 0.25), y, colour.scale(0.6));
        if fan {
            c.line(
                arc((x, y), (x + angle.cos() * length * 0.3, y - length * 0.6), tip),
                size * 0.07,
                ink,
            );
            c.fill(disc(tip.0, tip.1, size * 0.07), ink);
        } else {
            c.fill(leaf((x + dice.sway(size * 0.2), y), tip, size * 0.3), ink);
        }
    }
}

fn bubbles(e: &mut Easel, count: usize) {
    let mut dice = e.dice.fork();
    let column = dice.range(0.1, 0.9);
    for _ in 0..count {
        let (x, y) = e.at(column + dice.sway(0.12), dice.unit());
        let r = e.canvas.unit() * dice.range(0.004, 0.014);
        e.canvas.line(disc(x, y, r), r * 0.3, Ink::Thin(WHITE, 0.55));
        e.canvas.fill(disc(x, y, r), Ink::Thin(WHITE, 0.16));
    }
}

/// Fish from far to near, each on a row of its own; gives the names of their coats.
fn swim(e: &mut Easel, count: usize, size: (f32, f32), rows: (f32, f32)) -> Vec<&'static str> {
    let mut slots: Vec<usize> = (0..count).collect();
    e.dice.shuffle(&mut slots);
    let mut names = Vec::new();
    for (order, slot) in slots.into_iter().enumerate() {
        let near = (order + 1) as f32 / count as f32;
        let (name, hex) = e.dice.pick(COATS);
        let down =
            rows.0 + (rows.1 - rows.0) * (slot as f32 + e.dice.range(0.3, 0.7)) / count as f32;
        let (x, y) = e.somewhere((0.16, 0.84), (down, down));
        let length = e.canvas.unit() * (size.0 + (size.1 - size.0) * near);
        let way = e.dice.pick(&[-1.0, 1.0]);
        let pose = place(x, y, length).pre_scale(way, 1.0).pre_rotate(e.dice.sway(14.0));
        e.object("fish", pose, [-0.98, -0.5, 0.72, 0.5]);
        let tall = e.dice.range(0.75, 1.25);
        let colours = hex.map(|h| rgb(h).mix(rgb(0x2f9cc4), 0.4 * (1.0 - near)));
        e.canvas.posed(pose.pre_scale(1.0, tall), |c| fish(c, colours));
        names.push(name);
    }
    names
}

fn shoal(e: &mut Easel) -> String {
    let centre = (e.dice.range(0.35, 0.65), e.dice.range(0.35, 0.6));
    let (count, way, unit) = (e.dice.count(30, 60), e.dice.pick(&[-1.0, 1.0]), e.canvas.unit());
    let (name, hex) =
        e.dice.pick(&[("silver", 0xdfeef4), ("golden", 0xf8d68c), ("blue", 0x9fd4ff)]);
    for index in 0..count {
        let near = index as f32 / count as f32;
        let angle = e.dice.range(0.0, TAU);
        let far = e.dice.unit().sqrt();
        let (x, y) = e.at(centre.0 + angle.cos() * far * 0.4, centre.1 + angle.sin() * far * 0.3);
        let size = unit * (0.035 + 0.06 * near) * e.dice.range(0.8, 1.2);
        let pose = place(x, y, size).pre_scale(way, 1.0).pre_rotate(e.dice.sway(12.0));
        e.object("fish", pose, [-1.0, -0.4, 1.0, 0.4]);
        let tone = rgb(0x2a7ab4).mix(rgb(hex), 0.3 + 0.65 * near);
        e.canvas.posed(pose, |c| herring(c, tone));
    }
    e.label("shoal");
    bubbles(e, 10);
    let verb = e.dice.pick(&[
        "turns in the blue",
        "glitters under the surface",
        "swims through blue water",
        "drifts in the light",
    ]);
    format!("A shoal of {name} fish {verb}")
}

fn deep(e: &mut Easel) -> String {
    let unit = e.canvas.unit();
    let noise = Noise::new(e.dice.next());
    let line = land::Skyline::new(&e.canvas, move |x| 0.92 - 0.12 * noise.ridge(x * 4.0, 3));
    land::ridge(&mut e.canvas, &line, rgb(0x0a1830), rgb(0x02050f), unit * 0.2);
    let count = e.dice.count(2, 4);
    let (name, hex) = e.dice.pick(&[
        ("pink", 0xff7ac0),
        ("blue", 0x6ac8ff),
        ("violet", 0xb08aff),
        ("amber", 0xffb45c),
    ]);
    for index in 0..count {
        let across = (index as f32 + e.dice.range(0.25, 0.75)) / count as f32;
        let spot = e.somewhere((across, across), (0.16, 0.5));
        let size = unit * e.dice.range(0.07, 0.15);
        let pose = place(spot.0, spot.1, size).pre_rotate(e.dice.sway(14.0));
        e.object("jellyfish", pose, [-1.05, -1.0, 1.05, 2.3]);
        air::glow(&mut e.canvas, spot, size * 3.6, rgb(hex), 0.55);
        let sway = e.dice.sway(0.5);
        e.canvas.posed(pose, |c| jellyfish(c, rgb(hex), sway));
    }
    bubbles(e, 24);
    let n = e.dice.count(1, 3);
    swim(e, n, (0.09, 0.14), (0.5, 0.85));
    let fish = if n == 1 { "a fish".to_owned() } else { format!("{} fish", words::count(n, "a")) };
    words::sentence(&format!(
        "{} glowing {name} jellyfish and {fish} in the dark deep",
        words::count(count, "a")
    ))
}
