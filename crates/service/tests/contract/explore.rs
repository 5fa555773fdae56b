//! `GET explore/{id}`: browsing, ranking by an image of the dataset, and the parameter `sort`, which shows the whole
//! result in an order of files. How pages divide a sorted result is tested beside the ranking.

use std::{cmp::Reverse, collections::BTreeSet};

use serde_json::{Value, json};
use tessera_store::{params, query};
use uuid::Uuid;

use crate::support::{Place, Service, assert_no_path, picture, pictures};

fn sizes(body: &Value) -> Vec<u64> {
    let clusters = body["clusters"].as_array().unwrap().iter();
    clusters.map(|cluster| cluster["n_images"].as_u64().unwrap()).collect()
}

fn anchor(body: &Value, file: &str) -> String {
    let clusters = body["clusters"].as_array().unwrap().iter();
    let previews = clusters.flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let preview = previews.into_iter().find(|preview| preview["file_name"] == file).unwrap();
    preview["media_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_cluster_has_the_documented_fields() {
    let service = Service::of_pictures().await;
    let body = service.good(&service.explore("")).await;
    assert_eq!(body["metadata"], json!({"used_duckdb": false}));
    let cluster = &body["clusters"][0];
    assert!(cluster["cluster_id"].is_string());
    assert_eq!(cluster["type"], "IMAGES");
    assert_eq!((&cluster["n_objects"], &cluster["n_videos"]), (&json!(0), &json!(0)));
    assert_eq!(cluster["similarity_threshold"], "2", "text by the document");
    for key in ["relevance_score", "relevance_score_type", "labels", "user_tags", "captions"] {
        assert_eq!(cluster[key], json!(null), "{key}");
    }
    let preview = &cluster["previews"][0];
    assert_eq!(preview["type"], "IMAGE");
    assert_eq!((&preview["width"], &preview["height"]), (&json!(96), &json!(64)));
    for key in ["caption", "bounding_box", "relevance_score", "relevance_score_type"] {
        assert_eq!(preview[key], json!(null), "{key}");
    }
    for key in ["media_uri", "media_thumb_uri"] {
        let uri = preview[key].as_str().unwrap();
        assert!(uri.starts_with(&service.url("/media/")), "{uri}");
    }
    assert_no_path(&body, &service.place);
}

#[tokio::test]
async fn clusters_are_sorted_by_size_and_contain_every_image_once() {
    let service = Service::of_pictures().await;
    for threshold in 0..5 {
        let body = service.good(&service.explore(&format!("threshold={threshold}"))).await;
        let sizes = sizes(&body);
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
        assert_eq!(sizes.iter().sum::<u64>(), 12);
    }
}

#[tokio::test]
async fn a_hundred_clusters_a_page_and_then_none() {
    let service = Service::of(&pictures(4)).await;
    let database = service.place.database();
    // The same clusters again with other ranks, until there are 204.
    let sql = "INSERT INTO cluster
               SELECT dataset, entity, level, rank + ?1, ?2, images, videos, frames, objects,
                      previews, labels, tags
               FROM cluster WHERE level = 0 AND rank = ?3";
    for n in 1..=50 {
        for rank in 0..4 {
            let params = params![n * 4, Uuid::new_v4(), rank];
            query::execute(&database, sql, params).unwrap();
        }
    }
    let rows = usize::try_from(service.place.count("cluster WHERE level = 0")).unwrap();
    let mut seen = 0;
    for page in 0..4_usize {
        let query = format!("threshold=0&page_number={page}");
        let count = sizes(&service.good(&service.explore(&query)).await).len();
        assert_eq!(count, (rows - seen).min(100), "page {page}");
        seen += count;
    }
    assert_eq!(seen, rows);
    let far = service.good(&service.explore("page_number=1000000000000")).await;
    assert_eq!(far["clusters"], json!([]));
}

#[tokio::test]
async fn ranking_by_an_image_of_the_dataset() {
    let service = Service::of_pictures().await;
    let media = anchor(&service.good(&service.explore("threshold=0")).await, "p002.png");
    let query = format!("anchor_media_id={media}&anchor_type=MEDIA&entity_type=IMAGES&threshold=0");
    let body = service.good(&service.explore(&query)).await;
    let mut best = Vec::new();
    for cluster in body["clusters"].as_array().unwrap() {
        assert_eq!(cluster["relevance_score_type"], "cosine_distance");
        let previews = cluster["previews"].as_array().unwrap();
        let scores: Vec<f64> =
            previews.iter().map(|preview| preview["relevance_score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted(), "{scores:?}");
        assert!(scores.len() <= 9);
        assert_eq!(cluster["relevance_score"].as_f64(), scores.first().copied());
        best.push(scores[0]);
    }
    assert!(best.is_sorted(), "{best:?}");
    let first = &body["clusters"][0];
    assert!(first["relevance_score"].as_f64().unwrap() < 0.001, "the image itself: {first}");
    let kind = |name: &Value| name.as_str().unwrap()[1..4].parse::<u32>().unwrap() % 4;
    assert_eq!(kind(&first["previews"][0]["file_name"]), 2, "its like come first");
    assert_eq!(sizes(&body).iter().sum::<u64>(), 12);
    let again = service.good(&service.explore(&query)).await;
    assert_eq!(again, body, "the kept ranking is the same");
}

#[tokio::test]
async fn an_anchor_needs_ready_and_browsing_does_not() {
    let service = Service::of_pictures().await;
    let media = anchor(&service.good(&service.explore("threshold=0")).await, "p002.png");
    let query = format!("anchor_media_id={media}&anchor_type=MEDIA&entity_type=IMAGES");
    for status in ["PARTIAL INDEX", "READ ONLY", "INDEXING", "ERROR"] {
        service.set_status(status);
        let (code, body) = service.json(&service.explore(&query)).await;
        assert_eq!(code, 409, "{status}");
        assert!(body["detail"].as_str().unwrap().contains(status), "{body}");
        assert_eq!(service.json(&service.explore("")).await.0, 200, "{status}");
    }
}

#[tokio::test]
async fn parameters_out_of_range_are_422_with_their_name() {
    let service = Service::of_pictures().await;
    let id = "00000000-0000-0000-0000-000000000000";
    for (query, name) in [
        ("threshold=5".to_owned(), "threshold"),
        ("threshold=-1".to_owned(), "threshold"),
        ("threshold=1.5".to_owned(), "threshold"),
        ("page_number=-1".to_owned(), "page_number"),
        ("page_number=x".to_owned(), "page_number"),
        ("entity_type=VIDEOS".to_owned(), "entity_type"),
        (format!("anchor_media_id={id}&entity_type=IMAGES"), "anchor_type"),
        (format!("anchor_media_id={id}&anchor_type=X&entity_type=IMAGES"), "anchor_type"),
        ("anchor_media_id=x&anchor_type=MEDIA&entity_type=IMAGES".to_owned(), "anchor_media_id"),
    ] {
        let (status, body) = service.json(&service.explore(&query)).await;
        assert_eq!(status, 422, "{query}: {body}");
        assert_eq!(body["detail"][0]["loc"], json!(["query", name]), "{query}");
        assert!(body["detail"][0]["msg"].is_string());
    }
    let bare =
        format!("/api/v1/explore/{}?anchor_media_id={id}&anchor_type=MEDIA", service.dataset);
    let (status, body) = service.json(&bare).await;
    assert_eq!((status.as_u16(), &body["detail"][0]["loc"][1]), (422, &json!("entity_type")));
    let query = format!("anchor_media_id={id}&anchor_type=MEDIA&entity_type=IMAGES");
    let (status, body) = service.json(&service.explore(&query)).await;
    assert_eq!((status.as_u16(), body), (404, json!({"detail": "Anchor not found"})));
}

#[tokio::test]
async fn a_dataset_without_boxes_has_no_objects() {
    let service = Service::of_pictures().await;
    let body = service.good(&service.explore("entity_type=OBJECTS")).await;
    assert_eq!(body["clusters"], json!([]));
}

#[tokio::test]
async fn browsing_during_the_first_indexing_shows_available_clusters() {
    let service = Service::at(Place::new(&pictures(6)), true).await;
    service.place.change(
        "DELETE FROM cluster; DELETE FROM place;
         UPDATE dataset SET status = 'INDEXING', progress = 40",
    );
    let body = service.good(&service.explore("")).await;
    assert_eq!(sizes(&body), [1; 6]);
    assert_eq!(service.good(&service.explore("page_number=1")).await["clusters"], json!([]));
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["status_new"], &record["progress"]), (&json!("INDEXING"), &json!(40)));
}

#[tokio::test]
async fn hostile_file_names_stay_text() {
    let name = "a\u{1b}[2J\r\nX: y\".png";
    let service = Service::of(&[(name, picture(1))]).await;
    let body = service.good(&service.explore("")).await;
    let preview = &body["clusters"][0]["previews"][0];
    assert_eq!(preview["file_name"], name);
    let response = service.client.get(preview["media_uri"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(!response.headers().contains_key("x"));
}

/// Returns the first file and the ID of each cluster.
async fn clusters(service: &Service, query: &str) -> Vec<(String, String)> {
    let body = service.good(&service.explore(&format!("threshold=0{query}"))).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let clusters = body["clusters"].as_array().unwrap().iter();
    clusters
        .map(|cluster| (text(&cluster["previews"][0]["file_name"]), text(&cluster["cluster_id"])))
        .collect()
}

#[tokio::test]
async fn a_sorted_result_has_the_same_clusters_in_both_directions() {
    let service = Service::of(&pictures(24)).await;
    let ids = |found: &[(String, String)]| -> BTreeSet<String> {
        found.iter().map(|(_, id)| id.clone()).collect()
    };
    let browsed = clusters(&service, "").await;
    for key in ["name", "path", "bytes", "date"] {
        let sorted = clusters(&service, &format!("&sort={key}")).await;
        assert_eq!((ids(&sorted), sorted.len()), (ids(&browsed), browsed.len()), "{key}");
        assert_eq!(sorted, clusters(&service, &format!("&sort={key}")).await, "{key} is stable");
        let reversed = clusters(&service, &format!("&sort=-{key}")).await;
        assert_eq!(ids(&reversed), ids(&browsed), "-{key}");
        if matches!(key, "name" | "path") {
            assert_eq!(sorted[0].0, "p000.png");
            assert!(sorted.is_sorted_by_key(|(name, _)| name), "{sorted:?}");
            assert_eq!(reversed[0].0, "p023.png");
            assert!(reversed.is_sorted_by_key(|(name, _)| Reverse(name)), "{reversed:?}");
        }
    }
    assert!(clusters(&service, "&sort=name&page_number=1").await.is_empty());
}

#[tokio::test]
async fn files_are_sorted_by_their_bytes() {
    let names = ["c.png", "a.png", "d.png", "b.png"];
    let files = (0..).zip(names).map(|(number, name)| {
        let mut bytes = picture(number);
        bytes.resize(20_000 + 1_000 * number as usize, 0);
        (name, bytes)
    });
    let service = Service::of(&files.collect::<Vec<_>>()).await;
    let names = async |query| -> Vec<String> {
        clusters(&service, query).await.into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names("&sort=bytes").await, ["c.png", "a.png", "d.png", "b.png"]);
    assert_eq!(names("&sort=-bytes").await, ["b.png", "d.png", "a.png", "c.png"]);
}

#[tokio::test]
async fn filters_and_an_order_apply_together() {
    let service = Service::of(&pictures(24)).await;
    let vql = r#"&sort=-name&vql=[{"path":{"op":"contains","value":"p01"}}]"#;
    let found = clusters(&service, vql).await;
    assert_eq!(found[0].0, "p019.png", "{found:?}");
    assert!(found.iter().all(|(name, _)| name.starts_with("p01")), "{found:?}");
}

#[tokio::test]
async fn an_unknown_order_is_refused_with_its_name() {
    let service = Service::of_pictures().await;
    for wrong in ["size", "--name", "Name", "name,date"] {
        let (status, body) = service.json(&service.explore(&format!("sort={wrong}"))).await;
        assert_eq!(status, 422, "{wrong}");
        assert!(body.to_string().contains("name, date, bytes or path"), "{body}");
    }
}
