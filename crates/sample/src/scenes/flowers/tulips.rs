//! Rows of tulips that run to the horizon.
//! One mood of its kind: paints on the easel and notes each thing it paints.

use super::country;
use crate::{
    brush::{
        Rgb, rgb,
        shape::{Spot, place},
        smooth,
    },
    easel::Easel,
    light::Time,
    props::flower::tulip,
    words,
};

/// Beds of tulips, all running to one point of the horizon.
struct Beds<'a> {
    horizon: f32,
    vanish: Spot,
    colours: &'a [(&'static str, Rgb)],
}

impl Beds<'_> {
    /// The bed and the place across it (fraction) at a pixel below the horizon.
    fn lane(&self, (x, y): Spot) -> f32 {
        (x - self.vanish.0) / (y - self.vanish.1) * 2.6 + 40.0
    }

    fn colour(&self, lane: f32) -> Rgb {
        self.colours[lane as usize % self.colours.len()].1
    }
}

pub fn paint(e: &mut Easel) {
    e.light_of(&[Time::Noon, Time::Morning, Time::Dawn, Time::Golden]);
    let horizon = e.canvas.h * e.dice.range(0.36, 0.48);
    country(e, horizon, rgb(0x6fa650));
    let mut colours = [
        ("red", rgb(0xe23a34)),
        ("yellow", rgb(0xf8cc34)),
        ("pink", rgb(0xf27aa8)),
        ("white", rgb(0xfbf4ea)),
        ("purple", rgb(0x8c4ab4)),
        ("orange", rgb(0xf4883a)),
    ];
    e.dice.shuffle(&mut colours);
    let colours = &colours[..e.dice.count(2, 4)];
    let vanish = (e.canvas.w * e.dice.range(0.2, 0.8), horizon - e.canvas.unit() * 0.05);
    let beds = Beds { horizon, vanish, colours };
    stripes(e, &beds);
    blossoms(e, &beds);
    e.labels.extend(["tulips", "field"]);
    let names: Vec<String> = colours.iter().map(|(name, _)| (*name).to_owned()).collect();
    let (when, rows) = (e.when(), e.dice.pick(&["Rows of", "Long rows of", "A field of"]));
    let tulips = words::list(&names);
    e.caption = format!("{rows} {tulips} tulips, flowers to the horizon, {when}");
}

fn stripes(e: &mut Easel, beds: &Beds) {
    let (w, h, light, horizon) = (e.canvas.w, e.canvas.h, e.light, beds.horizon);
    let soil = light.on(rgb(0x3f6a34), 0.05);
    let mean = beds.colours.iter().fold(soil, |mean, (_, colour)| mean.mix(*colour, 0.45));
    let mean = light.on(mean, 0.3);
    e.canvas.each((0.0, w), (horizon + h * 0.02, h), |x, y, _| {
        let lane = beds.lane((x, y));
        let away = 1.0 - (y - horizon) / (h - horizon);
        let bed = (1.0 - (lane.fract() - 0.5).abs() * 2.0).clamp(0.0, 1.0);
        let bloom = light.on(beds.colour(lane), 0.3 * away * away).scale(0.72 + 0.36 * bed);
        let edge = ((bed - 0.28) * 9.0).clamp(0.0, 1.0);
        let stripe = soil.scale(0.6 + 0.6 * bed).mix(bloom, edge);
        // Far lanes are thinner than a pixel: show their mean instead of stripes.
        mean.mix(stripe, smooth(3.0, 12.0, (y - beds.vanish.1) / 2.6))
    });
}

fn blossoms(e: &mut Easel, beds: &Beds) {
    const COUNT: usize = 230;
    let (w, h, unit, horizon) = (e.canvas.w, e.canvas.h, e.canvas.unit(), beds.horizon);
    for index in 0..COUNT {
        let depth = (index as f32 / COUNT as f32).powf(1.6);
        let (across, sway) = (e.dice.range(-0.05, 1.05), e.dice.sway(6.0));
        let spot = (w * across, horizon + h * 0.03 + (h * 1.02 - horizon) * depth);
        let lane = beds.lane(spot);
        if (lane.fract() - 0.5).abs() > 0.34 || depth < 0.05 {
            continue;
        }
        let tone = e.light.on(beds.colour(lane), 0.2 * (1.0 - depth));
        let pose = place(spot.0, spot.1, unit * (0.008 + 0.06 * depth)).pre_rotate(sway);
        if depth > 0.75 {
            e.object("tulip", pose, [-0.7, -1.2, 0.7, 1.0]);
        }
        e.canvas.posed(pose, |c| tulip(c, tone));
    }
}
