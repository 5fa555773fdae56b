//! The canvas: shapes by the rasteriser, soft light by loops over its pixels.
//!
//! A blind canvas has a size but no pixels, and every stroke on it returns at once; painting a
//! scene on it costs next to nothing and still tells the scene's facts.

use image::RgbImage;
use tiny_skia::{
    FillRule, GradientStop, LineCap, LineJoin, LinearGradient, Paint, Path, Pixmap, Point,
    PremultipliedColorU8, RadialGradient, Shader, SpreadMode, Stroke, Transform,
};

use super::colour::Rgb;

/// What a shape is filled with. Places are in the coordinates of the shape.
#[derive(Clone, Copy, Debug)]
pub enum Ink {
    /// One colour.
    Flat(Rgb),
    /// One colour, with an opacity of 0.0-1.0.
    Thin(Rgb, f32),
    /// From the first point and colour to the second.
    Fade((f32, f32), Rgb, (f32, f32), Rgb),
    /// Around a centre: radius, colour in the middle, colour at the rim.
    Ball((f32, f32), f32, Rgb, Rgb),
}

impl From<Rgb> for Ink {
    fn from(colour: Rgb) -> Self {
        Self::Flat(colour)
    }
}

impl Ink {
    /// From one colour at the height `top` to another at `bottom`.
    pub fn fall(top: f32, upper: Rgb, bottom: f32, lower: Rgb) -> Self {
        Self::Fade((0.0, top), upper, (0.0, bottom), lower)
    }

    fn shader(self, opacity: f32) -> Option<Shader<'static>> {
        let stops = |a: Rgb, b: Rgb| {
            vec![
                GradientStop::new(0.0, a.with_alpha(opacity)),
                GradientStop::new(1.0, b.with_alpha(opacity)),
            ]
        };
        let (pad, still) = (SpreadMode::Pad, Transform::identity());
        match self {
            Self::Flat(colour) => Some(Shader::SolidColor(colour.with_alpha(opacity))),
            Self::Thin(colour, a) => Some(Shader::SolidColor(colour.with_alpha(a * opacity))),
            Self::Fade(from, a, to, b) => {
                LinearGradient::new(point(from), point(to), stops(a, b), pad, still)
            }
            Self::Ball(centre, radius, a, b) => {
                let middle = point(centre);
                RadialGradient::new(middle, 0.0, middle, radius, stops(a, b), pad, still)
            }
        }
    }
}

fn point((x, y): (f32, f32)) -> Point {
    Point::from_xy(x, y)
}

/// A picture in the making; `w` and `h` are its size in pixels.
pub struct Canvas {
    pixels: Option<Pixmap>,
    pub w: f32,
    pub h: f32,
    pose: Transform,
    opacity: f32,
}

impl Canvas {
    /// A black canvas, `width` x `height` pixels.
    pub fn new(width: u32, height: u32) -> Self {
        Self { pixels: Pixmap::new(width, height), ..Self::blind(width, height) }
    }

    /// A canvas of that size which takes no paint.
    pub fn blind(width: u32, height: u32) -> Self {
        Self {
            pixels: None,
            w: width as f32,
            h: height as f32,
            pose: Transform::identity(),
            opacity: 1.0,
        }
    }

    /// True if strokes leave no trace, so that decoration need not be worked out.
    pub fn is_blind(&self) -> bool {
        self.pixels.is_none()
    }

    /// The shorter side in pixels: the measure for the size of things.
    pub fn unit(&self) -> f32 {
        self.w.min(self.h)
    }

    /// The finished picture; black if the canvas was blind.
    pub fn into_image(self) -> RgbImage {
        let mut image = RgbImage::new(self.w as u32, self.h as u32);
        let pixels = self.pixels.iter().flat_map(Pixmap::pixels);
        for (to, from) in image.pixels_mut().zip(pixels) {
            to.0 = [from.red(), from.green(), from.blue()];
        }
        image
    }

    /// Draws with all coordinates moved, scaled and turned by `pose`.
    pub fn posed(&mut self, pose: Transform, draw: impl FnOnce(&mut Self)) {
        let before = self.pose;
        self.pose = before.pre_concat(pose);
        draw(self);
        self.pose = before;
    }

    /// Draws with every stroke thinned to `opacity`.
    pub fn thinned(&mut self, opacity: f32, draw: impl FnOnce(&mut Self)) {
        let before = self.opacity;
        self.opacity *= opacity;
        draw(self);
        self.opacity = before;
    }

    /// Fills a shape. A shape without area leaves no trace.
    pub fn fill(&mut self, shape: Option<Path>, ink: impl Into<Ink>) {
        let Some((paint, path)) = self.paint(ink.into()).zip(shape) else {
            return;
        };
        let pose = self.pose;
        if let Some(pixels) = &mut self.pixels {
            pixels.fill_path(&path, &paint, FillRule::Winding, pose, None);
        }
    }

    /// Draws along a shape with a round brush.
    pub fn line(&mut self, shape: Option<Path>, width: f32, ink: impl Into<Ink>) {
        let Some((paint, path)) = self.paint(ink.into()).zip(shape) else {
            return;
        };
        let stroke = Stroke {
            width,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        let pose = self.pose;
        if let Some(pixels) = &mut self.pixels {
            pixels.stroke_path(&path, &paint, &stroke, pose, None);
        }
    }

    fn paint(&self, ink: Ink) -> Option<Paint<'static>> {
        if self.is_blind() {
            return None;
        }
        let shader = ink.shader(self.opacity)?;
        Some(Paint { shader, ..Paint::default() })
    }

    /// Repaints each pixel of the rows and columns given (clipped to the canvas) by its place and
    /// present colour. Dithered, so that wide gradients show no bands.
    pub fn each(
        &mut self,
        columns: (f32, f32),
        rows: (f32, f32),
        mut repaint: impl FnMut(f32, f32, Rgb) -> Rgb,
    ) {
        let (left, right) = clip(columns, self.w);
        let (top, bottom) = clip(rows, self.h);
        let (width, Some(pixels)) = (self.w as usize, &mut self.pixels) else {
            return;
        };
        for y in top..bottom {
            let row = &mut pixels.pixels_mut()[y * width..][left..right.max(left)];
            let start = (y as u32 + 1).wrapping_mul(0x9E37_79B9) as usize >> 7;
            let mut across = left as f32;
            for (step, pixel) in (start..).zip(row) {
                let dither = DITHER[step % DITHER.len()];
                *pixel = pack(repaint(across, y as f32, unpack(*pixel)), dither);
                across += 1.0;
            }
        }
    }

    /// Repaints the pixels of the rows given, each seen together with any other pixel by `look`.
    pub fn each_with_look(
        &mut self,
        rows: (f32, f32),
        repaint: impl Fn(f32, f32, Rgb, &dyn Fn(f32, f32) -> Rgb) -> Rgb,
    ) {
        let Some(before) = self.pixels.clone() else {
            return;
        };
        let (width, height) = (before.width() as usize, before.height() as usize);
        let source = before.pixels();
        let look = |x: f32, y: f32| {
            let column = (x.max(0.0) as usize).min(width - 1);
            let row = (y.max(0.0) as usize).min(height - 1);
            unpack(source[row * width + column])
        };
        self.each((0.0, width as f32), rows, |x, y, now| repaint(x, y, now, &look));
    }
}

/// Thresholds in a scattered order; each row begins at another place of it.
static DITHER: [f32; 256] = {
    let (mut table, mut index) = ([0.0; 256], 0);
    while index < 256 {
        // An odd multiplier and a fold visit every value once, without a visible order.
        let scattered = (index * 167 + 13) & 255;
        table[index] = ((scattered ^ (scattered >> 3)) & 255) as f32 / 256.0;
        index += 1;
    }
    table
};

fn clip((from, to): (f32, f32), size: f32) -> (usize, usize) {
    (from.clamp(0.0, size) as usize, to.clamp(0.0, size).ceil() as usize)
}

fn unpack(pixel: PremultipliedColorU8) -> Rgb {
    const STEP: f32 = 1.0 / 255.0;
    Rgb(
        f32::from(pixel.red()) * STEP,
        f32::from(pixel.green()) * STEP,
        f32::from(pixel.blue()) * STEP,
    )
}

fn pack(colour: Rgb, dither: f32) -> PremultipliedColorU8 {
    // The cast itself stops at 0 and 255.
    let byte = |v: f32| (v * 255.0 + dither) as u8;
    PremultipliedColorU8::from_rgba(byte(colour.0), byte(colour.1), byte(colour.2), 255)
        .unwrap_or(PremultipliedColorU8::TRANSPARENT)
}
