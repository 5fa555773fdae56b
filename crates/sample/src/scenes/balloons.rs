//! Hot-air balloons over hills: at dawn, on a clear day, or glowing at dusk.

use tiny_skia::Path;

use super::prelude::*;

/// The names of the color schemes in captions, and the colors of the panels.
const COLORS: [(&str, [u32; 3]); 8] = [
    ("red", [0xd8322f, 0xf6e9d2, 0xd8322f]),
    ("yellow", [0xf6b722, 0xfbe08a, 0xe8862a]),
    ("blue", [0x2459b8, 0x6fb6e8, 0xf4f0e2]),
    ("green", [0x2f8f5a, 0xd8e8a0, 0x1f6f58]),
    ("orange", [0xee6c22, 0xfbd25a, 0xc83a24]),
    ("purple", [0x6a3aa4, 0xd890c8, 0x4a2a86]),
    ("rainbow", [0xe23c3c, 0xf6c22c, 0x2f7fd0]),
    ("white", [0xf4f0e8, 0xdfe6ea, 0xe2574c]),
];

pub fn draw(s: &mut Scene) {
    let times = s.variant(&[
        [TimeOfDay::Dawn, TimeOfDay::Golden],
        [TimeOfDay::Noon, TimeOfDay::Morning],
        [TimeOfDay::Dusk, TimeOfDay::Sunset],
    ]);
    s.choose_time(&times);
    let horizon = s.canvas.h * s.rng.range(0.68, 0.8);
    s.fill_sky(horizon);
    if matches!(s.light.time, TimeOfDay::Noon | TimeOfDay::Morning) {
        s.add_cumulus(horizon);
    } else {
        s.add_clouds(horizon, 0.2..0.55);
    }
    let ground = hills(s, horizon);
    let names = balloons(s, horizon);
    s.add_label("hills");
    let time = s.time_phrase();
    let verb = s.rng.pick(&["over", "drifting over", "floating above", "high above"]);
    let balloons = match names.as_slice() {
        [one] => format!("{} {one} balloon", article(one)),
        [a, b] => format!("{} {a} and {} {b} balloon", article(a), article(b)),
        [.., last] => {
            format!("{} balloons, one of them {last},", number_word(names.len(), "a"))
        }
        [] => String::new(),
    };
    s.caption = capitalize(&format!("{balloons} {verb} {ground} {time}"));
}

fn hills(s: &mut Scene, horizon: f32) -> &'static str {
    let h = s.canvas.h;
    let (name, near) = s.rng.pick(&[
        ("green hills", rgb(0x6f9c45)),
        ("wooded hills", rgb(0x3f7048)),
        ("golden fields", rgb(0xc9a44a)),
        ("soft blue hills", rgb(0x5c86a0)),
    ]);
    for step in 0..4 {
        let depth = step as f32 / 3.0;
        let base = horizon / h + 0.02 + depth * 0.2;
        let line = Terrain::rolling_hills(&s.canvas, s.rng.next(), base, 0.15 - 0.04 * depth, 1.5);
        let color = s.light.tint(near.scale(1.05 - 0.3 * depth), 0.72 * (1.0 - depth));
        let foot = color.mix(s.light.haze, 0.45 * (1.0 - depth)).mix(s.light.shade, 0.35 * depth);
        line.fill_gradient(&mut s.canvas, color, foot, h * 0.16);
        if step > 0 {
            trees(s, &line, depth, near);
        }
        if step == 1 && !matches!(s.light.time, TimeOfDay::Noon) {
            let haze = s.light.haze.mix(s.light.sun, 0.25);
            landscape::mist(&mut s.canvas, s.rng.next(), haze, base * h, h * 0.07, 0.6);
        }
    }
    name
}

fn trees(s: &mut Scene, line: &Terrain, depth: f32, green: Rgb) {
    for _ in 0..s.rng.int(2, 6) {
        let across = s.rng.unit();
        let foot = (s.canvas.w * across, line.y_at(across) + s.canvas.h * 0.012);
        let size = s.canvas.unit() * (0.03 + 0.07 * depth) * s.rng.range(0.7, 1.2);
        let lit = s.light.tint(green.mix(rgb(0x7a9a3a), 0.3), 0.5 * (1.0 - depth));
        let leaves = Foliage { lit, shaded: lit.mix(s.light.shade, 0.6) };
        broadleaf_tree(&mut s.canvas, s.rng.fork(), foot, size, leaves);
    }
}

/// Draws balloons from far to near, each in a column of its own, and returns the names of their colors.
fn balloons(s: &mut Scene, horizon: f32) -> Vec<&'static str> {
    let count = s.rng.pick(&[1, 2, 2, 3, 4, 5, 6]);
    let mut palettes = COLORS;
    s.rng.shuffle(&mut palettes);
    let mut columns: Vec<usize> = (0..count).collect();
    s.rng.shuffle(&mut columns);
    let mut names = Vec::new();
    for (order, column) in columns.into_iter().enumerate() {
        let near = (order + 1) as f32 / count as f32;
        let across = (column as f32 + s.rng.range(0.35, 0.65)) / count as f32;
        let scale = if count == 1 { 1.25 } else { 1.0 };
        let size = s.canvas.unit() * (0.1 + 0.17 * near.powf(1.4)) * scale;
        let y = (horizon * s.rng.range(0.3, 0.62) - size * 0.2).max(size);
        let (name, hex) = palettes[order];
        let pose = place_at(s.canvas.w * across, y, size).pre_rotate(s.rng.jitter(4.0));
        s.add_object("balloon", pose, [-0.8, -0.9, 0.8, 1.42]);
        let distance = 0.4 * (1.0 - near);
        let colors = hex.map(|h| s.light.tint(rgb(h), distance));
        let dark = s.light.tint(rgb(0x4a3320), distance);
        let lit = s.light.is_dark() || matches!(s.light.time, TimeOfDay::Sunset);
        if lit {
            let center = (s.canvas.w * across, y + size * 0.1);
            s.canvas.glow(center, size * 1.9, rgb(0xffb060), 0.45);
        }
        s.canvas.with_transform(pose, |c| balloon(c, colors, dark, lit));
        names.push(name);
    }
    names
}

const PANELS: u8 = 9;

/// Draws a balloon around its center. The envelope is about 1.6 wide. If `lit`, the burner lights it from inside.
fn balloon(c: &mut Canvas, colors: [Rgb; 3], dark: Rgb, lit: bool) {
    for side in [-1.0, 1.0] {
        c.stroke(polyline(&[(side * 0.22, 0.9), (side * 0.13, 1.2)]), 0.018, dark);
    }
    let edge = |i: u8| -(f32::from(i) / f32::from(PANELS) * std::f32::consts::PI).cos() * 0.8;
    for index in 0..PANELS {
        let (a, b) = (edge(index), edge(index + 1));
        let side = (a + b) / 1.6;
        let shading = 1.08 - 0.2 * (side + 0.45).powi(2) - 0.12 * side;
        let color = colors[usize::from(index % 3)].scale(shading);
        let low = if lit { color.screen(rgb(0xff9a3c).scale(0.75)) } else { color.scale(0.72) };
        let top = if lit { color.scale(0.85) } else { color.mix(WHITE, 0.14) };
        c.fill(panel(a, b + 0.012), Fill::vertical(-0.9, top, 0.95, low));
    }
    let collar = polygon(&[(-0.2, 0.86), (0.2, 0.86), (0.14, 0.97), (-0.14, 0.97)]);
    c.fill(collar, dark.mix(colors[0], 0.3));
    if lit {
        c.fill(polygon(&[(-0.05, 1.14), (0.0, 0.96), (0.05, 1.14)]), rgb(0xfff0b0));
    }
    let basket = polygon(&[(-0.15, 1.18), (0.15, 1.18), (0.12, 1.4), (-0.12, 1.4)]);
    c.fill(basket, Fill::vertical(1.18, dark.mix(rgb(0xb98a54), 0.5), 1.4, dark));
    if !lit {
        let gloss = curve((-0.5, -0.42), (-0.42, -0.66), (-0.2, -0.78));
        c.stroke(gloss, 0.05, Fill::Alpha(WHITE, 0.3));
    }
}

fn panel(a: f32, b: f32) -> Option<Path> {
    closed_path((0.0, -0.9), |path| {
        path.cubic_to(a * 0.95, -0.9, a * 1.22, -0.25, a, 0.12);
        path.cubic_to(a * 0.82, 0.5, a * 0.36, 0.68, a * 0.26, 0.9);
        path.line_to(b * 0.26, 0.9);
        path.cubic_to(b * 0.36, 0.68, b * 0.82, 0.5, b, 0.12);
        path.cubic_to(b * 1.22, -0.25, b * 0.95, -0.9, 0.0, -0.9);
    })
}
