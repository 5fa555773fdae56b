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
    clippy::unreadable_literal,
    reason = "painting: pixels are counted and placed in fractions by x, y, w and h, and colours are written as in style sheets"
)]

mod brush;
mod dice;
mod easel;
mod folder;
mod kind;
mod light;
mod plan;
mod plant;
mod props;
mod scenes;
mod words;

use std::path::PathBuf;

use image::RgbImage;

pub use folder::write;
pub use kind::Kind;
pub use plan::plan;
pub use plant::{Edit, Planted};

use self::{brush::Canvas, easel::Easel};
use tessera_model::Region;

/// What this painter makes of a plan; raised whenever the same plan gives other pixels.
pub const PAINTER_VERSION: u32 = 3;

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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_painting_is_always_the_same_picture_and_no_other() {
        let paintings = plan(Kind::ALL.len(), 3);
        let mut seen = HashSet::new();
        for painting in &paintings {
            let image = paint(painting);
            assert_eq!(image.dimensions(), (painting.width, painting.height));
            assert!(seen.insert(image.into_raw()), "{}", painting.file.display());
        }
        assert!(paint(&paintings[0]) == paint(&plan(Kind::ALL.len(), 3)[0]));
        assert!(paint(&paintings[0]) != paint(&plan(Kind::ALL.len(), 4)[0]));
    }

    #[test]
    fn no_picture_is_flat_or_unpainted() {
        for painting in plan(Kind::ALL.len(), 8) {
            let image = paint(&painting);
            let shades: HashSet<[u8; 3]> = image.pixels().map(|p| p.0.map(|v| v / 16)).collect();
            let black = image.pixels().filter(|p| p.0 == [0; 3]).count();
            assert!(shades.len() > 20, "{}: {}", painting.file.display(), shades.len());
            assert!(black * 2 < image.pixels().len(), "{}", painting.file.display());
        }
    }

    #[test]
    fn facts_are_inside_the_picture_and_in_the_caption() {
        let paintings = plan(600, 1);
        for painting in &paintings {
            let name = painting.file.display();
            assert!(
                painting.caption.to_lowercase().contains(painting.kind.word()),
                "{name}: {}",
                painting.caption
            );
            assert_eq!(painting.labels[0], painting.kind.word());
            for Object { label, region: r } in &painting.objects {
                assert!(
                    Region::new(r.x, r.y, r.width, r.height).is_some(),
                    "{name}: {label} {r:?}"
                );
                assert!(painting.labels.contains(label), "{name}: {label}");
            }
        }
        let captions: HashSet<&str> = paintings.iter().map(|p| p.caption.as_str()).collect();
        assert!(
            captions.len() * 10 > paintings.len() * 8,
            "{} of {}",
            captions.len(),
            paintings.len()
        );
    }

    #[test]
    fn planted_pictures_show_what_was_planted() {
        let light = |image: &RgbImage| {
            let sum: u64 = image.as_raw().iter().map(|v| u64::from(*v)).sum();
            sum / image.as_raw().len() as u64
        };
        let paintings = plan(60, 5);
        let planted = |wanted: &Planted| {
            let found = paintings.iter().find(|p| p.planted.as_ref() == Some(wanted));
            paint(found.expect("planted"))
        };
        assert!(light(&planted(&Planted::Dark)) < 48);
        assert!(light(&planted(&Planted::Bright)) > 170);
        for copy in &paintings {
            if let Some(Planted::NearDuplicate { original, .. }) = copy.planted {
                assert_eq!(paint(copy).dimensions(), (copy.width, copy.height));
                assert_eq!(copy.caption, paintings[original].caption);
            }
        }
    }
}
