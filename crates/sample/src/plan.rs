//! Plans what every image of a dataset shows, without rendering it, and plants issues as the ground truth for the
//! index: near-duplicates, and blurred, dark and bright images.

use std::path::PathBuf;

use rayon::prelude::*;

use tessera_model::Region;

use super::{
    random::Rng,
    sample_image::{Edit, PlantedIssue, SampleImage, SceneKind, SceneSpec, region_in_pixels},
    scene::LabeledBox,
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

/// Returns the number of near-duplicates (4 %) and the number of images with each defect (2 %). Both are at least one
/// from 16 images on, and at least two from 60 images on.
fn issue_counts(images: usize) -> (usize, usize) {
    let least = usize::from(images >= 16) + usize::from(images >= 60);
    let share = |percent: usize| match least {
        0 => 0,
        _ => ((images * percent + 50) / 100).max(least),
    };
    (share(4), share(2))
}

fn plant_issues(
    samples: &mut Vec<SampleImage>,
    near_duplicates: usize,
    per_defect: usize,
    mut rng: Rng,
) {
    let mut remaining: Vec<usize> = (0..samples.len()).collect();
    rng.shuffle(&mut remaining);
    for defect in [PlantedIssue::Bright, PlantedIssue::Blurred, PlantedIssue::Dark] {
        let mut left = per_defect;
        remaining.retain(|&index| {
            let sample = &mut samples[index];
            let chosen = left > 0 && (defect != PlantedIssue::Bright || is_daylight(sample));
            if chosen {
                (sample.planted, left) = (Some(defect), left - 1);
            }
            !chosen
        });
    }
    let mut left = near_duplicates;
    for original in remaining {
        // There are at least two groups, so that tests can distinguish groups.
        let group = rng.int(1, 3).min(left.div_ceil(2));
        for edit in random_edits(&mut rng).into_iter().take(group) {
            let copy = edited_copy(&samples[original], original, edit);
            samples.push(copy);
        }
        left -= group;
        if left == 0 {
            return;
        }
    }
}

/// Whether a scene is bright by nature. Night scenes stay dark even when overexposed.
fn is_daylight(sample: &SampleImage) -> bool {
    let dark = ["night", "dusk", "lights", "space"];
    !sample.labels.iter().any(|label| dark.contains(&label.as_str()))
}

fn random_edits(rng: &mut Rng) -> Vec<Edit> {
    let margin = |rng: &mut Rng| f64::from(rng.range(0.01, 0.06));
    let (x, y) = (margin(rng), margin(rng));
    let crop = Region::new(x, y, 1.0 - x - margin(rng), 1.0 - y - margin(rng)).map(Edit::Crop);
    let gain = rng.pick(&[0.84, 0.88, 1.12, 1.16]);
    let mut all = vec![Edit::HalfSize, Edit::Recompressed, Edit::Mirror, Edit::Brightness(gain)];
    all.extend(crop);
    rng.shuffle(&mut all);
    all
}

fn edited_copy(sample: &SampleImage, original: usize, edit: Edit) -> SampleImage {
    let mut copy = sample.clone();
    match edit {
        Edit::HalfSize => (copy.width, copy.height) = (copy.width / 2, copy.height / 2),
        Edit::Mirror => {
            for LabeledBox { region, .. } in &mut copy.objects {
                region.x = (1.0 - region.x - region.width).max(0.0);
            }
        }
        Edit::Crop(part) => {
            [_, _, copy.width, copy.height] = region_in_pixels(part, copy.width, copy.height);
            copy.objects.retain_mut(|object| {
                region_within_part(object.region, part)
                    .map(|region| object.region = region)
                    .is_some()
            });
        }
        Edit::Recompressed | Edit::Brightness(_) => {}
    }
    copy.planted = Some(PlantedIssue::NearDuplicate { original, edit });
    copy
}

/// Converts a box of the whole image to the coordinates of a part. Returns `None` if nothing of the box is inside the
/// part.
fn region_within_part(region: Region, part: Region) -> Option<Region> {
    let left = ((region.x - part.x) / part.width).clamp(0.0, 1.0);
    let top = ((region.y - part.y) / part.height).clamp(0.0, 1.0);
    let right = ((region.x + region.width - part.x) / part.width).clamp(0.0, 1.0);
    let bottom = ((region.y + region.height - part.y) / part.height).clamp(0.0, 1.0);
    Region::new(left, top, right - left, bottom - top)
}
