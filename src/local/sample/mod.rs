//! Paints the sample dataset: little scenes whose captions, labels and boxes are known.
//!
//! A seed and a number of images make a plan; the plan tells every fact without a pixel, and each
//! of its paintings can be painted alone, in any order, on any core. Some are planted on purpose:
//! near-duplicates, blurred, dark and bright ones, as ground truth for search and curation.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    clippy::similar_names,
    reason = "pixels are counted in whole numbers and painted in fractions, by x, y, w and h"
)]

mod brush;
mod dice;
mod easel;
mod folder;
mod kind;
mod light;
mod plan;
mod plant;
mod scenes;
mod words;

use std::path::PathBuf;

use image::RgbImage;

pub use folder::write;
pub use kind::Kind;
pub use plan::plan;
pub use plant::{Edit, Planted};

use self::{brush::Canvas, easel::Easel};
use crate::model::Region;

/// What this painter makes of a plan; raised whenever the same plan gives other pixels.
pub const PAINTER_VERSION: u32 = 1;

/// One image of the sample dataset, and everything known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Painting {
    /// Its file, relative to the dataset's folder: `water/sea-0007.jpg`.
    pub file: PathBuf,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// One English sentence, without a full stop.
    pub caption: String,
    /// The word for its kind, the time of day or surroundings, and each thing in it once.
    pub labels: Vec<String>,
    /// Each thing in it, from far to near.
    pub objects: Vec<Object>,
    /// What it shows.
    pub kind: Kind,
    /// What was done to it on purpose.
    pub planted: Option<Planted>,
    subject: Subject,
}

/// A thing in a picture and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// What it is.
    pub label: String,
    /// Where it is, in fractions of the picture.
    pub region: Region,
}

/// All that a scene depends on; near-duplicates share it with their original.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Subject {
    kind: Kind,
    seed: u64,
    mood: usize,
    width: u32,
    height: u32,
}

impl Subject {
    /// Paints the scene on a canvas of its own, or only notes its facts on a blind one.
    fn paint(self, blind: bool) -> Easel {
        let canvas = if blind { Canvas::blind } else { Canvas::new };
        let mut easel = Easel::new(canvas(self.width, self.height), self.seed, self.mood);
        easel.label(self.kind.word());
        self.kind.paint(&mut easel);
        easel
    }
}

/// Paints one picture: always the same pixels for the same painting.
#[must_use]
pub fn paint(painting: &Painting) -> RgbImage {
    let subject = painting.subject;
    let mut canvas = subject.paint(false).canvas;
    brush::finish::finish(&mut canvas, subject.seed);
    let image = canvas.into_image();
    match &painting.planted {
        Some(planted) => planted.apply(image),
        None => image,
    }
}
