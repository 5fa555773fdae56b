//! Two datasets in one deployment: identifiers of one are unknown to the other.

use std::collections::BTreeSet;

use reqwest::{
    StatusCode,
    multipart::{Form, Part},
};
use serde_json::{Value, json};
use tessera_model::DatasetId;

use crate::{
    change::{plain, uploads},
    described::vql,
    support::{Place, Service, answer, picture},
};

/// Serves two datasets of two images each; the second is the other one.
async fn two() -> (Service, DatasetId) {
    let place = Place::new(&[
        ("one/a.png", picture(0)),
        ("one/b.png", picture(1)),
        ("two/c.png", picture(2)),
        ("two/d.png", picture(3)),
    ]);
    let deployment = place.open();
    let one = deployment.add_folder(&place.picture("one"), None).unwrap();
    let two = deployment.add_folder(&place.picture("two"), None).unwrap();
    deployment.wait_until_idle().await;
    (Service::serve(place, deployment, one, true).await, two)
}

async fn explored(service: &Service, dataset: DatasetId, query: &str) -> (StatusCode, Value) {
    service.json(&format!("/api/v1/explore/{dataset}?entity_type=IMAGES&{query}")).await
}

fn names(page: &Value) -> BTreeSet<&str> {
    let clusters = page["clusters"].as_array().unwrap().iter();
    let previews = clusters.flat_map(|cluster| cluster["previews"].as_array().unwrap());
    previews.map(|preview| preview["file_name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_dataset_shows_its_own() {
    let (service, other) = two().await;
    let list = service.good("/api/v1/datasets").await;
    let named = |name: &str| list.as_array().unwrap().iter().any(|d| d["display_name"] == name);
    assert!(list.as_array().unwrap().len() == 2 && named("one") && named("two"), "{list}");
    let (_, first) = explored(&service, service.dataset, "threshold=0").await;
    let (_, second) = explored(&service, other, "threshold=0").await;
    assert_eq!(names(&first), ["a.png", "b.png"].into());
    assert_eq!(names(&second), ["c.png", "d.png"].into());
    assert_eq!(service.add(uploads(12..13)).await.0, 202);
    let add =
        service.post(&format!("/api/v1/dataset/{other}/add_media")).multipart(uploads(12..13));
    assert_eq!(plain(add).await.0, 202, "one task runs on each dataset, not on all");
    service.deployment.wait_until_idle().await;
    for dataset in [service.dataset, other] {
        let record = service.good(&format!("/api/v1/dataset/{dataset}")).await;
        assert_eq!(record["n_images"], 3, "{record}");
    }
}

#[tokio::test]
async fn identifiers_of_another_dataset_are_404() {
    let (service, other) = two().await;
    let (_, theirs) = explored(&service, other, "threshold=0").await;
    let cluster = theirs["clusters"][0]["cluster_id"].as_str().unwrap();
    let media = theirs["clusters"][0]["previews"][0]["media_id"].as_str().unwrap();
    let form = Form::new().part("file", Part::bytes(picture(1)).file_name("a.png"));
    let path = format!("/api/v1/dataset/{other}/search-image-similarity?entity_type=IMAGES");
    let (status, anchor) = answer(service.post(&path).multipart(form)).await;
    assert_eq!(status, 200, "{anchor}");
    let upload = anchor["anchor_media_id"].as_str().unwrap();
    for query in [
        format!("anchor_media_id={media}&anchor_type=MEDIA"),
        format!("anchor_media_id={upload}&anchor_type=UPLOAD"),
        format!("anchor_media_id={upload}&anchor_type=MEDIA"),
        vql(&json!([{"similarity": {"op": "media", "value": media}}])),
        vql(&json!([{"similarity": {"op": "upload", "value": upload}}])),
    ] {
        let (status, body) = explored(&service, service.dataset, &query).await;
        assert_eq!(
            (status.as_u16(), &body["detail"]),
            (404, &json!("Anchor not found")),
            "{query}"
        );
    }
    let start = |id: DatasetId, more: &str| {
        format!("/api/v1/dataset/{id}/export_context_async?file_name=a&export_format=json{more}")
    };
    let task = service.good(&start(other, "")).await;
    let task = task["id"].as_str().unwrap();
    let status = format!("/export_status?export_task_id={task}");
    assert_eq!(service.json(&service.of_dataset(&status)).await.0, 404);
    service.good(&format!("/api/v1/dataset/{other}{status}")).await;
    let narrowed = start(service.dataset, &format!("&cluster_id={cluster}"));
    assert_eq!(service.json(&narrowed).await.0, 404);
    for item in [
        json!({"type": "media", "payload": {"media_ids": [media]}}),
        json!({"type": "cluster", "payload": {"cluster_id": cluster,
               "cluster_filters": {"entity_type": "IMAGES"}, "exclude_media_ids": []}}),
    ] {
        let path = service.of_dataset("/export_entities_async?export_format=json");
        let request = service.post(&path).json(&json!({ "media_selection": [item] }));
        assert_eq!(answer(request).await.0, 404, "{item}");
    }
    service.deployment.wait_until_idle().await;
    assert_eq!(service.place.count("export"), 1);
}

#[tokio::test]
async fn bodies_over_the_default_limit_are_accepted() {
    let service = Service::of_pictures().await;
    let image = image::RgbImage::from_pixel(1_200, 1_000, image::Rgb([9, 99, 199]));
    let large = crate::support::encoded(&image, image::ImageFormat::Bmp);
    assert!(large.len() > 3 << 20);
    let form = Form::new().part("files", Part::bytes(large).file_name("large.bmp"));
    service.added(form).await;
    assert_eq!(service.record().await["n_images"], 13);
    service.set_status("READY");
    let media = service.media("p000.png").await;
    let path = service.of_dataset("/export_entities_async?export_format=json");
    let many = json!({"media_selection": [{"type": "media",
        "payload": {"media_ids": vec![media; 80_000]}}]});
    let (status, task) = answer(service.post(&path).json(&many)).await;
    assert_eq!((status.as_u16(), &task["entities_count"]), (200, &json!(1)), "3 MB, one media");
}
