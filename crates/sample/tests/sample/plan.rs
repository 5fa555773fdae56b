//! Plans: what every image shows.

use std::collections::HashSet;

use tessera_sample::{PlantedIssue, SceneKind, plan};

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
