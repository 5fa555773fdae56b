//! Sailing boats: a regatta, boats in the evening sun, or a quiet bay.

use tiny_skia::Transform;

use super::prelude::*;

const REGATTA: [&str; 3] = ["in a fresh breeze", "racing over blue water", "on a sparkling sea"];
const EVENING: [&str; 3] = ["on golden water", "heading home", "before the low sun"];
const BAY: [&str; 3] = ["in a quiet bay", "on still water", "resting on a calm sea"];

/// A name for captions, and the colors of the mainsail and the foresail.
type SailColors = (&'static str, u32, u32);

const SAILS: &[SailColors] = &[
    ("white", 0xfffaf0, 0xeef2f6),
    ("red", 0xe0392f, 0xf6efe4),
    ("blue", 0x2a6ac0, 0xf4f4f0),
    ("yellow", 0xf8c42c, 0xfff2d0),
    ("orange", 0xf07a2a, 0xfff0dc),
    ("green", 0x2f9a6a, 0xf2f6e8),
    ("pink", 0xf07aa0, 0xfff0f0),
];

pub fn draw(s: &mut Scene) {
    let (times, places, racing) = s.variant(&[
        (&[TimeOfDay::Noon, TimeOfDay::Morning][..], REGATTA, true),
        (&[TimeOfDay::Sunset, TimeOfDay::Golden, TimeOfDay::Dusk], EVENING, false),
        (&[TimeOfDay::Mist, TimeOfDay::Dawn, TimeOfDay::Night], BAY, false),
    ]);
    s.choose_time(times);
    let horizon = s.canvas.h * s.rng.range(0.46, 0.58);
    let glitter = draw_sky(s, horizon);
    draw_coast(s, horizon);
    let deep = if racing {
        s.light.tint(rgb(s.rng.pick(&[0x1a6ab0, 0x16809c, 0x2458a8])), 0.0)
    } else {
        s.light.sky[1].mix(s.light.shade, 0.4)
    };
    let (reflectivity, roughness) = if racing { (0.4, 0.7) } else { (0.75, 0.25) };
    let highlight = s.light.sky[3];
    s.add_water(Water { top: horizon, deep, reflectivity, roughness, highlight }, glitter);
    let names = draw_boats(s, racing, horizon, deep);
    let gulls = s.add_gulls(horizon * 0.7);
    s.add_label("sea");
    let time = s.time_phrase();
    let boats = match names.as_slice() {
        [one] => format!("a sailing boat with {one} sails"),
        [.., last] => {
            let count = number_word(names.len(), "a");
            format!("{count} sailing boats, the nearest with {last} sails,")
        }
        [] => String::new(),
    };
    let place = s.rng.pick(&places);
    let with = if gulls > 0 { ", with gulls" } else { "" };
    s.caption = capitalize(&format!("{boats} {place}{with} {time}"));
}

/// Draws the sky. Returns the column of its sun or moon, if there is one.
fn draw_sky(s: &mut Scene, horizon: f32) -> Option<f32> {
    let low = horizon / s.canvas.h;
    s.fill_sky(horizon);
    match s.light.time {
        TimeOfDay::Noon => s.add_cumulus(horizon),
        TimeOfDay::Night => s.add_stars(horizon, 0.9),
        _ => s.add_clouds(horizon, 0.3..0.6),
    }
    let down = match s.light.time {
        TimeOfDay::Noon | TimeOfDay::Morning | TimeOfDay::Mist => return None,
        TimeOfDay::Night => 0.12..0.28,
        _ => low - 0.14..low - 0.02,
    };
    Some(s.add_sun_or_moon(0.2..0.8, down, 0.045..0.085))
}

fn draw_coast(s: &mut Scene, horizon: f32) {
    let h = s.canvas.h;
    for step in 0..s.rng.int(1, 3) {
        let tall = s.rng.range(0.05, 0.13) * (1.0 - 0.25 * step as f32);
        let line = Terrain::rolling_hills(&s.canvas, s.rng.next(), horizon / h + 0.015, tall, 1.5);
        let color = s.light.tint(rgb(0x4a7a70), 0.72 - 0.18 * step as f32);
        line.fill_gradient(&mut s.canvas, color, color.mix(s.light.haze, 0.5), h * 0.1);
    }
}

/// Draws boats from far to near. Returns the colors of their sails.
fn draw_boats(s: &mut Scene, racing: bool, horizon: f32, deep: Rgb) -> Vec<&'static str> {
    let count = if racing { s.rng.int(3, 7) } else { s.rng.pick(&[1, 1, 2, 3]) };
    let mut names = Vec::new();
    for index in 0..count {
        let near = (index + 1) as f32 / count as f32;
        let across = (((index * 2) % count) as f32 + s.rng.range(0.3, 0.7)) / count as f32;
        let scale = if count > 4 { 0.85 } else { 1.0 };
        let size = s.canvas.unit() * (0.1 + 0.32 * near.powf(1.5)) * scale;
        let foot = horizon + (s.canvas.h - horizon) * (0.08 + 0.42 * near.powf(1.4));
        let sails = s.rng.pick(if racing { SAILS } else { &SAILS[..3] });
        let lean = if racing { s.rng.range(4.0, 13.0) } else { s.rng.range(-2.0, 3.0) };
        let direction = if s.rng.chance(0.8) { 1.0 } else { -1.0 };
        let pose = place_at(s.canvas.w * across, foot, size).pre_scale(direction, 1.0);
        draw_boat(s, pose, lean, sails, near, deep);
        names.push(sails.0);
    }
    names
}

fn draw_boat(s: &mut Scene, pose: Transform, lean: f32, sails: SailColors, near: f32, deep: Rgb) {
    let upright = pose.pre_rotate(lean);
    s.add_object("sailing boat", upright, [-0.45, -1.02, 0.45, 0.1]);
    let distance = 0.4 * (1.0 - near);
    let sails = [sails.1, sails.2].map(|c| s.light.tint(rgb(c), distance).mix(s.light.sun, 0.1));
    let color = rgb(s.rng.pick(&[0xf6f2ea, 0x2a3c5a, 0x8c2f2a, 0x7a4a2a]));
    let (hull, dark) = (s.light.tint(color, distance), s.light.shade.mix(deep, 0.4));
    let reflection = pose.pre_scale(1.0, -0.7).pre_rotate(lean);
    let faded = sails.map(|sail| sail.mix(deep, 0.25));
    s.canvas.with_opacity(0.42, |c| {
        c.with_transform(reflection, |c| sailboat(c, faded, dark, dark));
    });
    draw_ripples(s, (pose.tx, pose.ty), pose.sy, deep);
    s.canvas.with_transform(upright, |c| sailboat(c, sails, hull, dark));
}

fn draw_ripples(s: &mut Scene, (x, y): Point, size: f32, deep: Rgb) {
    let mut rng = s.rng.fork();
    for index in 0..9 {
        let down = index as f32 / 9.0;
        let half = size * rng.range(0.14, 0.4);
        let (left, row) = (x + rng.jitter(size * 0.25) - half, y + size * (0.05 + 0.68 * down));
        let fill = Fill::Alpha(deep.mix(s.light.sky[2], 0.2), 0.5);
        let line = polyline(&[(left, row), (x + half, row)]);
        s.canvas.stroke(line, size * (0.012 + 0.016 * down), fill);
    }
}

/// Draws a boat on its waterline. Its mast is 1 high.
fn sailboat(c: &mut Canvas, [main, fore]: [Rgb; 2], hull: Rgb, dark: Rgb) {
    c.fill(rect(-0.006, -1.0, 0.014, 1.0), dark);
    let (head, tack) = ((-0.015, -0.98), (-0.4, -0.15));
    let sail = closed_curve((-0.02, -0.13), &[((-0.015, -0.6), head), ((-0.28, -0.5), tack)]);
    c.fill(sail, Fill::Linear((-0.4, 0.0), main, (0.0, 0.0), main.scale(0.8)));
    let (head, tack) = ((0.02, -0.92), (0.03, -0.12));
    let jib = closed_curve((0.4, -0.1), &[((0.2, -0.45), head), ((0.07, -0.5), tack)]);
    c.fill(jib, Fill::Linear((0.02, 0.0), fore.scale(0.84), (0.4, 0.0), fore));
    for y in [-0.35, -0.58] {
        let seam = polyline(&[(-0.29 - (y + 0.35) * 0.45, y), (-0.02, y - 0.02)]);
        c.stroke(seam, 0.008, Fill::Alpha(dark, 0.35));
    }
    let body = closed_curve(
        (-0.42, -0.1),
        &[
            ((0.0, -0.12), (0.46, -0.12)),
            ((0.34, 0.06), (0.2, 0.08)),
            ((0.0, 0.09), (-0.3, 0.08)),
            ((-0.4, 0.04), (-0.42, -0.1)),
        ],
    );
    c.fill(body, Fill::vertical(-0.12, hull.mix(WHITE, 0.15), 0.08, hull.scale(0.6)));
    c.stroke(polyline(&[(-0.41, -0.06), (0.42, -0.08)]), 0.014, Fill::Alpha(dark, 0.6));
}
