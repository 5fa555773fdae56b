//! Forests: conifers in the mist, birches in autumn, a green wood with shafts of light.

use crate::local::sample::{
    brush::{
        Ink, Noise, Rgb, WHITE, air, land, rgb,
        shape::{arc, blob, disc, oval, place, polygon},
        smooth,
        tree::{self, Leaves},
    },
    easel::Easel,
    light::Time,
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
        Mood::Misty => misty(e),
        Mood::Birches => birches(e),
        Mood::Green => green(e),
    }
}

fn misty(e: &mut Easel) {
    e.light_of(&[Time::Mist, Time::Dawn, Time::Dusk, Time::Golden]);
    let (h, w, unit) = (e.canvas.h, e.canvas.w, e.canvas.unit());
    air::sky(&mut e.canvas, &e.light, h * 0.7);
    let sun = e.somewhere((0.25, 0.75), (0.16, 0.3));
    let shining = e.light.time != Time::Mist;
    if shining {
        let radius = unit * 0.06;
        air::sun(&mut e.canvas, &e.light, sun, radius);
        e.round_object("sun", sun, radius);
    }
    let rows = 5;
    for row in 0..rows {
        let near = row as f32 / (rows - 1) as f32;
        let line = land::rolling(&e.canvas, e.dice.next(), 0.56 + 0.5 * near, 0.16, 1.4);
        let tone = e.light.haze.mix(e.light.shade.mix(rgb(0x16382c), 0.4), 0.12 + 0.8 * near.powf(1.3));
        land::ridge(&mut e.canvas, &line, tone, tone.mix(e.light.haze, 0.4 * (1.0 - near)), h * 0.2);
        let mut dice = e.dice.fork();
        let count = if e.canvas.is_blind() { 0 } else { (w / unit * (46.0 - 34.0 * near)) as usize };
        for index in 0..count {
            let across = (index as f32 + dice.sway(0.7)) / count as f32;
            let height = unit * (0.1 + 0.3 * near) * dice.range(0.55, 1.3);
            let spot = (w * across, line.at(across.clamp(0.0, 1.0)) + unit * 0.02);
            let leaves = Leaves { lit: tone.mix(e.light.haze, 0.13), shaded: tone };
            tree::pine(&mut e.canvas, dice.fork(), spot, height, leaves);
        }
        if row < rows - 1 {
            let (seed, veil) = (e.dice.next(), e.light.haze.mix(e.light.sun, 0.2));
            air::mist(&mut e.canvas, seed, veil, h * (0.64 + 0.3 * near), h * 0.12, 0.75);
        }
    }
    e.labels.extend(["pines", "fog"]);
    let when = e.when();
    let first = e.dice.pick(&["Mist lies in a pine forest", "A pine forest fades into fog", "Fog drifts through a dark forest", "Row after row of pines in a misty forest"]);
    let sun = if shining { ", a pale sun above" } else { "" };
    e.caption = format!("{first} {when}{sun}");
}

fn birches(e: &mut Easel) {
    e.light_of(&[Time::Golden, Time::Morning, Time::Noon]);
    let (h, w, unit) = (e.canvas.h, e.canvas.w, e.canvas.unit());
    let (season, tones) = e.dice.pick(&[
        ("autumn", [0xf4b13a, 0xe8862c, 0xf8d05c, 0xc9542a]),
        ("autumn", [0xe8603a, 0xc43a2c, 0xf29a3c, 0xf6c860]),
        ("spring", [0xa8d05a, 0x7cba4a, 0xcfe47c, 0x5a9a44]),
    ]);
    let tones = tones.map(rgb);
    let (back, seed) = (e.light.haze.mix(tones[2], 0.45), e.dice.next());
    air::wash(&mut e.canvas, &[back.mix(WHITE, 0.3), back, tones[1].mix(back, 0.5)], 0.0, h * 0.8);
    let glow = e.somewhere((0.3, 0.7), (0.25, 0.4));
    air::glow(&mut e.canvas, glow, unit * 0.75, e.light.sun, 0.7);
    foliage(e, seed, &tones, 0.45);
    let floor = land::rolling(&e.canvas, seed, 0.8, 0.07, 1.5);
    let ground = e.light.on(tones[1].mix(rgb(0x7a5a30), 0.5), 0.1);
    let speckle = Noise::new(seed);
    land::textured(&mut e.canvas, &floor, |x, y, down| {
        let leaf = smooth(0.5, 0.75, speckle.cloud(x / unit * 40.0, y / unit * 70.0, 2));
        ground.scale(1.0 - 0.35 * smooth(0.0, h * 0.2, down)).mix(tones[2], leaf * 0.55)
    });
    let count = e.dice.count(7, 12);
    for index in 0..count {
        let near = index as f32 / count as f32;
        let across = (((index * 5) % count) as f32 + e.dice.range(0.15, 0.85)) / count as f32;
        let spot = (w * across, floor.at(across) + h * (0.01 + 0.2 * near * near));
        let height = h * (0.75 + 0.5 * near);
        let leaves = Leaves { lit: tones[0], shaded: e.light.on(rgb(0x4a3a34), 0.3 - 0.25 * near) };
        let bark = e.light.on(rgb(0xf6f1e6), 0.45 * (1.0 - near));
        let dice = e.dice.fork();
        tree::birch(&mut e.canvas, dice, spot, height, leaves, bark);
        if index == count / 2 {
            let seed = e.dice.next();
            foliage(e, seed, &tones, 0.9);
        }
    }
    e.labels.extend(["birches", season]);
    let when = e.when();
    let trees = e.dice.pick(&["White birches", "Slender birches", "A stand of birches"]);
    let leaves = if season == "spring" { "fresh green" } else { e.dice.pick(&["golden", "burning", "orange"]) };
    e.caption = format!("{trees} in a {leaves} {season} forest {when}");
}

/// Dabs of leaves over the upper part of the picture.
fn foliage(e: &mut Easel, seed: u64, tones: &[Rgb; 4], strength: f32) {
    let (noise, unit, mut dice) = (Noise::new(seed), e.canvas.unit(), e.dice.fork());
    if e.canvas.is_blind() {
        return;
    }
    for _ in 0..(520.0 * e.canvas.w * e.canvas.h / (640.0 * 480.0)) as usize {
        let (x, down) = (dice.range(0.0, e.canvas.w), dice.unit() * 0.72);
        let y = e.canvas.h * down;
        if noise.cloud(x / unit * 3.0, y / unit * 3.0, 2) < 0.3 + 0.42 * down {
            continue;
        }
        let r = unit * dice.range(0.006, 0.024);
        let tone = e.light.on(dice.pick(tones), 0.3 * (1.0 - strength)).scale(dice.range(0.85, 1.15));
        e.canvas.fill(oval(x, y, r * 1.3, r), Ink::Thin(tone, 0.55 + 0.4 * strength));
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
    let guests = if e.dice.chance(0.65) { mushrooms(e, count) } else { foxes(e) };
    let when = e.when();
    let wood = e.dice.pick(&["a green forest", "a sunlit forest", "an old mossy forest", "a quiet forest"]);
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
        let trunk = polygon(&[(x - half * 1.7, foot + half), (x - half, foot - half * 3.0), (x - half * 0.8 + lean, 0.0), (x + half * 0.8 + lean, 0.0), (x + half, foot - half * 3.0), (x + half * 1.7, foot + half)]);
        e.canvas.fill(trunk, Ink::Fade((x - half, 0.0), dark.mix(haze, 0.22), (x + half, 0.0), dark));
        for _ in 0..3 {
            let (bx, by, r) = (x + dice.sway(unit * 0.14), h * dice.range(-0.02, 0.2), unit * dice.range(0.05, 0.12));
            let leaf = rgb(0x4f9440).mix(haze, 0.6 - 0.55 * near);
            e.canvas.fill(oval(bx, by, r * 1.4, r), Ink::fall(by - r, leaf.mix(haze, 0.3), by + r, leaf.scale(0.8)));
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
        e.canvas.posed(pose, |c| {
            c.fill(oval(0.0, 0.0, 0.5, 0.07), Ink::Thin(rgb(0x0f2414), 0.4));
            c.fill(blob(&[(-0.15, 0.0), (-0.12, -0.6), (0.12, -0.6), (0.17, 0.0)]), Ink::Fade((-0.15, 0.0), rgb(0xfbf3e0), (0.2, 0.0), rgb(0xc9b896)));
            let cap = blob(&[(0.0, -1.1), (0.42, -0.92), (0.6, -0.52), (0.3, -0.5), (-0.3, -0.5), (-0.6, -0.52), (-0.42, -0.92)]);
            c.fill(cap, Ink::Ball((-0.2, -0.9), 0.95, rgb(hex).mix(WHITE, 0.22), rgb(hex).scale(0.62)));
            for (sx, sy, r) in [(-0.28, -0.8, 0.08), (0.05, -0.94, 0.07), (0.3, -0.72, 0.08), (0.0, -0.68, 0.06)] {
                c.fill(oval(sx, sy, r, r * 0.8), rgb(0xfff6e6));
            }
        });
    }
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {name} mushroom{plural}", words::count(count, "a"))
}

fn foxes(e: &mut Easel) -> String {
    let (x, y) = e.somewhere((0.25, 0.75), (0.92, 0.96));
    let size = e.canvas.unit() * e.dice.range(0.24, 0.32);
    let pose = place(x, y, size).pre_scale(e.dice.pick(&[-1.0, 1.0]), 1.0);
    e.object("fox", pose, [-0.75, -1.02, 0.45, 0.02]);
    let (red, white, dark) = (rgb(0xe0702a), rgb(0xfdf2e2), rgb(0x3a2418));
    e.canvas.posed(pose, |c| {
        c.fill(oval(-0.1, 0.0, 0.6, 0.06), Ink::Thin(rgb(0x0f2414), 0.4));
        c.line(arc((-0.15, -0.1), (-0.75, 0.02), (-0.6, -0.42)), 0.2, red.scale(0.9));
        c.fill(disc(-0.6, -0.47, 0.09), white);
        c.fill(blob(&[(0.05, -0.72), (0.24, -0.4), (0.22, 0.0), (-0.28, 0.0), (-0.3, -0.3), (-0.12, -0.6)]), Ink::fall(-0.7, red, 0.0, red.scale(0.75)));
        c.fill(blob(&[(0.12, -0.6), (0.2, -0.35), (0.12, -0.12), (0.02, -0.35)]), white);
        c.fill(polygon(&[(0.06, 0.0), (0.08, -0.25), (0.2, -0.25), (0.2, 0.0)]), dark);
        c.fill(polygon(&[(-0.12, -0.82), (-0.08, -1.04), (0.06, -0.88)]), red.scale(0.8));
        c.fill(polygon(&[(0.14, -0.88), (0.24, -1.04), (0.28, -0.82)]), red.scale(0.8));
        c.fill(blob(&[(0.08, -0.92), (0.28, -0.82), (0.36, -0.66), (0.1, -0.56), (-0.14, -0.68), (-0.1, -0.84)]), red);
        c.fill(blob(&[(0.18, -0.7), (0.36, -0.67), (0.2, -0.58), (0.06, -0.6)]), white);
        c.fill(disc(0.36, -0.67, 0.03), dark);
        c.fill(disc(0.14, -0.76, 0.025), dark);
    });
    "a red fox".to_owned()
}
