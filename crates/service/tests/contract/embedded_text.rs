//! The texts in picture files, beside sidecars.

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::json;
use tessera_service::DeploymentSettings;
use tessera_store::vectors;

use crate::{
    described::{found, set, vql},
    support::{Place, Service, encoded, picture},
};

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
