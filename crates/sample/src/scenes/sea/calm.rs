//! A calm sea under a low sun or the moon.
//! One mood of its kind: paints on the easel and notes each thing it paints.

use super::{island, plural};
use crate::{
    brush::{
        air,
        water::{self, Water},
    },
    easel::Easel,
    light::Time,
    scenes::parts,
    words,
};

pub fn low_sun(e: &mut Easel) {
    e.light_of(&[Time::Dawn, Time::Sunset, Time::Golden]);
    let (across, down) = (e.dice.range(0.2, 0.8), e.dice.range(0.44, 0.62));
    let horizon = e.canvas.h * down;
    let radius = e.canvas.unit() * e.dice.range(0.045, 0.085);
    let sun = (e.canvas.w * across, horizon - radius * e.dice.range(-0.2, 2.2));
    let (cover, seed) = (e.dice.range(0.25, 0.75), e.dice.next());
    air::sky(&mut e.canvas, &e.light, horizon);
    air::clouds(&mut e.canvas, &e.light, seed, horizon, cover);
    parts::sun(e, sun, radius);
    let island = e.dice.chance(0.6).then(|| island(e, horizon));
    let deep = e.light.sky[1].mix(e.light.shade, 0.45);
    let crest = e.light.sky[3].mix(e.light.sun, 0.3);
    let rough = e.dice.range(0.3, 0.7);
    water::water(&mut e.canvas, seed, Water { top: horizon, deep, mirror: 0.72, rough, crest });
    water::glitter(&mut e.canvas, seed, horizon, sun.0, e.light.sun, 0.85);
    let gulls = parts::gulls(e, horizon);
    let when = e.when();
    let calm =
        e.dice.pick(&["The calm sea", "The open sea", "A quiet sea", "Gentle waves on the sea"]);
    let with = match (island, gulls) {
        (Some(()), 0) => " with a distant island".to_owned(),
        (None, 0) => String::new(),
        (Some(()), n) => format!(" with an island and {} gull{}", words::count(n, "a"), plural(n)),
        (None, n) => format!(" with {} gull{}", words::count(n, "a"), plural(n)),
    };
    e.caption = format!("{calm}{with} {when}");
}

pub fn moonlight(e: &mut Easel) {
    e.light_of(&[Time::Night]);
    let horizon = e.canvas.h * e.dice.range(0.48, 0.64);
    let radius = e.canvas.unit() * e.dice.range(0.055, 0.1);
    let level = horizon / e.canvas.h;
    let moon = e.somewhere((0.2, 0.8), (level * 0.25, level * 0.7));
    let (seed, cover) = (e.dice.next(), e.dice.range(0.1, 0.5));
    let phase = e.dice.pick(&[0.0, 0.0, 0.68, 0.76]);
    let sprinkle = e.dice.fork();
    air::sky(&mut e.canvas, &e.light, horizon);
    air::stars(&mut e.canvas, sprinkle, horizon, 0.8);
    air::clouds(&mut e.canvas, &e.light, seed, horizon, cover);
    parts::moon(e, moon, radius, phase);
    let islands = e.dice.count(0, 2);
    for _ in 0..islands {
        island(e, horizon);
    }
    let deep = e.light.sky[0].mix(e.light.sky[2], 0.25);
    let crest = e.light.sky[3];
    water::water(&mut e.canvas, seed, Water { top: horizon, deep, mirror: 0.7, rough: 0.4, crest });
    water::glitter(&mut e.canvas, seed, horizon, moon.0, e.light.sun, 0.8);
    let shape = if phase > 0.3 { "crescent moon" } else { "full moon" };
    let land = ["", " and a dark island", " and dark islands"][islands];
    let over = e.dice.pick(&["over the sea", "above a silver sea", "shining on the sea"]);
    let stars = e.dice.pick(&["", ", stars above", " on a quiet night"]);
    e.caption = format!("A {shape}{land} {over}{stars}");
}
