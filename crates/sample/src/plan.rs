//! The plan: what every image of a dataset shows, without rendering it.

use std::path::PathBuf;

use rayon::prelude::*;

use super::{
    SampleImage, SceneKind, SceneSpec,
    planted_issues::{issue_counts, plant_issues},
    rng::Rng,
};

/// Plans a dataset of this many images: every kind in turn, each in all its variants, with an issue
/// planted in about one image of ten. The same arguments always give the same plan.
#[must_use]
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{super::PlantedIssue, *};

    #[test]
    fn a_plan_has_the_requested_size_and_distinct_files() {
        for images in [0, 1, 5, 15, 16, 59, 60, 240, 1000] {
            let samples = plan(images, 9);
            let files: HashSet<_> = samples.iter().map(|p| &p.file).collect();
            assert_eq!((samples.len(), files.len()), (images, images));
        }
    }

    #[test]
    fn a_plan_is_reproducible() {
        assert_eq!(plan(50, 2), plan(50, 2));
        assert_ne!(plan(50, 2), plan(50, 3));
    }

    #[test]
    fn every_kind_is_included_and_every_issue_is_planted_twice() {
        for images in [60, 61, 100, 240, 1000] {
            let samples = plan(images, 4);
            let kinds: HashSet<SceneKind> = samples.iter().map(|p| p.kind).collect();
            assert_eq!(kinds.len(), SceneKind::ALL.len());
            for name in ["near-duplicate", "blurred", "dark", "bright"] {
                let count = samples
                    .iter()
                    .filter(|p| p.planted.as_ref().is_some_and(|planted| planted.name() == name))
                    .count();
                assert!(count >= 2 && count <= images / 20, "{images}: {count} {name}");
            }
        }
    }

    #[test]
    fn originals_of_near_duplicates_have_no_issue() {
        let samples = plan(240, 6);
        let mut originals = HashSet::new();
        for sample in &samples {
            if let Some(PlantedIssue::NearDuplicate { original, .. }) = sample.planted {
                assert_eq!(samples[original].planted, None);
                originals.insert(original);
            }
        }
        assert!(originals.len() >= 2);
    }
}
