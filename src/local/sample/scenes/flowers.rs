//! Flowers: a meadow, rows of tulips, a few blossoms close up.

use std::f32::consts::TAU;

use super::parts;
use crate::local::sample::{
    brush::{
        Canvas, Ink, Rgb, WHITE, air, land, rgb,
        shape::{arc, blob, disc, leaf, oval, place},
        smooth,
    },
    dice::Dice,
    easel::Easel,
    light::Time,
    words,
};

#[derive(Clone, Copy)]
enum Mood {
    Meadow,
    Tulips,
    Close,
}

/// Name, petal, deep petal and heart of a flower.
type Bloom = (&'static str, [u32; 3]);

pub fn paint(e: &mut Easel) {
    match e.mood(&[Mood::Close, Mood::Meadow, Mood::Tulips]) {
        Mood::Meadow => meadow(e),
        Mood::Tulips => tulips(e),
        Mood::Close => close(e),
    }
}

/// Sky and far hills above the row where the flowers begin.
fn country(e: &mut Easel, horizon: f32, green: Rgb) {
    air::sky(&mut e.canvas, &e.light, horizon);
    parts::heap_clouds(e, horizon * 0.8);
    let h = e.canvas.h;
    for step in 0..2 {
        let line = land::rolling(&e.canvas, e.dice.next(), horizon / h + 0.02 * step as f32, 0.1, 1.8);
        let tone = e.light.on(green.mix(rgb(0x2f6a50), 0.4), 0.55 - 0.3 * step as f32);
        land::ridge(&mut e.canvas, &line, tone, tone.mix(e.light.haze, 0.3), h * 0.1);
    }
}

fn meadow(e: &mut Easel) {
    e.light_of(&[Time::Noon, Time::Morning, Time::Golden]);
    const BLOOMS: &[Bloom] = &[
        ("poppies", [0xe8392c, 0xb01f20, 0x1f1a1c]),
        ("daisies", [0xffffff, 0xdfe6f0, 0xf6c02c]),
        ("cornflowers", [0x4a6ee8, 0x2f44b0, 0x24246a]),
        ("cosmos flowers", [0xf27ab4, 0xc84a90, 0xf6d04c]),
        ("buttercups", [0xffd83c, 0xe8a820, 0xd88a1c]),
    ];
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
    let count = 300;
    for index in 0..count {
        let depth = (index as f32 / count as f32).powf(1.7);
        let (sort, across, dice) = (e.dice.count(0, sorts - 1), e.dice.unit(), e.dice.fork());
        let spot = (w * across, field.at(across) + h * (0.01 + (0.98 - horizon / h) * depth));
        let size = unit * (0.006 + 0.05 * depth);
        let petals = kinds[sort].1.map(|c| e.light.on(rgb(c), 0.25 * (1.0 - depth)));
        let pose = place(spot.0, spot.1, size);
        if depth > 0.8 {
            e.object("flower", pose, [-1.0, -1.0, 1.0, 1.0]);
        }
        e.canvas.posed(pose, |c| small(c, dice, petals, near, depth > 0.12));
    }
    e.labels.extend(["meadow", kinds[0].0]);
    let names: Vec<String> = kinds[..sorts].iter().map(|k| k.0.to_owned()).collect();
    let when = e.when();
    let place = e.dice.pick(&["A meadow of flowers", "Wild flowers in a meadow", "A field full of flowers"]);
    e.caption = format!("{place}, {}, {when}", words::list(&names));
}

/// A flower of the meadow, seen from the side, its head about 2 wide.
fn small(c: &mut Canvas, mut dice: Dice, [petal, deep, heart]: [Rgb; 3], stem: Rgb, whole: bool) {
    if !whole {
        c.fill(disc(0.0, 0.0, 1.0), petal);
        return;
    }
    let lean = dice.sway(0.5);
    c.line(arc((0.0, 0.0), (lean, 1.6), (lean * 0.5, 3.4)), 0.16, stem.mix(rgb(0x7ab04a), 0.35));
    let turn = dice.range(0.0, TAU);
    for index in 0..6 {
        let angle = turn + index as f32 / 6.0 * TAU;
        let tip = (angle.cos() * 1.0, angle.sin() * 0.72);
        c.fill(leaf((0.0, 0.0), tip, 0.85), if index % 2 == 0 { petal } else { petal.mix(deep, 0.35) });
    }
    c.fill(oval(0.0, 0.0, 0.3, 0.24), heart);
}

fn tulips(e: &mut Easel) {
    e.light_of(&[Time::Noon, Time::Morning, Time::Dawn, Time::Golden]);
    let horizon = e.canvas.h * e.dice.range(0.36, 0.48);
    country(e, horizon, rgb(0x6fa650));
    let mut colours = [
        ("red", rgb(0xe23a34)),
        ("yellow", rgb(0xf8cc34)),
        ("pink", rgb(0xf27aa8)),
        ("white", rgb(0xfbf4ea)),
        ("purple", rgb(0x8c4ab4)),
        ("orange", rgb(0xf4883a)),
    ];
    e.dice.shuffle(&mut colours);
    let sorts = e.dice.count(2, 4);
    let (w, h, unit) = (e.canvas.w, e.canvas.h, e.canvas.unit());
    let vanish = (w * e.dice.range(0.2, 0.8), horizon - unit * 0.05);
    let (light, soil) = (e.light, e.light.on(rgb(0x3f6a34), 0.05));
    e.canvas.each((0.0, w), (horizon + h * 0.02, h), |x, y, _| {
        let lane = (x - vanish.0) / (y - vanish.1) * 2.6 + 40.0;
        let away = 1.0 - (y - horizon) / (h - horizon);
        let (index, part) = (lane.floor() as usize, lane.fract());
        let bed = (1.0 - (part - 0.5).abs() * 2.0).clamp(0.0, 1.0);
        let bloom = light.on(colours[index % sorts].1, 0.3 * away * away);
        let mean = (0..sorts).fold(soil, |mix, sort| mix.mix(colours[sort].1, 0.45));
        let edge = ((bed - 0.28) * 9.0).clamp(0.0, 1.0);
        let stripes = soil.scale(0.6 + 0.6 * bed).mix(bloom.scale(0.72 + 0.36 * bed), edge);
        // Far lanes are thinner than a pixel: show their mean instead of stripes.
        light.on(mean, 0.3).mix(stripes, smooth(3.0, 12.0, (y - vanish.1) / 2.6))
    });
    for index in 0..230 {
        let depth = (index as f32 / 230.0).powf(1.6);
        let (across, sway) = (e.dice.range(-0.05, 1.05), e.dice.sway(6.0));
        let spot = (w * across, horizon + h * 0.03 + (h * 1.02 - horizon) * depth);
        let lane = (spot.0 - vanish.0) / (spot.1 - vanish.1) * 2.6 + 40.0;
        if (lane.fract() - 0.5).abs() > 0.34 || depth < 0.05 {
            continue;
        }
        let tone = e.light.on(colours[lane as usize % sorts].1, 0.2 * (1.0 - depth));
        let pose = place(spot.0, spot.1, unit * (0.008 + 0.06 * depth)).pre_rotate(sway);
        if depth > 0.75 {
            e.object("tulip", pose, [-0.7, -1.2, 0.7, 1.0]);
        }
        e.canvas.posed(pose, |c| tulip(c, tone));
    }
    e.labels.extend(["tulips", "field"]);
    let names: Vec<String> = colours[..sorts].iter().map(|(name, _)| (*name).to_owned()).collect();
    let (when, rows) = (e.when(), e.dice.pick(&["Rows of", "Long rows of", "A field of"]));
    e.caption = format!("{rows} {} tulips, flowers to the horizon, {when}", words::list(&names));
}

fn tulip(c: &mut Canvas, tone: Rgb) {
    c.line(arc((0.0, 0.4), (0.1, 1.2), (0.0, 2.0)), 0.16, rgb(0x4f8a3c));
    c.fill(blob(&[(-0.62, -0.7), (-0.66, 0.1), (0.0, 0.62), (0.66, 0.1), (0.62, -0.7), (0.0, -0.2)]), Ink::fall(-1.0, tone.mix(WHITE, 0.15), 0.7, tone.scale(0.7)));
    c.fill(leaf((0.0, 0.6), (0.0, -1.15), 0.75), Ink::fall(-1.1, tone.mix(WHITE, 0.28), 0.6, tone.scale(0.86)));
}

fn close(e: &mut Easel) {
    e.light_of(&[Time::Morning, Time::Golden, Time::Noon]);
    const BLOOMS: &[Bloom] = &[
        ("sunflower", [0xfcc81e, 0xe88a10, 0x4a2a16]),
        ("daisy", [0xffffff, 0xc8d4ea, 0xf8c02a]),
        ("pink gerbera", [0xf5619a, 0xb82a6a, 0x6a1f3a]),
        ("red dahlia", [0xe0383a, 0x8c1420, 0xf2b03a]),
        ("violet aster", [0x9a6ae0, 0x5a34a4, 0xf6c63a]),
        ("orange marigold", [0xff9324, 0xd4520f, 0x8c3a10]),
    ];
    let (name, hex) = e.dice.pick(BLOOMS);
    backdrop(e, rgb(hex[0]));
    let count = e.dice.pick(&[1, 1, 2, 3, 3]);
    let unit = e.canvas.unit();
    for index in 0..count {
        let across = (((index * 2) % count) as f32 + e.dice.range(0.38, 0.62)) / count as f32;
        let size = unit * e.dice.range(0.28, 0.36) * [1.0, 0.72, 0.56][count - 1];
        let spot = e.somewhere((across, across), (0.34, 0.56));
        let stem = e.light.on(rgb(0x4a8a3a), 0.0);
        let bend = e.dice.sway(unit * 0.12);
        let foot = (spot.0 + bend * 1.4, e.canvas.h * 1.05);
        let curve = arc(spot, (spot.0 - bend, (spot.1 + foot.1) / 2.0), foot);
        e.canvas.line(curve, size * 0.11, Ink::Fade((spot.0 - size * 0.05, 0.0), stem.mix(WHITE, 0.2), (spot.0 + size * 0.05, 0.0), stem.scale(0.6)));
        let way = e.dice.pick(&[-1.0, 1.0]);
        let knot = (spot.0 + bend * 0.25, spot.1 + (foot.1 - spot.1) * 0.62);
        e.canvas.fill(leaf(knot, (knot.0 + way * size * 0.9, knot.1 - size * 0.5), size * 0.4), Ink::fall(knot.1 - size * 0.5, stem.mix(WHITE, 0.2), knot.1, stem.scale(0.7)));
        e.round_object("flower", spot, size * 1.02);
        let tones = hex.map(|c| e.light.on(rgb(c), 0.0));
        let (pose, dice) = (place(spot.0, spot.1, size).pre_rotate(e.dice.sway(20.0)), e.dice.fork());
        e.canvas.posed(pose, |c| head(c, dice, tones, name));
    }
    e.labels.extend([name, "close-up"]);
    let when = e.when();
    let before = e.dice.pick(&["before a soft blurred garden", "close up", "with lights dancing behind"]);
    let flowers = match (count, name) {
        (1, _) => format!("{} {name}, {}", words::article(name), e.dice.pick(&["a single flower", "a flower in full bloom"])),
        (n, "daisy") => format!("{} daisies, white flowers", words::count(n, "a")),
        (n, _) => format!("{} {name}s, flowers", words::count(n, "a")),
    };
    e.caption = words::sentence(&format!("{flowers} {before} {when}"));
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
        let tint = dice.pick(&[e.light.sun, bloom.mix(e.light.sun, 0.4), base.mix(WHITE, 0.5), e.light.haze]);
        e.canvas.fill(disc(x, y, r), Ink::Thin(tint, dice.range(0.06, 0.24)));
    }
}

/// A blossom seen from the front, with a radius of 1.
fn head(c: &mut Canvas, mut dice: Dice, [petal, deep, heart]: [Rgb; 3], name: &str) {
    let rings: &[(usize, f32)] = match name {
        "daisy" | "violet aster" => &[(21, 1.0), (21, 0.94)],
        "red dahlia" | "orange marigold" => &[(18, 1.0), (16, 0.86), (14, 0.7), (12, 0.54), (9, 0.4)],
        _ => &[(17, 1.0), (17, 0.92), (13, 0.74)],
    };
    for (ring, &(count, reach)) in rings.iter().enumerate() {
        for index in 0..count {
            let angle = (index as f32 + ring as f32 * 0.5) / count as f32 * TAU;
            let length = reach * dice.range(0.93, 1.03);
            let tip = (angle.cos() * length, angle.sin() * length);
            let light = 0.5 - 0.5 * (angle - 0.8).sin();
            let outer = petal.mix(WHITE, 0.12 * light).scale(0.82 + 0.06 * ring as f32 + 0.16 * light);
            let width = reach * 4.4 / count as f32;
            c.fill(leaf((0.0, 0.0), tip, width), Ink::Ball((0.0, 0.0), length, deep.scale(0.9), outer));
        }
    }
    let middle = if rings.len() > 3 { 0.16 } else { 0.34 };
    c.fill(disc(0.0, 0.0, middle), Ink::Ball((-0.08, -0.1), middle * 1.2, heart.mix(WHITE, 0.18), heart.scale(0.6)));
    for index in 0..70 {
        let (angle, far) = (index as f32 * 2.4, (index as f32 / 70.0).sqrt() * middle * 0.92);
        let dot = heart.mix(rgb(0xffd070), dice.range(0.0, 0.5));
        c.fill(disc(angle.cos() * far, angle.sin() * far, middle * 0.055), Ink::Thin(dot, 0.8));
    }
}
