//! Rendered images and their annotations.

use std::collections::HashSet;

use image::RgbImage;
use tessera_model::Region;
use tessera_sample::{LabeledBox, PlantedIssue, SceneKind, plan, render};

#[test]
fn an_image_is_reproducible_and_unique() {
    let samples = plan(SceneKind::ALL.len(), 3);
    let mut unique = HashSet::new();
    for sample in &samples {
        let image = render(sample);
        assert_eq!(image.dimensions(), (sample.width, sample.height));
        assert!(unique.insert(image.into_raw()), "{}", sample.file.display());
    }
    assert!(render(&samples[0]) == render(&plan(SceneKind::ALL.len(), 3)[0]));
    assert!(render(&samples[0]) != render(&plan(SceneKind::ALL.len(), 4)[0]));
}

#[test]
fn no_image_is_flat_or_empty() {
    for sample in plan(SceneKind::ALL.len(), 8) {
        let image = render(&sample);
        let shades: HashSet<[u8; 3]> = image.pixels().map(|p| p.0.map(|v| v / 16)).collect();
        let black = image.pixels().filter(|p| p.0 == [0; 3]).count();
        assert!(shades.len() > 20, "{}: {}", sample.file.display(), shades.len());
        assert!(black * 2 < image.pixels().len(), "{}", sample.file.display());
    }
}

#[test]
fn annotations_are_inside_the_image_and_in_the_caption() {
    let samples = plan(600, 1);
    for sample in &samples {
        let name = sample.file.display();
        let caption = &sample.caption;
        assert!(caption.to_lowercase().contains(sample.kind.label()), "{name}: {caption}");
        assert_eq!(sample.labels[0], sample.kind.label());
        for LabeledBox { label, region: r } in &sample.objects {
            let inside = Region::new(r.x, r.y, r.width, r.height).is_some();
            assert!(inside, "{name}: {label} {r:?}");
            assert!(sample.labels.contains(label), "{name}: {label}");
        }
    }
    let captions: HashSet<&str> = samples.iter().map(|p| p.caption.as_str()).collect();
    assert!(captions.len() * 10 > samples.len() * 8, "{} of {}", captions.len(), samples.len());
}

#[test]
fn planted_issues_are_visible() {
    let brightness = |image: &RgbImage| {
        let sum: u64 = image.as_raw().iter().map(|v| u64::from(*v)).sum();
        sum / image.as_raw().len() as u64
    };
    let samples = plan(60, 5);
    let planted = |wanted: PlantedIssue| {
        let found = samples.iter().find(|p| p.planted == Some(wanted));
        render(found.expect("planted"))
    };
    assert!(brightness(&planted(PlantedIssue::Dark)) < 48);
    assert!(brightness(&planted(PlantedIssue::Bright)) > 170);
    for copy in &samples {
        if let Some(PlantedIssue::NearDuplicate { original, .. }) = copy.planted {
            assert_eq!(render(copy).dimensions(), (copy.width, copy.height));
            assert_eq!(copy.caption, samples[original].caption);
        }
    }
}
