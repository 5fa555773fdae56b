//! Renders the sample dataset: small landscapes whose captions, labels and bounding boxes are known.
//!
//! A seed and a number of images give a plan. It lists every fact without rendering a pixel, and
//! each of its images can be rendered alone, in any order, on any core. Some images have a planted
//! issue (near-duplicate, blurred, dark, bright), as ground truth for search and curation.
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
    /// Its file, relative to the dataset's folder: `water/lighthouse-0007.jpg`.
    pub file: PathBuf,
    pub width: u32,
    pub height: u32,
    /// One English sentence, without a full stop.
    pub caption: String,
    /// The label of its kind, the time of day or surroundings, and each object once.
    pub labels: Vec<String>,
    /// The objects in it, from far to near.
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

/// All that a scene depends on; near-duplicates share it with their original.
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

    /// Collects the annotations without rendering. The image has no file name yet.
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

/// Renders one image: always the same pixels for the same plan.
pub fn render(sample: &SampleImage) -> RgbImage {
    let spec = sample.spec;
    let mut canvas = spec.draw_on(Canvas::new(spec.width, spec.height)).canvas;
    canvas.add_vignette_and_grain(spec.seed);
    let image = canvas.into_image();
    if let Some(issue) = sample.planted { issue.apply(image) } else { image }
}
