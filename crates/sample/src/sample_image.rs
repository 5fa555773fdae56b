//! Describes and renders the images of a plan. To add a new kind of scene, add a file to `scenes` and one line here.

use std::path::PathBuf;

use image::RgbImage;

use super::{
    drawing::Canvas,
    planted_issue::PlantedIssue,
    scene::{LabeledBox, Scene},
    scenes,
};

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

/// Everything on which a scene depends. A near-duplicate shares its specification with its original.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SceneSpec {
    pub kind: SceneKind,
    pub seed: u64,
    pub variant: usize,
    pub width: u32,
    pub height: u32,
}

impl SceneSpec {
    fn draw_on(self, canvas: Canvas) -> Scene {
        let mut scene = Scene::new(canvas, self.seed, self.variant);
        scene.add_label(self.kind.label());
        self.kind.draw(&mut scene);
        scene
    }

    /// Collects the annotations without rendering. The returned image has no file name yet.
    pub(super) fn describe(self) -> SampleImage {
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

macro_rules! kinds {
    ($($name:ident, $folder:literal, $label:literal, $module:ident;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SceneKind { $($name),* }

        impl SceneKind {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The label of the kind, which is also the beginning of its file names.
            pub fn label(self) -> &'static str {
                match self { $(Self::$name => $label),* }
            }

            pub fn folder(self) -> &'static str {
                match self { $(Self::$name => $folder),* }
            }

            fn draw(self, scene: &mut Scene) {
                match self { $(Self::$name => scenes::$module::draw(scene)),* }
            }
        }
    };
}

impl SceneKind {
    pub(super) fn file_stem(self) -> String {
        self.label().replace(' ', "-")
    }
}

kinds! {
    Balloons, "sky", "balloon", balloons;
    City, "town", "city", city;
    Flowers, "land", "flower", flowers;
    Planets, "sky", "planet", planets;
    Lighthouse, "water", "lighthouse", lighthouse;
    Desert, "land", "desert", desert;
    Sailing, "water", "sailing boat", sailing;
}
