//! Flowers: a meadow, rows of tulips, a few blossoms close up.
//! Each mood is a composition of its own; light, counts and colours vary from seed to seed.

mod close;
mod meadow;
mod tulips;

use crate::{
    brush::{Rgb, air, land, rgb},
    easel::Easel,
    scenes::parts,
};

#[derive(Clone, Copy)]
enum Mood {
    Meadow,
    Tulips,
    Close,
}

/// Name, petal, deep petal and heart of a flower.
type Bloom = (&'static str, [u32; 3]);

pub fn paint(e: &mut Easel) {
    match e.mood(&[Mood::Close, Mood::Meadow, Mood::Tulips]) {
        Mood::Meadow => meadow::paint(e),
        Mood::Tulips => tulips::paint(e),
        Mood::Close => close::paint(e),
    }
}

/// Sky and far hills above the row where the flowers begin.
fn country(e: &mut Easel, horizon: f32, green: Rgb) {
    air::sky(&mut e.canvas, &e.light, horizon);
    parts::heap_clouds(e, horizon * 0.8);
    let h = e.canvas.h;
    for step in 0..2 {
        let line =
            land::rolling(&e.canvas, e.dice.next(), horizon / h + 0.02 * step as f32, 0.1, 1.8);
        let tone = e.light.on(green.mix(rgb(0x2f6a50), 0.4), 0.55 - 0.3 * step as f32);
        land::ridge(&mut e.canvas, &line, tone, tone.mix(e.light.haze, 0.3), h * 0.1);
    }
}
