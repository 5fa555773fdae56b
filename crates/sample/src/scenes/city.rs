//! A city at night: towers over a river, a violet evening, rain and neon.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{
        BLACK, Canvas, Ink, Rgb, WHITE, air, rgb,
        shape::{Spot, arc, block, polygon, stroke},
        water::{self, Water},
    },
    dice::Dice,
    easel::Easel,
    light::Time,
    scenes::parts,
};

#[derive(Clone, Copy)]
enum Mood {
    River,
    Evening,
    Neon,
}

pub fn paint(e: &mut Easel) {
    let mood = e.mood(&[Mood::River, Mood::Evening, Mood::Neon]);
    e.light_of(match mood {
        Mood::River | Mood::Neon => &[Time::Night],
        Mood::Evening => &[Time::Dusk, Time::Sunset],
    });
    e.labels.extend(["skyline", "towers", "lights"]);
    let unit = e.canvas.unit();
    let bank = e.canvas.h * e.dice.range(0.62, 0.76);
    air::sky(&mut e.canvas, &e.light, bank);
    let seed = e.dice.next();
    let neon = rgb(e.dice.pick(&[0xd83aa0, 0x7a4af0, 0x1fa8c4, 0xe0583a]));
    match mood {
        Mood::River => parts::stars(e, bank, 0.6),
        Mood::Evening => parts::clouds(e, bank, (0.3, 0.6)),
        Mood::Neon => parts::clouds(e, bank, (0.7, 0.9)),
    }
    let moon = !matches!(mood, Mood::Neon) && e.dice.chance(0.55);
    if moon {
        let (spot, radius) =
            (e.somewhere((0.12, 0.88), (0.1, 0.22)), unit * e.dice.range(0.035, 0.06));
        let phase = e.dice.pick(&[0.0, 0.7]);
        parts::moon(e, spot, radius, phase);
    }
    let loom = if matches!(mood, Mood::Neon) { neon } else { rgb(0xffa860) };
    let middle = (e.canvas.w * e.dice.range(0.3, 0.7), bank);
    air::glow(&mut e.canvas, middle, unit * 0.85, loom, 0.5);
    for depth in 0..3 {
        row(e, bank, depth as f32 / 2.0, loom);
    }
    let bridge = e.dice.chance(0.4);
    river(e, seed, bank, loom);
    if bridge {
        span(e, bank);
    }
    if matches!(mood, Mood::Neon) {
        let (falling, tint) = (e.dice.fork(), neon.mix(WHITE, 0.6));
        air::rain(&mut e.canvas, falling, tint, 130);
        e.label("rain");
    }
    caption(e, mood, moon, bridge);
}

fn caption(e: &mut Easel, mood: Mood, moon: bool, bridge: bool) {
    let when = e.when();
    let city = match mood {
        Mood::River => e.dice.pick(&[
            "The lights of a city are mirrored in the river",
            "City towers shine over the water",
            "A sleeping city by the river",
        ]),
        Mood::Evening => e.dice.pick(&[
            "A city lights its windows",
            "The city skyline stands against a glowing sky",
            "Towers of a city over a calm river",
        ]),
        Mood::Neon => e.dice.pick(&[
            "Rain falls on a city of neon",
            "Neon light colours a rainy city",
            "A city glows through the rain",
        ]),
    };
    let with = match (moon, bridge) {
        (true, true) => ", with the moon and a bridge",
        (true, false) => " below the moon",
        (false, true) => ", with a bridge in front",
        (false, false) => "",
    };
    e.caption = format!("{city}{with} {when}");
}

/// One row of towers; the nearest is darkest and has the brightest windows.
fn row(e: &mut Easel, bank: f32, near: f32, loom: Rgb) {
    let (w, unit) = (e.canvas.w, e.canvas.unit());
    let mut x = -unit * e.dice.range(0.0, 0.1);
    let centre = e.dice.range(0.3, 0.7);
    while x < w {
        let width = unit * (0.055 + 0.05 * near) * e.dice.range(0.7, 1.5);
        let bulk = 1.0 - ((x / w - centre).abs() * 1.5).min(0.75);
        let height = unit * (0.62 - 0.2 * near) * bulk * e.dice.range(0.4, 1.15);
        let body = e.light.shade.mix(e.light.sky[2].mix(loom, 0.2), 0.6 - 0.5 * near);
        let dice = e.dice.fork();
        if near > 0.9 {
            e.box_object("tower", (x, bank - height), (x + width, bank));
        }
        tower(&mut e.canvas, dice, (x, bank), (width, height), body, near);
        x += width * e.dice.range(0.95, 1.35);
    }
}

fn tower(
    c: &mut Canvas,
    mut dice: Dice,
    (x, foot): (f32, f32),
    (w, h): (f32, f32),
    body: Rgb,
    near: f32,
) {
    if c.is_blind() {
        return;
    }
    let top = foot - h;
    let ink = Ink::fall(top, body.scale(0.85), foot, body.mix(rgb(0xffb070), 0.14));
    match dice.count(0, 5) {
        0 => c.fill(polygon(&[(x, top), (x + w * 0.5, top - w * 0.55), (x + w, top)]), ink),
        1 => {
            c.line(stroke(&[(x + w * 0.5, top - w * 0.9), (x + w * 0.5, top)]), w * 0.05, body);
            c.fill(block(x + w * 0.2, top - w * 0.25, w * 0.6, w * 0.3), ink);
            air::glow(c, (x + w * 0.5, top - w * 0.9), w * 0.35, rgb(0xff4a3c), 1.0);
        }
        2 => c.fill(polygon(&[(x, top + 1.0), (x, top - w * 0.35), (x + w, top + 1.0)]), ink),
        _ => {}
    }
    c.fill(block(x, top, w, h), ink);
    windows(c, &mut dice, (x, top), (w, h), near);
}

/// Lit windows over a front.
fn windows(c: &mut Canvas, dice: &mut Dice, (x, top): Spot, (w, h): (f32, f32), near: f32) {
    let lamp = rgb(dice.pick(&[0xffd27a, 0xffe6b0, 0xffb85c, 0xbfe0ff]));
    let lit = dice.range(0.25, 0.65);
    let cell = (c.unit() * (0.011 + 0.008 * near)).max(2.5);
    let (columns, rows) = ((w / cell / 1.3) as usize, (h / cell / 1.6) as usize);
    let gap = w / (columns.max(1) as f32);
    for spot in 0..columns * rows {
        if !dice.chance(lit) {
            continue;
        }
        let (column, line) = ((spot % columns) as f32, (spot / columns) as f32);
        let place = (x + (column + 0.25) * gap, top + (line + 0.5) * cell * 1.6);
        let glass = Ink::Thin(lamp, (0.3 + 0.65 * near) * dice.range(0.5, 1.0));
        c.fill(block(place.0, place.1, gap * 0.5, cell * 0.85), glass);
    }
}

fn river(e: &mut Easel, seed: u64, bank: f32, loom: Rgb) {
    let deep = e.light.sky[0].mix(e.light.shade, 0.4);
    let crest = e.light.sky[3].mix(loom, 0.4);
    water::water(&mut e.canvas, seed, Water { top: bank, deep, mirror: 0.85, rough: 0.35, crest });
    let (mut dice, unit) = (e.dice.fork(), e.canvas.unit());
    for _ in 0..7 {
        let x = e.canvas.w * dice.unit();
        let lamp = dice.pick(&[rgb(0xffc978), rgb(0xff9a5c), loom, rgb(0xfff0c8)]);
        air::glow(&mut e.canvas, (x, bank), unit * 0.05, lamp, 0.9);
        water::glitter(&mut e.canvas, dice.next(), bank, x, lamp, 0.32);
    }
    e.label("river");
}

/// A suspension bridge right across, before the bank.
fn span(e: &mut Easel, bank: f32) {
    let (w, unit) = (e.canvas.w, e.canvas.unit());
    let deck = bank + unit * 0.07;
    let dark = e.light.shade.mix(BLACK, 0.3);
    let piers = [e.dice.range(0.16, 0.26), e.dice.range(0.74, 0.84)].map(|across| w * across);
    let top = bank - unit * e.dice.range(0.16, 0.24);
    e.box_object("bridge", (0.0, top), (w, deck + unit * 0.03));
    for x in piers {
        e.canvas.fill(block(x - unit * 0.012, top, unit * 0.024, deck - top + unit * 0.09), dark);
    }
    let rope = unit * 0.006;
    let cables = [
        (-0.3 * w, top, piers[0], top),
        (piers[0], top, piers[1], top),
        (piers[1], top, 1.3 * w, top),
    ];
    for (x0, y0, x1, y1) in cables {
        e.canvas.line(
            arc((x0, y0), (x0.midpoint(x1), deck * 2.0 - top - unit * 0.02), (x1, y1)),
            rope,
            dark,
        );
    }
    e.canvas.fill(block(0.0, deck, w, unit * 0.022), dark);
    let lamps = 22;
    for index in 0..if e.canvas.is_blind() { 0 } else { lamps } {
        let x = w * (index as f32 + 0.5) / lamps as f32;
        air::glow(&mut e.canvas, (x, deck - unit * 0.006), unit * 0.022, rgb(0xffdc9a), 1.0);
    }
}
