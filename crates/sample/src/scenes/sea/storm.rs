//! The sea in a storm: wave behind wave, perhaps a ship, perhaps lightning.
//! One mood of its kind: paints on the easel and notes each thing it paints.

use crate::{
    brush::{
        Ink, Noise, WHITE, air,
        land::{self, Skyline},
        rgb,
        shape::{place, stroke},
        smooth,
    },
    easel::Easel,
    light::Time,
    props::vessel::steamer,
};

pub fn paint(e: &mut Easel) {
    e.light_of(&[Time::Storm]);
    let horizon = e.canvas.h * e.dice.range(0.36, 0.5);
    let seed = e.dice.next();
    air::sky(&mut e.canvas, &e.light, horizon);
    air::clouds(&mut e.canvas, &e.light, seed, horizon, 0.95);
    let lightning = e.dice.chance(0.45);
    if lightning {
        bolt(e, horizon);
    }
    let rows = e.dice.count(5, 6);
    let ship_row = e.dice.chance(0.5).then(|| e.dice.count(1, 2));
    for row in 0..rows {
        if ship_row == Some(row) {
            ship(e, horizon, row as f32 / rows as f32);
        }
        wave(e, horizon, row as f32 / (rows - 1) as f32);
    }
    let falling = e.dice.fork();
    let drops = e.light.sky[3];
    air::rain(&mut e.canvas, falling, drops, 160);
    e.label("waves");
    let waves =
        e.dice.pick(&["High waves", "Great dark waves", "Foaming waves", "Steep grey waves"]);
    let with = match (ship_row, lightning) {
        (Some(_), true) => " toss a ship while lightning strikes",
        (Some(_), false) => " toss a small ship",
        (None, true) => " roll under lightning",
        (None, false) => " roll in the rain",
    };
    let when = e.when();
    e.caption = format!("{waves}{with} on the sea {when}");
}

fn bolt(e: &mut Easel, horizon: f32) {
    let mut dice = e.dice.fork();
    let (mut x, mut y) = (e.canvas.w * dice.range(0.15, 0.85), 0.0);
    let step = horizon / 12.0;
    air::glow(&mut e.canvas, (x, horizon * 0.4), horizon * 1.1, rgb(0xb9c8ff), 0.5);
    let mut spots = vec![(x, y)];
    while y < horizon {
        x += dice.sway(step * 0.9);
        y += step * dice.range(0.5, 1.1);
        spots.push((x, y));
    }
    let path = stroke(&spots);
    let unit = e.canvas.unit();
    e.canvas.line(path.clone(), unit * 0.014, Ink::Thin(rgb(0xc9d4ff), 0.35));
    e.canvas.line(path, unit * 0.005, WHITE);
    e.label("lightning");
}

fn wave(e: &mut Easel, horizon: f32, near: f32) {
    let noise = Noise::new(e.dice.next());
    let (h, unit) = (e.canvas.h, e.canvas.unit());
    let level = horizon / h + near.powf(1.5) * (0.93 - horizon / h) + 0.01;
    let swell = 0.015 + 0.13 * near;
    let pace = 9.0 - 6.5 * near;
    let line = Skyline::new(&e.canvas, move |x| level - swell * noise.crest(x * pace, 2));
    let tint = e.dice.pick(&[rgb(0x3f8a86), rgb(0x4a8f99)]);
    let crest = e.light.on(tint, 0.45 - 0.4 * near).scale(1.0 + 0.35 * near);
    let deep = e
        .light
        .shade
        .mix(e.light.on(rgb(0x1d4a55), 0.0), 0.75)
        .mix(e.light.haze, 0.3 * (1.0 - near));
    let size = 0.2 + 0.8 * near;
    land::textured(&mut e.canvas, &line, |x, y, down| {
        let d = down / unit / size;
        let streak = noise.cloud(x / unit / size * 6.0, (y / unit - d * 0.4) / size * 14.0, 3);
        let foam = smooth(0.03, 0.0, d - 0.05 * (streak - 0.35))
            + 0.5 * smooth(0.6, 0.72, streak) * smooth(0.25, 0.02, d);
        crest
            .mix(deep, smooth(0.0, 0.22, d))
            .scale(0.88 + 0.24 * streak)
            .mix(rgb(0xe9f2ee), foam.min(1.0) * (0.35 + 0.55 * near))
    });
}

fn ship(e: &mut Easel, horizon: f32, near: f32) {
    let size = e.canvas.unit() * (0.11 + 0.1 * near);
    let spot = (e.canvas.w * e.dice.range(0.2, 0.8), horizon + e.canvas.h * near * 0.06);
    let pose = place(spot.0, spot.1, size).pre_rotate(e.dice.sway(14.0));
    e.object("ship", pose, [-0.9, -0.75, 0.9, 0.12]);
    let (hull, house) = (e.light.shade.mix(rgb(0x8c3030), 0.45), e.light.on(rgb(0xf2efe6), 0.1));
    e.canvas.posed(pose, |c| steamer(c, hull, house));
}
