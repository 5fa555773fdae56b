//! The light of a scene: the times of day, their palettes, and their words in labels and captions.

use super::{super::random::Rng, Rgb, rgb};

/// A time of day or weather. Each one has a palette, which keeps the colors of an image in harmony.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOfDay {
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

#[derive(Clone, Copy, Debug)]
pub struct Light {
    pub time: TimeOfDay,
    /// The colors of the sky from the zenith to the horizon.
    pub sky: [Rgb; 4],
    /// The color of the sun or moon, and of what its light touches.
    pub sun: Rgb,
    /// The color of distant things.
    pub haze: Rgb,
    /// The light that multiplies the color that an object has under white light.
    pub ambient: Rgb,
    /// The darkest color of the foreground.
    pub shade: Rgb,
}

impl Light {
    pub fn new(time: TimeOfDay, rng: &mut Rng) -> Self {
        let [zenith, high, low, horizon, sun, haze, ambient, shade] =
            PALETTES[time as usize].map(rgb);
        let light = Self { time, sky: [zenith, high, low, horizon], sun, haze, ambient, shade };
        let (turn, vivid) = (rng.jitter(0.14), rng.range(0.88, 1.14));
        let vary = |color: Rgb| color.rotate_hue(turn).saturate(vivid);
        Self { sky: light.sky.map(vary), haze: vary(light.haze), shade: vary(light.shade), ..light }
    }

    /// Returns the color of an object in this light at a distance of 0.0 (near) to 1.0 (hidden by haze).
    pub fn tint(&self, color: Rgb, distance: f32) -> Rgb {
        color.multiply(self.ambient).scale(1.12).mix(self.haze, distance)
    }

    /// Whether windows are lit and stars are out.
    pub fn is_dark(&self) -> bool {
        matches!(self.time, TimeOfDay::Night | TimeOfDay::Dusk)
    }
}

/// The colors of each `TimeOfDay`: zenith, high and low sky, horizon, sun, haze, ambient, shade.
const PALETTES: [[u32; 8]; 9] = [
    [0x4a63a6, 0x9a8cc6, 0xf4b0ad, 0xffe2b4, 0xfff2c8, 0xeebbb8, 0xdcbfca, 0x3c3a66],
    [0x5aa6de, 0x97cbec, 0xd2e8e8, 0xfff1d2, 0xfffbe6, 0xd3e5e8, 0xfff8ec, 0x335468],
    [0x1f6fc9, 0x489de2, 0x8ac9ee, 0xd2edf4, 0xfffdf0, 0xb4d8ec, 0xffffff, 0x24455f],
    [0x6b9cc0, 0xbfc2a8, 0xf7cd80, 0xffe09a, 0xfff4c4, 0xf2cf90, 0xffe2ac, 0x57432f],
    [0x33265f, 0x8e3a72, 0xee6450, 0xffc266, 0xfff0b4, 0xea8560, 0xd8948a, 0x2a1838],
    [0x131f4c, 0x383f84, 0x8a669f, 0xf4a78c, 0xffdcb4, 0x77669c, 0x8880b4, 0x151838],
    [0x050a22, 0x0c1a3e, 0x183462, 0x345a86, 0xf6f2dc, 0x284871, 0x4c628e, 0x050917],
    [0x252f3b, 0x414f5a, 0x687980, 0xaab6b0, 0xe8f0e6, 0x84949a, 0x98a6aa, 0x1a232b],
    [0x94a9b2, 0xb4c5c6, 0xd2dcd6, 0xe8eadf, 0xffffff, 0xd4ddd8, 0xd2dcd8, 0x455a5e],
];

const LABELS: [&str; 9] =
    ["dawn", "morning", "day", "golden hour", "sunset", "dusk", "night", "storm", "mist"];

const PHRASES: [&[&str]; 9] = [
    &["at dawn", "at daybreak", "in the first light", "under a pink dawn sky"],
    &["on a clear morning", "in the morning", "in soft morning light"],
    &["on a bright day", "at noon", "under a blue sky", "in full sunshine"],
    &["in golden light", "late in the afternoon", "in the golden hour"],
    &["at sunset", "under a burning sky", "as the sun goes down"],
    &["at dusk", "in the blue hour", "in the evening", "after sunset"],
    &["at night", "under the stars", "in the moonlight", "late at night"],
    &["in a storm", "under dark clouds", "before the rain"],
    &["in the mist", "in thin fog", "on a gray morning"],
];

impl TimeOfDay {
    pub fn label(self) -> &'static str {
        LABELS[self as usize]
    }

    pub fn phrase(self, rng: &mut Rng) -> &'static str {
        rng.pick(PHRASES[self as usize])
    }
}
