//! Colors in sRGB and how they are blended. Blending is done in sRGB, as the palettes expect.

use tiny_skia::Color;

/// Red, green and blue, 0.0-1.0 each. Above 1.0 they are clipped by the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rgb(pub f32, pub f32, pub f32);

/// A color as written in a style sheet: `rgb(0xff_8800)`.
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
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(f(self.0, other.0), f(self.1, other.1), f(self.2, other.2))
    }

    /// Interpolates: this color at 0, `other` at 1.
    pub fn mix(self, other: Self, t: f32) -> Self {
        self.zip(other, |a, b| a + (b - a) * t)
    }

    /// Brighter above 1, darker below.
    pub fn scale(self, k: f32) -> Self {
        Self(self.0 * k, self.1 * k, self.2 * k)
    }

    pub fn multiply(self, light: Self) -> Self {
        self.zip(light, |a, b| a * b)
    }

    /// The "screen" blend mode of image editors: adds light without overexposure.
    pub fn screen(self, light: Self) -> Self {
        self.zip(light, |a, b| a + b * (1.0 - a).max(0.0))
    }

    /// Perceived brightness, 0.0-1.0.
    pub fn luma(self) -> f32 {
        0.299 * self.0 + 0.587 * self.1 + 0.114 * self.2
    }

    /// More saturated above 1, grayer below.
    pub fn saturate(self, k: f32) -> Self {
        let gray = self.luma();
        Self(gray, gray, gray).mix(self, k)
    }

    /// Rotates around the gray axis by `angle` radians.
    pub fn rotate_hue(self, angle: f32) -> Self {
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

    pub fn to_skia(self, alpha: f32) -> Color {
        let fit = |v: f32| v.clamp(0.0, 1.0);
        Color::from_rgba(fit(self.0), fit(self.1), fit(self.2), fit(alpha)).unwrap_or(Color::BLACK)
    }
}

/// The color at `t` (0.0-1.0) of evenly spaced stops.
pub fn gradient(stops: &[Rgb], t: f32) -> Rgb {
    let position = t.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
    let below = (position as usize).min(stops.len() - 2);
    stops[below].mix(stops[below + 1], smoothstep(0.0, 1.0, position - below as f32))
}

/// 0 up to `from`, 1 beyond `to`, an S-curve between them.
pub fn smoothstep(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
