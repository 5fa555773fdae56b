//! Plans what every image of a dataset shows, without rendering it. To add a new kind of scene, add a file to `scenes`
//! and one line here.

use std::path::PathBuf;

use rayon::prelude::*;

use super::{
    SampleImage, SceneSpec,
    planted_issues::{issue_counts, plant_issues},
    random::Rng,
    scene::Scene,
    scenes,
};

/// Plans a dataset of this many images. The kinds of scenes take turns, each in all its variants, and about one image
/// in ten has a planted issue. The same arguments always give the same plan.
pub fn plan(images: usize, seed: u64) -> Vec<SampleImage> {
    let (near_duplicates, per_defect) = issue_counts(images);
    let specs = scene_specs(images - near_duplicates, seed);
    let mut samples: Vec<SampleImage> = specs.into_par_iter().map(SceneSpec::describe).collect();
    plant_issues(&mut samples, near_duplicates, per_defect, Rng::stream(seed, u64::MAX));
    name_files(&mut samples);
    samples
}

fn scene_specs(count: usize, seed: u64) -> Vec<SceneSpec> {
    let mut rng = Rng::new(seed);
    let mut kinds = SceneKind::ALL.to_vec();
    let first_variant = rng.int(0, 5);
    let mut specs = Vec::with_capacity(count);
    while specs.len() < count {
        let round = specs.len() / kinds.len();
        rng.shuffle(&mut kinds);
        for &kind in kinds.iter().take(count - specs.len()) {
            let (width, height) = random_size(&mut rng);
            let (seed, variant) = (rng.next(), first_variant + round);
            specs.push(SceneSpec { kind, seed, variant, width, height });
        }
    }
    specs
}

fn random_size(rng: &mut Rng) -> (u32, u32) {
    match rng.int(0, 99) {
        0..52 => (640, 480),
        52..66 => (640, 360),
        66..78 => (480, 640),
        78..90 => (512, 512),
        90..96 => (600, 400),
        96..99 => (800, 600),
        _ => (1280, 853),
    }
}

fn name_files(samples: &mut [SampleImage]) {
    let mut used = vec![0usize; SceneKind::ALL.len()];
    for sample in samples {
        let kind = sample.kind;
        used[kind as usize] += 1;
        let name = format!("{}-{:04}.jpg", kind.file_stem(), used[kind as usize]);
        sample.file = PathBuf::from(kind.folder()).join(name);
    }
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

            pub(super) fn draw(self, scene: &mut Scene) {
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
