//! Fields under a low sun: wheat with hay bales, lavender in rows, young green and a windmill.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

use crate::{
    brush::{
        Noise, Rgb, WHITE, air, land, rgb,
        shape::place,
        smooth,
        tree::{self, Leaves},
    },
    easel::Easel,
    light::Time,
    props::building::{barn, hay_bale, windmill},
    scenes::parts,
    words,
};

#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Wheat,
    Lavender,
    Spring,
}

pub fn paint(e: &mut Easel) {
    let mood = e.mood(&[Mood::Wheat, Mood::Lavender, Mood::Spring]);
    e.light_of(match mood {
        Mood::Wheat => &[Time::Sunset, Time::Golden],
        Mood::Lavender => &[Time::Sunset, Time::Dawn, Time::Dusk],
        Mood::Spring => &[Time::Noon, Time::Morning],
    });
    let horizon = e.canvas.h * e.dice.range(0.44, 0.56);
    heavens(e, horizon);
    hills(e, horizon, mood);
    let (mark, way) = landmark(e, horizon, mood);
    rows(e, horizon, mood);
    let bales = if mood == Mood::Wheat { bales(e, horizon) } else { 0 };
    let when = e.when();
    let field = match mood {
        Mood::Wheat => {
            e.dice.pick(&["a ripe wheat field", "a golden wheat field", "a harvested field"])
        }
        Mood::Lavender => e.dice.pick(&[
            "a lavender field",
            "long rows of a lavender field",
            "a purple lavender field",
        ]),
        Mood::Spring => {
            e.dice.pick(&["a young green field", "a fresh spring field", "a green striped field"])
        }
    };
    e.label(match mood {
        Mood::Wheat => "wheat",
        Mood::Lavender => "lavender",
        Mood::Spring => "spring",
    });
    let hay = match bales {
        0 => String::new(),
        1 => " with a hay bale".to_owned(),
        n => format!(" with {} hay bales", words::count(n, "a")),
    };
    e.caption = words::sentence(&format!("{mark} {way} {field}{hay} {when}"));
}

fn heavens(e: &mut Easel, horizon: f32) {
    let unit = e.canvas.unit();
    air::sky(&mut e.canvas, &e.light, horizon);
    if e.light.time == Time::Noon {
        parts::heap_clouds(e, horizon);
        return;
    }
    parts::clouds(e, horizon, (0.25, 0.65));
    let low = horizon / e.canvas.h;
    let (spot, radius) =
        (e.somewhere((0.25, 0.75), (low - 0.13, low - 0.05)), unit * e.dice.range(0.055, 0.095));
    parts::sun(e, spot, radius);
}

fn tones(mood: Mood) -> (Rgb, Rgb) {
    match mood {
        Mood::Wheat => (rgb(0xf2c04c), rgb(0xa8742c)),
        Mood::Lavender => (rgb(0x9a6ad8), rgb(0x4a5a34)),
        Mood::Spring => (rgb(0x8cc84a), rgb(0x4f8a3a)),
    }
}

fn hills(e: &mut Easel, horizon: f32, mood: Mood) {
    let h = e.canvas.h;
    for step in 0..3 {
        let near = step as f32 / 2.0;
        let line = land::rolling(
            &e.canvas,
            e.dice.next(),
            horizon / h + 0.025,
            0.14 - 0.045 * step as f32,
            1.5 + near,
        );
        let local = rgb(0x5a8058).mix(tones(mood).0, 0.3 * near);
        let tone = e.light.on(local, 0.68 - 0.34 * near);
        land::ridge(&mut e.canvas, &line, tone, tone.mix(e.light.haze, 0.45), h * 0.12);
    }
}

/// Furrows that run to one point of the horizon.
fn rows(e: &mut Easel, horizon: f32, mood: Mood) {
    let (w, h, unit, light) = (e.canvas.w, e.canvas.h, e.canvas.unit(), e.light);
    let (noise, (top, furrow)) = (Noise::new(e.dice.next()), tones(mood));
    let vanish = (w * e.dice.range(0.25, 0.75), horizon - unit * 0.03);
    let pace = match mood {
        Mood::Lavender => 3.2,
        Mood::Wheat => 5.5,
        Mood::Spring => 4.2,
    };
    e.canvas.each((0.0, w), (horizon + h * 0.008, h), |x, y, _| {
        let (far, deep) = (y - vanish.1, (y - horizon) / (h - horizon));
        let lane = (x - vanish.0) / far * pace + 60.0;
        let tuft = noise.cloud(lane * 3.0, far.ln() * 30.0, 3);
        let fine = noise.at(x / unit * 90.0, y / unit * 36.0);
        let bed = 1.0 - ((lane + (tuft - 0.5) * 0.3).fract() - 0.5).abs() * 2.0;
        let ridge = smooth(0.25, 0.7, bed);
        // Far lanes are thinner than a pixel: show their mean instead of stripes.
        let sharp = smooth(1.5, 5.0, far / pace);
        let crop = furrow.mix(top, 0.62 + (ridge - 0.62) * sharp);
        let paint = light.on(crop, 0.5 * (1.0 - deep).powi(3));
        paint.scale(0.72 + 0.3 * tuft + 0.26 * fine * deep).mix(light.shade, 0.25 * deep * deep)
    });
}

fn landmark(e: &mut Easel, horizon: f32, mood: Mood) -> (&'static str, &'static str) {
    let across = e.dice.pick(&[0.2, 0.3, 0.7, 0.8]) + e.dice.sway(0.05);
    let size = e.canvas.unit() * e.dice.range(0.24, 0.34);
    let foot = (e.canvas.w * across, horizon + e.canvas.h * 0.02);
    let (pose, light) = (place(foot.0, foot.1, size), e.light);
    match e.dice.count(0, 2) {
        0 => {
            e.object("windmill", pose, [-0.5, -1.2, 0.5, 0.0]);
            let (wall, cap) = (light.on(rgb(0xf2e6d2), 0.1), light.on(rgb(0x8c4a34), 0.1));
            let turn = e.dice.range(0.0, 90.0);
            e.canvas.posed(pose, |c| windmill(c, wall, cap, light.shade, turn));
            ("a windmill", e.dice.pick(&["stands behind", "turns beside", "rises over"]))
        }
        1 => {
            e.object("barn", pose, [-0.62, -0.86, 0.62, 0.0]);
            let red = light.on(rgb(e.dice.pick(&[0xb83a2c, 0x8c4a3a, 0xa85a34])), 0.08);
            e.canvas.posed(pose, |c| barn(c, red, light.on(WHITE, 0.1), light.shade));
            ("a barn", e.dice.pick(&["stands at the edge of", "lies behind", "looks over"]))
        }
        _ => {
            let green = if mood == Mood::Wheat { rgb(0xb8a040) } else { rgb(0x6fa048) };
            let lit = light.on(green, 0.1);
            let leaves = Leaves { lit, shaded: lit.mix(light.shade, 0.7) };
            let dice = e.dice.fork();
            e.object("tree", pose.pre_scale(1.2, 1.2), [-0.38, -1.0, 0.38, 0.0]);
            tree::broad(&mut e.canvas, dice, foot, size * 1.2, leaves);
            ("a lone tree", e.dice.pick(&["stands in", "shades", "grows beside"]))
        }
    }
}

/// Round bales on the stubble; gives their number.
fn bales(e: &mut Easel, horizon: f32) -> usize {
    let count = e.dice.count(0, 5);
    for index in 0..count {
        let near = (index + 1) as f32 / count as f32;
        let across = (((index * 2) % count) as f32 + e.dice.range(0.2, 0.8)) / count as f32;
        let r = e.canvas.unit() * (0.025 + 0.06 * near);
        let y = horizon + (e.canvas.h - horizon) * (0.12 + 0.62 * near);
        let pose = place(e.canvas.w * across, y, r);
        e.object("hay bale", pose, [-1.0, -1.9, 1.5, 0.1]);
        let light = e.light;
        let hay = light.on(rgb(0xe8b85c), 0.2 * (1.0 - near));
        e.canvas.posed(pose, |c| hay_bale(c, hay, light.sun, light.shade));
    }
    count
}
