//! `POST search-image-similarity`, and exploring with the anchor it returns. Searches by a picture put its copies first:
//! edited, mirrored, cropped and turned ones.

use std::collections::BTreeSet;

use image::{ImageFormat, RgbImage, imageops};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use tessera_service::{DeploymentSettings, InjectedFailure, OPENAPI_PATH};

use crate::{
    components::near_duplicates::edited_family,
    support::{Place, Service, answer, encoded, picture, pictures},
};

const PATH: &str = "/search-image-similarity";

pub fn form(bytes: Vec<u8>) -> Form {
    Form::new().part("file", Part::bytes(bytes).file_name("query.png"))
}

async fn register(service: &Service, query: &str, form: Form) -> (u16, Value) {
    let path = service.of_dataset(&format!("{PATH}?{query}"));
    let (status, body) = answer(service.post(&path).multipart(form)).await;
    (status.as_u16(), body)
}

pub async fn anchor(service: &Service, query: &str, form: Form) -> String {
    let (status, body) = register(service, query, form).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["anchor_type"], "UPLOAD");
    assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
    body["anchor_media_id"].as_str().unwrap().to_owned()
}

fn ranked(service: &Service, anchor: &str, more: &str) -> String {
    let query = format!("anchor_media_id={anchor}&anchor_type=UPLOAD&entity_type=IMAGES{more}");
    service.explore(&query)
}

#[tokio::test]
async fn an_uploaded_image_ranks_its_like_first() {
    let service = Service::of_pictures().await;
    let query = "entity_type=IMAGES&threshold=0";
    let anchor = anchor(&service, query, form(picture(1))).await;
    let body = service.good(&ranked(&service, &anchor, "&threshold=0")).await;
    let first = &body["clusters"][0];
    assert!(first["relevance_score"].as_f64().unwrap() < 0.001, "{first}");
    let name = first["previews"][0]["file_name"].as_str().unwrap();
    assert_eq!(name[1..4].parse::<u32>().unwrap() % 4, 1, "{name}");
}

#[tokio::test]
async fn exploring_repeats_the_threshold_of_the_registration() {
    let service = Service::of_pictures().await;
    let fine = anchor(&service, "entity_type=IMAGES&threshold=1", form(picture(1))).await;
    let (status, body) = service.json(&ranked(&service, &fine, "&threshold=2")).await;
    assert_eq!(status, 400);
    assert!(body["detail"].as_str().unwrap().contains("threshold"), "{body}");
    assert_eq!(service.json(&ranked(&service, &fine, "&threshold=1")).await.0, 200);
    let default = anchor(&service, "entity_type=IMAGES", form(picture(1))).await;
    let objects = ranked(&service, &default, "").replace("IMAGES", "OBJECTS");
    assert_eq!(service.json(&objects).await.0, 400);
}

#[tokio::test]
async fn every_request_with_another_threshold_is_a_400_that_is_described() {
    let service = Service::of_pictures().await;
    let fine = anchor(&service, "entity_type=IMAGES&threshold=1", form(picture(1))).await;
    let other = format!("anchor_media_id={fine}&anchor_type=UPLOAD&entity_type=IMAGES&threshold=2");
    let description = service.good(OPENAPI_PATH).await;
    let clusters = service.good(&service.explore("threshold=0")).await;
    let media = &clusters["clusters"][0]["previews"][0]["media_id"];
    let item = json!({"type": "media", "payload": {"media_ids": [media]}});
    for (method, path, query) in [
        ("get", "/api/v1/explore/{dataset_id}", ""),
        ("get", "/local/dataset/{dataset_id}/map", ""),
        (
            "get",
            "/api/v1/dataset/{dataset_id}/export_context_async",
            "&file_name=a&export_format=json",
        ),
        (
            "post",
            "/api/v1/dataset/{dataset_id}/export_entities_async",
            "&rest=true&export_format=json",
        ),
        ("post", "/local/dataset/{dataset_id}/export_preview", "&rest=true&export_format=json"),
        ("post", "/local/dataset/{dataset_id}/tags/change", ""),
    ] {
        let target = path.replace("{dataset_id}", &service.dataset.to_string());
        let target = format!("{target}?{other}{query}");
        let request = match method {
            "get" => service.get(&target),
            _ if path.ends_with("change") => service.post(&target).json(&json!({"add": ["a"]})),
            _ => service.post(&target).json(&json!({"media_selection": [item]})),
        };
        let (status, body) = answer(request).await;
        assert_eq!(status, 400, "{path}: {body}");
        let described = &description["paths"][path][method]["responses"];
        assert!(described["400"].is_object(), "{path}: {described}");
    }
}

#[tokio::test]
async fn a_threshold_that_was_not_given_constrains_nothing() {
    let service = Service::of_pictures().await;
    let level = async |anchor: &str, more: &str| {
        let body = service.good(&ranked(&service, anchor, more)).await;
        body["clusters"][0]["similarity_threshold"].clone()
    };
    let any = anchor(&service, "entity_type=IMAGES", form(picture(1))).await;
    for threshold in 0..5 {
        let more = format!("&threshold={threshold}");
        assert_eq!(level(&any, &more).await, threshold.to_string());
    }
    assert_eq!(level(&any, "").await, "2", "the default");
    let fine = anchor(&service, "entity_type=IMAGES&threshold=1", form(picture(1))).await;
    assert_eq!(level(&fine, "").await, "1", "that of the registration");
}

#[tokio::test]
async fn a_bounding_box_crops() {
    let service = Service::of_pictures().await;
    let mut scene = image::RgbImage::new(192, 128);
    let part = image::load_from_memory(&picture(2)).unwrap().into_rgb8();
    image::imageops::replace(&mut scene, &part, 96, 64);
    let scene = encoded(&scene, image::ImageFormat::Png);
    let region = json!({"x": 0.5, "y": 0.5, "width": 0.5, "height": 0.5}).to_string();
    let escaped = region.replace('{', "%7B").replace('}', "%7D").replace('"', "%22");
    let in_query = format!("entity_type=IMAGES&bounding_box={escaped}");
    let cropped = anchor(&service, &in_query, form(scene.clone())).await;
    let in_form = form(scene.clone()).text("bounding_box", region);
    let same = anchor(&service, "entity_type=IMAGES", in_form).await;
    let whole = anchor(&service, "entity_type=IMAGES", form(scene)).await;
    let mut best = Vec::new();
    for anchor in [cropped, same, whole] {
        let body = service.good(&ranked(&service, &anchor, "")).await;
        best.push(body["clusters"][0]["relevance_score"].as_f64().unwrap());
    }
    assert!(best[0] < 0.001 && best[1] < 0.001, "{best:?}");
    assert!(best[2] > best[0], "{best:?}");
}

#[tokio::test]
async fn invalid_parameters_and_files_are_400_with_their_name() {
    let service = Service::of_pictures().await;
    let good = || form(picture(1));
    let without = Form::new().part("files[]", Part::bytes(picture(1)).file_name("a.png"));
    let twice = good().part("file", Part::bytes(picture(1)).file_name("b.png"));
    for (query, form, word) in [
        ("", good(), "entity_type"),
        ("entity_type=CATS", good(), "entity_type"),
        ("entity_type=IMAGES&threshold=5", good(), "threshold"),
        ("entity_type=IMAGES&threshold=x", good(), "threshold"),
        ("entity_type=IMAGES&bounding_box=%7B%7D", good(), "bounding_box"),
        ("entity_type=IMAGES&bounding_box=0,0,9,9", good(), "bounding_box"),
        (
            "entity_type=IMAGES",
            good().part("bounding_box", Part::bytes(b"{\"x\":\xff".as_slice())),
            "bounding_box",
        ),
        (
            "entity_type=IMAGES&bounding_box=%7B%22x%22:2,%22y%22:0,%22width%22:1,%22height%22:1%7D",
            good(),
            "bounding_box",
        ),
        ("entity_type=IMAGES", without, "file"),
        ("entity_type=IMAGES", Form::new().text("other", "x"), "file"),
        ("entity_type=IMAGES", twice, "More than one file"),
        ("entity_type=IMAGES", form(b"no image at all".to_vec()), "not an image"),
        ("entity_type=IMAGES", form(Vec::new()), "not an image"),
        ("entity_type=IMAGES", form(picture(1)[..60].to_vec()), "not an image"),
    ] {
        let (status, body) = register(&service, query, form).await;
        assert_eq!(status, 400, "{query}: {body}");
        assert!(body["detail"].as_str().unwrap().contains(word), "{query}: {body}");
    }
    assert_eq!(service.place.count("anchor"), 0);
}

#[tokio::test]
async fn bodies_that_are_not_forms_are_rejected() {
    let service = Service::of_pictures().await;
    let path = service.of_dataset(&format!("{PATH}?entity_type=IMAGES"));
    for kind in ["application/json", "multipart/form-data", "multipart/form-data; boundary="] {
        let request = service.post(&path).header("content-type", kind).body("{}");
        let (status, body) = answer(request).await;
        assert_eq!(status, 400, "{kind}: {body}");
    }
    let open = "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc";
    let request =
        service.post(&path).header("content-type", "multipart/form-data; boundary=x").body(open);
    assert_eq!(answer(request).await.0, 400, "a form without its end");
}

#[tokio::test]
async fn status_409_while_not_ready_and_404_for_no_dataset() {
    let service = Service::of_pictures().await;
    for status in ["PARTIAL INDEX", "READ ONLY", "INDEXING", "ERROR"] {
        service.set_status(status);
        let (code, body) = register(&service, "entity_type=IMAGES", form(picture(1))).await;
        assert_eq!(code, 409, "{status}: {body}");
        assert!(body["detail"].as_str().unwrap().contains(status), "{body}");
    }
    let path = format!("/api/v1/dataset/{}{PATH}?entity_type=IMAGES", uuid::Uuid::nil());
    let (code, body) = answer(service.post(&path).multipart(form(picture(1)))).await;
    assert_eq!((code.as_u16(), body), (404, json!({"detail": "Dataset not found"})));
}

#[tokio::test]
async fn clients_receive_the_error_of_a_rejected_upload() {
    let service = Service::of_pictures().await;
    service.set_status("INDEXING");
    for _ in 0..20 {
        let large = form(vec![7; 900 << 10]);
        assert_eq!(register(&service, "entity_type=IMAGES", large).await.0, 409);
    }
}

#[tokio::test]
async fn an_image_over_32_mib_is_413() {
    let service = Service::of_pictures().await;
    let (status, body) =
        register(&service, "entity_type=IMAGES", form(vec![0; (32 << 20) + 1])).await;
    assert_eq!(status, 413, "{body}");
}

#[tokio::test]
async fn injected_search_failures_are_reported() {
    let place = Place::new(&pictures(2));
    let failing = BTreeSet::from([InjectedFailure::Search]);
    let deployment = place.open_with(DeploymentSettings {
        injected_failures: failing,
        ..DeploymentSettings::default()
    });
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let service = Service::serve(place, deployment, dataset, true).await;
    let (status, body) = register(&service, "entity_type=IMAGES", form(picture(1))).await;
    assert_eq!((status, body), (500, json!({"detail": "The search failed"})));
}

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
