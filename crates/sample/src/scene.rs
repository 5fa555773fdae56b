//! A scene in progress: the canvas, the random numbers and light of one image, and its annotations.

use tiny_skia::{Rect, Transform};

use super::{
    LabeledBox, Region,
    drawing::{Canvas, shape::Point},
    light::{Light, TimeOfDay},
    rng::Rng,
};

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

    /// Sets the light to one of these times and labels the image with it.
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

    /// Adds an object by its box (left, top, right, bottom) in the coordinates of `pose`. The box is
    /// clipped to the image; an object that is mostly outside is skipped.
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

    /// Adds an object by two corners of its box in pixels.
    pub fn add_box(&mut self, label: &'static str, from: Point, to: Point) {
        self.add_object(label, Transform::identity(), [from.0, from.1, to.0, to.1]);
    }

    /// A random pixel between two fractions of the width and two of the height.
    pub fn random_point(&mut self, across: (f32, f32), down: (f32, f32)) -> Point {
        let x = self.rng.range(across.0, across.1);
        let y = self.rng.range(down.0, down.1);
        (self.canvas.w * x, self.canvas.h * y)
    }
}
