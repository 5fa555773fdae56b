//! Parts that several scenes share: sun, moon and what flies in the sky.
//! Each paints on the easel and notes the object it painted.

use crate::{
    brush::{
        air, rgb,
        shape::{Spot, place},
    },
    easel::Easel,
    props::sky::gull,
};

/// The sun, noted as an object.
pub fn sun(e: &mut Easel, spot: Spot, radius: f32) {
    air::sun(&mut e.canvas, &e.light, spot, radius);
    e.round_object("sun", spot, radius);
}

/// The moon, noted as an object; `phase` 0.0 is full, 0.7 a crescent.
pub fn moon(e: &mut Easel, spot: Spot, radius: f32, phase: f32) {
    air::moon(&mut e.canvas, &e.light, spot, radius, phase);
    e.round_object("moon", spot, radius);
}

/// Clouds down to the row `horizon`, with a cover between the two.
pub fn clouds(e: &mut Easel, horizon: f32, cover: (f32, f32)) {
    let (seed, cover) = (e.dice.next(), e.dice.range(cover.0, cover.1));
    air::clouds(&mut e.canvas, &e.light, seed, horizon, cover);
}

/// Stars down to the row `bottom`; `amount` 1.0 is a clear night.
pub fn stars(e: &mut Easel, bottom: f32, amount: f32) {
    let sprinkle = e.dice.fork();
    air::stars(&mut e.canvas, sprinkle, bottom, amount);
}

/// A few gulls in the sky above the row `bottom`, sometimes none; gives their number.
pub fn gulls(e: &mut Easel, bottom: f32) -> usize {
    let count = if e.dice.chance(0.5) { e.dice.count(1, 5) } else { 0 };
    let flock = (e.dice.range(0.15, 0.85), e.dice.range(0.25, 0.7));
    let ink =
        if e.light.is_dark() { e.light.sky[3] } else { e.light.shade.mix(rgb(0xffffff), 0.1) };
    for _ in 0..count {
        let across = flock.0 + e.dice.sway(0.16);
        let y = bottom * (flock.1 + e.dice.sway(0.2));
        let size = e.canvas.unit() * e.dice.range(0.025, 0.05);
        let pose = place(e.canvas.w * across, y, size).pre_rotate(e.dice.sway(18.0));
        e.object("gull", pose, [-1.0, -0.45, 1.0, 0.25]);
        e.canvas.posed(pose, |c| gull(c, ink));
    }
    count
}

/// Two to five heap clouds drifting above the row `bottom`.
pub fn heap_clouds(e: &mut Easel, bottom: f32) {
    for _ in 0..e.dice.count(2, 5) {
        let depth = e.dice.unit();
        let size = e.canvas.unit() * (0.5 - 0.3 * depth) * e.dice.range(0.8, 1.3);
        let down = bottom * (0.2 + 0.62 * depth);
        let spot = (e.canvas.w * e.dice.unit(), down.max(size * 0.42));
        let dice = e.dice.fork();
        air::heap_cloud(&mut e.canvas, &e.light, dice, spot, size);
    }
}
