//! The user's own model: texts find images without captions, look-alikes are ranked by it, and captions and
//! near-duplicates stay as they are. The models of these tests know three colors.

use std::sync::Arc;

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use tessera_encoder::Encoder;
use tessera_service::{DeploymentSettings, ModelChoice};
use tessera_testing::tiny_model::{ModelFolder, OPPOSITE_COLORS};

use crate::{
    described::{self, escaped, vql},
    similarity,
    support::{Place, Service, encoded, picture},
};

pub fn with_model(folder: &ModelFolder) -> DeploymentSettings {
    let model = Encoder::load(folder.path()).unwrap();
    DeploymentSettings { model: ModelChoice::Own(Arc::new(model)), ..DeploymentSettings::default() }
}

/// Settings that take the model away from datasets.
pub fn without_model() -> DeploymentSettings {
    DeploymentSettings { model: ModelChoice::None, ..DeploymentSettings::default() }
}

const RED: [u8; 3] = [250, 10, 10];
const GREEN: [u8; 3] = [10, 250, 10];
const BLUE: [u8; 3] = [10, 10, 250];

fn plain(color: [u8; 3]) -> Vec<u8> {
    encoded(&RgbImage::from_pixel(64, 64, Rgb(color)), ImageFormat::Png)
}

fn colors() -> Place {
    Place::new(&[("1.png", plain(RED)), ("2.png", plain(GREEN)), ("3.png", plain(BLUE))])
}

/// The first file of each cluster, with its score.
async fn found(service: &Service, query: &str) -> Vec<(String, f64)> {
    let clusters = service.clusters(&format!("threshold=0&{query}")).await;
    let shown = |cluster: &Value| {
        let name = cluster["previews"][0]["file_name"].as_str().unwrap().to_owned();
        (name, cluster["relevance_score"].as_f64().unwrap())
    };
    clusters.iter().map(shown).collect()
}

#[tokio::test]
async fn texts_find_images_without_captions() {
    for folder in [ModelFolder::clip(), ModelFolder::siglip()] {
        let service = Service::at_with(colors(), with_model(&folder)).await;
        for (text, file) in [("red", "1.png"), ("green", "2.png"), ("blue", "3.png")] {
            let ranking = found(&service, &format!("caption={text}")).await;
            assert_eq!(ranking[0].0, file, "{ranking:?}");
            assert!(ranking[0].1 < 0.2 && ranking[1].1 > 0.3, "{ranking:?}");
            let semantic = json!([{"text": {"op": "semantic", "value": text, "threshold": 0.8}}]);
            assert_eq!(found(&service, &vql(&semantic)).await.len(), 1);
        }
        let context = format!("/api/v1/enrichment/{}/context", service.dataset);
        let models =
            &service.good(&context).await["dataset_enrichment_models"]["enrichment_models"];
        assert_eq!(models["MULTIMODEL_IMAGE_ENCODING"]["id"], "own-model", "{models}");
    }
}

#[tokio::test]
async fn a_model_that_encodes_nothing_is_reported() {
    let folder = ModelFolder::clip_with(OPPOSITE_COLORS.map(|weights| weights.map(|_| 0.0)));
    let service = Service::at_with(colors(), with_model(&folder)).await;
    let record = service.record().await;
    assert_eq!(record["status_new"], "READY");
    let expected = "the model encodes no media of this dataset: the image encoder failed (it gives no direction)";
    assert_eq!(record["fatal_error_msg"], expected);
}

#[tokio::test]
async fn a_changed_model_is_noticed_at_the_next_start() {
    let none = DeploymentSettings::default;
    let vectors = |service: &Service| service.place.count("model_vector");
    let mut service = Service::at_with(colors(), none()).await;
    assert_eq!(vectors(&service), 0);
    let mut fingerprints = Vec::new();
    let folders = [ModelFolder::tokens(), ModelFolder::clip()];
    for folder in &folders {
        service = Service::at_with(service.stop().await, with_model(folder)).await;
        assert_eq!(vectors(&service), 3);
        let sql = "SELECT fingerprint FROM applied_model";
        fingerprints.push(service.place.row(sql, |row| row.get::<Vec<u8>>(0)));
    }
    assert_ne!(fingerprints[0], fingerprints[1]);
    let service = Service::at_with(service.stop().await, without_model()).await;
    assert_eq!((vectors(&service), service.place.count("applied_model")), (0, 0));
    let body = service.good(&service.explore("caption=xylophone")).await;
    assert_eq!(body["clusters"], json!([]), "only the model ranked all pictures");
}

#[tokio::test]
async fn a_dataset_in_a_file_keeps_its_model() {
    let folder = ModelFolder::clip();
    let place = colors().with_store_file();
    let service = Service::at_with(place, with_model(&folder)).await;
    let service = Service::at_with(service.stop().await, DeploymentSettings::default()).await;
    assert_eq!(found(&service, "caption=red").await[0].0, "1.png");
    let path = service.explore("caption=red");
    let service = Service::at(service.stop().await, true).await;
    drop(folder);
    let (status, body) = service.json(&path).await;
    assert_eq!(status, 500);
    assert!(body["detail"].as_str().unwrap().contains("open its folder again with --model"));
}

/// Where the picture of each caption is found by it: the mean of one divided by its rank.
#[expect(clippy::cast_precision_loss, reason = "counts of ten")]
async fn mean_reciprocal_rank(service: &Service, captions: &[(&str, &str)]) -> f64 {
    let mut sum = 0.0;
    for (file, caption) in captions {
        let names = service.names(&format!("caption={}", escaped(caption))).await;
        let rank = names.iter().position(|name| name == file);
        sum += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
    }
    sum / captions.len() as f64
}

#[tokio::test]
async fn no_model_makes_caption_search_worse() {
    const CAPTIONS: [(&str, &str); 9] = [
        ("wall.png", "A red wall by the sea."),
        ("doors.png", "Two red doors in an old wall."),
        ("hills.png", "Green hills under fog."),
        ("shore.png", "A green hill and a small boat."),
        ("floor.png", "A checkered floor."),
        ("night.png", "A boat on the sea at night."),
        ("doors.png", "old doors red"),
        ("hills.png", "green fog"),
        ("wall.png", "red sea"),
    ];
    let mut service = Service::at_with(described::place(), DeploymentSettings::default()).await;
    let without = mean_reciprocal_rank(&service, &CAPTIONS).await;
    assert!(without > 0.9, "{without}");
    for folder in [
        ModelFolder::clip_with(OPPOSITE_COLORS),
        ModelFolder::clip(),
        ModelFolder::siglip(),
        ModelFolder::tokens(),
        ModelFolder::classifier(),
    ] {
        service = Service::at_with(service.stop().await, with_model(&folder)).await;
        let with = mean_reciprocal_rank(&service, &CAPTIONS).await;
        assert!(with >= without, "{with} is less than {without}");
        // Images without a caption follow, if the model takes texts.
        let all = service.names("caption=red").await;
        assert_eq!(all.contains(&"dark.png".to_owned()), all.len() == 10, "{all:?}");
    }
}

#[tokio::test]
async fn a_model_ranks_images_without_captions_after_captions_that_match() {
    let place = colors();
    place.put("metadata.jsonl", br#"{"file_name": "3.png", "caption": "A red door."}"#);
    let service = Service::at_with(place, with_model(&ModelFolder::clip())).await;
    let ranking = found(&service, "caption=red").await;
    let names: Vec<&str> = ranking.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["3.png", "1.png", "2.png"], "{ranking:?}");
    assert!(ranking[0].1 < 0.4 && ranking[1].1 >= 0.6, "{ranking:?}");
    // The model alone knows this word.
    assert_eq!(found(&service, "caption=green").await[0].0, "2.png");
}

fn scenes() -> Place {
    let files: Vec<(String, Vec<u8>)> =
        (0..8).map(|number| (format!("{number}.png"), picture(number))).collect();
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let place = Place::new(&files);
    place.put("copy.png", &picture(1));
    place.put("red.png", &plain(RED));
    place.put("green.png", &plain(GREEN));
    place
}

/// The scores of all images for an image, by file name.
async fn scores(service: &Service, query: &str) -> Vec<(String, f64)> {
    let mut scores = found(service, query).await;
    scores.sort_by(|a, b| a.0.cmp(&b.0));
    scores
}

#[tokio::test]
async fn look_alikes_are_ranked_by_the_model_and_by_our_descriptor() {
    let folder = ModelFolder::tokens();
    let model = Encoder::load(folder.path()).unwrap();
    let pixels = |name: &str, place: &Place| image::open(place.picture(name)).unwrap().to_rgb8();
    let service = Service::at_with(scenes(), DeploymentSettings::default()).await;
    let duplicates = vql(&json!([{"duplicates": {"op": "duplicates", "value": 0.9}}]));
    let anchor = format!("anchor_type=MEDIA&anchor_media_id={}", service.media("red.png").await);
    let descriptor_scores = scores(&service, &anchor).await;
    let descriptor_duplicates = service.names(&duplicates).await;
    assert!(descriptor_duplicates.contains(&"copy.png".to_owned()), "{descriptor_duplicates:?}");
    let service = Service::at_with(service.stop().await, with_model(&folder)).await;
    let with = scores(&service, &anchor).await;
    assert_eq!(with.len(), descriptor_scores.len());
    let red = model.encode_image(&pixels("red.png", &service.place)).unwrap().vector;
    for ((name, with), (_, descriptor_score)) in with.iter().zip(&descriptor_scores) {
        let vector = model.encode_image(&pixels(name, &service.place)).unwrap().vector;
        let product: f32 = red.iter().zip(&vector).map(|(a, b)| a.to_f32() * b.to_f32()).sum();
        let expected = 0.85 * f64::from(1.0 - product) + 0.15 * descriptor_score;
        // The model saw thumbnails, which are compressed.
        assert!((with - expected).abs() < 0.05, "{name}: {with}, {expected} expected");
    }
    // Copies stay those of our own descriptor.
    assert_eq!(service.names(&duplicates).await, descriptor_duplicates);
    let upload =
        similarity::anchor(&service, "entity_type=IMAGES", similarity::form(plain(RED))).await;
    let uploaded = format!("anchor_type=UPLOAD&anchor_media_id={upload}");
    for ((name, with), (_, uploaded)) in with.iter().zip(scores(&service, &uploaded).await) {
        assert!((with - uploaded).abs() < 0.05, "{name}: {with}, {uploaded}");
    }
}
