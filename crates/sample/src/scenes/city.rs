//! A city over a river: at night, in the evening, or with neon lights in the rain.

use super::prelude::*;

const RIVER: [&str; 3] = [
    "The lights of a city are mirrored in the river",
    "City towers shine over the water",
    "A sleeping city by the river",
];
const EVENING: [&str; 3] = [
    "A city lights its windows",
    "The city skyline stands against a glowing sky",
    "Towers of a city over a calm river",
];
const NEON: [&str; 3] = [
    "Rain falls on a city of neon",
    "Neon light colors a rainy city",
    "A city glows through the rain",
];

pub fn draw(s: &mut Scene) {
    let (times, captions, rainy) = s.variant(&[
        (&[TimeOfDay::Night][..], RIVER, false),
        (&[TimeOfDay::Dusk, TimeOfDay::Sunset], EVENING, false),
        (&[TimeOfDay::Night], NEON, true),
    ]);
    s.choose_time(times);
    s.labels.extend(["skyline", "towers", "lights"]);
    let unit = s.canvas.unit();
    let bank = s.canvas.h * s.rng.range(0.62, 0.76);
    s.fill_sky(bank);
    let neon = rgb(s.rng.pick(&[0xd83aa0, 0x7a4af0, 0x1fa8c4, 0xe0583a]));
    match s.light.time {
        TimeOfDay::Night if !rainy => s.add_stars(bank, 0.6),
        _ => s.add_clouds(bank, if rainy { 0.7..0.9 } else { 0.3..0.6 }),
    }
    let moon = !rainy && s.rng.chance(0.55);
    if moon {
        let center = s.random_point(0.12..0.88, 0.1..0.22);
        let (radius, phase) = (unit * s.rng.range(0.035, 0.06), s.rng.pick(&[0.0, 0.7]));
        s.add_moon(center, radius, phase);
    }
    let glow = if rainy { neon } else { rgb(0xffa860) };
    let middle = (s.canvas.w * s.rng.range(0.3, 0.7), bank);
    s.canvas.glow(middle, unit * 0.85, glow, 0.5);
    for depth in 0..3 {
        draw_towers(s, bank, depth as f32 / 2.0, glow);
    }
    draw_river(s, bank, glow);
    let bridge = s.rng.chance(0.4);
    if bridge {
        draw_bridge(s, bank);
    }
    if rainy {
        landscape::rain(&mut s.canvas, s.rng.fork(), neon.mix(WHITE, 0.6), 130);
        s.add_label("rain");
    }
    let (time, city) = (s.time_phrase(), s.rng.pick(&captions));
    let with = match (moon, bridge) {
        (true, true) => ", with the moon and a bridge",
        (true, false) => " below the moon",
        (false, true) => ", with a bridge in front",
        (false, false) => "",
    };
    s.caption = format!("{city}{with} {time}");
}

/// Draws one row of towers. The nearest row is darkest and has the brightest windows.
fn draw_towers(s: &mut Scene, bank: f32, near: f32, glow: Rgb) {
    let (w, unit) = (s.canvas.w, s.canvas.unit());
    let mut x = -unit * s.rng.range(0.0, 0.1);
    let center = s.rng.range(0.3, 0.7);
    while x < w {
        let width = unit * (0.055 + 0.05 * near) * s.rng.range(0.7, 1.5);
        let bulk = 1.0 - ((x / w - center).abs() * 1.5).min(0.75);
        let height = unit * (0.62 - 0.2 * near) * bulk * s.rng.range(0.4, 1.15);
        let body = s.light.shade.mix(s.light.sky[2].mix(glow, 0.2), 0.6 - 0.5 * near);
        let rng = s.rng.fork();
        if near > 0.9 {
            s.add_box("tower", (x, bank - height), (x + width, bank));
        }
        tower(&mut s.canvas, rng, (x, bank), (width, height), body, near);
        x += width * s.rng.range(0.95, 1.35);
    }
}

fn tower(c: &mut Canvas, mut rng: Rng, foot: Point, (w, h): (f32, f32), body: Rgb, near: f32) {
    if c.is_dry_run() {
        return;
    }
    let (x, top) = (foot.0, foot.1 - h);
    let fill = Fill::vertical(top, body.scale(0.85), foot.1, body.mix(rgb(0xffb070), 0.14));
    match rng.int(0, 5) {
        0 => c.fill(polygon(&[(x, top), (x + w * 0.5, top - w * 0.55), (x + w, top)]), fill),
        1 => {
            c.stroke(polyline(&[(x + w * 0.5, top - w * 0.9), (x + w * 0.5, top)]), w * 0.05, body);
            c.fill(rect(x + w * 0.2, top - w * 0.25, w * 0.6, w * 0.3), fill);
            c.glow((x + w * 0.5, top - w * 0.9), w * 0.35, rgb(0xff4a3c), 1.0);
        }
        2 => c.fill(polygon(&[(x, top + 1.0), (x, top - w * 0.35), (x + w, top + 1.0)]), fill),
        _ => {}
    }
    c.fill(rect(x, top, w, h), fill);
    windows(c, &mut rng, (x, top), (w, h), near);
}

fn windows(c: &mut Canvas, rng: &mut Rng, (x, top): Point, (w, h): (f32, f32), near: f32) {
    let lamp = rgb(rng.pick(&[0xffd27a, 0xffe6b0, 0xffb85c, 0xbfe0ff]));
    let lit = rng.range(0.25, 0.65);
    let cell = (c.unit() * (0.011 + 0.008 * near)).max(2.5);
    let (columns, rows) = ((w / cell / 1.3) as usize, (h / cell / 1.6) as usize);
    let gap = w / (columns.max(1) as f32);
    for index in 0..columns * rows {
        if !rng.chance(lit) {
            continue;
        }
        let (column, line) = ((index % columns) as f32, (index / columns) as f32);
        let (left, upper) = (x + (column + 0.25) * gap, top + (line + 0.5) * cell * 1.6);
        let glass = Fill::Alpha(lamp, (0.3 + 0.65 * near) * rng.range(0.5, 1.0));
        c.fill(rect(left, upper, gap * 0.5, cell * 0.85), glass);
    }
}

fn draw_river(s: &mut Scene, bank: f32, glow: Rgb) {
    let deep = s.light.sky[0].mix(s.light.shade, 0.4);
    let highlight = s.light.sky[3].mix(glow, 0.4);
    s.add_water(Water { top: bank, deep, reflectivity: 0.85, roughness: 0.35, highlight }, None);
    let (mut rng, unit) = (s.rng.fork(), s.canvas.unit());
    for _ in 0..7 {
        let x = s.canvas.w * rng.unit();
        let lamp = rng.pick(&[rgb(0xffc978), rgb(0xff9a5c), glow, rgb(0xfff0c8)]);
        s.canvas.glow((x, bank), unit * 0.05, lamp, 0.9);
        draw_glitter(&mut s.canvas, rng.next(), bank, x, lamp, 0.32);
    }
    s.add_label("river");
}

fn draw_bridge(s: &mut Scene, bank: f32) {
    let (w, unit) = (s.canvas.w, s.canvas.unit());
    let deck = bank + unit * 0.07;
    let dark = s.light.shade.mix(BLACK, 0.3);
    let piers = [s.rng.range(0.16, 0.26), s.rng.range(0.74, 0.84)].map(|across| w * across);
    let top = bank - unit * s.rng.range(0.16, 0.24);
    s.add_box("bridge", (0.0, top), (w, deck + unit * 0.03));
    for x in piers {
        s.canvas.fill(rect(x - unit * 0.012, top, unit * 0.024, deck - top + unit * 0.09), dark);
    }
    for (from, to) in [(-0.3 * w, piers[0]), (piers[0], piers[1]), (piers[1], 1.3 * w)] {
        let low = (from.midpoint(to), deck * 2.0 - top - unit * 0.02);
        s.canvas.stroke(curve((from, top), low, (to, top)), unit * 0.006, dark);
    }
    s.canvas.fill(rect(0.0, deck, w, unit * 0.022), dark);
    for index in 0..22 {
        let x = w * (index as f32 + 0.5) / 22.0;
        s.canvas.glow((x, deck - unit * 0.006), unit * 0.022, rgb(0xffdc9a), 1.0);
    }
}
