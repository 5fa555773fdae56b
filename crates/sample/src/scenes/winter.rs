//! Winter villages: warm windows at night, a pale snowy day, a pink evening, northern lights.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{
        Noise, WHITE, air,
        land::{self, Skyline},
        rgb,
        shape::place,
        smooth,
        tree::{self, Leaves},
    },
    easel::Easel,
    light::Time,
    props::{building::cottage, snowman::snowman},
    scenes::parts,
    words,
};

#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Warm,
    Pale,
    Aurora,
}

pub fn paint(e: &mut Easel) {
    let mood = e.mood(&[Mood::Warm, Mood::Pale, Mood::Aurora]);
    e.light_of(match mood {
        Mood::Warm => &[Time::Dusk, Time::Night],
        Mood::Pale => &[Time::Mist, Time::Morning, Time::Dawn],
        Mood::Aurora => &[Time::Night],
    });
    let horizon = e.canvas.h * e.dice.range(0.5, 0.6);
    heavens(e, mood, horizon);
    let lines = hills(e, horizon);
    let houses = village(e, &lines);
    let guest = guests(e, &lines[2]);
    let falling = mood != Mood::Aurora && e.dice.chance(0.75);
    if falling {
        let flakes = e.dice.fork();
        air::snowfall(&mut e.canvas, flakes, 260);
        e.label("snowfall");
    }
    e.labels.extend(["snow", "village"]);
    caption(e, mood, houses, guest, falling);
}

fn caption(e: &mut Easel, mood: Mood, houses: usize, guest: Option<&str>, falling: bool) {
    let when = e.when();
    let n = words::count(houses, "a");
    let place = match mood {
        Mood::Warm => e.dice.pick(&[
            "with lit windows in the snow",
            "glowing warmly on a winter evening",
            "with warm light in deep snow",
        ]),
        Mood::Pale => {
            e.dice.pick(&["under a pale winter sky", "among snowy hills", "in a white winter land"])
        }
        Mood::Aurora => e.dice.pick(&[
            "under green northern lights",
            "below a dancing aurora",
            "in the snow under an aurora",
        ]),
    };
    let with = guest.map_or_else(String::new, |g| format!(" and {g}"));
    let cottages = if houses == 1 { "cottage" } else { "cottages" };
    let snow = if falling { ", snow is falling" } else { "" };
    e.caption =
        words::sentence(&format!("{n} {cottages}{with} of a winter village {place} {when}{snow}"));
}

fn heavens(e: &mut Easel, mood: Mood, horizon: f32) {
    let unit = e.canvas.unit();
    air::sky(&mut e.canvas, &e.light, horizon);
    if e.light.is_dark() {
        parts::stars(e, horizon, 1.2);
    } else {
        parts::clouds(e, horizon, (0.3, 0.6));
    }
    if mood == Mood::Aurora {
        aurora(e, horizon);
    } else if e.dice.chance(0.6) {
        let (spot, radius) =
            (e.somewhere((0.12, 0.88), (0.12, 0.26)), unit * e.dice.range(0.045, 0.075));
        if e.light.is_dark() {
            parts::moon(e, spot, radius, 0.0);
        } else {
            parts::sun(e, spot, radius);
        }
    }
}

/// Curtains of light.
fn aurora(e: &mut Easel, horizon: f32) {
    let (noise, unit) = (Noise::new(e.dice.next()), e.canvas.unit());
    let (low, high) = e.dice.pick(&[
        (rgb(0x3cf0a0), rgb(0x6a5af0)),
        (rgb(0x50f0c8), rgb(0xd04ad0)),
        (rgb(0x8cf06a), rgb(0x2fb0c8)),
    ]);
    air::coarse(&mut e.canvas, (0.0, horizon), 3.0, |x, y| {
        let (u, v) = (x / unit, y / horizon);
        let mut light = 0.0f32;
        for band in 0..2 {
            let shift = band as f32 * 9.0;
            let foot = 0.5 + 0.3 * band as f32 + 0.6 * (noise.ridge(u * 1.5 + shift, 2) - 0.5);
            let rise = (foot - v) / 0.5;
            let ray = 0.45 + 0.55 * noise.ridge(u * 11.0 + shift + v, 2);
            light += smooth(-0.06, 0.08, rise) * smooth(1.0, 0.1, rise) * ray;
        }
        (low.mix(high, smooth(0.75, 0.0, v)), (light * 0.72).min(0.85))
    });
    e.label("aurora");
}

/// Snow fields from far to near, with woods between them.
fn hills(e: &mut Easel, horizon: f32) -> Vec<Skyline> {
    let (h, unit, light) = (e.canvas.h, e.canvas.unit(), e.light);
    let mut lines = Vec::new();
    for step in 0..3 {
        let near = step as f32 / 2.0;
        let line = land::rolling(
            &e.canvas,
            e.dice.next(),
            horizon / h + 0.06 + 0.24 * near,
            0.16 - 0.04 * near,
            1.3,
        );
        let white = light.on(rgb(0xf6f9ff), 0.5 * (1.0 - near)).mix(light.sky[3], 0.12);
        let shade = light.on(rgb(0xa4b8e0), 0.35 * (1.0 - near)).mix(light.shade, 0.08);
        woods(e, &line, near);
        let noise = Noise::new(e.dice.next());
        land::textured(&mut e.canvas, &line, |x, y, down| {
            let drift = noise.cloud(x / unit * 2.5, y / unit * 9.0, 2);
            white.mix(
                shade,
                (smooth(0.0, h * 0.3, down) * 0.75 + (drift - 0.5) * 0.5).clamp(0.0, 1.0),
            )
        });
        lines.push(line);
    }
    lines
}

fn woods(e: &mut Easel, line: &Skyline, near: f32) {
    let (mut dice, w, unit) = (e.dice.fork(), e.canvas.w, e.canvas.unit());
    if e.canvas.is_blind() {
        return;
    }
    let (middle, light) = (dice.unit(), e.light);
    for index in 0..26 {
        let across = (index as f32 + dice.sway(0.5)) / 26.0;
        if (across - middle).abs() < 0.16 + 0.12 * near {
            continue;
        }
        let height = unit * (0.1 + 0.16 * near) * dice.range(0.6, 1.3);
        let spot = (w * across, line.at(across) + unit * 0.015);
        let green = light.on(rgb(0x2f5a50), 0.45 * (1.0 - near)).mix(light.shade, 0.25);
        let snow = light.on(rgb(0xe8f0fa), 0.3 * (1.0 - near));
        tree::pine(
            &mut e.canvas,
            dice.fork(),
            spot,
            height,
            Leaves { lit: green.mix(snow, 0.75), shaded: green },
        );
    }
}

/// Cottages on the middle and near fields; gives their number.
fn village(e: &mut Easel, lines: &[Skyline]) -> usize {
    let count = e.dice.count(1, 5);
    let start = e.dice.range(0.08, 0.2);
    for index in 0..count {
        let near = if index % 2 == 0 { 0.75 } else { 1.0 };
        let across =
            start + (0.92 - start) * (index as f32 + e.dice.range(0.2, 0.6)) / count as f32;
        let ground = lines[1].at(across) * (1.5 - near) + lines[2].at(across) * (near - 0.5);
        let size = e.canvas.unit() * (0.2 + 0.16 * near) * if count == 1 { 1.4 } else { 0.85 };
        let pose = place(e.canvas.w * across, ground + size * 0.22, size)
            .pre_scale(e.dice.pick(&[-1.0, 1.0]), 1.0);
        e.object("cottage", pose, [-0.56, -0.84, 0.56, 0.0]);
        let wall =
            e.light.on(rgb(e.dice.pick(&[0x9c5a3a, 0xb8443a, 0x7a5a44, 0xc89a5c, 0x4a6a8a])), 0.06);
        let dark = e.light.is_dark();
        if dark {
            let spot = (e.canvas.w * across, ground + size * 0.1);
            air::glow(&mut e.canvas, spot, size * 1.25, rgb(0xff9c44), 0.55);
        }
        let light = e.light;
        e.canvas.posed(pose, |c| {
            let snow = light.on(rgb(0xfafcff), 0.0).mix(light.sky[3], 0.15);
            cottage(
                c,
                wall,
                snow,
                light.on(rgb(0x9fb4dc), 0.0),
                if dark { rgb(0xffd070) } else { light.on(rgb(0x55708c), 0.1) },
            );
        });
    }
    count
}

/// Perhaps a snowman before the houses; gives the words for it.
fn guests(e: &mut Easel, line: &Skyline) -> Option<&'static str> {
    if !e.dice.chance(0.4) {
        return None;
    }
    let across = e.dice.range(0.15, 0.85);
    let size = e.canvas.unit() * e.dice.range(0.16, 0.22);
    let y = (line.at(across) + e.canvas.h * 0.16).min(e.canvas.h * 0.97);
    let pose = place(e.canvas.w * across, y, size);
    e.object("snowman", pose, [-0.36, -1.12, 0.4, 0.0]);
    let light = e.light;
    let (snow, shade) =
        (light.on(WHITE, 0.0).mix(light.sky[3], 0.15), light.on(rgb(0x9fb4dc), 0.0));
    let (coal, scarf) = (light.shade, light.on(rgb(0xd8382f), 0.0));
    e.canvas.posed(pose, |c| snowman(c, [snow, shade], coal, scarf));
    Some("a snowman")
}
