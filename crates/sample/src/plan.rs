//! The plan: what will be painted, decided before the first pixel.
//! Painting reads it, and tests and benches take it as the ground truth.

use std::path::PathBuf;

use rayon::prelude::*;

use super::{Kind, Painting, Planted, Subject, dice::Dice, plant};

/// Sizes in pixels, with how often each is used out of their sum.
const FORMATS: &[((u32, u32), usize)] = &[
    ((640, 480), 52),
    ((640, 360), 14),
    ((480, 640), 12),
    ((512, 512), 12),
    ((600, 400), 6),
    ((800, 600), 3),
    ((1280, 853), 1),
];

/// What a dataset of this many images shows: every kind in turn, each in all its moods, with
/// about one image in ten planted. The same numbers always give the same plan.
#[must_use]
pub fn plan(images: usize, seed: u64) -> Vec<Painting> {
    let shares = plant::Shares::of(images);
    let subjects = subjects(images - shares.copies, seed);
    let mut paintings: Vec<Painting> = subjects.into_par_iter().map(describe).collect();
    plant::plant(&mut paintings, &shares, Dice::of(seed, u64::MAX));
    number(&mut paintings);
    paintings
}

fn subjects(count: usize, seed: u64) -> Vec<Subject> {
    let mut dice = Dice::new(seed);
    let mut kinds = Kind::ALL.to_vec();
    let first_mood = dice.count(0, 5);
    let mut subjects = Vec::with_capacity(count);
    while subjects.len() < count {
        let round = subjects.len() / kinds.len();
        dice.shuffle(&mut kinds);
        for &kind in kinds.iter().take(count - subjects.len()) {
            let (width, height) = format(&mut dice);
            let mood = first_mood + round;
            subjects.push(Subject { kind, seed: dice.next(), mood, width, height });
        }
    }
    subjects
}

fn format(dice: &mut Dice) -> (u32, u32) {
    let total: usize = FORMATS.iter().map(|(_, share)| share).sum();
    let mut toss = dice.count(0, total - 1);
    for &(size, share) in FORMATS {
        if toss < share {
            return size;
        }
        toss -= share;
    }
    FORMATS[0].0
}

/// The facts of a subject. Its file is not named yet.
fn describe(subject: Subject) -> Painting {
    let easel = subject.paint(true);
    Painting {
        file: PathBuf::new(),
        width: subject.width,
        height: subject.height,
        caption: easel.caption,
        labels: easel.labels.into_iter().map(str::to_owned).collect(),
        objects: easel.objects,
        kind: subject.kind,
        planted: None,
        subject,
    }
}

/// Names the files, and tells each near-duplicate the name of its original.
fn number(paintings: &mut [Painting]) {
    let mut used = vec![0usize; Kind::ALL.len()];
    for painting in paintings.iter_mut() {
        let kind = painting.kind;
        used[kind as usize] += 1;
        let name = format!("{}-{:04}.jpg", kind.stem(), used[kind as usize]);
        painting.file = PathBuf::from(kind.theme()).join(name);
    }
    for index in 0..paintings.len() {
        let Some(Planted::NearDuplicate { original, .. }) = paintings[index].planted else {
            continue;
        };
        let file = paintings[original].file.clone();
        if let Some(Planted::NearDuplicate { of, .. }) = &mut paintings[index].planted {
            *of = file;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_plan_has_the_size_asked_for_and_one_file_each() {
        for images in [0, 1, 5, 15, 16, 59, 60, 240, 1000] {
            let paintings = plan(images, 9);
            let files: HashSet<_> = paintings.iter().map(|p| &p.file).collect();
            assert_eq!((paintings.len(), files.len()), (images, images));
        }
    }

    #[test]
    fn the_same_numbers_give_the_same_plan() {
        assert_eq!(plan(50, 2), plan(50, 2));
        assert_ne!(plan(50, 2), plan(50, 3));
    }

    #[test]
    fn every_kind_is_painted_and_every_sort_is_planted_twice() {
        for images in [60, 61, 100, 240, 1000] {
            let paintings = plan(images, 4);
            let kinds: HashSet<Kind> = paintings.iter().map(|p| p.kind).collect();
            assert_eq!(kinds.len(), Kind::ALL.len());
            for word in ["near-duplicate", "blurred", "dark", "bright"] {
                let count = paintings
                    .iter()
                    .filter(|p| p.planted.as_ref().is_some_and(|planted| planted.word() == word))
                    .count();
                assert!(count >= 2 && count <= images / 20, "{images}: {count} {word}");
            }
        }
    }

    #[test]
    fn a_near_duplicate_names_an_original_that_is_there_untouched() {
        let paintings = plan(240, 6);
        let mut originals = HashSet::new();
        for painting in &paintings {
            if let Some(Planted::NearDuplicate { of, original, .. }) = &painting.planted {
                assert_eq!(&paintings[*original].file, of);
                assert_eq!(paintings[*original].planted, None);
                originals.insert(*original);
            }
        }
        assert!(originals.len() >= 2);
    }
}
