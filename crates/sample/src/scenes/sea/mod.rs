//! The sea: low sun over calm water, a beach, a storm, moonlight.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

mod beach;
mod calm;
mod storm;

use crate::{
    brush::{
        Noise,
        land::{self, Skyline},
        smooth,
    },
    easel::Easel,
};

#[derive(Clone, Copy)]
enum Mood {
    LowSun,
    Beach,
    Storm,
    Moonlight,
}

pub fn paint(e: &mut Easel) {
    match e.mood(&[Mood::LowSun, Mood::Beach, Mood::Storm, Mood::Moonlight]) {
        Mood::LowSun => calm::low_sun(e),
        Mood::Beach => beach::paint(e),
        Mood::Storm => storm::paint(e),
        Mood::Moonlight => calm::moonlight(e),
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn island(e: &mut Easel, horizon: f32) {
    let (middle, width) = (e.dice.range(0.1, 0.9), e.dice.range(0.1, 0.3));
    let height = e.dice.range(0.03, 0.11);
    let (noise, level) = (Noise::new(e.dice.next()), horizon / e.canvas.h);
    let line = Skyline::new(&e.canvas, move |x| {
        let bump = smooth(1.0, 0.0, (x - middle).abs() / width);
        level + 0.002 - height * bump * (0.45 + noise.ridge(x * 11.0, 3))
    });
    let near = e.light.on(e.light.shade.mix(e.light.sky[1], 0.3), 0.45);
    let depth = e.canvas.h * height * 1.5;
    land::ridge(&mut e.canvas, &line, near, e.light.haze, depth);
    let half = width * 0.8;
    let ((left, right), top) = ((middle - half, middle + half), line.at(middle));
    e.box_object("island", (left * e.canvas.w, top), (right * e.canvas.w, horizon));
}
