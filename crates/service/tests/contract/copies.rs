//! Searches by a picture put its copies first: edited, mirrored, cropped and turned ones.

use std::collections::BTreeSet;

use image::{ImageFormat, RgbImage, imageops};
use serde_json::Value;

use crate::{
    components::near_duplicates::edited_family,
    similarity::{anchor, form},
    support::{Place, Service, encoded},
};

/// A distance that only copies are below.
const COPIES: &str = "textual_similarity_threshold=0.1";

const EDITS: [&str; 12] = [
    "original",
    "turned",
    "cropped",
    "gray",
    "written",
    "blurred",
    "mirrored",
    "quarter",
    "half",
    "three_quarters",
    "mirrored_crop",
    "mirrored_quarter",
];

/// A sample image and its copies, in the order of [`EDITS`].
fn family(image: &tessera_sample::SampleImage) -> Vec<RgbImage> {
    let mut family = edited_family(image);
    let original = &family[0];
    let (width, height) = original.dimensions();
    let crop = imageops::crop_imm(original, width / 8, 0, width * 7 / 8, height * 7 / 8);
    let more = [
        imageops::rotate90(original),
        imageops::rotate180(original),
        imageops::rotate270(original),
        imageops::flip_horizontal(&crop.to_image()),
        imageops::rotate90(&imageops::flip_horizontal(original)),
    ];
    family.extend(more);
    family
}

/// Three sample images with their copies, and nine others.
fn collection() -> (Vec<(String, Vec<u8>)>, usize) {
    let mut files = Vec::new();
    let images = tessera_sample::plan(12, 11);
    let (edited, others) = images.split_at(3);
    for (number, image) in edited.iter().enumerate() {
        for (edit, pixels) in EDITS.iter().zip(family(image)) {
            files.push((format!("{number}-{edit}.png"), encoded(&pixels, ImageFormat::Png)));
        }
    }
    for (number, image) in others.iter().enumerate() {
        let whole = tessera_sample::render(image);
        files.push((format!("other-{number}.png"), encoded(&whole, ImageFormat::Png)));
    }
    (files, edited.len())
}

/// The names of the media items that a search finds; each cluster shows at most nine of its members.
async fn found(service: &Service, query: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for cluster in service.clusters(&format!("threshold=0&entity_type=IMAGES&{query}")).await {
        let name = |preview: &Value| preview["file_name"].as_str().unwrap().to_owned();
        names.extend(cluster["previews"].as_array().unwrap().iter().map(name));
    }
    names
}

#[tokio::test]
async fn copies_come_first_however_they_were_edited() {
    let (files, edited) = collection();
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let service = Service::at(Place::new(&files), false).await;
    let mut missing = Vec::new();
    for number in 0..edited {
        let original = format!("{number}-original.png");
        let media = service.media(&original).await;
        let by_media = format!("anchor_type=MEDIA&anchor_media_id={media}&{COPIES}");
        let (_, bytes) = files.iter().find(|(name, _)| *name == original).unwrap();
        let upload = anchor(&service, "entity_type=IMAGES&threshold=0", form(bytes.clone())).await;
        let by_upload = format!("anchor_type=UPLOAD&anchor_media_id={upload}&{COPIES}");
        let names = found(&service, &by_media).await;
        assert_eq!(found(&service, &by_upload).await, names, "the same picture");
        let foreign = names.iter().filter(|name| !name.starts_with(&format!("{number}-")));
        assert_eq!(foreign.count(), 0, "{names:?}");
        let copies = EDITS.iter().map(|edit| format!("{number}-{edit}.png"));
        missing.extend(copies.filter(|name| !names.contains(name)));
    }
    // What was written takes the corners that others would show, and a larger part of the picture than a title.
    missing.retain(|name| !name.ends_with("-written.png"));
    assert!(missing.is_empty(), "{missing:?}");
}
