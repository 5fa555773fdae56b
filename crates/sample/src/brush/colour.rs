//! Colours as three fractions of sRGB, and the few ways to blend them that painting needs.
//! Blending is done in sRGB as in any paint program, which is what the palettes are chosen for.

use tiny_skia::Color;

/// Red, green and blue, 0.0-1.0 each; light may exceed 1.0 until it meets the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rgb(pub f32, pub f32, pub f32);

/// A colour as written in a style sheet: `rgb(0xff_8800)`.
pub const fn rgb(hex: u32) -> Rgb {
    Rgb(
        ((hex >> 16) & 255) as f32 / 255.0,
        ((hex >> 8) & 255) as f32 / 255.0,
        (hex & 255) as f32 / 255.0,
    )
}

pub const WHITE: Rgb = Rgb(1.0, 1.0, 1.0);
pub const BLACK: Rgb = Rgb(0.0, 0.0, 0.0);

impl Rgb {
    /// This colour at 0, `other` at 1.
    pub fn mix(self, other: Self, t: f32) -> Self {
        Self(
            self.0 + (other.0 - self.0) * t,
            self.1 + (other.1 - self.1) * t,
            self.2 + (other.2 - self.2) * t,
        )
    }

    /// Brighter above 1, darker below.
    pub fn scale(self, k: f32) -> Self {
        Self(self.0 * k, self.1 * k, self.2 * k)
    }

    /// What is seen of this colour under a coloured light.
    pub fn under(self, light: Self) -> Self {
        Self(self.0 * light.0, self.1 * light.1, self.2 * light.2)
    }

    /// Light added to light, softly bounded (the "screen" of image editors).
    pub fn screen(self, light: Self) -> Self {
        Self(
            self.0 + light.0 * (1.0 - self.0).max(0.0),
            self.1 + light.1 * (1.0 - self.1).max(0.0),
            self.2 + light.2 * (1.0 - self.2).max(0.0),
        )
    }

    /// Perceived brightness, 0.0-1.0.
    pub fn luma(self) -> f32 {
        0.299 * self.0 + 0.587 * self.1 + 0.114 * self.2
    }

    /// More colourful above 1, greyer below.
    pub fn saturate(self, k: f32) -> Self {
        let grey = self.luma();
        Self(grey, grey, grey).mix(self, k)
    }

    /// Turned around the grey axis by `angle` radians.
    pub fn turn_hue(self, angle: f32) -> Self {
        let (sin, cos) = angle.sin_cos();
        let third = (1.0 - cos) / 3.0;
        let root = sin * 0.577_35;
        let Self(r, g, b) = self;
        Self(
            r * (cos + third) + g * (third - root) + b * (third + root),
            r * (third + root) + g * (cos + third) + b * (third - root),
            r * (third - root) + g * (third + root) + b * (cos + third),
        )
    }

    /// For the rasteriser, with an opacity of 0.0-1.0.
    pub fn with_alpha(self, alpha: f32) -> Color {
        let fit = |v: f32| v.clamp(0.0, 1.0);
        Color::from_rgba(fit(self.0), fit(self.1), fit(self.2), fit(alpha)).unwrap_or(Color::BLACK)
    }
}

/// The colour at `t` (0.0-1.0) of evenly spaced stops.
pub fn gradient(stops: &[Rgb], t: f32) -> Rgb {
    let place = t.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
    let below = (place as usize).min(stops.len() - 2);
    stops[below].mix(stops[below + 1], smooth(0.0, 1.0, place - below as f32))
}

/// 0 up to `from`, 1 beyond `to`, an S-curve between them.
pub fn smooth(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
