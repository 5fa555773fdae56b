//! Captions and labels from `metadata.jsonl`, and the texts in picture files beside them.

use std::fs;

use image::{ImageFormat, Rgb, RgbImage};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Value, json};
use tessera_service::DeploymentSettings;
use tessera_store::vectors;

use crate::{
    described::{found, set, vql},
    export::{archive, content, names},
    support::{Place, Service, encoded, picture},
};

const SIDECAR: &str = "metadata.jsonl";

fn lines(rows: &[Value]) -> Vec<u8> {
    let lines = rows.iter().map(|row| format!("{row}\n"));
    lines.collect::<String>().into_bytes()
}

/// Three similar images and a different one; all but one have a caption.
fn place() -> Place {
    let rows = [
        json!({"file_name": "a.png", "caption": "A red wall.", "labels": ["wall", "red"]}),
        json!({"file_name": "sub/b.png", "caption": "A red door.", "labels": ["door", "red"],
               "objects": [{"label": "door", "bbox": [0.1, 0.1, 0.5, 0.5]}]}),
        json!({"file_name": "c.png", "caption": "A red gate.", "labels": ["gate", "red"]}),
    ];
    Place::new(&[
        ("a.png", picture(0)),
        ("sub/b.png", picture(4)),
        ("c.png", picture(8)),
        ("other.png", picture(2)),
        (SIDECAR, lines(&rows)),
    ])
}

async fn clusters(service: &Service, query: &str) -> Vec<Value> {
    let body = service.good(&service.explore(query)).await;
    body["clusters"].as_array().unwrap().clone()
}

/// The caption of every preview at the finest level, by file name.
async fn captions(service: &Service) -> Value {
    let clusters = clusters(service, "threshold=0").await;
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    previews
        .map(|preview| {
            let name = preview["file_name"].as_str().unwrap().to_owned();
            (name, preview["caption"].clone())
        })
        .collect()
}

fn skipped(service: &Service) -> Vec<(String, String)> {
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    skipped.iter().map(|skipped| (skipped.file.to_string(), skipped.reason.to_string())).collect()
}

async fn reopened(service: &Service) {
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
}

/// The only file in the archive of an export.
async fn metadata(service: &Service, format: &str) -> Vec<u8> {
    let (_, mut zip) = archive(service, &format!("file_name=a&export_format={format}")).await;
    let [name] = names(&zip).try_into().unwrap();
    content(&mut zip, &name)
}

#[tokio::test]
async fn labels_match_in_both_forms_of_unicode() {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
    let rows = [json!({"file_name": "a.png", "labels": [decomposed]})];
    let place = Place::new(&[("a.png", picture(0)), (SIDECAR, lines(&rows))]);
    let service = Service::at(place, true).await;
    for typed in [composed, decomposed] {
        let query = vql(&json!([{"labels": {"op": "one_of", "value": [typed]}}]));
        let found = clusters(&service, &query).await;
        assert_eq!(found.len(), 1, "{typed}");
        assert_eq!(found[0]["labels"], json!([composed]));
    }
}

#[tokio::test]
async fn clusters_and_previews_have_labels_and_captions() {
    let service = Service::at(place(), true).await;
    let expected = json!({"a.png": "A red wall.", "b.png": "A red door.", "c.png": "A red gate.",
                          "other.png": null});
    assert_eq!(captions(&service).await, expected);
    let all = clusters(&service, "threshold=4").await;
    let red = &all[0];
    assert_eq!(red["n_images"], 3, "{red}");
    assert_eq!(red["labels"], json!(["red", "door", "gate", "wall"]));
    assert_eq!(red["captions"], json!([red["previews"][0]["caption"]]));
    let other = &all[1];
    assert_eq!((&other["labels"], &other["captions"]), (&json!(null), &json!(null)));
    assert_eq!(skipped(&service), []);
}

#[tokio::test]
async fn ranked_previews_have_captions() {
    let service = Service::at(place(), true).await;
    let all = clusters(&service, "threshold=4").await;
    let nearest = &all[0]["previews"][2];
    let media = nearest["media_id"].as_str().unwrap();
    let query = format!("anchor_media_id={media}&anchor_type=MEDIA&entity_type=IMAGES&threshold=4");
    let red = &clusters(&service, &query).await[0];
    assert_eq!(red["previews"][0]["caption"], nearest["caption"]);
    assert_eq!(red["captions"], json!([nearest["caption"]]));
    assert_eq!(red["labels"], all[0]["labels"]);
}

#[tokio::test]
async fn exports_contain_captions_and_labels() {
    let service = Service::at(place(), true).await;
    let document: Value = serde_json::from_slice(&metadata(&service, "json").await).unwrap();
    let items = |file: &str| -> Vec<Value> {
        let all = document["media_items"].as_array().unwrap();
        let item = all.iter().find(|item| item["file_name"] == file).unwrap();
        let items = item["metadata_items"].as_array().unwrap().iter();
        let reported = |item: &&Value| item["type"] != "issue" && item["type"] != "object_label";
        items.filter(reported).cloned().collect()
    };
    let label = |name: &str| json!({"type": "image_label", "properties": {"original_id": -1, "category_name": name, "source": "User"}});
    let caption = json!({"type": "caption", "properties": {"caption": "A red door."}});
    assert_eq!(items("b.png"), [label("door"), label("red"), caption]);
    assert!(items("other.png").is_empty());
}

#[tokio::test]
async fn parquet_has_columns_of_caption_and_labels() {
    let service = Service::at(place(), true).await;
    let bytes = bytes::Bytes::from(metadata(&service, "parquet").await);
    let reader = SerializedFileReader::new(bytes).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let rows: Vec<Value> = rows.map(|row| row.unwrap().to_json_value()).collect();
    let columns =
        |row: usize| ["file_path", "caption", "labels"].map(|name| rows[row][name].clone());
    assert_eq!(columns(0), [json!("a.png"), json!("A red wall."), json!(["wall", "red"])]);
    assert_eq!(columns(2), [json!("other.png"), json!(null), json!([])]);
}

#[tokio::test]
async fn invalid_rows_are_reported_and_the_others_used() {
    let place = place();
    let rows = [
        json!({"file_name": "a.png", "caption": "A red wall."}),
        json!({"caption": "of nothing"}),
        json!({"file_name": "c.png", "labels": [{}]}),
        // The name leads outside, but fits one file of the folder, whose caption this row extends.
        json!({"file_name": "../a.png", "caption": "outside"}),
    ];
    place.put(SIDECAR, &lines(&rows));
    let service = Service::at(place, true).await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(4)));
    let reason = "line 2: it has no file_name; line 3: its labels are not a list of strings";
    assert_eq!(skipped(&service), [(SIDECAR.into(), reason.into())]);
    let shown = captions(&service).await;
    assert_eq!((&shown["a.png"], &shown["c.png"]), (&json!("A red wall. outside"), &json!(null)));
}

#[tokio::test]
async fn a_changed_sidecar_is_read_again_and_no_picture_is() {
    let service = Service::at(place(), true).await;
    // Extracting the image again would overwrite this value.
    let marked = "media WHERE sharpness = 4242.0";
    let mark = "UPDATE media SET sharpness = 4242.0";
    service.place.change(mark);

    let row = json!({"file_name": "c.png", "caption": "An old gate.", "labels": ["old"]});
    service.place.put(SIDECAR, &lines(&[row]));
    reopened(&service).await;
    let expected =
        json!({"a.png": null, "b.png": null, "c.png": "An old gate.", "other.png": null});
    assert_eq!(captions(&service).await, expected);
    let red = &clusters(&service, "threshold=4").await[0];
    // The image in `sub` has no label except its folder.
    assert_eq!(red["labels"], json!(["old", "sub"]));
    assert_eq!(service.place.count(marked), 4);

    fs::remove_file(service.place.picture(SIDECAR)).unwrap();
    reopened(&service).await;
    assert_eq!(captions(&service).await["c.png"], json!(null));
    assert_eq!(service.place.count(marked), 4);
}

#[tokio::test]
async fn a_new_picture_gets_its_caption_from_an_unchanged_sidecar() {
    let place = place();
    fs::remove_file(place.picture("c.png")).unwrap();
    let service = Service::at(place, true).await;
    let reason = "line 3: its file_name is not in the folder";
    assert_eq!(skipped(&service), [(SIDECAR.into(), reason.into())]);
    service.place.put("c.png", &picture(8));
    reopened(&service).await;
    assert_eq!(captions(&service).await["c.png"], json!("A red gate."));
    assert_eq!(skipped(&service), []);
}

#[tokio::test]
async fn a_folder_with_captions_is_ready_immediately() {
    let place = Service::at(place(), true).await.stop().await;
    let deployment = place.open();
    place.add(&deployment);
    assert_eq!(place.count("dataset WHERE status = 'READY'"), 1);
}

const PACKET: &str = r#"<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/"><rdf:Description xmp:CreateDate="2023-12-31T23:59:59">
<dc:description><rdf:Alt><rdf:li>Two boats at noon</rdf:li></rdf:Alt></dc:description>
<dc:subject><rdf:Bag><rdf:li>boat</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>"#;

/// A JPEG of one color with XMP.
fn described_jpeg(color: [u8; 3]) -> Vec<u8> {
    let jpeg = encoded(&RgbImage::from_pixel(96, 64, Rgb(color)), ImageFormat::Jpeg);
    let body = [b"http://ns.adobe.com/xap/1.0/\0", PACKET.as_bytes()].concat();
    let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], &[0xFF, 0xE1], &length, &body, &jpeg[2..]].concat()
}

fn labeled(label: &str) -> String {
    vql(&json!([{"labels": {"op": "one_of", "value": [label]}}]))
}

fn captioned(word: &str) -> String {
    vql(&json!([{"text": {"op": "fts", "value": word}}]))
}

#[tokio::test]
async fn a_sidecar_wins_over_the_caption_in_a_picture_until_it_is_removed() {
    let place = Place::new(&[
        ("a.jpg", described_jpeg([200, 30, 30])),
        ("b.jpg", described_jpeg([30, 30, 200])),
        ("b.txt", b"A blue wall".to_vec()),
        ("c.png", picture(1)),
    ]);
    let service = Service::at_with(place, DeploymentSettings::default()).await;
    assert_eq!(found(&service, &captioned("boats")).await, set(&["a.jpg"]));
    assert_eq!(found(&service, &captioned("wall")).await, set(&["b.jpg"]));
    for label in ["boat", "year:2023", "date:2023-12-31"] {
        assert_eq!(found(&service, &labeled(label)).await, set(&["a.jpg", "b.jpg"]), "{label}");
    }

    std::fs::remove_file(service.place.picture("b.txt")).unwrap();
    service.place.put("c.png", &described_jpeg([30, 200, 30]));
    let service = Service::at_with(service.stop().await, DeploymentSettings::default()).await;
    assert_eq!(found(&service, &captioned("boats")).await, set(&["a.jpg", "b.jpg", "c.png"]));
    assert!(found(&service, &captioned("wall")).await.is_empty());

    service.place.put("c.png", &picture(1));
    let service = Service::at_with(service.stop().await, DeploymentSettings::default()).await;
    assert_eq!(found(&service, &labeled("year:2023")).await, set(&["a.jpg", "b.jpg"]));
}

#[tokio::test]
async fn clusters_name_what_is_shown_before_the_date() {
    let place = Place::new(&[
        ("a.jpg", described_jpeg([200, 30, 30])),
        ("b.jpg", described_jpeg([30, 30, 200])),
    ]);
    let service = Service::at_with(place, DeploymentSettings::default()).await;
    for cluster in service.clusters("threshold=0").await {
        assert_eq!(cluster["labels"], json!(["boat", "date:2023-12-31", "year:2023"]));
    }
}

/// Caption search compares with captions and labels.
#[tokio::test]
async fn metadata_labels_are_not_compared_with_captions() {
    let dated = described_jpeg([200, 30, 30]);
    let place = Place::new(&[("a.jpg", dated), ("b.jpg", described_jpeg([30, 30, 200]))]);
    let service = Service::at_with(place, DeploymentSettings::default()).await;
    let texts = vectors::texts(&service.place.database(), service.dataset, None).unwrap();
    assert!(texts.iter().all(|(_, text)| text == "Two boats at noon boat"), "{texts:?}");
}
