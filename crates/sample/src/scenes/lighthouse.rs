//! A lighthouse on its cliff: on a clear day, at dusk, sweeping its beam through the night.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{
        Canvas, Ink, Noise, Rgb, WHITE, air,
        land::{self, Skyline},
        rgb,
        shape::{block, pill, place, polygon},
        smooth,
        water::{self, Water},
    },
    easel::Easel,
    light::{Light, Time},
    props::building::lantern,
    scenes::parts,
    words,
};

/// The colours of the bands, and the words for them.
const COATS: &[(&str, u32, u32)] = &[
    ("red and white", 0xd8332c, 0xfaf4ea),
    ("blue and white", 0x2a5fa8, 0xfaf4ea),
    ("black and white", 0x2a2c34, 0xf6f2ea),
    ("white", 0xfaf6ee, 0xf0ebe2),
    ("red", 0xc8382e, 0xb82f2a),
];

pub fn paint(e: &mut Easel) {
    match e.mood(&[0, 1, 2]) {
        0 => e.light_of(&[Time::Dusk, Time::Sunset, Time::Dawn]),
        1 => e.light_of(&[Time::Noon, Time::Morning]),
        _ => e.light_of(&[Time::Night, Time::Storm]),
    }
    let horizon = e.canvas.h * e.dice.range(0.54, 0.66);
    let left = e.dice.chance(0.5);
    heavens(e, horizon, left);
    let gulls = parts::gulls(e, horizon * 0.8);
    let cliff = headland(e, horizon, left);
    let way = if left { 1.0 } else { -1.0 };
    let across = 0.5 - way * e.dice.range(0.2, 0.3);
    let (name, first, second) = e.dice.pick(COATS);
    let coat = [rgb(first), rgb(second)];
    let cottage = e.dice.chance(0.6);
    if cottage {
        house(e, &cliff, across - way * 0.13);
    }
    let lamp = tower(e, &cliff, across, coat);
    let shining = e.light.is_dark() || matches!(e.light.time, Time::Storm | Time::Sunset);
    if shining {
        beam(e, lamp, left);
    }
    e.labels.extend(["cliff", "sea"]);
    let verb = if shining {
        e.dice.pick(&["shines over the sea", "sends its beam across the water", "lights the way"])
    } else {
        e.dice.pick(&["stands on a cliff", "watches over the sea", "rises above the rocks"])
    };
    let with = match (cottage, gulls) {
        (true, 0) => " with a small house",
        (true, _) => " with a small house and gulls",
        (false, 0) => "",
        (false, _) => " among gulls",
    };
    let (a, when) = (words::article(name), e.when());
    e.caption = words::sentence(&format!("{a} {name} lighthouse{with} {verb} {when}"));
}

fn heavens(e: &mut Easel, horizon: f32, left: bool) {
    let (seed, sprinkle, unit) = (e.dice.next(), e.dice.fork(), e.canvas.unit());
    air::sky(&mut e.canvas, &e.light, horizon);
    let side = if left { (0.6, 0.88) } else { (0.12, 0.4) };
    let time = e.light.time;
    if e.light.is_dark() {
        air::stars(&mut e.canvas, sprinkle, horizon, 0.9);
    }
    let cover = if time == Time::Storm { 0.95 } else { e.dice.range(0.25, 0.6) };
    if time == Time::Noon {
        parts::heap_clouds(e, horizon);
    } else {
        air::clouds(&mut e.canvas, &e.light, seed, horizon, cover);
    }
    let low = horizon / e.canvas.h;
    let glint = match time {
        Time::Night => {
            let (spot, radius) = (e.somewhere(side, (0.14, 0.26)), unit * e.dice.range(0.04, 0.07));
            parts::moon(e, spot, radius, 0.0);
            Some(spot.0)
        }
        Time::Dusk | Time::Sunset | Time::Dawn => {
            let (spot, radius) =
                (e.somewhere(side, (low - 0.1, low)), unit * e.dice.range(0.04, 0.07));
            parts::sun(e, spot, radius);
            Some(spot.0)
        }
        _ => None,
    };
    ocean(e, seed, horizon, glint);
}

/// Open water, glittering below a sun or moon at the column `glint`.
fn ocean(e: &mut Easel, seed: u64, horizon: f32, glint: Option<f32>) {
    let deep = e.light.on(rgb(0x1f6a94), 0.1).mix(e.light.sky[0], 0.4);
    let crest = e.light.sky[3];
    let rough = if e.light.time == Time::Storm { 1.0 } else { 0.55 };
    water::water(&mut e.canvas, seed, Water { top: horizon, deep, mirror: 0.45, rough, crest });
    if let Some(x) = glint {
        water::glitter(&mut e.canvas, seed, horizon, x, e.light.sun, 0.75);
    }
}

/// A cliff falling to the sea, with grass on top and foam at its foot.
fn headland(e: &mut Easel, horizon: f32, left: bool) -> Skyline {
    let (noise, unit, h) = (Noise::new(e.dice.next()), e.canvas.unit(), e.canvas.h);
    let (top, sea) = (horizon / h - e.dice.range(0.0, 0.06), 0.9);
    let edge = e.dice.range(0.46, 0.56);
    let line = Skyline::new(&e.canvas, move |x| {
        let x = if left { x } else { 1.0 - x };
        let fall = smooth(edge - 0.1, edge + 0.12, x + 0.05 * (noise.ridge(x * 9.0, 2) - 0.5));
        let skerry = 0.07 * smooth(0.14, 0.0, (x - edge - 0.24).abs()) * noise.crest(x * 14.0, 2);
        top + 0.05 * x + (sea - top) * fall + 0.16 * smooth(edge, 1.0, x) - skerry
            + 0.02 * (noise.ridge(x * 5.0, 3) - 0.5)
    });
    let light = e.light;
    let grass = light.on(e.dice.pick(&[rgb(0x7aa648), rgb(0x8c9a4a), rgb(0x5f9650)]), 0.04);
    let rock = light.on(e.dice.pick(&[rgb(0x8c7a6c), rgb(0x74707a), rgb(0x9c8468)]), 0.06);
    land::textured(&mut e.canvas, &line, |x, y, down| {
        let facet = noise.cloud(x / unit * 9.0 + y / unit * 3.0, y / unit * 7.0, 3);
        let stone =
            rock.scale(0.45 + 0.95 * facet).mix(light.shade, 0.45 * smooth(0.0, h * 0.45, down));
        let turf = smooth(unit * 0.07, unit * 0.01, down + (facet - 0.5) * unit * 0.1)
            * smooth(0.86 * h, 0.78 * h, y);
        stone.mix(grass.scale(0.8 + 0.4 * facet), turf)
    });
    line
}

/// The tower; gives the place of its lamp.
fn tower(e: &mut Easel, cliff: &Skyline, across: f32, coat: [Rgb; 2]) -> (f32, f32) {
    let size = e.canvas.unit() * e.dice.range(0.35, 0.43);
    let foot = (e.canvas.w * across, cliff.at(across) + size * 0.03);
    let pose = place(foot.0, foot.1, size);
    e.object("lighthouse", pose, [-0.17, -1.2, 0.17, 0.0]);
    let bands = e.dice.count(4, 6);
    let light = e.light;
    let lamp_lit = light.is_dark() || matches!(light.time, Time::Storm | Time::Sunset);
    e.canvas.posed(pose, |c| {
        for band in 0..bands {
            shaft(
                c,
                band as f32 / bands as f32,
                1.0 / bands as f32,
                light.on(coat[band % 2], 0.05),
                &light,
            );
        }
        lantern(c, light.on(coat[0], 0.0).mix(light.shade, 0.25), lamp_lit);
        for (y, glow) in [(-0.22, 0.9), (-0.52, 0.6)] {
            let pane =
                if lamp_lit { rgb(0xffd88a).scale(glow) } else { light.on(rgb(0x3a4654), 0.0) };
            c.fill(pill(-0.025, y, 0.05, 0.09, 0.025), pane);
        }
        c.fill(pill(-0.04, -0.13, 0.08, 0.14, 0.04), light.shade.mix(rgb(0x5a3a24), 0.5));
    });
    (foot.0, foot.1 - size * 1.01)
}

/// One band of the tower, from `low` upwards; 1.0 is the gallery.
fn shaft(c: &mut Canvas, low: f32, tall: f32, paint: Rgb, light: &Light) {
    let (a, b) = (0.15 - 0.055 * low, 0.15 - 0.055 * (low + tall));
    let (foot, top) = (-0.92 * low + 0.003, -0.92 * (low + tall));
    let dark = paint.scale(0.55).mix(light.shade, 0.2);
    let round = Ink::Fade((-0.15, 0.0), paint.mix(light.sun, 0.15), (0.15, 0.0), dark);
    c.fill(polygon(&[(-a, foot), (-b, top), (b, top), (a, foot)]), round);
}

/// Light thrown to the open side.
fn beam(e: &mut Easel, lamp: (f32, f32), left: bool) {
    let (w, unit) = (e.canvas.w, e.canvas.unit());
    let way = if left { 1.0 } else { -1.0 };
    let rise = e.dice.range(-0.16, 0.06);
    let warm = rgb(0xfff0b8);
    let strength = if e.light.time == Time::Night { 0.75 } else { 0.5 };
    let columns = if left { (lamp.0, w) } else { (0.0, lamp.0) };
    e.canvas.each(columns, (0.0, e.canvas.h), |x, y, now| {
        let far = (x - lamp.0) * way;
        let off = ((y - lamp.1) - far * rise) / (unit * 0.012 + far * 0.13);
        if off.abs() >= 1.0 {
            return now;
        }
        let soft = (1.0 - off * off) * (1.0 - off * off);
        now.screen(warm.scale(soft * strength * (1.0 - 0.75 * smooth(0.0, w * 0.85, far))))
    });
    air::glow(&mut e.canvas, lamp, unit * 0.26, warm, 0.9);
    air::glow(&mut e.canvas, lamp, unit * 0.07, WHITE, 1.0);
    e.label("beam");
}

fn house(e: &mut Easel, cliff: &Skyline, across: f32) {
    let size = e.canvas.unit() * e.dice.range(0.13, 0.17);
    let pose = place(e.canvas.w * across, cliff.at(across) + size * 0.12, size);
    e.object("house", pose, [-0.72, -0.86, 0.72, 0.0]);
    let light = e.light;
    let roof = light.on(e.dice.pick(&[rgb(0xb04a34), rgb(0x4a5a6a), rgb(0x8c5a3c)]), 0.06);
    let lamp = if light.is_dark() { rgb(0xffcf7a) } else { light.on(rgb(0x4a6478), 0.1) };
    e.canvas.posed(pose, |c| {
        c.fill(
            block(-0.6, -0.45, 1.2, 0.5),
            Ink::Fade((-0.6, 0.0), light.on(WHITE, 0.06), (0.6, 0.0), light.on(rgb(0xc0bcc4), 0.1)),
        );
        c.fill(
            polygon(&[(-0.72, -0.42), (-0.5, -0.82), (0.5, -0.82), (0.72, -0.42)]),
            Ink::fall(-0.82, roof, -0.42, roof.scale(0.75)),
        );
        c.fill(block(0.22, -0.95, 0.14, 0.2), roof.scale(0.8));
        for x in [-0.42, 0.22] {
            c.fill(block(x, -0.32, 0.2, 0.18), lamp);
        }
        c.fill(block(-0.09, -0.32, 0.18, 0.34), roof.scale(0.6));
    });
}
