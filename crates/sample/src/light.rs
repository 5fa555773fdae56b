//! Times of day as palettes: one light for a whole picture is what keeps its colours together.
//! Scenes pick a time; every colour they use then goes through its light.

use super::{
    brush::{Rgb, rgb},
    dice::Dice,
};

/// When, or in which weather, a picture was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    Dawn,
    Morning,
    Noon,
    Golden,
    Sunset,
    Dusk,
    Night,
    Storm,
    Mist,
}

/// The colours a time of day gives to everything.
#[derive(Clone, Copy, Debug)]
pub struct Light {
    pub time: Time,
    /// From the zenith to the horizon.
    pub sky: [Rgb; 4],
    /// The sun or moon, and what it touches.
    pub sun: Rgb,
    /// What distance fades into.
    pub haze: Rgb,
    /// Multiplies the colour of a thing under white light.
    pub ambient: Rgb,
    /// The darkest colour near by.
    pub shade: Rgb,
}

impl Light {
    /// The palette of `time`, a little different for every picture.
    pub fn of(time: Time, dice: &mut Dice) -> Self {
        let [zenith, high, low, horizon, sun, haze, ambient, shade] = palette(time).map(rgb);
        let light = Self { time, sky: [zenith, high, low, horizon], sun, haze, ambient, shade };
        let (turn, vivid) = (dice.sway(0.14), dice.range(0.88, 1.14));
        let vary = |colour: Rgb| colour.turn_hue(turn).saturate(vivid);
        Self { sky: light.sky.map(vary), haze: vary(light.haze), shade: vary(light.shade), ..light }
    }

    /// The colour of a thing at a distance of 0.0 (near) to 1.0 (lost in the haze).
    pub fn on(&self, local: Rgb, distance: f32) -> Rgb {
        local.under(self.ambient).scale(1.12).mix(self.haze, distance)
    }

    /// True when windows are lit and stars are out.
    pub fn is_dark(&self) -> bool {
        matches!(self.time, Time::Night | Time::Dusk)
    }
}

/// Zenith, high and low sky, horizon, sun, haze, ambient, shade.
fn palette(time: Time) -> [u32; 8] {
    match time {
        Time::Dawn => {
            [0x4a63a6, 0x9a8cc6, 0xf4b0ad, 0xffe2b4, 0xfff2c8, 0xeebbb8, 0xdcbfca, 0x3c3a66]
        }
        Time::Morning => {
            [0x5aa6de, 0x97cbec, 0xd2e8e8, 0xfff1d2, 0xfffbe6, 0xd3e5e8, 0xfff8ec, 0x335468]
        }
        Time::Noon => {
            [0x1f6fc9, 0x489de2, 0x8ac9ee, 0xd2edf4, 0xfffdf0, 0xb4d8ec, 0xffffff, 0x24455f]
        }
        Time::Golden => {
            [0x6b9cc0, 0xbfc2a8, 0xf7cd80, 0xffe09a, 0xfff4c4, 0xf2cf90, 0xffe2ac, 0x57432f]
        }
        Time::Sunset => {
            [0x33265f, 0x8e3a72, 0xee6450, 0xffc266, 0xfff0b4, 0xea8560, 0xd8948a, 0x2a1838]
        }
        Time::Dusk => {
            [0x131f4c, 0x383f84, 0x8a669f, 0xf4a78c, 0xffdcb4, 0x77669c, 0x8880b4, 0x151838]
        }
        Time::Night => {
            [0x050a22, 0x0c1a3e, 0x183462, 0x345a86, 0xf6f2dc, 0x284871, 0x4c628e, 0x050917]
        }
        Time::Storm => {
            [0x252f3b, 0x414f5a, 0x687980, 0xaab6b0, 0xe8f0e6, 0x84949a, 0x98a6aa, 0x1a232b]
        }
        Time::Mist => {
            [0x94a9b2, 0xb4c5c6, 0xd2dcd6, 0xe8eadf, 0xffffff, 0xd4ddd8, 0xd2dcd8, 0x455a5e]
        }
    }
}

impl Time {
    /// The label of this time.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dawn => "dawn",
            Self::Morning => "morning",
            Self::Noon => "day",
            Self::Golden => "golden hour",
            Self::Sunset => "sunset",
            Self::Dusk => "dusk",
            Self::Night => "night",
            Self::Storm => "storm",
            Self::Mist => "mist",
        }
    }

    /// How a sentence says it.
    pub fn phrase(self, dice: &mut Dice) -> &'static str {
        dice.pick(match self {
            Self::Dawn => {
                &["at dawn", "at daybreak", "in the first light", "under a pink dawn sky"]
            }
            Self::Morning => &["on a clear morning", "in the morning", "in soft morning light"],
            Self::Noon => &["on a bright day", "at noon", "under a blue sky", "in full sunshine"],
            Self::Golden => &["in golden light", "late in the afternoon", "in the golden hour"],
            Self::Sunset => &["at sunset", "under a burning sky", "as the sun goes down"],
            Self::Dusk => &["at dusk", "in the blue hour", "in the evening", "after sunset"],
            Self::Night => &["at night", "under the stars", "in the moonlight", "late at night"],
            Self::Storm => &["in a storm", "under dark clouds", "before the rain"],
            Self::Mist => &["in the mist", "in thin fog", "on a grey morning"],
        })
    }
}
