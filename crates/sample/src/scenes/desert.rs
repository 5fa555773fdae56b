//! Deserts: golden dunes, red mesas with cacti, or pyramids under the stars.

use super::prelude::*;

pub fn draw(s: &mut Scene) {
    s.variant(&[dunes, mesas, pyramids])(s);
}

/// Draws a sky with a sun, or with moon and stars. Returns the phrase for it.
fn draw_sky(s: &mut Scene, horizon: f32) -> &'static str {
    s.fill_sky(horizon);
    let (high, unit) = (s.random_point(0.15..0.85, 0.12..0.3), s.canvas.unit());
    if s.light.is_dark() {
        s.add_stars(horizon, 1.5);
        let (radius, phase) = (unit * s.rng.range(0.04, 0.07), s.rng.pick(&[0.0, 0.7]));
        s.add_moon(high, radius, phase);
        return "under moon and stars";
    }
    s.add_clouds(horizon, 0.15..0.3);
    let radius = unit * s.rng.range(0.05, 0.09);
    let low = (high.0, horizon - radius * 2.4);
    s.add_sun(if s.light.time == TimeOfDay::Noon { high } else { low }, radius);
    s.time_phrase()
}

fn dune(s: &mut Scene, base: f32, tall: f32, near: f32, sand: Rgb) -> Terrain {
    let (seed, unit, h) = (s.rng.next(), s.canvas.unit(), s.canvas.h);
    let (noise, aspect) = (Noise::new(seed), s.canvas.w / unit);
    let frequency = s.rng.range(1.1, 1.7);
    let shape = move |x: f32| {
        let t = noise.at_1d(x * frequency * aspect + 2.0);
        base - tall * (t * 0.75 + 0.25 * (1.0 - (2.0 * t - 1.0).abs()))
    };
    let line = Terrain::new(&s.canvas, shape);
    let (light, shade) = (s.light, sand.multiply(rgb(0x9c6456)));
    let lit = light.tint(sand, 0.42 * (1.0 - near)).mix(light.sun, 0.12);
    let dark = light.tint(shade, 0.4 * (1.0 - near)).mix(light.shade, 0.22);
    let w = s.canvas.w;
    let side = if s.rng.range(0.2, 0.8) > 0.5 { 1.0 } else { -1.0 };
    line.fill_with(&mut s.canvas, |x, y, below| {
        let d = below / unit;
        let across = x / w + (noise.at(y / unit * 1.6, 3.0) - 0.5) * 0.16;
        let slope = shape(across - d * 0.3) - shape(across - d * 0.3 + 0.03);
        let flank = smoothstep(-0.003, 0.003, slope * side);
        let ripple = noise.at(x / unit * 5.0 + y / unit * 9.0, y / unit * 80.0 / (0.5 + near));
        let color = dark.mix(lit, 0.25 + 0.75 * flank);
        color.scale(1.0 + (ripple - 0.5) * 0.1 * near - 0.25 * smoothstep(0.0, h * 0.5, below))
    });
    line
}

fn dunes(s: &mut Scene) {
    s.choose_time(&[TimeOfDay::Golden, TimeOfDay::Noon, TimeOfDay::Sunset, TimeOfDay::Dawn]);
    let horizon = s.canvas.h * s.rng.range(0.45, 0.58);
    let sky = draw_sky(s, horizon);
    let sand = rgb(s.rng.pick(&[0xe8b46a, 0xf0c684, 0xe09a5a, 0xe8a06c]));
    let level = horizon / s.canvas.h;
    let mut lines = Vec::new();
    for step in 0..4 {
        let near = step as f32 / 3.0;
        lines.push(dune(s, level + 0.1 + 0.4 * near, 0.2 + 0.12 * near, near, sand));
    }
    let camels = s.rng.pick(&[0, 1, 2, 3, 4, 5]);
    let start = s.rng.range(0.12, 0.5);
    for index in 0..camels {
        let across = start + index as f32 * 0.095;
        let size = s.canvas.unit() * 0.115;
        let pose = place_at(s.canvas.w * across, lines[2].y_at(across) + size * 0.06, size);
        s.add_object("camel", pose, [-0.55, -0.95, 0.62, 0.05]);
        let color = s.light.shade.mix(s.light.tint(rgb(0x7a4a2c), 0.0), 0.4);
        s.canvas.with_transform(pose, |c| camel(c, color));
    }
    s.labels.extend(["dunes", "sand"]);
    let dunes = s.rng.pick(&["Golden dunes", "Wind-shaped dunes", "Soft dunes", "High dunes"]);
    let with = match camels {
        0 => String::new(),
        1 => ", crossed by a camel,".to_owned(),
        n => format!(", crossed by {} camels,", number_word(n, "a")),
    };
    s.caption = format!("{dunes} in the desert{with} {sky}");
}

fn mesas(s: &mut Scene) {
    s.choose_time(&[TimeOfDay::Sunset, TimeOfDay::Noon, TimeOfDay::Golden, TimeOfDay::Dusk]);
    let horizon = s.canvas.h * s.rng.range(0.56, 0.66);
    let sky = draw_sky(s, horizon);
    let rock = rgb(s.rng.pick(&[0xc8583a, 0xb84a34, 0xd4743c]));
    let level = horizon / s.canvas.h;
    for step in 0..3 {
        let near = step as f32 / 2.0;
        mesa(s, level + 0.02 + 0.03 * near, near, rock);
    }
    let ground = dune(s, level + 0.2, 0.12, 0.9, rock.mix(rgb(0xf0b070), 0.5));
    let count = s.rng.int(1, 5);
    for index in 0..count {
        let near = (index + 1) as f32 / count as f32;
        let across = (((index * 2) % count) as f32 + s.rng.range(0.2, 0.8)) / count as f32;
        let size = s.canvas.unit() * (0.12 + 0.2 * near);
        let foot = ground.y_at(across) + s.canvas.h * (0.03 + 0.13 * near);
        let side = s.rng.pick(&[-1.0, 1.0]);
        let pose = place_at(s.canvas.w * across, foot, size).pre_scale(side, 1.0);
        s.add_object("cactus", pose, [-0.36, -1.0, 0.36, 0.0]);
        let green = s.light.tint(rgb(0x4c8a4a), 0.15 * (1.0 - near)).mix(s.light.shade, 0.2);
        s.canvas.with_transform(pose, |c| cactus(c, green));
    }
    s.labels.extend(["mesas", "rocks"]);
    let n = number_word(count, "a lone");
    let cacti = if count == 1 { "cactus" } else { "cacti" };
    let before = s.rng.pick(&["before red mesas", "below red rocks", "among red cliffs"]);
    s.caption = capitalize(&format!("{n} {cacti} in the desert {before} {sky}"));
}

fn mesa(s: &mut Scene, base: f32, near: f32, rock: Rgb) {
    let (noise, unit, h) = (Noise::new(s.rng.next()), s.canvas.unit(), s.canvas.h);
    let (frequency, aspect) = (s.rng.range(1.6, 2.4), s.canvas.w / unit);
    let tall = (0.3 - 0.06 * near) * s.rng.range(0.8, 1.2);
    let line = Terrain::new(&s.canvas, move |x| {
        let t = noise.at_1d(x * frequency * aspect + 11.0);
        let step = 0.55 * smoothstep(0.46, 0.52, t) + 0.45 * smoothstep(0.64, 0.68, t);
        base - tall * step - 0.012 * noise.fbm_1d(x * 24.0, 2) - 0.035 * smoothstep(0.3, 0.5, t)
    });
    let color = s.light.tint(rock, 0.55 * (1.0 - near));
    let haze = s.light.haze;
    line.fill_with(&mut s.canvas, |x, y, below| {
        let band = noise.fbm_1d(y / unit * 22.0 + 40.0, 2);
        let crack = smoothstep(0.5, 0.62, noise.at(x / unit * 26.0, y / unit * 3.0));
        let face = color.scale(0.82 + 0.36 * band).mix(color.scale(0.55), crack * 0.5);
        face.mix(haze, 0.35 * smoothstep(0.0, h * 0.3, below) * (1.0 - 0.5 * near))
    });
}

fn pyramids(s: &mut Scene) {
    s.choose_time(&[TimeOfDay::Night, TimeOfDay::Dusk, TimeOfDay::Sunset]);
    let horizon = s.canvas.h * s.rng.range(0.6, 0.7);
    let sky = draw_sky(s, horizon);
    let (sand, level) = (rgb(0xe6ba7c), horizon / s.canvas.h);
    dune(s, level + 0.06, 0.07, 0.3, sand);
    let (count, side) = (s.rng.int(1, 3), s.rng.pick(&[0.32, 0.68]));
    for index in 0..count {
        let near = (index + 1) as f32 / count as f32;
        let slot = ((index * 2) % count) as f32 + s.rng.range(0.35, 0.65);
        let foot = (s.canvas.w * slot / count as f32, horizon + s.canvas.h * 0.05);
        pyramid(s, foot, side, near, sand);
    }
    for step in [0.0, 1.0] {
        dune(s, level + 0.2 + 0.25 * step, 0.14, 0.6 + 0.4 * step, sand);
    }
    s.add_label("sand");
    let n = number_word(count, "a great");
    let rise = if count == 1 { "pyramid rises" } else { "pyramids rise" };
    s.caption = capitalize(&format!("{n} {rise} from the desert {sky}"));
}

/// Draws a pyramid on the point `foot`. The edge between its faces is at the fraction `side`.
fn pyramid(s: &mut Scene, foot: Point, side: f32, near: f32, sand: Rgb) {
    let light = s.light;
    let half = s.canvas.unit() * (0.16 + 0.17 * near);
    let (left, right) = ((foot.0 - half, foot.1), (foot.0 + half, foot.1));
    let top = (foot.0, foot.1 - half * 1.22);
    let edge = (left.0 + 2.0 * half * side, foot.1 + half * 0.04);
    s.add_box("pyramid", (left.0, top.1), right);
    let bright = light.tint(sand, 0.25 * (1.0 - near)).mix(light.sun, 0.12);
    let dark = light.tint(sand.scale(0.5), 0.2 * (1.0 - near)).mix(light.shade, 0.45);
    let faces = if side < 0.5 { [dark, bright] } else { [bright, dark] };
    for (corner, color) in [left, right].into_iter().zip(faces) {
        let fill = Fill::vertical(top.1, color, foot.1, color.mix(light.haze, 0.25));
        s.canvas.fill(polygon(&[corner, top, edge]), fill);
    }
}

fn camel(c: &mut Canvas, color: Rgb) {
    for x in [-0.3, -0.2, 0.16, 0.26] {
        c.stroke(polyline(&[(x, -0.4), (x - 0.02, 0.0)]), 0.07, color);
    }
    let body = closed_spline(&[
        (-0.42, -0.5),
        (-0.26, -0.62),
        (-0.12, -0.84),
        (0.02, -0.64),
        (0.14, -0.82),
        (0.28, -0.6),
        (0.34, -0.45),
        (0.1, -0.34),
        (-0.3, -0.34),
    ]);
    c.fill(body, color);
    c.stroke(curve((0.28, -0.5), (0.5, -0.42), (0.48, -0.84)), 0.09, color);
    c.fill(closed_spline(&[(0.44, -0.92), (0.64, -0.84), (0.6, -0.78), (0.44, -0.8)]), color);
}

fn cactus(c: &mut Canvas, green: Rgb) {
    let shade = |left: f32, right: f32| {
        Fill::Linear((left, 0.0), green.scale(1.25), (right, 0.0), green.scale(0.62))
    };
    c.fill(rounded_rect(-0.1, -1.0, 0.2, 1.0, 0.1), shade(-0.1, 0.1));
    c.fill(rounded_rect(-0.34, -0.76, 0.13, 0.36, 0.065), shade(-0.34, -0.21));
    c.fill(rounded_rect(-0.34, -0.5, 0.28, 0.13, 0.06), shade(-0.34, 0.0));
    c.fill(rounded_rect(0.21, -0.86, 0.13, 0.34, 0.065), shade(0.21, 0.34));
    c.fill(rounded_rect(0.06, -0.62, 0.28, 0.13, 0.06), shade(0.0, 0.34));
    for x in [-0.04, 0.03] {
        c.stroke(polyline(&[(x, -0.93), (x, -0.05)]), 0.012, Fill::Alpha(green.scale(0.5), 0.6));
    }
    c.fill(circle(0.0, -1.0, 0.035), rgb(0xf06a8c));
}
