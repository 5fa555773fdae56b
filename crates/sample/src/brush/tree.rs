//! Trees, one by one: silhouettes with a lit side, each standing on the point given.
//! The chances of a tree are a fork of the scene's, since a blind canvas draws none of them.

use super::{
    Canvas, Ink, Rgb,
    shape::{Spot, blob, polygon},
};
use crate::dice::Dice;

/// The two colours of a tree.
#[derive(Clone, Copy)]
pub struct Leaves {
    pub lit: Rgb,
    pub shaded: Rgb,
}

/// A broad tree with a round crown, `height` pixels tall.
pub fn broad(c: &mut Canvas, mut dice: Dice, (x, y): Spot, height: f32, leaves: Leaves) {
    if c.is_blind() {
        return;
    }
    let trunk = leaves.shaded.mix(Rgb(0.25, 0.17, 0.12), 0.6);
    let w = height * 0.045;
    c.fill(
        polygon(&[
            (x - w, y),
            (x - w * 0.6, y - height * 0.4),
            (x + w * 0.6, y - height * 0.4),
            (x + w, y),
        ]),
        trunk,
    );
    let (cx, cy, r) = (x, y - height * 0.6, height * 0.38);
    c.fill(
        lumpy(&mut dice, (cx, cy), r, r * 0.95),
        Ink::fall(cy - r, leaves.shaded.mix(leaves.lit, 0.35), cy + r, leaves.shaded),
    );
    for _ in 0..9 {
        let (dx, dy) = (dice.sway(0.62) - 0.1, dice.range(-0.66, 0.4));
        let lump = r * dice.range(0.28, 0.46);
        let (lx, ly) = (cx + dx * r, cy + dy * r);
        let top = leaves.lit.mix(leaves.shaded, (dy + 0.6) * 0.7);
        c.fill(
            lumpy(&mut dice, (lx, ly), lump, lump * 0.8),
            Ink::fall(ly - lump, top, ly + lump, top.mix(leaves.shaded, 0.8)),
        );
    }
}

/// A closed outline with small swellings.
fn lumpy(dice: &mut Dice, (x, y): Spot, rx: f32, ry: f32) -> Option<tiny_skia::Path> {
    let spots: Vec<Spot> = (0..13)
        .map(|i| {
            let angle = i as f32 / 13.0 * std::f32::consts::TAU;
            let k = dice.range(0.9, 1.08);
            (x + angle.cos() * rx * k, y + angle.sin() * ry * k)
        })
        .collect();
    blob(&spots)
}
