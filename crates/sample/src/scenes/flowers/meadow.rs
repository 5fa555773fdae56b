//! A meadow of wildflowers.

use std::f32::consts::TAU;

use super::{
    country::{FlowerColors, draw_country},
    prelude::*,
};

const WILDFLOWERS: [FlowerColors; 5] = [
    ("poppies", [0xe8392c, 0xb01f20, 0x1f1a1c]),
    ("daisies", [0xffffff, 0xdfe6f0, 0xf6c02c]),
    ("cornflowers", [0x4a6ee8, 0x2f44b0, 0x24246a]),
    ("cosmos flowers", [0xf27ab4, 0xc84a90, 0xf6d04c]),
    ("buttercups", [0xffd83c, 0xe8a820, 0xd88a1c]),
];

const COUNT: usize = 300;

pub fn draw(s: &mut Scene) {
    s.choose_time(&[TimeOfDay::Noon, TimeOfDay::Morning, TimeOfDay::Golden]);
    let horizon = s.canvas.h * s.rng.range(0.34, 0.5);
    let green = rgb(s.rng.pick(&[0x6fae45, 0x84b848, 0x589c4c]));
    draw_country(s, horizon, green);
    let (h, w, unit) = (s.canvas.h, s.canvas.w, s.canvas.unit());
    let field = Terrain::rolling_hills(&s.canvas, s.rng.next(), horizon / h + 0.05, 0.04, 1.1);
    let (far, near) = (s.light.tint(green, 0.22), s.light.tint(green.scale(0.55), 0.0));
    field.fill_gradient(&mut s.canvas, far, near, h * 0.5);
    let mut kinds = WILDFLOWERS;
    s.rng.shuffle(&mut kinds);
    let count = s.rng.int(1, 3);
    for index in 0..COUNT {
        let depth = (index as f32 / COUNT as f32).powf(1.7);
        let (kind, across, rng) = (s.rng.int(0, count - 1), s.rng.unit(), s.rng.fork());
        let (x, y) = (w * across, field.y_at(across) + h * (0.01 + (0.98 - horizon / h) * depth));
        let size = unit * (0.006 + 0.05 * depth);
        let petals = kinds[kind].1.map(|c| s.light.tint(rgb(c), 0.25 * (1.0 - depth)));
        let pose = place_at(x, y, size);
        if depth > 0.8 {
            s.add_object("flower", pose, [-1.0, -1.0, 1.0, 1.0]);
        }
        s.canvas.with_transform(pose, |c| wildflower(c, rng, petals, near, depth > 0.12));
    }
    s.labels.extend(["meadow", kinds[0].0]);
    let names: Vec<&str> = kinds[..count].iter().map(|kind| kind.0).collect();
    let time = s.time_phrase();
    let place =
        s.rng.pick(&["A meadow of flowers", "Wild flowers in a meadow", "A field full of flowers"]);
    s.caption = format!("{place}, {}, {time}", caption::join(&names));
}

/// A flower seen from the side, its head about 2 wide; in the distance only a dot of color.
fn wildflower(c: &mut Canvas, mut rng: Rng, colors: [Rgb; 3], stem: Rgb, detailed: bool) {
    let [petal, deep, heart] = colors;
    if !detailed {
        c.fill(circle(0.0, 0.0, 1.0), petal);
        return;
    }
    let lean = rng.jitter(0.5);
    let line = curve((0.0, 0.0), (lean, 1.6), (lean * 0.5, 3.4));
    c.stroke(line, 0.16, stem.mix(rgb(0x7ab04a), 0.35));
    let turn = rng.range(0.0, TAU);
    for index in 0..6 {
        let angle = turn + index as f32 / 6.0 * TAU;
        let tip = (angle.cos() * 1.0, angle.sin() * 0.72);
        let color = if index % 2 == 0 { petal } else { petal.mix(deep, 0.35) };
        c.fill(leaf((0.0, 0.0), tip, 0.85), color);
    }
    c.fill(ellipse(0.0, 0.0, 0.3, 0.24), heart);
}
