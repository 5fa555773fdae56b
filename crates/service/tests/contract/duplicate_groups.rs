//! The clusters of a search for duplicates are the groups of near-duplicates, whatever the clusters of a granularity
//! are.

use std::collections::BTreeSet;

use image::{ImageFormat, imageops};
use reqwest::{
    StatusCode,
    multipart::{Form, Part},
};
use serde_json::{Value, json};

use tessera_service::{DeploymentSettings, ServerOptions};
use tessera_store::search_table::SearchTableLimits;

use crate::{
    described::vql,
    export::{archive, metadata},
    selection::exported,
    support::{Place, Service, encoded},
};

const PICTURES: usize = 12;

/// A picture that is unlike the others, a copy with the same pixels, and one of three quarters of its size.
fn family(number: usize) -> [(String, Vec<u8>); 3] {
    let original = tessera_sample::render(&tessera_sample::plan(64, 11)[number]);
    let (width, height) = original.dimensions();
    let filter = imageops::FilterType::Triangle;
    let smaller = imageops::resize(&original, width * 3 / 4, height * 3 / 4, filter);
    [
        (format!("{number:02}-original.png"), encoded(&original, ImageFormat::Png)),
        (format!("{number:02}-recompressed.bmp"), encoded(&original, ImageFormat::Bmp)),
        (format!("{number:02}-smaller.png"), encoded(&smaller, ImageFormat::Png)),
    ]
}

/// Serves the families. Only a service for other clients, too, returns the members of a cluster.
async fn served(compat: bool) -> Service {
    served_with(compat, SearchTableLimits::default()).await
}

/// Serves the families from memory, and from search tables if the store can have them.
async fn each_served() -> Vec<Service> {
    let all = SearchTableLimits { min_media: 1, ..SearchTableLimits::default() };
    vec![served(true).await, served_with(true, all).await]
}

async fn served_with(compat: bool, search_tables: SearchTableLimits) -> Service {
    let files: Vec<(String, Vec<u8>)> = (0..PICTURES).flat_map(family).collect();
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let place = Place::new(&files);
    let settings = DeploymentSettings { search_tables, ..DeploymentSettings::default() };
    let deployment = place.open_with(settings);
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let options = |access| ServerOptions { compat, ..ServerOptions::from(access) };
    Service::serve_as(place, deployment, dataset, false, options).await
}

fn duplicates(similarity: f64) -> String {
    vql(&json!([{"duplicates": {"op": "duplicates", "value": similarity}}]))
}

fn names(cluster: &Value) -> BTreeSet<String> {
    let name = |preview: &Value| preview["file_name"].as_str().unwrap().to_owned();
    cluster["previews"].as_array().unwrap().iter().map(name).collect()
}

fn names_of_family(number: usize) -> BTreeSet<String> {
    family(number).map(|(name, _)| name).into()
}

fn id(cluster: &Value) -> &str {
    cluster["cluster_id"].as_str().unwrap()
}

async fn members(service: &Service, cluster: &str, query: &str) -> (StatusCode, Value) {
    let path = format!("/explore/{}/similarity_cluster/{cluster}?{query}", service.dataset);
    service.json(&format!("/api/v1{path}")).await
}

#[tokio::test]
async fn each_group_is_a_cluster_at_every_granularity() {
    let service = served(true).await;
    let coarse = service.clusters("entity_type=IMAGES&threshold=4").await;
    assert!(coarse.len() < PICTURES, "the families are together in {} clusters", coarse.len());
    for (similarity, level) in [(0.9, 0), (0.9, 2), (0.9, 4), (0.95, 2)] {
        let query = format!("entity_type=IMAGES&threshold={level}&{}", duplicates(similarity));
        let groups = service.clusters(&query).await;
        let found: BTreeSet<BTreeSet<String>> = groups.iter().map(names).collect();
        assert_eq!(found, (0..PICTURES).map(names_of_family).collect(), "{query}");
        assert_eq!(groups.len(), PICTURES);
        assert!(groups.iter().all(|group| group["n_images"] == 3), "{groups:?}");
    }
}

#[tokio::test]
async fn a_group_is_opened_by_its_id() {
    for service in each_served().await {
        let search = format!("entity_type=IMAGES&{}", duplicates(0.9));
        let groups = service.clusters(&search).await;
        for group in &groups {
            // A group needs no filter to be found.
            for query in [search.as_str(), "entity_type=IMAGES"] {
                let (status, page) = members(&service, id(group), query).await;
                assert_eq!(status, StatusCode::OK, "{page}");
                assert_eq!((id(&page), names(&page)), (id(group), names(group)));
                assert_eq!(page["n_images"], 3);
            }
        }
        let objects = members(&service, id(&groups[0]), "entity_type=OBJECTS").await;
        assert_eq!(objects.0, StatusCode::NOT_FOUND);
        // No group begins with this media item, because it is the last one of its group.
        let mut unknown = service.media("00-smaller.png").await;
        unknown.replace_range(14..15, "8");
        unknown.replace_range(28.., &id(&groups[0])[28..]);
        assert_eq!(members(&service, &unknown, &search).await.0, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn groups_are_exported() {
    let service = served(false).await;
    let search = format!("entity_type=IMAGES&{}", duplicates(0.9));
    let groups = service.clusters(&search).await;
    for group in groups.iter().take(3) {
        let mut expected = names(group);
        let excluded = service.media(&expected.pop_first().unwrap()).await;
        let selected = json!([{"type": "cluster", "payload": {"cluster_id": id(group),
            "cluster_filters": {"entity_type": "IMAGES"}, "exclude_media_ids": [excluded]}}]);
        assert_eq!(exported(&service, selected).await, expected);
    }
    let (_, mut zip) =
        archive(&service, &format!("file_name=groups&export_format=json&{search}")).await;
    let document = metadata(&mut zip);
    for group in &groups {
        let rows = document["media_items"].as_array().unwrap().iter();
        let of_group = rows.filter(|row| row["cluster_id"] == id(group));
        let found: BTreeSet<String> =
            of_group.map(|row| row["file_name"].as_str().unwrap().to_owned()).collect();
        assert_eq!(found, names(group));
    }
}

#[tokio::test]
async fn the_issue_of_an_exported_duplicate_names_its_group() {
    let service = served(false).await;
    let (_, mut zip) = archive(&service, "file_name=groups&export_format=json").await;
    let document = metadata(&mut zip);
    // An issue counts from a confidence of 0.5.
    let search = format!("entity_type=IMAGES&{}", duplicates(0.5));
    for group in service.clusters(&search).await {
        for name in names(&group) {
            let mut rows = document["media_items"].as_array().unwrap().iter();
            let row = rows.find(|row| row["file_name"] == name.as_str()).unwrap();
            let mut items = row["metadata_items"].as_array().unwrap().iter();
            let of_duplicates = |item: &&Value| item["properties"]["issue_type"] == "duplicates";
            let issue = items.find(of_duplicates).unwrap();
            assert_eq!(issue["properties"]["duplicate_group_id"], id(&group), "{name}");
        }
    }
}

#[tokio::test]
async fn the_filters_of_a_search_limit_the_members_of_a_group() {
    let service = served(true).await;
    let smaller = json!([{"duplicates": {"op": "duplicates", "value": 0.9}},
                         {"name": {"op": "is", "value": "*-smaller.png"}}]);
    let groups = service.clusters(&format!("entity_type=IMAGES&{}", vql(&smaller))).await;
    assert_eq!(groups.len(), PICTURES);
    for group in groups {
        let all = members(&service, id(&group), "entity_type=IMAGES").await.1;
        assert_eq!((names(&group).len(), names(&all).len()), (1, 3));
    }
}

#[tokio::test]
async fn groups_of_added_media_follow_those_of_the_dataset() {
    for service in each_served().await {
        let form = [family(PICTURES), family(PICTURES + 1)].concat().into_iter();
        let form = form.fold(Form::new(), |form, (name, bytes)| {
            form.part("files", Part::bytes(bytes).file_name(name))
        });
        service.added(form).await;
        let search = format!("entity_type=IMAGES&{}", duplicates(0.9));
        let groups = service.clusters(&search).await;
        let found: BTreeSet<BTreeSet<String>> = groups.iter().map(names).collect();
        assert_eq!(found, (0..PICTURES + 2).map(names_of_family).collect());
        for group in &groups {
            assert_eq!(names(&members(&service, id(group), &search).await.1), names(group));
        }
    }
}
