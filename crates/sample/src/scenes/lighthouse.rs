//! A lighthouse on a cliff: at dusk, on a clear day, or at night or in a storm with its beam.

use super::prelude::*;

/// The names of the color schemes in captions, and the colors of the bands.
const COLORS: &[(&str, u32, u32)] = &[
    ("red and white", 0xd8332c, 0xfaf4ea),
    ("blue and white", 0x2a5fa8, 0xfaf4ea),
    ("black and white", 0x2a2c34, 0xf6f2ea),
    ("white", 0xfaf6ee, 0xf0ebe2),
    ("red", 0xc8382e, 0xb82f2a),
];

pub fn draw(s: &mut Scene) {
    s.choose_time(s.variant(&[
        &[TimeOfDay::Dusk, TimeOfDay::Sunset, TimeOfDay::Dawn][..],
        &[TimeOfDay::Noon, TimeOfDay::Morning],
        &[TimeOfDay::Night, TimeOfDay::Storm],
    ]));
    let horizon = s.canvas.h * s.rng.range(0.54, 0.66);
    let left = s.rng.chance(0.5);
    draw_sky_and_sea(s, horizon, left);
    let gulls = s.add_gulls(horizon * 0.8);
    let cliff = draw_cliff(s, horizon, left);
    let side = if left { 1.0 } else { -1.0 };
    let across = 0.5 - side * s.rng.range(0.2, 0.3);
    let (name, first, second) = s.rng.pick(COLORS);
    let colors = [rgb(first), rgb(second)];
    let has_house = s.rng.chance(0.6);
    if has_house {
        draw_house(s, &cliff, across - side * 0.13);
    }
    let lamp = draw_tower(s, &cliff, across, colors);
    let shining = is_lit(&s.light);
    if shining {
        draw_beam(s, lamp, left);
    }
    s.labels.extend(["cliff", "sea"]);
    let verb = if shining {
        s.rng.pick(&["shines over the sea", "sends its beam across the water", "lights the way"])
    } else {
        s.rng.pick(&["stands on a cliff", "watches over the sea", "rises above the rocks"])
    };
    let with = match (has_house, gulls) {
        (true, 0) => " with a small house",
        (true, _) => " with a small house and gulls",
        (false, 0) => "",
        (false, _) => " among gulls",
    };
    let (a, time) = (article(name), s.time_phrase());
    s.caption = capitalize(&format!("{a} {name} lighthouse{with} {verb} {time}"));
}

fn draw_sky_and_sea(s: &mut Scene, horizon: f32, left: bool) {
    let (time, low) = (s.light.time, horizon / s.canvas.h);
    s.fill_sky(horizon);
    if s.light.is_dark() {
        s.add_stars(horizon, 0.9);
    }
    match time {
        TimeOfDay::Noon => s.add_cumulus(horizon),
        TimeOfDay::Storm => s.add_clouds(horizon, 0.95..0.95),
        _ => s.add_clouds(horizon, 0.25..0.6),
    }
    let down = match time {
        TimeOfDay::Night => Some(0.14..0.26),
        TimeOfDay::Dusk | TimeOfDay::Sunset | TimeOfDay::Dawn => Some(low - 0.1..low),
        _ => None,
    };
    let across = if left { 0.6..0.88 } else { 0.12..0.4 };
    let glitter = down.map(|down| s.add_sun_or_moon(across, down, 0.04..0.07));
    let deep = s.light.tint(rgb(0x1f6a94), 0.1).mix(s.light.sky[0], 0.4);
    let highlight = s.light.sky[3];
    let roughness = if time == TimeOfDay::Storm { 1.0 } else { 0.55 };
    s.add_water(Water { top: horizon, deep, reflectivity: 0.45, roughness, highlight }, glitter);
}

fn draw_cliff(s: &mut Scene, horizon: f32, left: bool) -> Terrain {
    let (noise, unit, h) = (Noise::new(s.rng.next()), s.canvas.unit(), s.canvas.h);
    let (top, sea) = (horizon / h - s.rng.range(0.0, 0.06), 0.9);
    let edge = s.rng.range(0.46, 0.56);
    let line = Terrain::new(&s.canvas, move |x| {
        let x = if left { x } else { 1.0 - x };
        let fall = smoothstep(edge - 0.1, edge + 0.12, x + 0.05 * (noise.fbm_1d(x * 9.0, 2) - 0.5));
        let rocks = smoothstep(0.14, 0.0, (x - edge - 0.24).abs()) * noise.ridged_1d(x * 14.0, 2);
        top + 0.05 * x + (sea - top) * fall + 0.16 * smoothstep(edge, 1.0, x) - 0.07 * rocks
            + 0.02 * (noise.fbm_1d(x * 5.0, 3) - 0.5)
    });
    let light = s.light;
    let grass = light.tint(s.rng.pick(&[rgb(0x7aa648), rgb(0x8c9a4a), rgb(0x5f9650)]), 0.04);
    let rock = light.tint(s.rng.pick(&[rgb(0x8c7a6c), rgb(0x74707a), rgb(0x9c8468)]), 0.06);
    line.fill_with(&mut s.canvas, |x, y, below| {
        let facet = noise.fbm(x / unit * 9.0 + y / unit * 3.0, y / unit * 7.0, 3);
        let depth = smoothstep(0.0, h * 0.45, below);
        let stone = rock.scale(0.45 + 0.95 * facet).mix(light.shade, 0.45 * depth);
        let grassy = smoothstep(unit * 0.07, unit * 0.01, below + (facet - 0.5) * unit * 0.1)
            * smoothstep(0.86 * h, 0.78 * h, y);
        stone.mix(grass.scale(0.8 + 0.4 * facet), grassy)
    });
    line
}

/// Draws the tower and returns the position of its lamp.
fn draw_tower(s: &mut Scene, cliff: &Terrain, across: f32, colors: [Rgb; 2]) -> Point {
    let size = s.canvas.unit() * s.rng.range(0.35, 0.43);
    let foot = (s.canvas.w * across, cliff.y_at(across) + size * 0.03);
    let pose = place_at(foot.0, foot.1, size);
    s.add_object("lighthouse", pose, [-0.17, -1.2, 0.17, 0.0]);
    let bands = s.rng.int(4, 6);
    let light = s.light;
    let lit = is_lit(&light);
    s.canvas.with_transform(pose, |c| {
        for band in 0..bands {
            let (low, tall) = (band as f32 / bands as f32, 1.0 / bands as f32);
            draw_band(c, low, tall, light.tint(colors[band % 2], 0.05), &light);
        }
        draw_lantern(c, light.tint(colors[0], 0.0).mix(light.shade, 0.25), lit);
        for (y, glow) in [(-0.22, 0.9), (-0.52, 0.6)] {
            let dark = light.tint(rgb(0x3a4654), 0.0);
            let window = if lit { rgb(0xffd88a).scale(glow) } else { dark };
            c.fill(rounded_rect(-0.025, y, 0.05, 0.09, 0.025), window);
        }
        c.fill(rounded_rect(-0.04, -0.13, 0.08, 0.14, 0.04), light.shade.mix(rgb(0x5a3a24), 0.5));
    });
    (foot.0, foot.1 - size * 1.01)
}

fn is_lit(light: &Light) -> bool {
    light.is_dark() || matches!(light.time, TimeOfDay::Storm | TimeOfDay::Sunset)
}

/// Draws the lamp room on top of a tower of height 1.
fn draw_lantern(c: &mut Canvas, roof: Rgb, lit: bool) {
    c.fill(rect(-0.14, -0.95, 0.28, 0.035), roof.scale(0.7));
    let glass = if lit { rgb(0xffefb4) } else { rgb(0xcfe6f0) };
    c.fill(rect(-0.075, -1.07, 0.15, 0.12), glass);
    for x in [-0.075, -0.03, 0.02, 0.065] {
        c.fill(rect(x, -1.07, 0.01, 0.12), roof.scale(0.6));
    }
    c.fill(polygon(&[(-0.1, -1.065), (0.0, -1.17), (0.1, -1.065)]), roof);
    c.fill(circle(0.0, -1.18, 0.018), roof);
}

/// Draws one colored band of the tower. `low` and `tall` are fractions of the height of the tower.
fn draw_band(c: &mut Canvas, low: f32, tall: f32, color: Rgb, light: &Light) {
    let (a, b) = (0.15 - 0.055 * low, 0.15 - 0.055 * (low + tall));
    let (foot, top) = (-0.92 * low + 0.003, -0.92 * (low + tall));
    let dark = color.scale(0.55).mix(light.shade, 0.2);
    let fill = Fill::Linear((-0.15, 0.0), color.mix(light.sun, 0.15), (0.15, 0.0), dark);
    c.fill(polygon(&[(-a, foot), (-b, top), (b, top), (a, foot)]), fill);
}

fn draw_beam(s: &mut Scene, lamp: Point, left: bool) {
    let (w, unit) = (s.canvas.w, s.canvas.unit());
    let side = if left { 1.0 } else { -1.0 };
    let rise = s.rng.range(-0.16, 0.06);
    let warm = rgb(0xfff0b8);
    let strength = if s.light.time == TimeOfDay::Night { 0.75 } else { 0.5 };
    let columns = if left { lamp.0..w } else { 0.0..lamp.0 };
    s.canvas.map_pixels(columns, 0.0..s.canvas.h, |x, y, now| {
        let far = (x - lamp.0) * side;
        let offset = ((y - lamp.1) - far * rise) / (unit * 0.012 + far * 0.13);
        if offset.abs() >= 1.0 {
            return now;
        }
        let soft = (1.0 - offset * offset) * (1.0 - offset * offset);
        now.screen(warm.scale(soft * strength * (1.0 - 0.75 * smoothstep(0.0, w * 0.85, far))))
    });
    s.canvas.glow(lamp, unit * 0.26, warm, 0.9);
    s.canvas.glow(lamp, unit * 0.07, WHITE, 1.0);
    s.add_label("beam");
}

fn draw_house(s: &mut Scene, cliff: &Terrain, across: f32) {
    let size = s.canvas.unit() * s.rng.range(0.13, 0.17);
    let pose = place_at(s.canvas.w * across, cliff.y_at(across) + size * 0.12, size);
    s.add_object("house", pose, [-0.72, -0.86, 0.72, 0.0]);
    let light = s.light;
    let roof = light.tint(s.rng.pick(&[rgb(0xb04a34), rgb(0x4a5a6a), rgb(0x8c5a3c)]), 0.06);
    let lamp = if light.is_dark() { rgb(0xffcf7a) } else { light.tint(rgb(0x4a6478), 0.1) };
    s.canvas.with_transform(pose, |c| {
        let (bright, dark) = (light.tint(WHITE, 0.06), light.tint(rgb(0xc0bcc4), 0.1));
        let fill = Fill::Linear((-0.6, 0.0), bright, (0.6, 0.0), dark);
        c.fill(rect(-0.6, -0.45, 1.2, 0.5), fill);
        let gable = polygon(&[(-0.72, -0.42), (-0.5, -0.82), (0.5, -0.82), (0.72, -0.42)]);
        c.fill(gable, Fill::vertical(-0.82, roof, -0.42, roof.scale(0.75)));
        c.fill(rect(0.22, -0.95, 0.14, 0.2), roof.scale(0.8));
        for x in [-0.42, 0.22] {
            c.fill(rect(x, -0.32, 0.2, 0.18), lamp);
        }
        c.fill(rect(-0.09, -0.32, 0.18, 0.34), roof.scale(0.6));
    });
}
