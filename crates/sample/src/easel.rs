//! The easel: a canvas, the chances of one picture, its light, and the facts noted while painting.
//! A scene sees nothing else, so what it paints and what is known of it cannot drift apart.

use tiny_skia::{Rect, Transform};

use super::{
    Object,
    brush::{Canvas, shape::Spot},
    dice::Dice,
    light::{Light, Time},
};
use tessera_model::Region;

/// What a scene paints on.
pub struct Easel {
    pub canvas: Canvas,
    pub dice: Dice,
    pub light: Light,
    pub caption: String,
    pub labels: Vec<&'static str>,
    pub objects: Vec<Object>,
    mood: usize,
}

impl Easel {
    /// An easel with a fresh canvas; `mood` says which variant of its kind a scene shall paint.
    pub fn new(canvas: Canvas, seed: u64, mood: usize) -> Self {
        let mut dice = Dice::new(seed);
        let light = Light::of(Time::Noon, &mut dice);
        Self {
            canvas,
            dice,
            light,
            caption: String::new(),
            labels: Vec::new(),
            objects: Vec::new(),
            mood,
        }
    }

    /// The variant to paint, out of those the scene knows.
    pub fn mood<T: Copy>(&self, moods: &[T]) -> T {
        moods[self.mood % moods.len()]
    }

    /// Sets the light to one of these times and notes it as a label.
    pub fn light_of(&mut self, times: &[Time]) {
        let time = self.dice.pick(times);
        self.light = Light::of(time, &mut self.dice);
        self.label(time.word());
    }

    /// The words for the present time of day.
    pub fn when(&mut self) -> &'static str {
        self.light.time.phrase(&mut self.dice)
    }

    /// Notes a label once.
    pub fn label(&mut self, label: &'static str) {
        if !self.labels.contains(&label) {
            self.labels.push(label);
        }
    }

    /// Notes an object by its box in the coordinates of `pose`: left, top, right, bottom.
    /// What lies outside the picture is cut off; an object hardly visible is not noted.
    pub fn object(&mut self, label: &'static str, pose: Transform, bounds: [f32; 4]) {
        self.label(label);
        let [left, top, right, bottom] = bounds;
        let Some(whole) = Rect::from_ltrb(left, top, right, bottom).and_then(|r| r.transform(pose))
        else {
            return;
        };
        let fit = |v: f32, size: f32| f64::from((v / size).clamp(0.0, 1.0));
        let (w, h) = (self.canvas.w, self.canvas.h);
        let (x, y) = (fit(whole.left(), w), fit(whole.top(), h));
        let (width, height) = (fit(whole.right(), w) - x, fit(whole.bottom(), h) - y);
        let visible = width * height * f64::from(w * h);
        let enough = visible >= 0.3 * f64::from(whole.width() * whole.height());
        if let Some(region) = Region::new(x, y, width, height).filter(|_| enough) {
            self.objects.push(Object { label: label.to_owned(), region });
        }
    }

    /// Notes a round object by its centre and radius in pixels.
    pub fn round_object(&mut self, label: &'static str, (x, y): Spot, r: f32) {
        self.box_object(label, (x - r, y - r), (x + r, y + r));
    }

    /// Notes an object by two corners of its box in pixels.
    pub fn box_object(&mut self, label: &'static str, from: Spot, to: Spot) {
        self.object(label, Transform::identity(), [from.0, from.1, to.0, to.1]);
    }

    /// A place of the canvas in pixels, from fractions of its width and height.
    pub fn at(&self, across: f32, down: f32) -> (f32, f32) {
        (self.canvas.w * across, self.canvas.h * down)
    }

    /// Any place between two fractions of the width and two of the height, in pixels.
    pub fn somewhere(&mut self, across: (f32, f32), down: (f32, f32)) -> (f32, f32) {
        let x = self.dice.range(across.0, across.1);
        let y = self.dice.range(down.0, down.1);
        self.at(x, y)
    }
}
