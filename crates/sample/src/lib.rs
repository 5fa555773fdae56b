//! Renders the sample dataset: small landscapes whose captions, labels and bounding boxes are known.
//!
//! A seed and a number of images determine a plan. The plan lists every fact without rendering a pixel, and each of its
//! images can be rendered alone, in any order, on any core. Some images have a planted issue (near-duplicate, blurred,
//! dark, bright), which is the ground truth for search and curation.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::unreadable_literal,
    reason = "rendering: pixels are counted and placed in fractions by x, y, w and h, and colors are written as in style sheets"
)]

mod drawing;
mod folder;
mod plan;
mod planted_issues;
mod random;
mod scene;
mod scenes;

use std::path::PathBuf;

use image::RgbImage;

pub use folder::write;
pub use plan::{SceneKind, plan};
pub use planted_issues::{Edit, PlantedIssue};

use self::{drawing::Canvas, scene::Scene};
use tessera_model::Region;

#[derive(Clone, Debug, PartialEq)]
pub struct SampleImage {
    /// The path of the image file, relative to the folder of the dataset: `water/lighthouse-0007.jpg`.
    pub file: PathBuf,
    pub width: u32,
    pub height: u32,
    /// One English sentence, without a full stop.
    pub caption: String,
    /// The label of the scene kind, the time of day or the surroundings, and each kind of object once.
    pub labels: Vec<String>,
    /// The objects in the image, from far to near.
    pub objects: Vec<LabeledBox>,
    pub kind: SceneKind,
    pub planted: Option<PlantedIssue>,
    spec: SceneSpec,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LabeledBox {
    pub label: String,
    pub region: Region,
}

/// Everything on which a scene depends. A near-duplicate shares its specification with its original.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SceneSpec {
    kind: SceneKind,
    seed: u64,
    variant: usize,
    width: u32,
    height: u32,
}

impl SceneSpec {
    fn draw_on(self, canvas: Canvas) -> Scene {
        let mut scene = Scene::new(canvas, self.seed, self.variant);
        scene.add_label(self.kind.label());
        self.kind.draw(&mut scene);
        scene
    }

    /// Collects the annotations without rendering. The returned image has no file name yet.
    fn describe(self) -> SampleImage {
        let scene = self.draw_on(Canvas::dry_run(self.width, self.height));
        SampleImage {
            file: PathBuf::new(),
            width: self.width,
            height: self.height,
            caption: scene.caption,
            labels: scene.labels.into_iter().map(str::to_owned).collect(),
            objects: scene.objects,
            kind: self.kind,
            planted: None,
            spec: self,
        }
    }
}

/// Renders one image. The same plan always gives the same pixels.
pub fn render(sample: &SampleImage) -> RgbImage {
    let spec = sample.spec;
    let mut canvas = spec.draw_on(Canvas::new(spec.width, spec.height)).canvas;
    canvas.add_vignette_and_grain(spec.seed);
    let image = canvas.into_image();
    if let Some(issue) = sample.planted { issue.apply(image) } else { image }
}
