//! One to three blossoms in close-up before a blurred garden.

use std::f32::consts::TAU;

use super::{country::FlowerColors, prelude::*};

const BLOSSOMS: &[FlowerColors] = &[
    ("sunflower", [0xfcc81e, 0xe88a10, 0x4a2a16]),
    ("daisy", [0xffffff, 0xc8d4ea, 0xf8c02a]),
    ("pink gerbera", [0xf5619a, 0xb82a6a, 0x6a1f3a]),
    ("red dahlia", [0xe0383a, 0x8c1420, 0xf2b03a]),
    ("violet aster", [0x9a6ae0, 0x5a34a4, 0xf6c63a]),
    ("orange marigold", [0xff9324, 0xd4520f, 0x8c3a10]),
];

pub fn draw(s: &mut Scene) {
    s.choose_time(&[TimeOfDay::Morning, TimeOfDay::Golden, TimeOfDay::Noon]);
    let (name, hex) = s.rng.pick(BLOSSOMS);
    draw_background(s, rgb(hex[0]));
    let count = s.rng.pick(&[1, 1, 2, 3, 3]);
    for index in 0..count {
        let across = (((index * 2) % count) as f32 + s.rng.range(0.38, 0.62)) / count as f32;
        let size = s.canvas.unit() * s.rng.range(0.28, 0.36) * [1.0, 0.72, 0.56][count - 1];
        let center = s.random_point((across, across), (0.34, 0.56));
        draw_stem(s, center, size);
        s.add_circle("flower", center, size * 1.02);
        let colors = hex.map(|c| s.light.tint(rgb(c), 0.0));
        let pose = place_at(center.0, center.1, size).pre_rotate(s.rng.jitter(20.0));
        let rng = s.rng.fork();
        s.canvas.with_transform(pose, |c| blossom(c, rng, colors, name));
    }
    s.labels.extend([name, "close-up"]);
    let time = s.time_phrase();
    let background =
        s.rng.pick(&["before a soft blurred garden", "close up", "with lights dancing behind"]);
    let bloom = s.rng.pick(&["a single flower", "a flower in full bloom"]);
    let flowers = match (count, name) {
        (1, _) => format!("{} {name}, {bloom}", caption::article(name)),
        (n, "daisy") => format!("{} daisies, white flowers", caption::number(n, "a")),
        (n, _) => format!("{} {name}s, flowers", caption::number(n, "a")),
    };
    s.caption = capitalize(&format!("{flowers} {background} {time}"));
}

fn draw_stem(s: &mut Scene, center: Point, size: f32) {
    let green = s.light.tint(rgb(0x4a8a3a), 0.0);
    let (bright, dark) = (green.mix(WHITE, 0.2), green.scale(0.65));
    let bend = s.rng.jitter(s.canvas.unit() * 0.12);
    let foot = (center.0 + bend * 1.4, s.canvas.h * 1.05);
    let line = curve(center, (center.0 - bend, center.1.midpoint(foot.1)), foot);
    let half = size * 0.05;
    let fill = Fill::Linear((center.0 - half, 0.0), bright, (center.0 + half, 0.0), dark);
    s.canvas.stroke(line, size * 0.11, fill);
    let side = s.rng.pick(&[-1.0, 1.0]);
    let base = (center.0 + bend * 0.25, center.1 + (foot.1 - center.1) * 0.62);
    let tip = (base.0 + side * size * 0.9, base.1 - size * 0.5);
    s.canvas.fill(leaf(base, tip, size * 0.4), Fill::vertical(tip.1, bright, base.1, dark));
}

fn draw_background(s: &mut Scene, blossom: Rgb) {
    let base = rgb(s.rng.pick(&[0x4a8a4c, 0x2f7a6a, 0x7a9a3c, 0x2a5f7a, 0x7a4a6c]));
    let top = s.light.tint(base.mix(WHITE, 0.3), 0.35);
    let low = s.light.tint(base.scale(0.5), 0.0);
    let (h, unit) = (s.canvas.h, s.canvas.unit());
    s.canvas.vertical_gradient(&[top, top.mix(low, 0.4), low], 0.0, h);
    let glow = s.random_point((0.1, 0.9), (0.0, 0.3));
    s.canvas.glow(glow, unit * 0.9, s.light.sun, 0.55);
    let (mut rng, light) = (s.rng.fork(), s.light);
    let tints = [light.sun, blossom.mix(light.sun, 0.4), base.mix(WHITE, 0.5), light.haze];
    for _ in 0..26 {
        let (x, y) = (rng.unit() * s.canvas.w, rng.unit() * h);
        let r = unit * rng.range(0.03, 0.11);
        s.canvas.fill(circle(x, y, r), Fill::Alpha(rng.pick(&tints), rng.range(0.06, 0.24)));
    }
}

/// A blossom seen from the front, with a radius of 1.
fn blossom(c: &mut Canvas, mut rng: Rng, [petal, deep, heart]: [Rgb; 3], name: &str) {
    let rings: &[(usize, f32)] = match name {
        "daisy" | "violet aster" => &[(21, 1.0), (21, 0.94)],
        "red dahlia" | "orange marigold" => {
            &[(18, 1.0), (16, 0.86), (14, 0.7), (12, 0.54), (9, 0.4)]
        }
        _ => &[(17, 1.0), (17, 0.92), (13, 0.74)],
    };
    for (ring, &(count, reach)) in rings.iter().enumerate() {
        for index in 0..count {
            let angle = (index as f32 + ring as f32 * 0.5) / count as f32 * TAU;
            let length = reach * rng.range(0.93, 1.03);
            let tip = (angle.cos() * length, angle.sin() * length);
            let light = 0.5 - 0.5 * (angle - 0.8).sin();
            let outer =
                petal.mix(WHITE, 0.12 * light).scale(0.82 + 0.06 * ring as f32 + 0.16 * light);
            let width = reach * 4.4 / count as f32;
            let fill = Fill::Radial((0.0, 0.0), length, deep.scale(0.9), outer);
            c.fill(leaf((0.0, 0.0), tip, width), fill);
        }
    }
    let middle = if rings.len() > 3 { 0.16 } else { 0.34 };
    let (bright, dark) = (heart.mix(WHITE, 0.18), heart.scale(0.6));
    let fill = Fill::Radial((-0.08, -0.1), middle * 1.2, bright, dark);
    c.fill(circle(0.0, 0.0, middle), fill);
    for index in 0..70 {
        let (angle, far) = (index as f32 * 2.4, (index as f32 / 70.0).sqrt() * middle * 0.92);
        let dot = heart.mix(rgb(0xffd070), rng.range(0.0, 0.5));
        c.fill(circle(angle.cos() * far, angle.sin() * far, middle * 0.055), Fill::Alpha(dot, 0.8));
    }
}
