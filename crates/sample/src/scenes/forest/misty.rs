//! Conifers in the mist, row behind row.
//! One mood of its kind: paints on the easel and notes each thing it paints.

use crate::{
    brush::{
        air, land, rgb,
        tree::{self, Leaves},
    },
    easel::Easel,
    light::Time,
    scenes::parts,
};

const ROWS: usize = 5;

pub fn paint(e: &mut Easel) {
    e.light_of(&[Time::Mist, Time::Dawn, Time::Dusk, Time::Golden]);
    let h = e.canvas.h;
    air::sky(&mut e.canvas, &e.light, h * 0.7);
    let shining = e.light.time != Time::Mist;
    if shining {
        let (sun, radius) = (e.somewhere((0.25, 0.75), (0.16, 0.3)), e.canvas.unit() * 0.06);
        parts::sun(e, sun, radius);
    }
    for index in 0..ROWS {
        let near = index as f32 / (ROWS - 1) as f32;
        row(e, near);
        if near < 1.0 {
            let (seed, veil) = (e.dice.next(), e.light.haze.mix(e.light.sun, 0.2));
            air::mist(&mut e.canvas, seed, veil, h * (0.64 + 0.3 * near), h * 0.12, 0.75);
        }
    }
    e.labels.extend(["pines", "fog"]);
    let when = e.when();
    let first = e.dice.pick(&[
        "Mist lies in a pine forest",
        "A pine forest fades into fog",
        "Fog drifts through a dark forest",
        "Row after row of pines in a misty forest",
    ]);
    let sun = if shining { ", a pale sun above" } else { "" };
    e.caption = format!("{first} {when}{sun}");
}

/// One row of pines on its hill, from far (0.0) to near (1.0).
fn row(e: &mut Easel, near: f32) {
    let (h, w, unit, light) = (e.canvas.h, e.canvas.w, e.canvas.unit(), e.light);
    let line = land::rolling(&e.canvas, e.dice.next(), 0.56 + 0.5 * near, 0.16, 1.4);
    let dark = light.shade.mix(rgb(0x16382c), 0.4);
    let tone = light.haze.mix(dark, 0.12 + 0.8 * near.powf(1.3));
    let foot = tone.mix(light.haze, 0.4 * (1.0 - near));
    land::ridge(&mut e.canvas, &line, tone, foot, h * 0.2);
    let mut dice = e.dice.fork();
    if e.canvas.is_blind() {
        return;
    }
    let leaves = Leaves { lit: tone.mix(light.haze, 0.13), shaded: tone };
    let count = (w / unit * (46.0 - 34.0 * near)) as usize;
    for index in 0..count {
        let across = (index as f32 + dice.sway(0.7)) / count as f32;
        let height = unit * (0.1 + 0.3 * near) * dice.range(0.55, 1.3);
        let spot = (w * across, line.at(across.clamp(0.0, 1.0)) + unit * 0.02);
        tree::pine(&mut e.canvas, dice.fork(), spot, height, leaves);
    }
}
