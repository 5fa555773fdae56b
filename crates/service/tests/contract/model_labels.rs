//! The labels of a classifier of yours: searched, shown, counted and exported after those of the dataset, replaced with
//! the model, and named in the enrichment context. The models of these tests take three colors for other things.

use std::collections::BTreeSet;

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use tessera_encoder::Encoder;
use tessera_service::{DeploymentSettings, ServerOptions};
use tessera_testing::tiny_model::ModelFolder;

use crate::{
    described::{found, set, vql},
    export::{archive, metadata},
    similarity,
    support::{Place, Service, encoded},
    user_model::{with_model, without_model},
};

/// A golden retriever, a sports car and a rocking chair.
const SYNSETS: [&str; 3] = ["n02099601", "n04285008", "n04099969"];
const RED: [u8; 3] = [250, 10, 10];
const GREEN: [u8; 3] = [10, 250, 10];
const BLUE: [u8; 3] = [10, 10, 250];

fn plain([red, green, blue]: [u8; 3]) -> Vec<u8> {
    encoded(&RgbImage::from_pixel(64, 64, Rgb([red, green, blue])), ImageFormat::Png)
}

/// One picture of each color and a gray one; the red one has labels and a box.
fn place() -> Place {
    let row = json!({"file_name": "1.png", "labels": ["pet", "dog"], "tags": ["keep"],
                     "objects": [{"label": "nose", "bbox": [0.2, 0.2, 0.5, 0.5]}]});
    Place::new(&[
        ("1.png", plain(RED)),
        ("2.png", plain(GREEN)),
        ("3.png", plain(BLUE)),
        ("gray.png", plain([128; 3])),
        ("metadata.jsonl", row.to_string().into_bytes()),
    ])
}

async fn labeled(service: &Service, label: &str) -> BTreeSet<String> {
    found(service, &vql(&json!([{"labels": {"op": "one_of", "value": [label]}}]))).await
}

const NONE: [&str; 0] = [];

#[tokio::test]
async fn pictures_have_the_labels_of_a_model_and_what_they_are_kinds_of() {
    let service = Service::at_with(place(), with_model(&ModelFolder::classifier_of(SYNSETS))).await;
    for (label, files) in [
        ("golden retriever", &["1.png"][..]),
        ("dog", &["1.png"]),
        ("animal", &["1.png"]),
        ("pet", &["1.png"]),
        ("car", &["2.png"]),
        ("vehicle", &["2.png"]),
        ("furniture", &["3.png"]),
        ("n02099601", &NONE),
        ("artifact", &NONE),
    ] {
        assert_eq!(labeled(&service, label).await, set(files), "{label}");
    }
    // Objects are pictures of their own.
    let filter = vql(&json!([{"labels": {"op": "is", "value": ["nose", "dog"]}}]));
    let objects = service.good(&service.explore(&format!("entity_type=OBJECTS&{filter}"))).await;
    assert_eq!(objects["clusters"][0]["previews"][0]["file_name"], "1.png", "{objects}");
    // Without captions, texts find what pictures show.
    let names = service.names("caption=chair").await;
    assert_eq!(names.first().map(String::as_str), Some("3.png"), "{names:?}");
}

#[tokio::test]
async fn labels_of_a_model_come_after_those_of_the_dataset() {
    let place = place();
    let deployment = place.open_with(with_model(&ModelFolder::classifier_of(SYNSETS)));
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let options = |access| ServerOptions { compat: true, ..ServerOptions::from(access) };
    let service = Service::serve_as(place, deployment, dataset, true, options).await;
    let all = [
        "pet",
        "dog",
        "golden retriever",
        "retriever",
        "sporting dog",
        "hunting dog",
        "mammal",
        "animal",
    ];
    let media = service.media("1.png").await;
    let image = service.good(&format!("/api/v1/image/{media}")).await;
    assert_eq!(image["labels"], json!(all));
    let clusters = service.clusters("threshold=0").await;
    let labels = |file: &str| {
        let has = |cluster: &&Value| cluster["previews"][0]["file_name"] == file;
        clusters.iter().find(has).unwrap()["labels"].clone()
    };
    assert_eq!(
        labels("1.png"),
        json!(["dog", "pet", all[2], all[3], all[4], all[5], all[6], all[7]])
    );
    assert_eq!(labels("3.png"), json!(["rocking chair", "chair", "seat", "furniture"]));
    assert_eq!(labels("gray.png"), json!(null));
    let overview = format!("/api/v1/explore/{}/exploration_metadata", service.dataset);
    let counts = service.good(&overview).await["labels"].clone();
    let count =
        |name: &str| counts.as_array().unwrap().iter().find(|it| it["name"] == name).cloned();
    assert_eq!(count("dog").unwrap()["count"], 1, "once for a picture: {counts}");
    assert_eq!(count("vehicle").unwrap()["count"], 1);
    let (_, mut zip) = archive(&service, "file_name=a&export_format=json").await;
    let document = metadata(&mut zip);
    let item = document["media_items"].as_array().unwrap().iter();
    let item = item.clone().find(|item| item["file_name"] == "1.png").unwrap();
    let exported = item["metadata_items"].as_array().unwrap().iter();
    let exported = exported.filter(|item| item["type"] == "image_label");
    let exported: Vec<(&Value, &Value)> = exported
        .map(|item| (&item["properties"]["category_name"], &item["properties"]["source"]))
        .collect();
    let sources: Vec<&Value> = exported.iter().map(|(_, source)| *source).collect();
    assert_eq!(exported.iter().map(|(name, _)| *name).collect::<Vec<_>>(), all);
    assert_eq!((sources[1], sources[2]), (&json!("User"), &json!("Model")));
}

#[tokio::test]
async fn labels_are_replaced_with_the_model_and_with_the_picture() {
    let service = Service::at_with(place(), with_model(&ModelFolder::classifier_of(SYNSETS))).await;
    assert_eq!(labeled(&service, "vehicle").await, set(&["2.png"]));
    let other = with_model(&ModelFolder::classifier_of(["a", "n02084071", "b"]));
    let service = Service::at_with(service.stop().await, other).await;
    assert_eq!(labeled(&service, "vehicle").await, set(&NONE));
    assert_eq!(labeled(&service, "dog").await, set(&["1.png", "2.png"]));
    let place = service.stop().await;
    place.put("2.png", &plain(BLUE));
    let other = with_model(&ModelFolder::classifier_of(["a", "n02084071", "b"]));
    let service = Service::at_with(place, other).await;
    assert_eq!(labeled(&service, "dog").await, set(&["1.png"]));
    assert_eq!(labeled(&service, "b").await, set(&["2.png", "3.png"]));
    let service = Service::at_with(service.stop().await, without_model()).await;
    assert_eq!(labeled(&service, "b").await, set(&NONE));
    assert_eq!(labeled(&service, "dog").await, set(&["1.png"]), "it is of the dataset");
    assert_eq!((service.place.count("model_label"), service.place.count("applied_model")), (0, 0));
}

#[tokio::test]
async fn a_pair_that_scores_classes_gives_labels_too() {
    let service = Service::at_with(place(), with_model(&ModelFolder::labeling_pair(SYNSETS))).await;
    assert_eq!(labeled(&service, "vehicle").await, set(&["2.png"]));
    assert_eq!(service.names("caption=blue").await[0], "3.png");
}

#[tokio::test]
async fn wrong_labels_are_found_among_those_of_the_dataset() {
    let shade = |number: u8| [250 - number, 10, 10 + number];
    let mut files: Vec<(String, Vec<u8>)> =
        (0..12).map(|number| (format!("{number:02}.png"), plain(shade(number)))).collect();
    let row = |number: usize| {
        let label = if number == 5 { "cold" } else { "warm" };
        json!({"file_name": format!("{number:02}.png"), "labels": [label]}).to_string()
    };
    let rows: Vec<String> = (0..12).map(row).collect();
    files.push(("metadata.jsonl".to_owned(), rows.join("\n").into_bytes()));
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let sum = |service: &Service| {
        let sql = "SELECT CAST(1000000 * sum(mislabel + stranger) AS bigint) FROM place";
        service.place.row(sql, |row| row.get::<i64>(0))
    };
    let service = Service::at_with(Place::new(&files), DeploymentSettings::default()).await;
    let without = sum(&service);
    assert!(without > 0);
    let folder = ModelFolder::classifier_of(["cold", "b", "c"]);
    let service = Service::at_with(service.stop().await, with_model(&folder)).await;
    assert_eq!(service.place.count("model_label"), 12);
    assert_eq!(sum(&service), without);
}

#[tokio::test]
async fn the_enrichment_context_names_the_model_and_the_hashes_of_its_files() {
    let folder = ModelFolder::labeling_pair(SYNSETS);
    let service = Service::at_with(place(), with_model(&folder)).await;
    let path = format!("/api/v1/enrichment/{}/context", service.dataset);
    let context = service.good(&path).await;
    let models = &context["dataset_enrichment_models"]["enrichment_models"];
    let hashes = Encoder::load(folder.path()).unwrap();
    for kind in ["IMAGE_TAGGING", "MULTIMODEL_IMAGE_ENCODING"] {
        let metadata = &models[kind]["metadata"];
        assert_eq!(models[kind]["id"], "own-model", "{models}");
        assert_eq!(metadata["name"], hashes.name());
        assert!(metadata["applied_at"].as_str().unwrap().starts_with("20"), "{metadata}");
        let files = metadata["files"].as_array().unwrap();
        assert_eq!(files.len(), hashes.hashed_files().len());
        for (file, hashed) in files.iter().zip(hashes.hashed_files()) {
            assert_eq!(
                (&file["path"], &file["sha256"]),
                (&json!(hashed.path), &json!(hashed.sha256))
            );
        }
        assert!(files.iter().any(|file| file["path"] == "onnx/vision_model.onnx"), "{files:?}");
    }
    let folder = ModelFolder::tokens();
    let service = Service::at_with(service.stop().await, with_model(&folder)).await;
    let models =
        service.good(&path).await["dataset_enrichment_models"]["enrichment_models"].clone();
    assert_eq!(models["IMAGE_ENCODING"]["id"], "own-model", "{models}");
    assert_eq!(models["IMAGE_TAGGING"]["id"], "tessera-sidecar");
    assert_eq!(models["MULTIMODEL_IMAGE_ENCODING"], json!(null));
    let service = Service::at_with(service.stop().await, without_model()).await;
    let models =
        service.good(&path).await["dataset_enrichment_models"]["enrichment_models"].clone();
    assert_eq!(models.as_object().unwrap().len(), 2, "{models}");
}

/// Lines of one pixel, which are lost in a thumbnail.
#[tokio::test]
async fn a_model_with_a_large_input_sees_originals() {
    let lines = RgbImage::from_fn(384, 384, |x, _| Rgb(if x % 2 == 0 { RED } else { [0; 3] }));
    let lines = encoded(&lines, ImageFormat::Png);
    let row = json!({"file_name": "lines.png",
                     "objects": [{"label": "all", "bbox": [0.0, 0.0, 1.0, 1.0]}]});
    let files = [("lines.png", lines.clone()), ("metadata.jsonl", row.to_string().into_bytes())];
    for entity in ["IMAGES", "OBJECTS"] {
        let settings = with_model(&ModelFolder::brightest(384));
        let service = Service::at_with(Place::new(&files), settings).await;
        let query = format!("entity_type={entity}");
        let anchor = similarity::anchor(&service, &query, similarity::form(lines.clone())).await;
        let query = format!("anchor_type=UPLOAD&anchor_media_id={anchor}&{query}");
        let page = service.good(&service.explore(&query)).await;
        let score = page["clusters"][0]["relevance_score"].as_f64().unwrap();
        assert!(score < 0.02, "{entity}: {score}");
    }
}
