//! A folder with sidecars for all kinds of text search, and helpers to query it.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{Value, json};
use tessera_service::DeploymentSettings;

use crate::support::{Place, Service, encoded, picture};

/// Ten images: six with captions, two equal, one black, one white; three of them contain four
/// objects.
pub fn place() -> Place {
    let door = |x: f64, y: f64| json!({"label": "door", "bbox": [x, y, 0.5, 0.5]});
    let mut scored_door = door(0.0, 0.0);
    scored_door["score"] = json!(0.75);
    let rows = [
        json!({"file_name": "wall.png", "caption": "A red wall by the sea.",
               "labels": ["wall", "sea"], "tags": ["keep"], "objects": [door(0.0, 0.0)],
               "Weather, today": "fog", "distance": 2.5, "count": 3, "night": false,
               "seen": "2024-05-17", "at": "2024-05-17T10:20:30.123456Z", "mixed": 1}),
        json!({"file_name": "doors.png", "caption": "Two red doors in an old wall.",
               "labels": ["door", "wall"], "tags": ["keep", "front"],
               "objects": [scored_door, door(0.5, 0.5)]}),
        json!({"file_name": "hills.png", "caption": "Green hills under fog.", "labels": ["hill"],
               "distance": -1, "count": -4, "night": true, "mixed": "one"}),
        json!({"file_name": "shore.png", "caption": "A green hill and a small boat.",
               "labels": ["hill", "boat"], "tags": ["keep"]}),
        json!({"file_name": "floor.png", "caption": "A checkered floor.", "labels": ["floor"]}),
        json!({"file_name": "night.png", "caption": "A boat on the sea at night.",
               "labels": ["boat", "sea"],
               "objects": [{"label": "boat", "bbox": [0.25, 0.25, 0.5, 0.5]}]}),
    ];
    let plain = |value| {
        let image = image::RgbImage::from_pixel(96, 64, image::Rgb([value; 3]));
        encoded(&image, image::ImageFormat::Png)
    };
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    Place::new(&[
        ("wall.png", picture(0)),
        ("doors.png", picture(4)),
        ("hills.png", picture(1)),
        ("shore.png", picture(5)),
        ("floor.png", picture(2)),
        ("night.png", picture(6)),
        ("twin.png", picture(3)),
        ("twin2.png", picture(3)),
        ("dark.png", plain(0)),
        ("bright.png", plain(255)),
        ("metadata.jsonl", lines.join("\n").into_bytes()),
    ])
}

/// All of its images.
pub const ALL: [&str; 10] = [
    "bright.png",
    "dark.png",
    "doors.png",
    "floor.png",
    "hills.png",
    "night.png",
    "shore.png",
    "twin.png",
    "twin2.png",
    "wall.png",
];

/// Serves it.
pub async fn served() -> Service {
    Service::at_with(place(), DeploymentSettings::default()).await
}

/// A text in a query.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        write!(escaped, "%{byte:02X}").unwrap();
    }
    escaped
}

/// The query of these filters.
pub fn vql(filters: &Value) -> String {
    format!("vql={}", escaped(&filters.to_string()))
}

/// The names that a query matches.
pub async fn found(service: &Service, query: &str) -> BTreeSet<String> {
    let names = service.names(query).await;
    let set: BTreeSet<String> = names.iter().cloned().collect();
    assert_eq!(set.len(), names.len(), "every media once: {names:?}");
    set
}

/// Names as a set.
pub fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The name and score of every preview, in order.
pub async fn scored(service: &Service, query: &str) -> Vec<(String, f64)> {
    let clusters = service.clusters(&format!("threshold=0&{query}")).await;
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let score = |preview: &Value| preview["relevance_score"].as_f64().unwrap();
    let name = |preview: &Value| preview["file_name"].as_str().unwrap().to_owned();
    previews.map(|preview| (name(preview), score(preview))).collect()
}

/// The relevance of all scores on a page.
pub async fn score_type(service: &Service, query: &str) -> Value {
    let clusters = service.clusters(query).await;
    let mut words = clusters.iter().flat_map(|cluster| {
        let previews = cluster["previews"].as_array().unwrap().iter();
        previews.chain([cluster]).map(|scored| scored["relevance_score_type"].clone())
    });
    let first = words.next().unwrap();
    assert!(words.all(|word| word == first));
    first
}

/// The position and message of an error, which must be a 422 about the query.
pub async fn refused(service: &Service, query: &str) -> (String, String) {
    let (status, body) = service.json(&service.explore(query)).await;
    assert_eq!(status, 422, "{query}: {body}");
    let item = &body["detail"][0];
    assert_eq!(item["loc"][0], "query", "{body}");
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    (word(&item["loc"][1]), word(&item["msg"]))
}
