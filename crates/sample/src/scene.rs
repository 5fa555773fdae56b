//! A scene in progress: the canvas, the random numbers and the light of one image, its annotations, and the words of
//! its caption. Elements that several kinds of scenes share, such as the sky, the sun and gulls, are added here.

use std::ops::Range;

use tiny_skia::{Rect, Transform};

use super::{
    drawing::{
        Canvas, Rgb, WHITE,
        landscape::{self, Water, draw_glitter, draw_water},
        light::{Light, TimeOfDay},
        shape::{Point, curve, place_at},
    },
    random::Rng,
};
use tessera_model::Region;

#[derive(Clone, Debug, PartialEq)]
pub struct LabeledBox {
    pub label: String,
    pub region: Region,
}

pub struct Scene {
    pub canvas: Canvas,
    pub rng: Rng,
    pub light: Light,
    pub caption: String,
    pub labels: Vec<&'static str>,
    pub objects: Vec<LabeledBox>,
    variant: usize,
}

impl Scene {
    pub fn new(canvas: Canvas, seed: u64, variant: usize) -> Self {
        let mut rng = Rng::new(seed);
        let light = Light::new(TimeOfDay::Noon, &mut rng);
        let (labels, objects) = (Vec::new(), Vec::new());
        Self { canvas, rng, light, caption: String::new(), labels, objects, variant }
    }

    pub fn variant<T: Copy>(&self, variants: &[T]) -> T {
        variants[self.variant % variants.len()]
    }

    /// Sets the light to one of these times, and labels the image with the time.
    pub fn choose_time(&mut self, times: &[TimeOfDay]) {
        let time = self.rng.pick(times);
        self.light = Light::new(time, &mut self.rng);
        self.add_label(time.label());
    }

    pub fn time_phrase(&mut self) -> &'static str {
        self.light.time.phrase(&mut self.rng)
    }

    pub fn add_label(&mut self, label: &'static str) {
        if !self.labels.contains(&label) {
            self.labels.push(label);
        }
    }

    /// Adds an object by its box (left, top, right, bottom) in the coordinates of `pose`. The box is clipped to the
    /// image. An object that is mostly outside is skipped.
    pub fn add_object(&mut self, label: &'static str, pose: Transform, bounds: [f32; 4]) {
        self.add_label(label);
        let [left, top, right, bottom] = bounds;
        let Some(whole) = Rect::from_ltrb(left, top, right, bottom).and_then(|r| r.transform(pose))
        else {
            return;
        };
        let clip = |v: f32, size: f32| f64::from((v / size).clamp(0.0, 1.0));
        let (w, h) = (self.canvas.w, self.canvas.h);
        let (x, y) = (clip(whole.left(), w), clip(whole.top(), h));
        let (width, height) = (clip(whole.right(), w) - x, clip(whole.bottom(), h) - y);
        let visible = width * height * f64::from(w * h);
        let enough = visible >= 0.3 * f64::from(whole.width() * whole.height());
        if let Some(region) = Region::new(x, y, width, height).filter(|_| enough) {
            self.objects.push(LabeledBox { label: label.to_owned(), region });
        }
    }

    pub fn add_circle(&mut self, label: &'static str, (x, y): Point, r: f32) {
        self.add_box(label, (x - r, y - r), (x + r, y + r));
    }

    /// Adds an object by two corners of its box, in pixels.
    pub fn add_box(&mut self, label: &'static str, from: Point, to: Point) {
        self.add_object(label, Transform::identity(), [from.0, from.1, to.0, to.1]);
    }

    /// Returns a random pixel between two fractions of the width and two fractions of the height.
    pub fn random_point(&mut self, across: Range<f32>, down: Range<f32>) -> Point {
        let x = self.rng.range(across.start, across.end);
        let y = self.rng.range(down.start, down.end);
        (self.canvas.w * x, self.canvas.h * y)
    }
}

impl Scene {
    /// Covers the canvas with the colors of the sky. The last color is at the row `horizon`.
    pub fn fill_sky(&mut self, horizon: f32) {
        self.canvas.vertical_gradient(&self.light.sky, horizon);
    }

    pub fn add_sun(&mut self, center: Point, radius: f32) {
        landscape::sun(&mut self.canvas, &self.light, center, radius);
        self.add_circle("sun", center, radius);
    }

    /// Adds a moon. A `phase` of 0.0 is full, and 0.7 is a crescent.
    pub fn add_moon(&mut self, center: Point, radius: f32, phase: f32) {
        landscape::moon(&mut self.canvas, &self.light, center, radius, phase);
        self.add_circle("moon", center, radius);
    }

    /// Adds a full moon at night and a sun at any other time, and returns its column in pixels. Position and radius are
    /// random within these fractions of the canvas.
    pub fn add_sun_or_moon(
        &mut self,
        across: Range<f32>,
        down: Range<f32>,
        radius: Range<f32>,
    ) -> f32 {
        let center = self.random_point(across, down);
        let radius = self.canvas.unit() * self.rng.range(radius.start, radius.end);
        if self.light.time == TimeOfDay::Night {
            self.add_moon(center, radius, 0.0);
        } else {
            self.add_sun(center, radius);
        }
        center.0
    }

    /// Adds water with the reflection of a sun or moon at the column `glitter`.
    pub fn add_water(&mut self, water: Water, glitter: Option<f32>) {
        let seed = self.rng.next();
        draw_water(&mut self.canvas, seed, water);
        if let Some(x) = glitter {
            draw_glitter(&mut self.canvas, seed, water.top, x, self.light.sun, 0.8);
        }
    }

    /// Adds a layer of clouds down to the row `horizon`, with a random cover within `cover`.
    pub fn add_clouds(&mut self, horizon: f32, cover: Range<f32>) {
        let (seed, cover) = (self.rng.next(), self.rng.range(cover.start, cover.end));
        landscape::clouds(&mut self.canvas, &self.light, seed, horizon, cover);
    }

    /// Adds stars down to the row `bottom`. An `amount` of 1.0 is a clear night.
    pub fn add_stars(&mut self, bottom: f32, amount: f32) {
        landscape::stars(&mut self.canvas, self.rng.fork(), bottom, amount);
    }

    /// Adds up to five gulls above the row `bottom` and returns their number.
    pub fn add_gulls(&mut self, bottom: f32) -> usize {
        let count = if self.rng.chance(0.5) { self.rng.int(1, 5) } else { 0 };
        let flock = (self.rng.range(0.15, 0.85), self.rng.range(0.25, 0.7));
        let dark = self.light.is_dark();
        let color = if dark { self.light.sky[3] } else { self.light.shade.mix(WHITE, 0.1) };
        for _ in 0..count {
            let across = flock.0 + self.rng.jitter(0.16);
            let y = bottom * (flock.1 + self.rng.jitter(0.2));
            let size = self.canvas.unit() * self.rng.range(0.025, 0.05);
            let pose = place_at(self.canvas.w * across, y, size).pre_rotate(self.rng.jitter(18.0));
            self.add_object("gull", pose, [-1.0, -0.45, 1.0, 0.25]);
            self.canvas.with_transform(pose, |c| gull(c, color));
        }
        count
    }

    pub fn add_cumulus(&mut self, bottom: f32) {
        for _ in 0..self.rng.int(2, 5) {
            let depth = self.rng.unit();
            let size = self.canvas.unit() * (0.5 - 0.3 * depth) * self.rng.range(0.8, 1.3);
            let down = bottom * (0.2 + 0.62 * depth);
            let base = (self.canvas.w * self.rng.unit(), down.max(size * 0.42));
            landscape::cumulus(&mut self.canvas, &self.light, self.rng.fork(), base, size);
        }
    }
}

fn gull(c: &mut Canvas, color: Rgb) {
    c.stroke(curve((-1.0, -0.1), (-0.4, -0.6), (0.0, 0.1)), 0.13, color);
    c.stroke(curve((0.0, 0.1), (0.45, -0.65), (1.0, -0.2)), 0.13, color);
}

/// Returns "no", "a", "two" ... "twelve", then "many"; `article` is the word for one.
pub fn number_word(n: usize, article: &'static str) -> &'static str {
    const WORDS: [&str; 13] = [
        "no", "a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match n {
        1 => article,
        _ => WORDS.get(n).copied().unwrap_or("many"),
    }
}

/// Joins words: "red", "red and blue", "red, blue and green".
pub fn join_words(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [firsts @ .., last] => format!("{} and {last}", firsts.join(", ")),
    }
}

pub fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

pub fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
