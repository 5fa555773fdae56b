//! The parameter `sort` of `explore`: the whole result in an order of files. How pages divide it is tested beside the
//! ranking.

use std::{cmp::Reverse, collections::BTreeSet};

use serde_json::Value;

use crate::support::{Service, picture, pictures};

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
