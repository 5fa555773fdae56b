//! Describes and renders the images of a plan. To add a new kind of scene, add a file to `scenes` and one line here.

use std::{io::Cursor, path::PathBuf};

use image::{DynamicImage, RgbImage, codecs::jpeg::JpegDecoder, imageops};

use super::{
    drawing::Canvas,
    scene::{LabeledBox, Scene},
    scenes,
};
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

// Defines the issues that are planted in images, and changes the pixels of an image accordingly.

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlantedIssue {
    NearDuplicate {
        /// The index of the original in the plan.
        original: usize,
        edit: Edit,
    },
    Blurred,
    Dark,
    Bright,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edit {
    HalfSize,
    /// The image is compressed once more, at a low JPEG quality.
    Recompressed,
    Crop(Region),
    Mirror,
    /// All colors are multiplied by this factor.
    Brightness(f32),
}

/// Returns left, top, width and height of a region in pixels.
pub(super) fn region_in_pixels(part: Region, width: u32, height: u32) -> [u32; 4] {
    let scale = |fraction: f64, size: u32| (fraction * f64::from(size)).round() as u32;
    let (w, h) = (scale(part.width, width).max(1), scale(part.height, height).max(1));
    [scale(part.x, width), scale(part.y, height), w, h]
}

impl PlantedIssue {
    /// Returns the name of the issue in the sidecar.
    pub fn name(self) -> &'static str {
        match self {
            Self::NearDuplicate { .. } => "near-duplicate",
            Self::Blurred => "blurred",
            Self::Dark => "dark",
            Self::Bright => "bright",
        }
    }

    pub(super) fn apply(self, image: RgbImage) -> RgbImage {
        match self {
            Self::NearDuplicate { edit, .. } => edit.apply(image),
            Self::Blurred => {
                imageops::fast_blur(&image, image.width().min(image.height()) as f32 / 75.0)
            }
            Self::Dark => apply_tone_curve(image, |v| 0.17 * v * v + 0.06 * v),
            Self::Bright => apply_tone_curve(image, |v| 0.46 + 0.95 * v),
        }
    }
}

impl Edit {
    /// Returns the name of the edit in the sidecar.
    pub fn name(self) -> &'static str {
        match self {
            Self::HalfSize => "half size",
            Self::Recompressed => "recompressed",
            Self::Crop(_) => "cropped",
            Self::Mirror => "mirrored",
            Self::Brightness(gain) if gain > 1.0 => "brighter",
            Self::Brightness(_) => "darker",
        }
    }

    fn apply(self, image: RgbImage) -> RgbImage {
        let (width, height) = image.dimensions();
        match self {
            Self::HalfSize => imageops::thumbnail(&image, width / 2, height / 2),
            Self::Recompressed => recompress(image),
            Self::Crop(part) => {
                let [x, y, w, h] = region_in_pixels(part, width, height);
                imageops::crop_imm(&image, x, y, w, h).to_image()
            }
            Self::Mirror => imageops::flip_horizontal(&image),
            Self::Brightness(gain) => apply_tone_curve(image, |v| v * gain),
        }
    }
}

/// Maps every channel value (0.0-1.0) by a curve.
fn apply_tone_curve(mut image: RgbImage, curve: impl Fn(f32) -> f32) -> RgbImage {
    let table: [u8; 256] = std::array::from_fn(|v| (curve(v as f32 / 255.0) * 255.0) as u8);
    for value in image.as_flat_samples_mut().samples {
        *value = table[usize::from(*value)];
    }
    image
}

/// Encodes the image as a JPEG of quality 30 and decodes it again. If that fails, the image is returned unchanged.
fn recompress(image: RgbImage) -> RgbImage {
    match tessera_picture::encode_jpeg(&image, 30) {
        Ok(bytes) => JpegDecoder::new(Cursor::new(bytes))
            .and_then(DynamicImage::from_decoder)
            .map_or(image, DynamicImage::into_rgb8),
        Err(_) => image,
    }
}
