//! The canvas and its colors. Shapes are drawn by tiny-skia, soft light by loops over the pixels.
//!
//! A dry-run canvas has a size but no pixels, and every drawing method returns at once. Drawing a scene on it collects
//! the annotations at almost no cost.

use std::ops::Range;

use image::RgbImage;
use tiny_skia::{
    Color, FillRule, GradientStop, LineCap, LineJoin, LinearGradient, Paint, Path, Pixmap,
    PremultipliedColorU8, RadialGradient, Shader, SpreadMode, Stroke, Transform,
};

use super::shape::Point;

/// What fills a shape. Points are in the coordinates of the shape.
#[derive(Clone, Copy, Debug)]
pub enum Fill {
    /// One color with an opacity of 0.0-1.0.
    Alpha(Rgb, f32),
    /// A gradient from the first point and color to the second point and color.
    Linear(Point, Rgb, Point, Rgb),
    /// A gradient around a center, given by its radius, inner color and outer color.
    Radial(Point, f32, Rgb, Rgb),
}

impl From<Rgb> for Fill {
    fn from(color: Rgb) -> Self {
        Self::Alpha(color, 1.0)
    }
}

impl Fill {
    pub fn vertical(top: f32, upper: Rgb, bottom: f32, lower: Rgb) -> Self {
        Self::Linear((0.0, top), upper, (0.0, bottom), lower)
    }

    fn shader(self, opacity: f32) -> Option<Shader<'static>> {
        let stops = |a: Rgb, b: Rgb| {
            [(0.0, a), (1.0, b)]
                .map(|(at, color)| GradientStop::new(at, color.to_skia(opacity)))
                .to_vec()
        };
        let (pad, transform) = (SpreadMode::Pad, Transform::identity());
        match self {
            Self::Alpha(color, alpha) => Some(Shader::SolidColor(color.to_skia(alpha * opacity))),
            Self::Linear(from, a, to, b) => {
                LinearGradient::new(from.into(), to.into(), stops(a, b), pad, transform)
            }
            Self::Radial(center, radius, a, b) => {
                let center = center.into();
                RadialGradient::new(center, 0.0, center, radius, stops(a, b), pad, transform)
            }
        }
    }
}

/// An image in progress. `w` and `h` are its size in pixels.
pub struct Canvas {
    pixels: Option<Pixmap>,
    pub w: f32,
    pub h: f32,
    transform: Transform,
    opacity: f32,
}

impl Canvas {
    pub fn new(width: u32, height: u32) -> Self {
        Self { pixels: Pixmap::new(width, height), ..Self::dry_run(width, height) }
    }

    pub fn dry_run(width: u32, height: u32) -> Self {
        let (w, h) = (width as f32, height as f32);
        Self { pixels: None, w, h, transform: Transform::identity(), opacity: 1.0 }
    }

    /// Whether drawing has no effect, so that decoration need not be computed.
    pub fn is_dry_run(&self) -> bool {
        self.pixels.is_none()
    }

    /// The shorter side in pixels, to which the sizes of objects are relative.
    pub fn unit(&self) -> f32 {
        self.w.min(self.h)
    }

    pub fn into_image(self) -> RgbImage {
        let mut image = RgbImage::new(self.w as u32, self.h as u32);
        let pixels = self.pixels.iter().flat_map(Pixmap::pixels);
        for (to, from) in image.pixels_mut().zip(pixels) {
            to.0 = [from.red(), from.green(), from.blue()];
        }
        image
    }

    pub fn with_transform(&mut self, transform: Transform, draw: impl FnOnce(&mut Self)) {
        let before = self.transform;
        self.transform = before.pre_concat(transform);
        draw(self);
        self.transform = before;
    }

    pub fn with_opacity(&mut self, opacity: f32, draw: impl FnOnce(&mut Self)) {
        let before = self.opacity;
        self.opacity *= opacity;
        draw(self);
        self.opacity = before;
    }

    pub fn fill(&mut self, shape: Option<Path>, fill: impl Into<Fill>) {
        let paint = self.paint(fill.into());
        if let (Some(pixels), Some(paint), Some(path)) = (&mut self.pixels, paint, shape) {
            pixels.fill_path(&path, &paint, FillRule::Winding, self.transform, None);
        }
    }

    /// Draws along a shape, with round ends and corners.
    pub fn stroke(&mut self, shape: Option<Path>, width: f32, fill: impl Into<Fill>) {
        let (line_cap, line_join) = (LineCap::Round, LineJoin::Round);
        let stroke = Stroke { width, line_cap, line_join, ..Stroke::default() };
        let paint = self.paint(fill.into());
        if let (Some(pixels), Some(paint), Some(path)) = (&mut self.pixels, paint, shape) {
            pixels.stroke_path(&path, &paint, &stroke, self.transform, None);
        }
    }

    fn paint(&self, fill: Fill) -> Option<Paint<'static>> {
        if self.is_dry_run() {
            return None;
        }
        let shader = fill.shader(self.opacity)?;
        Some(Paint { shader, ..Paint::default() })
    }

    /// Replaces each pixel in these columns and rows (clipped to the canvas) by a function of its position and color.
    /// The colors are dithered, so that wide gradients show no bands.
    pub fn map_pixels(
        &mut self,
        columns: Range<f32>,
        rows: Range<f32>,
        mut map: impl FnMut(f32, f32, Rgb) -> Rgb,
    ) {
        let (left, right) = clip(columns, self.w);
        let (top, bottom) = clip(rows, self.h);
        let (width, Some(pixels)) = (self.w as usize, &mut self.pixels) else {
            return;
        };
        for y in top..bottom {
            let row = &mut pixels.pixels_mut()[y * width..][left..right.max(left)];
            let start = (y as u32 + 1).wrapping_mul(0x9E37_79B9) as usize >> 7;
            let mut x = left as f32;
            for (step, pixel) in (start..).zip(row) {
                let dither = DITHER[step % DITHER.len()];
                *pixel = pack(map(x, y as f32, unpack(*pixel)), dither);
                x += 1.0;
            }
        }
    }

    /// Replaces each pixel below the row `top` by a function of its position and of the colors that the canvas had
    /// before the call.
    pub fn map_pixels_with_source(
        &mut self,
        top: f32,
        map: impl Fn(f32, f32, &dyn Fn(f32, f32) -> Rgb) -> Rgb,
    ) {
        let Some(before) = self.pixels.clone() else {
            return;
        };
        let (width, height) = (before.width() as usize, before.height() as usize);
        let source = |x: f32, y: f32| {
            let column = (x.max(0.0) as usize).min(width - 1);
            let row = (y.max(0.0) as usize).min(height - 1);
            unpack(before.pixels()[row * width + column])
        };
        self.map_pixels(0.0..self.w, top..self.h, |x, y, _| map(x, y, &source));
    }

    /// Fills the canvas with a gradient from the top to `bottom`.
    pub fn vertical_gradient(&mut self, stops: &[Rgb], bottom: f32) {
        let (mut row, mut color) = (usize::MAX, BLACK);
        self.map_pixels(0.0..self.w, 0.0..self.h, |_, y, _| {
            if y as usize != row {
                (row, color) = (y as usize, gradient(stops, y / bottom));
            }
            color
        });
    }

    pub fn glow(&mut self, (x, y): Point, radius: f32, color: Rgb, strength: f32) {
        let inverse = 1.0 / (radius * radius);
        self.map_pixels(x - radius..x + radius, y - radius..y + radius, |px, py, now| {
            let near = 1.0 - ((px - x) * (px - x) + (py - y) * (py - y)) * inverse;
            if near <= 0.0 {
                return now;
            }
            now.screen(color.scale(near * near * near * strength))
        });
    }

    /// Blends in a layer whose color and opacity are computed every `step` pixels and interpolated.
    pub fn soft_layer(
        &mut self,
        rows: Range<f32>,
        step: f32,
        layer: impl Fn(f32, f32) -> (Rgb, f32),
    ) {
        let (top, bottom) = (rows.start.floor().max(0.0), rows.end.ceil().min(self.h));
        if self.is_dry_run() || bottom <= top {
            return;
        }
        let columns = (self.w / step) as usize + 2;
        let rows = ((bottom - top) / step) as usize + 2;
        let grid: Vec<(Rgb, f32)> = (0..columns * rows)
            .map(|i| layer((i % columns) as f32 * step, top + (i / columns) as f32 * step))
            .collect();
        let blend = |a: (Rgb, f32), b: (Rgb, f32), k: f32| (a.0.mix(b.0, k), a.1 + (b.1 - a.1) * k);
        let inverse = 1.0 / step;
        let (mut row, mut line) = (usize::MAX, Vec::new());
        self.map_pixels(0.0..self.w, top..bottom, |x, y, now| {
            if y as usize != row {
                row = y as usize;
                let v = (y - top) / step;
                let (upper, lower) = grid[v as usize * columns..].split_at(columns);
                line.clear();
                line.extend(upper.iter().zip(lower).map(|(a, b)| blend(*a, *b, v.fract())));
            }
            let u = x * inverse;
            let left = u as usize;
            let (color, alpha) = blend(line[left], line[left + 1], u - left as f32);
            now.mix(color, alpha)
        });
    }

    /// Darkens the corners and adds film grain. This is the last step of every image.
    pub fn add_vignette_and_grain(&mut self, seed: u64) {
        const VIGNETTE: f32 = 0.3;
        let (w, h) = (self.w, self.h);
        let mut state = seed as u32 | 1;
        self.map_pixels(0.0..w, 0.0..h, |x, y, now| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let sum = (state >> 16) as f32 + (state & 0xFFFF) as f32;
            let grain = (sum / 65_536.0 - 1.0) * 0.016;
            let (dx, dy) = (x / w - 0.5, y / h - 0.5);
            let corner = (dx * dx + dy * dy) * 2.0;
            let k = 1.0 - VIGNETTE * corner * corner;
            Rgb(now.0 * k + grain, now.1 * k + grain, now.2 * k + grain)
        });
    }
}

/// The thresholds in a scattered order. Each row of pixels begins at a different position of the table.
static DITHER: [f32; 256] = {
    let (mut table, mut index) = ([0.0; 256], 0);
    while index < 256 {
        // An odd multiplier and a fold visit every value once, in no visible order.
        let scattered = (index * 167 + 13) & 255;
        table[index] = ((scattered ^ (scattered >> 3)) & 255) as f32 / 256.0;
        index += 1;
    }
    table
};

fn clip(range: Range<f32>, size: f32) -> (usize, usize) {
    (range.start.clamp(0.0, size) as usize, range.end.clamp(0.0, size).ceil() as usize)
}

fn unpack(pixel: PremultipliedColorU8) -> Rgb {
    const STEP: f32 = 1.0 / 255.0;
    Rgb(
        f32::from(pixel.red()) * STEP,
        f32::from(pixel.green()) * STEP,
        f32::from(pixel.blue()) * STEP,
    )
}

fn pack(color: Rgb, dither: f32) -> PremultipliedColorU8 {
    // The cast itself saturates at 0 and 255.
    let byte = |v: f32| (v * 255.0 + dither) as u8;
    PremultipliedColorU8::from_rgba(byte(color.0), byte(color.1), byte(color.2), 255)
        .unwrap_or(PremultipliedColorU8::TRANSPARENT)
}

/// A color in sRGB: red, green and blue from 0.0 to 1.0. The canvas clips values above 1.0. Colors are blended in sRGB,
/// as the palettes expect.
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

    /// Interpolates between this color (at 0) and `other` (at 1).
    pub fn mix(self, other: Self, t: f32) -> Self {
        self.zip(other, |a, b| a + (b - a) * t)
    }

    /// Makes the color brighter if `k` is above 1, or darker if it is below.
    pub fn scale(self, k: f32) -> Self {
        Self(self.0 * k, self.1 * k, self.2 * k)
    }

    pub fn multiply(self, light: Self) -> Self {
        self.zip(light, |a, b| a * b)
    }

    /// Blends by the "screen" mode of image editors, which adds light without overexposure.
    pub fn screen(self, light: Self) -> Self {
        self.zip(light, |a, b| a + b * (1.0 - a).max(0.0))
    }

    /// Returns the perceived brightness, 0.0-1.0.
    pub fn luma(self) -> f32 {
        0.299 * self.0 + 0.587 * self.1 + 0.114 * self.2
    }

    /// Makes the color more saturated if `k` is above 1, or grayer if it is below.
    pub fn saturate(self, k: f32) -> Self {
        let gray = self.luma();
        Self(gray, gray, gray).mix(self, k)
    }

    /// Rotates the color around the gray axis by `angle` radians.
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

/// Returns the color at `t` (0.0-1.0) between evenly spaced stops.
pub fn gradient(stops: &[Rgb], t: f32) -> Rgb {
    let position = t.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
    let below = (position as usize).min(stops.len() - 2);
    stops[below].mix(stops[below + 1], smoothstep(0.0, 1.0, position - below as f32))
}

/// Returns 0 up to `from`, 1 beyond `to`, and an S-curve between them.
pub fn smoothstep(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
