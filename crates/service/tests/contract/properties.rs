//! Filters by what files are, and by columns of the user's own, compared with brute force over generated media. On a
//! server with pgvector, the search tables must give the same results as the index files.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    time::{Duration, SystemTime},
};

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use tessera_service::DeploymentSettings;
use tessera_store::search_table::SearchTableLimits;
use time::OffsetDateTime;

use crate::{
    described::{found, refused, set, vql},
    export::{archive, content},
    support::{Place, Service, answer, encoded, picture},
};

const FOLDERS: [&str; 5] = ["train/cat/", "train/dog/", "val/cat/", "odd [1]/", ""];
const WEATHER: [&str; 3] = ["sun", "rain", "heavy rain"];
/// 2024-03-01, in Unix seconds.
const MARCH: u64 = 1_709_251_200;
const DAY: u64 = 86_400;

/// A generated picture with the values of its columns.
#[derive(Clone, Debug)]
struct Item {
    path: String,
    name: String,
    format: &'static str,
    width: u32,
    height: u32,
    size: u64,
    /// Days since 2024-03-01.
    day: u64,
    weather: Option<&'static str>,
    distance: Option<f64>,
    is_night: Option<bool>,
}

fn items() -> Vec<(Item, Vec<u8>)> {
    (0..30_u32)
        .map(|n| {
            let (extension, format, encoding) = match n % 3 {
                0 => ("png", "png", ImageFormat::Png),
                1 => ("JPG", "jpeg", ImageFormat::Jpeg),
                _ => ("jpeg", "jpeg", ImageFormat::Jpeg),
            };
            let (width, height) = (64 + 8 * (n % 7), 48 + 12 * (n % 4));
            let shade = |value: u32| u8::try_from(value % 256).unwrap();
            let image = RgbImage::from_fn(width, height, |x, y| {
                Rgb([shade(x * (n + 1) * 3), shade(y * (n + 5)), shade((x ^ y) * (n + 2))])
            });
            let bytes = encoded(&image, encoding);
            let folder = FOLDERS[n as usize % FOLDERS.len()];
            let name = if n % 6 == 0 {
                format!("x_{n}.{extension}")
            } else {
                format!("IMG {n:02}.{extension}")
            };
            let item = Item {
                path: format!("{folder}{name}"),
                name,
                format,
                width,
                height,
                size: bytes.len() as u64,
                day: u64::from(n),
                weather: (n % 4 != 0).then_some(WEATHER[n as usize % 3]),
                distance: (n % 5 != 0).then_some(f64::from(n) / 4.0 - 2.0),
                is_night: (n % 2 == 0).then_some(n % 4 == 0),
            };
            (item, bytes)
        })
        .collect()
}

fn place(items: &[(Item, Vec<u8>)]) -> Place {
    let rows = items.iter().map(|(item, _)| {
        let mut row = json!({
            "file_name": item.path, "weather": item.weather, "distance": item.distance,
            "is night": item.is_night, "width": 1, "nested": {"not": "kept"},
        });
        if item.day % 2 == 1 {
            row["seen"] = format!("2024-03-{:02}", item.day % 30 + 1).into();
        }
        row.to_string()
    });
    let rows: Vec<String> = rows.collect();
    let place = Place::new(&[("metadata.jsonl", rows.join("\n").into_bytes())]);
    for (item, bytes) in items {
        place.put(&item.path, bytes);
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(MARCH + DAY * item.day + 60);
        File::options()
            .write(true)
            .open(place.picture(&item.path))
            .unwrap()
            .set_modified(modified)
            .unwrap();
    }
    place
}

type Expected = fn(&Item) -> bool;

/// Filters, and which items match them.
fn cases() -> Vec<(Value, Expected)> {
    let file = |key: &str, op: &str, value: Value| json!({key: {"op": op, "value": value}});
    let column = |name: &str, op: &str, value: Value| json!({"column": {"name": name, "op": op, "value": value}});
    vec![
        (file("path", "is", json!("train")), |it| it.path.starts_with("train/")),
        (file("path", "is", json!("train/cat/")), |it| it.path.starts_with("train/cat/")),
        (file("path", "is", json!("tra")), |_| false),
        (file("path", "is", json!("*/cat")), |it| it.path.contains("/cat/")),
        (file("path", "is", json!("**/x_*")), |it| it.name.starts_with("x_")),
        (file("path", "is", json!("x_*")), |it| it.path.starts_with("x_")),
        (file("path", "is", json!("odd \\[1]")), |it| it.path.starts_with("odd")),
        (file("path", "is", json!("{train,val}/*/*.{png,JPG}")), |it| {
            it.path.matches('/').count() == 2 && !it.name.ends_with("jpeg")
        }),
        (file("path", "is_not", json!("train")), |it| !it.path.starts_with("train/")),
        (file("path", "one_of", json!(["train/dog", "val"])), |it| {
            it.path.starts_with("train/dog/") || it.path.starts_with("val/")
        }),
        (file("path", "not_one_of", json!(["train/dog", "val"])), |it| {
            !it.path.starts_with("train/dog/") && !it.path.starts_with("val/")
        }),
        (file("path", "contains", json!("Cat/img")), |it| it.path.contains("cat/IMG")),
        (file("name", "is", json!("IMG 0[0-4].*")), |it| {
            it.name.starts_with("IMG 0") && it.name.as_bytes()[5] <= b'4'
        }),
        (file("name", "is", json!("IMG 0[!0-4].*")), |it| {
            it.name.starts_with("IMG 0") && it.name.as_bytes()[5] > b'4'
        }),
        (file("name", "not_one_of", json!(["x_*", "*.png"])), |it| {
            !it.name.starts_with("x_") && it.format != "png"
        }),
        (file("name", "contains", json!("_1")), |it| it.name.contains("_1")),
        (file("size", "at_least", json!(3_000)), |it| it.size >= 3_000),
        (file("size", "at_most", json!(3_000)), |it| it.size <= 3_000),
        (file("width", "is", json!(72)), |it| it.width == 72),
        (file("width", "not_one_of", json!([72, 80])), |it| it.width != 72 && it.width != 80),
        (file("height", "at_most", json!(60)), |it| it.height <= 60),
        (file("aspect", "at_least", json!(1.5)), |it| {
            f64::from(it.width) / f64::from(it.height) >= 1.5
        }),
        (file("format", "is", json!("jpg")), |it| it.format == "jpeg"),
        (file("format", "is_not", json!("JPEG")), |it| it.format != "jpeg"),
        (file("format", "one_of", json!(["png", "webp"])), |it| it.format == "png"),
        (file("date", "is", json!("2024-03-05")), |it| it.day == 4),
        (file("date", "is", json!("2024-03")), |it| it.day < 31),
        (file("date", "is_not", json!("2024")), |_| false),
        (file("date", "at_least", json!("2024-03-05T00:01:00Z")), |it| it.day >= 4),
        (file("date", "at_least", json!("2024-03-05 00:01:01")), |it| it.day >= 5),
        (file("date", "at_most", json!("2024-03-05")), |it| it.day <= 4),
        (column("weather", "is", json!("rain")), |it| it.weather == Some("rain")),
        (column("weather", "is_not", json!("rain")), |it| it.weather != Some("rain")),
        (column("weather", "one_of", json!(["sun", "rain"])), |it| {
            it.weather.is_some_and(|weather| weather != "heavy rain")
        }),
        (column("weather", "not_one_of", json!(["sun", "rain"])), |it| {
            it.weather.is_none_or(|weather| weather == "heavy rain")
        }),
        (column("weather", "contains", json!("rain")), |it| {
            it.weather.is_some_and(|weather| weather.contains("rain"))
        }),
        (column("weather", "at_least", json!(1)), |_| false),
        (column("distance", "is", json!(0.25)), |it| it.distance == Some(0.25)),
        (column("distance", "at_least", json!(-1)), |it| it.distance.is_some_and(|it| it >= -1.0)),
        (column("distance", "at_most", json!(1.5)), |it| it.distance.is_some_and(|it| it <= 1.5)),
        (column("distance", "is_not", json!("sun")), |_| true),
        (column("is night", "is", json!(true)), |it| it.is_night == Some(true)),
        (column("is night", "is_not", json!(true)), |it| it.is_night != Some(true)),
        (column("seen", "is", json!("2024-03-04")), |it| it.day == 3),
        (column("seen", "at_least", json!("2024-03-04")), |it| it.day % 2 == 1 && it.day >= 3),
        (column("seen", "contains", json!("2024")), |_| false),
        (json!({"not": file("path", "is", json!("train"))}), |it| !it.path.starts_with("train/")),
        (
            json!({"any_of": [file("width", "is", json!(64)), column("weather", "is", json!("sun"))]}),
            |it| it.width == 64 || it.weather == Some("sun"),
        ),
        (
            json!({"not": {"any_of": [
                file("format", "is", json!("png")),
                {"not": column("distance", "at_least", json!(0))},
            ]}}),
            |it| it.format != "png" && it.distance.is_some_and(|distance| distance >= 0.0),
        ),
    ]
}

fn matching(items: &[(Item, Vec<u8>)], expected: Expected) -> BTreeSet<String> {
    items.iter().filter(|(item, _)| expected(item)).map(|(item, _)| item.name.clone()).collect()
}

#[tokio::test]
async fn every_filter_finds_what_brute_force_finds() {
    let items = items();
    // On a server, the search tables run the filters as SQL.
    let tables = SearchTableLimits { min_media: 1, ..SearchTableLimits::default() };
    for search_tables in [SearchTableLimits::default(), tables] {
        let settings = DeploymentSettings { search_tables, ..DeploymentSettings::default() };
        let service = Service::at_with(place(&items), settings).await;
        for (filter, expected) in cases() {
            let names = found(&service, &vql(&json!([filter]))).await;
            assert_eq!(names, matching(&items, expected), "{filter}");
        }
        let both = json!([
            {"path": {"op": "is", "value": "train"}}, {"format": {"op": "is", "value": "png"}},
        ]);
        let expected: Expected = |it| it.path.starts_with("train/") && it.format == "png";
        assert_eq!(found(&service, &vql(&both)).await, matching(&items, expected));
        let column = json!({"column": {"name": "wether", "op": "is", "value": "sun"}});
        let text = json!({"text": {"op": "fts", "value": "(red"}});
        for (filter, reason) in [
            (
                column,
                "filter 2, column.name: no media item has \"wether\"; the dataset has the columns \
                 distance, is night, seen, weather",
            ),
            (text, "filter 2, text.value: at character 1: this parenthesis is never closed"),
        ] {
            let filters = json!([both[0], both[1], filter]);
            let (_, message) = refused(&service, &vql(&filters)).await;
            assert!(message.contains(reason), "{message}");
        }
    }
}

#[tokio::test]
async fn objects_have_the_properties_of_their_picture_and_the_size_of_their_box() {
    let boxes = |w: f64| json!([{"label": "door", "bbox": [0.0, 0.0, w, 0.5]}]);
    let rows = [
        json!({"file_name": "a/one.png", "objects": boxes(0.5), "weather": "sun"}),
        json!({"file_name": "b/two.png", "objects": boxes(1.0), "weather": "rain"}),
    ];
    let lines = rows.map(|row| row.to_string()).join("\n");
    let service = Service::of(&[
        ("a/one.png", crate::support::picture(0)),
        ("b/two.png", crate::support::picture(1)),
        ("metadata.jsonl", lines.into_bytes()),
    ])
    .await;
    for (filter, name) in [
        (json!({"path": {"op": "is", "value": "a"}}), "one.png"),
        (json!({"width": {"op": "is", "value": 96}}), "two.png"),
        (json!({"width": {"op": "at_most", "value": 48}}), "one.png"),
        (json!({"column": {"name": "weather", "op": "is", "value": "rain"}}), "two.png"),
    ] {
        let query = format!("entity_type=OBJECTS&{}", vql(&json!([filter])));
        let clusters = service.clusters(&query).await;
        let names: Vec<&Value> =
            clusters.iter().map(|it| &it["previews"][0]["file_name"]).collect();
        assert_eq!(names, [name], "{filter}");
        assert!(clusters[0]["previews"][0]["columns"]["weather"].is_string(), "{filter}");
    }
}

#[tokio::test]
async fn the_day_in_a_picture_comes_before_the_date_of_its_file() {
    let labels = ["date:1999-12-31", "year:1999", "camera:NIKON D90"];
    let row = json!({"file_name": "old.png", "labels": labels});
    let service = Service::of(&[
        ("old.png", crate::support::picture(0)),
        ("new.png", crate::support::picture(1)),
        ("metadata.jsonl", row.to_string().into_bytes()),
    ])
    .await;
    let query = |value: &str| vql(&json!([{"date": {"op": "at_most", "value": value}}]));
    assert_eq!(found(&service, &query("1999")).await, ["old.png".to_owned()].into());
    assert_eq!(found(&service, &query("1998")).await, BTreeSet::new());
    // Clusters without and with an anchor have previews of their own, which are stored or read from media.
    let anchor = service.media("old.png").await;
    for search in ["", &format!("anchor_type=MEDIA&anchor_media_id={anchor}")] {
        let clusters = service.clusters(&format!("threshold=0&{search}")).await;
        let previews = clusters.iter().map(|cluster| &cluster["previews"][0]);
        let mut facts: Vec<_> = previews
            .map(|it| json!([it["file_name"], it["bytes"], it["date"], it["camera"]]))
            .collect();
        facts.sort_by_key(ToString::to_string);
        let bytes = |number| crate::support::picture(number).len();
        let changed = fs::metadata(service.place.picture("new.png")).unwrap().modified().unwrap();
        let changed = OffsetDateTime::from(changed).date().to_string();
        let expected = [
            json!(["new.png", bytes(1), changed, null]),
            json!(["old.png", bytes(0), "1999-12-31", "NIKON D90"]),
        ];
        assert_eq!(facts, expected, "{search:?}");
    }
}

#[tokio::test]
async fn a_file_that_was_changed_before_1970_has_its_date() {
    let place = Place::new(&[("old.png", picture(0)), ("new.png", picture(1))]);
    let file = File::options().append(true).open(place.picture("old.png")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH - Duration::from_micros(1_500_001)).unwrap();
    let service = Service::compatible(place, true, true).await;
    let query = vql(&json!([{"date": {"op": "at_most", "value": "1970"}}]));
    assert_eq!(found(&service, &query).await, set(&["old.png"]));
    let path = format!("/api/v1/explore/{}/exploration_metadata", service.dataset);
    let counted = service.good(&path).await["distributions"].to_string();
    assert!(counted.contains(r#""from":"1969""#), "{counted}");
    let (_, mut zip) = archive(&service, "file_name=a&export_format=csv").await;
    let csv = String::from_utf8(content(&mut zip, "metadata.csv")).unwrap();
    assert!(csv.contains(",1969-12-31T23:59:58.499999+00:00,"), "{csv}");
}

#[tokio::test]
async fn folders_and_columns_are_counted() {
    let items = items();
    let service = Service::compatible(place(&items), true, true).await;
    let id = service.dataset;
    let body = service.good(&format!("/api/v1/explore/{id}/exploration_metadata")).await;
    let count = |test: Expected| items.iter().filter(|(item, _)| test(item)).count();
    let folders: Vec<(&str, u64)> = (body["folders"].as_array().unwrap().iter())
        .map(|folder| (folder["name"].as_str().unwrap(), folder["count"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("train", 12),
        ("odd [1]", 6),
        ("train/cat", 6),
        ("train/dog", 6),
        ("val", 6),
        ("val/cat", 6),
    ];
    assert_eq!(folders, expected);
    let columns = body["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["distance", "is night", "seen", "weather"]);
    let night = json!([
        {"value": true, "count": count(|it| it.is_night == Some(true))},
        {"value": false, "count": count(|it| it.is_night == Some(false))},
    ]);
    assert_eq!(columns[1]["values"], night);
    assert_eq!(columns[3]["values"].as_array().unwrap().len(), 3);
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let reason = "columns not kept: nested (a value is a list, an object or binary data)";
    assert_eq!(skipped.iter().map(|it| it.reason.as_str()).collect::<Vec<_>>(), [reason]);
}

#[tokio::test]
async fn ratings_are_filtered_by_the_number_that_a_user_has_given() {
    let tables = SearchTableLimits { min_media: 1, ..SearchTableLimits::default() };
    for search_tables in [SearchTableLimits::default(), tables] {
        let settings = DeploymentSettings { search_tables, ..DeploymentSettings::default() };
        let place = Place::new(&crate::support::pictures(4));
        let service = Service::at_with(place, settings).await;
        for (name, rating) in [("p000.png", 5), ("p001.png", 2)] {
            let media =
                json!([{"type": "media", "payload": {"media_ids": [service.media(name).await]}}]);
            let path = format!("/local/dataset/{}/tags/change", service.dataset);
            let body = json!({"rating": rating, "media_selection": media});
            let (status, body) = answer(service.post(&path).json(&body)).await;
            assert_eq!(status, 200, "{body}");
        }
        for (op, value, expected) in [
            ("is", json!(5), &["p000.png"][..]),
            ("is_not", json!(5), &["p001.png", "p002.png", "p003.png"]),
            ("at_least", json!(2), &["p000.png", "p001.png"]),
            ("at_most", json!(4), &["p001.png"]),
            ("one_of", json!([1, 2]), &["p001.png"]),
            ("not_one_of", json!([2, 5]), &["p002.png", "p003.png"]),
        ] {
            let query = vql(&json!([{"rating": {"op": op, "value": value}}]));
            assert_eq!(found(&service, &query).await, set(expected), "{op}");
        }
    }
}

#[tokio::test]
async fn dates_and_sizes_are_counted_in_their_order() {
    let items = items();
    let service = Service::compatible(place(&items), true, true).await;
    let path = format!("/api/v1/explore/{}/exploration_metadata", service.dataset);
    let body = service.good(&path).await;
    let bars = |property: &str| -> Vec<Value> {
        let mut distributions = body["distributions"].as_array().unwrap().iter();
        let found = distributions.find(|it| it["property"] == property).unwrap();
        found["bars"].as_array().unwrap().clone()
    };
    let day = |n: u64| format!("2024-03-{n:02}");
    let days = (1..=30).map(day).map(|day| json!({"from": day, "to": day, "count": 1}));
    assert_eq!(bars("date"), days.collect::<Vec<Value>>());
    assert_eq!(bars("width"), [json!({"from": 64, "to": 127, "count": 30})]);
    for bar in bars("size") {
        let (from, to) = (bar["from"].as_u64().unwrap(), bar["to"].as_u64().unwrap());
        let within = items.iter().filter(|(it, _)| (from..=to).contains(&it.size)).count();
        assert_eq!(bar["count"], within, "{bar}");
    }
    let objects = service.good(&format!("{path}?entity_type=OBJECTS")).await;
    assert_eq!(objects["distributions"], json!([]));
}

#[tokio::test]
async fn names_are_found_in_nfc_and_in_nfd() {
    let tables = SearchTableLimits { min_media: 1, ..SearchTableLimits::default() };
    for search_tables in [SearchTableLimits::default(), tables] {
        let settings = DeploymentSettings { search_tables, ..DeploymentSettings::default() };
        let [composed, decomposed] = ["\u{e9}t\u{e9}", "e\u{301}te\u{301}"];
        let (one, other) = (format!("{composed}.png"), format!("{decomposed}2.png"));
        let nested = format!("{decomposed}/c.png");
        let rows = [&one, &other]
            .map(|file| json!({"file_name": file, "place": format!("{decomposed} 1")}).to_string());
        let mut files = vec![("metadata.jsonl", rows.join("\n").into_bytes())];
        files.extend(
            [&one, &other, &nested]
                .map(String::as_str)
                .into_iter()
                .zip(1..)
                .map(|(name, number)| (name, picture(number))),
        );
        let service = Service::at_with(Place::new(&files), settings).await;
        let of = |names: &[&String]| -> BTreeSet<String> {
            let name = |path: &&String| path.rsplit('/').next().unwrap().to_owned();
            names.iter().map(name).collect()
        };
        for typed in [composed, decomposed] {
            for (filter, expected) in [
                (json!({"name": {"op": "is", "value": format!("{typed}*")}}), of(&[&one, &other])),
                (json!({"name": {"op": "contains", "value": typed}}), of(&[&one, &other])),
                (json!({"path": {"op": "is", "value": typed}}), of(&[&nested])),
                (
                    json!({"column": {"name": "place", "op": "is", "value": format!("{typed} 1")}}),
                    of(&[&one, &other]),
                ),
            ] {
                assert_eq!(found(&service, &vql(&json!([filter]))).await, expected, "{filter}");
            }
            let path = format!("/local/dataset/{}/tags/change", service.dataset);
            let body = json!({"add": ["seen"], "files": [format!("{typed}.png"), format!("{typed}2.png"),
                                                         format!("{typed}/c.png")]});
            let (status, change) = answer(service.post(&path).json(&body)).await;
            assert_eq!(status, 200, "{change}");
        }
    }
}
