//! `GET /local/dataset/{id}/map`: similar media are near each other, and the same media are always at the same place.

use std::collections::BTreeMap;

use image::ImageFormat;
use serde_json::{Value, json};
use tessera_service::DeploymentSettings;
use tessera_store::search_table::SearchTableLimits;

use crate::{
    change::uploads,
    described::vql,
    support::{Place, Service, encoded, picture, pictures},
};

type Positions = BTreeMap<String, (i64, i64)>;

impl Service {
    async fn map(&self, query: &str) -> Value {
        self.good(&format!("/local/dataset/{}/map?entity_type=IMAGES{query}", self.dataset)).await
    }

    async fn positions(&self, query: &str) -> Positions {
        positions(&self.map(query).await)
    }
}

fn positions(map: &Value) -> Positions {
    let list = |key: &str| map[key].as_array().unwrap().clone();
    let place = list("x").into_iter().zip(list("y"));
    let place = place.map(|(x, y)| (x.as_i64().unwrap(), y.as_i64().unwrap()));
    let paths = list("paths").into_iter().map(|path| path.as_str().unwrap().to_owned());
    let found: Positions = paths.zip(place).collect();
    assert_eq!(found.len(), list("media_ids").len());
    found
}

/// The scenes of the sample dataset, of which several pictures are painted.
fn scenes() -> (Vec<(String, Vec<u8>)>, Vec<String>) {
    let plan = tessera_sample::plan(160, 5);
    let file = |number: usize| {
        let bytes = encoded(&tessera_sample::render(&plan[number]), ImageFormat::Png);
        (format!("{number:03}.png"), bytes)
    };
    let kind = |picture: &tessera_sample::SampleImage| format!("{:?}", picture.kind);
    ((0..plan.len()).map(file).collect(), plan.iter().map(kind).collect())
}

async fn served(files: &[(String, Vec<u8>)], search_tables: SearchTableLimits) -> Service {
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let place = Place::new(&files);
    let settings = DeploymentSettings { search_tables, ..DeploymentSettings::default() };
    let deployment = place.open_with(settings);
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    Service::serve(place, deployment, dataset, false).await
}

fn distance(one: (i64, i64), other: (i64, i64)) -> f64 {
    let side = |one: i64, other: i64| f64::from(i32::try_from(one - other).unwrap());
    side(one.0, other.0).hypot(side(one.1, other.1))
}

#[tokio::test]
async fn pictures_of_a_scene_are_near_each_other() {
    let (files, scenes) = scenes();
    let service = served(&files, SearchTableLimits::default()).await;
    let places: Vec<(i64, i64)> = service.positions("").await.into_values().collect();
    assert_eq!(places.len(), files.len());
    let (mut near, mut shared) = (0, 0);
    for (row, place) in places.iter().enumerate() {
        let mut others: Vec<usize> = (0..places.len()).filter(|other| *other != row).collect();
        others
            .sort_by(|a, b| distance(*place, places[*a]).total_cmp(&distance(*place, places[*b])));
        let is_same = |other: &&usize| scenes[**other] == scenes[row];
        near += others[..5].iter().filter(is_same).count();
        shared += others.iter().filter(is_same).count();
    }
    let count = places.len();
    assert!(10 * near > 7 * 5 * count, "of the nearest five of {count}, {near} are of the scene");
    // The share among the nearest ones is more than four times the one among all.
    assert!(near * (count - 1) > 4 * 5 * shared, "{near} near ones, and {shared} of all");
}

#[tokio::test]
async fn positions_are_the_same_after_a_rebuild_and_from_search_tables() {
    let (files, _) = scenes();
    let files = &files[..40];
    let first = served(files, SearchTableLimits::default()).await;
    let all = SearchTableLimits { min_media: 1, ..SearchTableLimits::default() };
    let second = served(files, all).await;
    let positions = first.positions("").await;
    assert_eq!(second.positions("").await, positions);
    let in_square = |side: &i64| (0..=10_000).contains(side);
    assert!(positions.values().all(|(x, y)| in_square(x) && in_square(y)), "{positions:?}");
}

#[tokio::test]
async fn a_search_has_the_positions_of_the_whole_map() {
    let service = Service::of_pictures().await;
    let all = service.positions("").await;
    let filter = vql(&json!([{"name": {"op": "one_of", "value": ["p003.png", "p007.png"]}}]));
    let map = service.map(&format!("&{filter}")).await;
    assert_eq!(map["media_count"], 2);
    let found = positions(&map);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["p003.png", "p007.png"]);
    assert!(found.iter().all(|(path, place)| all[path] == *place));
    let ids = map["media_ids"].as_array().unwrap();
    assert_eq!(ids[0], service.media("p003.png").await);
}

#[tokio::test]
async fn names_and_issues_are_listed_once() {
    let labels =
        [("a.png", r#""rare""#), ("b.png", r#""cat", "dog""#), ("c.png", r#""dog", "dog""#)];
    let mut files: Vec<(&str, Vec<u8>)> =
        (0..).map(picture).zip(labels).map(|(bytes, (name, _))| (name, bytes)).collect();
    let rows = labels
        .map(|(name, label)| format!("{{\"file_name\": \"{name}\", \"labels\": [{label}]}}\n"));
    files.push(("metadata.jsonl", rows.concat().into_bytes()));
    let service = Service::of(&files).await;
    let map = service.map("").await;
    assert_eq!(
        map["labels"],
        json!({"names": ["dog", "cat", "rare"], "values": [[2], [0, 1], [0]]}),
        "{map}"
    );
    assert_eq!(map["tags"], json!({"names": [], "values": [[], [], []]}));
    for issue in map["issues"].as_array().unwrap() {
        assert_eq!(issue["percents"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn a_single_picture_is_in_the_center_and_a_map_without_media_is_empty() {
    let service = Service::of(&pictures(1)).await;
    let map = service.map("").await;
    assert_eq!((&map["x"], &map["y"]), (&json!([5_000]), &json!([5_000])));
    let nothing = vql(&json!([{"name": {"op": "is", "value": "none.png"}}]));
    assert_eq!(service.map(&format!("&{nothing}")).await["paths"], json!([]));
    let objects = format!("/local/dataset/{}/map?entity_type=OBJECTS", service.dataset);
    let map = service.good(&objects).await;
    assert_eq!(
        (&map["media_count"], &map["x"], &map["issues"]),
        (&json!(0), &json!([]), &json!([]))
    );
}

#[tokio::test]
async fn added_media_are_beside_the_map() {
    let service = Service::of_pictures().await;
    let before = service.positions("").await;
    service.added(uploads(12..15)).await;
    let after = service.positions("").await;
    assert_eq!(after.len(), before.len() + 3);
    let widest = before.values().map(|(x, _)| *x).max().unwrap();
    for (path, (x, _)) in &after {
        assert_eq!(*x > widest, !before.contains_key(path), "{path}");
    }
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    assert!(service.positions("").await.values().all(|(x, _)| *x <= 10_000));
}
