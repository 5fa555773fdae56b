//! Birches in autumn or spring.
//! One mood of its kind: paints on the easel and notes each thing it paints.

use crate::{
    brush::{
        Ink, Noise, Rgb, WHITE, air, land, rgb,
        shape::oval,
        smooth,
        tree::{self, Leaves},
    },
    easel::Easel,
    light::Time,
};

pub fn paint(e: &mut Easel) {
    e.light_of(&[Time::Golden, Time::Morning, Time::Noon]);
    let (season, hex) = e.dice.pick(&[
        ("autumn", [0xf4b13a, 0xe8862c, 0xf8d05c, 0xc9542a]),
        ("autumn", [0xe8603a, 0xc43a2c, 0xf29a3c, 0xf6c860]),
        ("spring", [0xa8d05a, 0x7cba4a, 0xcfe47c, 0x5a9a44]),
    ]);
    let tones = hex.map(rgb);
    let (h, unit, seed) = (e.canvas.h, e.canvas.unit(), e.dice.next());
    let back = e.light.haze.mix(tones[2], 0.45);
    let stops = [back.mix(WHITE, 0.3), back, tones[1].mix(back, 0.5)];
    air::wash(&mut e.canvas, &stops, 0.0, h * 0.8);
    let glow = e.somewhere((0.3, 0.7), (0.25, 0.4));
    air::glow(&mut e.canvas, glow, unit * 0.75, e.light.sun, 0.7);
    foliage(e, seed, &tones, 0.45);
    stand(e, seed, &tones);
    e.labels.extend(["birches", season]);
    let when = e.when();
    let trees = e.dice.pick(&["White birches", "Slender birches", "A stand of birches"]);
    let leaves = match season {
        "spring" => "fresh green",
        _ => e.dice.pick(&["golden", "burning", "orange"]),
    };
    e.caption = format!("{trees} in a {leaves} {season} forest {when}");
}

/// The floor of leaves and the trees on it, with foliage between the far and the near ones.
fn stand(e: &mut Easel, seed: u64, tones: &[Rgb; 4]) {
    let (h, w, unit) = (e.canvas.h, e.canvas.w, e.canvas.unit());
    let floor = land::rolling(&e.canvas, seed, 0.8, 0.07, 1.5);
    let ground = e.light.on(tones[1].mix(rgb(0x7a5a30), 0.5), 0.1);
    let speckle = Noise::new(seed);
    land::textured(&mut e.canvas, &floor, |x, y, down| {
        let leaf = smooth(0.5, 0.75, speckle.cloud(x / unit * 40.0, y / unit * 70.0, 2));
        let earth = ground.scale(1.0 - 0.35 * smooth(0.0, h * 0.2, down));
        earth.mix(tones[2], leaf * 0.55)
    });
    let count = e.dice.count(7, 12);
    for index in 0..count {
        let near = index as f32 / count as f32;
        let across = (((index * 5) % count) as f32 + e.dice.range(0.15, 0.85)) / count as f32;
        let spot = (w * across, floor.at(across) + h * (0.01 + 0.2 * near * near));
        let shaded = e.light.on(rgb(0x4a3a34), 0.3 - 0.25 * near);
        let bark = e.light.on(rgb(0xf6f1e6), 0.45 * (1.0 - near));
        let (dice, height) = (e.dice.fork(), h * (0.75 + 0.5 * near));
        tree::birch(&mut e.canvas, dice, spot, height, Leaves { lit: tones[0], shaded }, bark);
        if index == count / 2 {
            foliage(e, seed ^ 1, tones, 0.9);
        }
    }
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
        let tone =
            e.light.on(dice.pick(tones), 0.3 * (1.0 - strength)).scale(dice.range(0.85, 1.15));
        e.canvas.fill(oval(x, y, r * 1.3, r), Ink::Thin(tone, 0.55 + 0.4 * strength));
    }
}
