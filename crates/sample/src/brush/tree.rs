//! Trees, one by one: silhouettes with a lit side, each standing on the point given.
//! The chances of a tree are a fork of the scene's, since a blind canvas draws none of them.

use super::{
    Canvas, Ink, Rgb,
    shape::{Spot, arc, blob, disc, leaf, polygon, stroke},
};
use crate::dice::Dice;

/// The two colours of a tree.
#[derive(Clone, Copy)]
pub struct Leaves {
    pub lit: Rgb,
    pub shaded: Rgb,
}

/// A conifer, `height` pixels tall.
pub fn pine(c: &mut Canvas, mut dice: Dice, (x, y): Spot, height: f32, leaves: Leaves) {
    if c.is_blind() {
        return;
    }
    let half = height * dice.range(0.15, 0.21);
    let tiers = 6;
    let mut left = vec![(x, y - height)];
    let mut right = Vec::new();
    for tier in 1..=tiers {
        let t = tier as f32 / tiers as f32;
        let (reach, level) = (half * t.powf(0.9), y - height * (1.0 - t * 0.93));
        let droop = height * 0.025;
        left.push((x - reach * dice.range(0.85, 1.1), level + droop));
        left.push((x - reach * 0.5, level - droop * 0.4));
        right.push((x + reach * dice.range(0.85, 1.1), level + droop));
        right.push((x + reach * 0.5, level - droop * 0.4));
    }
    right.reverse();
    c.fill(
        polygon(&[
            (x - half * 0.12, y - height * 0.1),
            (x + half * 0.12, y - height * 0.1),
            (x + half * 0.14, y),
            (x - half * 0.14, y),
        ]),
        leaves.shaded.scale(0.7),
    );
    let ink = Ink::fall(y - height, leaves.lit.mix(leaves.shaded, 0.35), y, leaves.shaded);
    c.fill(polygon(&[left.as_slice(), right.as_slice()].concat()), ink);
    left.push((x, y - height * 0.07));
    c.fill(
        polygon(&left),
        Ink::fall(y - height, leaves.lit, y, leaves.lit.mix(leaves.shaded, 0.7)),
    );
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

/// A slim tree with a white trunk and dabs of foliage, `height` pixels tall.
pub fn birch(c: &mut Canvas, mut dice: Dice, (x, y): Spot, height: f32, leaves: Leaves, bark: Rgb) {
    if c.is_blind() {
        return;
    }
    let (w, lean) = (height * 0.017, dice.sway(height * 0.03));
    let shade = bark.mix(leaves.shaded, 0.5);
    let trunk = [
        (x - w, y),
        (x + lean - w * 0.5, y - height),
        (x + lean + w * 0.5, y - height),
        (x + w, y),
    ];
    c.fill(polygon(&trunk), Ink::Fade((x - w, 0.0), bark, (x + w, 0.0), shade));
    for _ in 0..14 {
        let t = dice.unit();
        let (mx, my) = (x + lean * t, y - height * t);
        let mark = stroke(&[(mx - w * 0.9, my), (mx + w * dice.range(-0.5, 0.2), my + w * 0.2)]);
        c.line(mark, w * 0.28, Ink::Thin(leaves.shaded.scale(0.45), 0.7));
    }
}

/// A palm that leans, `height` pixels tall.
pub fn palm(c: &mut Canvas, mut dice: Dice, (x, y): Spot, height: f32, leaves: Leaves) {
    if c.is_blind() {
        return;
    }
    let lean = dice.pick(&[-1.0, 1.0]) * height * dice.range(0.12, 0.3);
    let (top_x, top_y) = (x + lean, y - height * 0.82);
    let trunk = leaves.shaded.mix(Rgb(0.45, 0.3, 0.2), 0.45);
    c.line(arc((x, y), (x + lean * 0.15, y - height * 0.5), (top_x, top_y)), height * 0.04, trunk);
    for frond in 0..9 {
        let angle = frond as f32 / 8.0 * 3.6 - 3.4 + dice.sway(0.12);
        let length = height * dice.range(0.3, 0.42);
        let tip =
            (top_x + angle.cos() * length, top_y + angle.sin() * length * 0.55 + length * 0.22);
        let ink = leaves.shaded.mix(leaves.lit, dice.unit() * 0.8);
        let bend = (
            top_x + angle.cos() * length * 0.55,
            top_y + angle.sin() * length * 0.7 - length * 0.12,
        );
        c.fill(leaf((top_x, top_y), bend, length * 0.11), ink);
        c.fill(
            leaf(
                (top_x + (bend.0 - top_x) * 0.35, top_y + (bend.1 - top_y) * 0.35),
                tip,
                length * 0.16,
            ),
            ink,
        );
    }
    c.fill(disc(top_x, top_y, height * 0.03), leaves.shaded);
}
