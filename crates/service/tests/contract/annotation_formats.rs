//! Exports in the formats of other programs: each is opened again by our own readers, and gives back what the format
//! carries.

use std::{
    collections::{BTreeMap, HashMap},
    io::Read as _,
};

use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tessera_model::{Annotation, Mask};

use crate::{
    change::{archived, zip},
    described,
    export::{archive, content, finished_archive, metadata, names},
    round_trip::{Description, LabeledBox, are_close, assert_same, descriptions, rows},
    support::{Place, Service, answer, picture},
};

/// The formats that are opened again as a folder.
const FORMATS: [&str; 9] = [
    "coco",
    "yolo",
    "yolo-segment",
    "yolo-pose",
    "voc",
    "csv",
    "imagefolder",
    "webdataset",
    "hf-parquet",
];

/// The files of an archive, with the members of its shards.
pub(crate) async fn files_of(service: &Service, format: &str) -> Vec<(String, Vec<u8>)> {
    let query = format!("file_name=a&export_format={format}&include_images=true");
    let (_, mut zip) = archive(service, &query).await;
    let mut files = Vec::new();
    for name in names(&zip) {
        let bytes = content(&mut zip, &name);
        if !name.starts_with("shard-") {
            files.push((name, bytes));
            continue;
        }
        for member in tar::Archive::new(bytes.as_slice()).entries().unwrap() {
            let mut member = member.unwrap();
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            files.push((member.path().unwrap().to_str().unwrap().to_owned(), bytes));
        }
    }
    files
}

pub(crate) async fn opened(files: &[(String, Vec<u8>)]) -> Service {
    let files: Vec<_> = files.iter().map(|(name, bytes)| (&**name, bytes.clone())).collect();
    Service::of(&files).await
}

/// The most numbers that the keypoints of objects have, by label.
fn keypoint_numbers(all: &BTreeMap<String, Description>) -> HashMap<String, usize> {
    let mut numbers = HashMap::<_, usize>::new();
    for (label, _, annotation) in all.values().flat_map(|description| &description.objects) {
        let most = numbers.entry(label.clone()).or_default();
        *most = annotation.keypoints.len().max(*most);
    }
    numbers
}

/// What a format carries of an object.
fn carried(format: &str, object: &LabeledBox, padded: &HashMap<String, usize>) -> LabeledBox {
    let (label, sides, annotation) = object.clone();
    let Annotation { score, polygons, mask, mut keypoints, is_crowd } = annotation.clone();
    let of_box = |annotation| (label.clone(), sides, annotation);
    match format {
        "coco" => {
            keypoints.resize(if keypoints.is_empty() { 0 } else { padded[&label] }, 0.0);
            let mask = mask.filter(|_| polygons.is_empty());
            of_box(Annotation { score, polygons, mask, keypoints, is_crowd })
        }
        "yolo-pose" => {
            keypoints.resize(padded.values().copied().max().unwrap_or_default(), 0.0);
            of_box(Annotation { keypoints, ..Annotation::default() })
        }
        "yolo-segment" => {
            let [x, y, width, height] = sides;
            let (right, bottom) = (x + width, y + height);
            let corners = vec![x, y, right, y, right, bottom, x, bottom];
            let polygons = if polygons.is_empty() { vec![corners] } else { polygons };
            let span = |axis: usize| {
                let along = || polygons.iter().flat_map(move |it| it.iter().skip(axis).step_by(2));
                let (low, high) =
                    (along().copied().reduce(f64::min), along().copied().reduce(f64::max));
                (low.unwrap(), high.unwrap() - low.unwrap())
            };
            let ((x, width), (y, height)) = (span(0), span(1));
            (label, [x, y, width, height], Annotation { polygons, ..Annotation::default() })
        }
        "csv" => of_box(Annotation { score, ..Annotation::default() }),
        "yolo" | "voc" => of_box(Annotation::default()),
        _ => of_box(annotation),
    }
}

/// What a format carries of a picture. Issues are computed again.
fn expected(format: &str, all: &BTreeMap<String, Description>) -> BTreeMap<String, Description> {
    let padded = keypoint_numbers(all);
    let has_columns = ["csv", "imagefolder", "webdataset", "hf-parquet"].contains(&format);
    let description = |found: &Description| {
        let objects = found.objects.iter().map(|object| carried(format, object, &padded));
        let mut description = Description { objects: objects.collect(), ..Description::default() };
        if has_columns || format == "coco" {
            description.captions.clone_from(&found.captions);
        }
        if has_columns {
            description.labels.clone_from(&found.labels);
            description.tags.clone_from(&found.tags);
        }
        description.sort_objects();
        description
    };
    // A row of a Parquet file has a number in front of its name.
    all.iter().map(|(name, found)| (plain_name(format, name), description(found))).collect()
}

fn plain_name(format: &str, name: &str) -> String {
    match (format, name.rsplit_once('.')) {
        ("webdataset", Some((stem, extension))) => {
            format!("{}.{}", stem.replace('.', "_"), extension.to_lowercase())
        }
        _ => name.to_owned(),
    }
}

/// Merges the outlines of an object that were joined, so that they can be compared.
fn check_joined(expected: &mut Description, found: &Description) {
    for (one, other) in expected.objects.iter_mut().zip(&found.objects) {
        let parts = one.2.polygons.len();
        if parts > 1 {
            let points: usize = one.2.polygons.iter().map(|polygon| polygon.len() / 2).sum();
            assert_eq!(other.2.polygons[0].len() / 2, points + 2 * (parts - 1));
            one.2 = other.2.clone();
        }
    }
}

async fn assert_formats(service: &Service) {
    let all = descriptions(service, "image_filename").await;
    for format in FORMATS {
        let again = opened(&files_of(service, format).await).await;
        let problems = again.deployment.skipped_files(again.dataset).unwrap();
        assert!(
            problems.iter().all(|it| it.file.as_str() == "README.md"),
            "{format}: {problems:?}"
        );
        let mut found = descriptions(&again, "file_name").await;
        if format == "hf-parquet" {
            let numbered = std::mem::take(&mut found);
            let name = |name: String| name.split_once('-').unwrap().1.to_owned();
            found = numbered.into_iter().map(|(key, value)| (name(key), value)).collect();
        }
        let mut expected = expected(format, &all);
        assert_eq!(found.len(), expected.len(), "{format}: {:?}", found.keys());
        for (name, description) in &mut found {
            description.issues.clear();
            if format == "yolo-segment" {
                check_joined(expected.get_mut(name).unwrap(), description);
            }
        }
        assert_same(format, &expected, &found);
    }
}

#[test]
fn each_format_gives_back_what_it_carries() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = Config { cases: 2, max_shrink_iters: 20, ..Config::default() };
    let end = TestRunner::new(config).run(&rows(), |rows| {
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        let mut files = vec![("metadata.jsonl", lines.join("\n").into_bytes())];
        for (number, row) in (0..).zip(&rows) {
            files.push((row["file_name"].as_str().unwrap(), picture(number)));
        }
        runtime.block_on(async { assert_formats(&Service::of(&files).await).await });
        Ok(())
    });
    end.unwrap();
}

#[tokio::test]
async fn formats_with_columns_have_those_of_the_user() {
    let service = described::served().await;
    let all = descriptions(&service, "image_filename").await;
    assert_eq!(all["wall.png"].columns.len(), 7);
    for format in ["csv", "imagefolder", "webdataset", "hf-parquet"] {
        let again = opened(&files_of(&service, format).await).await;
        let found = descriptions(&again, "file_name").await;
        assert_eq!(found.len(), all.len(), "{format}");
        for (name, description) in found {
            let name = name.split_once('-').map_or(&*name, |(_, name)| name);
            assert_eq!(description.columns, all[name].columns, "{format}: {name}");
        }
        let (_, body) = preview(&service, format, None).await;
        assert!(!body.to_string().contains("columns"), "{body}");
    }
    let (_, body) = preview(&service, "coco", None).await;
    assert!(body.to_string().contains("images without your own columns: 2"), "{body}");

    let csv = text(&files_of(&service, "csv").await, "metadata.csv");
    let lines =
        || csv.lines().filter(|line| line.contains("wall.png") || line.starts_with("media_id"));
    let ends: Vec<_> = lines().map(|line| line.split_once("url").unwrap_or(("", line)).1).collect();
    assert_eq!(ends[0], r#","Weather, today",at,count,distance,mixed,night,seen"#);
    assert!(
        ends[1].ends_with(",fog,2024-05-17T10:20:30.123456Z,3,2.5,1,false,2024-05-17"),
        "{csv}"
    );
    // A column of a table has one type, so a number in a column of texts is a text.
    let sample: Value =
        serde_json::from_str(&text(&files_of(&service, "webdataset").await, "wall.json")).unwrap();
    let values = ["at", "Weather, today", "count", "distance", "mixed", "night", "seen"]
        .map(|name| sample[name].clone());
    let expected = [
        json!("2024-05-17T10:20:30.123456Z"),
        json!("fog"),
        json!(3),
        json!(2.5),
        json!("1"),
        json!(false),
    ];
    assert_eq!(values[..6], expected);
    assert_eq!(values[6], "2024-05-17");
}

#[tokio::test]
async fn a_column_that_a_spreadsheet_would_calculate_has_an_apostrophe_until_it_is_read() {
    let row = json!({"file_name": "a.png", "=1+1": 2}).to_string();
    let service = Service::of(&[("a.png", picture(1)), ("metadata.jsonl", row.into_bytes())]).await;
    let files = files_of(&service, "csv").await;
    let csv = text(&files, "metadata.csv");
    assert!(csv.lines().next().unwrap().ends_with(",'=1+1"), "{csv}");
    let found = descriptions(&opened(&files).await, "file_name").await;
    assert_eq!(found["a.png"].columns, [("=1+1".to_owned(), json!(2))].into());
}

#[tokio::test]
async fn samples_of_a_shard_have_the_same_members_and_no_empty_values() {
    let service = described::served().await;
    let files = files_of(&service, "webdataset").await;
    assert_eq!(text(&files, "wall.txt"), "A red wall by the sea.");
    assert_eq!(text(&files, "dark.txt"), "");
    let row = text(&files, "dark.json");
    assert!(!row.contains("null") && !row.contains("[]"), "{row}");
    let found = descriptions(&opened(&files).await, "file_name").await;
    assert!(found["dark.png"].captions.is_empty());
    let plain = Service::of(&[("a.png", picture(0)), ("b.png", picture(4))]).await;
    assert!(files_of(&plain, "webdataset").await.iter().all(|(name, _)| !name.contains(".txt")));
}

#[tokio::test]
async fn an_export_of_shards_is_opened_as_it_is() {
    let service = annotated().await;
    let all = descriptions(&service, "image_filename").await;
    let (_, zip) = archive(&service, "file_name=a&export_format=webdataset").await;
    let place = Place::new(&[("sharded.zip", zip.into_inner().into_inner())]);
    let deployment = place.open();
    let dataset = deployment.add_folder(&place.picture("sharded.zip"), None).unwrap();
    deployment.wait_until_idle().await;
    assert_eq!(deployment.skipped_files(dataset).unwrap(), []);
    let opened = Service::serve(place, deployment, dataset, true).await;
    let mut found = descriptions(&opened, "file_name").await;
    for description in found.values_mut() {
        description.issues.clear();
    }
    let mut expected = expected("webdataset", &all);
    let third = expected.remove("cat.jpg").unwrap();
    expected.insert("cat_3.jpg".to_owned(), third);
    assert_same("opened shards", &expected, &found);
    let (_, mut zip) = archive(&opened, "file_name=a&export_format=json").await;
    let items = metadata(&mut zip)["media_items"].take();
    let paths = items.as_array().unwrap().iter().map(|item| item["file_path"].as_str().unwrap());
    let paths: Vec<_> = paths.collect();
    let expected = ["cat.png", "cat_2.png", "cat_3.jpg"].map(|it| format!("shard-000000.tar/{it}"));
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn formats_describe_only_the_pictures_in_the_archive() {
    let service = annotated().await;
    std::fs::remove_file(service.place.picture("a/cat.png")).unwrap();
    for format in FORMATS {
        let files = files_of(&service, format).await;
        if format == "coco" {
            let named = |file: &str, list: &str, field: &str| -> Vec<Value> {
                let document: Value = serde_json::from_str(&text(&files, file)).unwrap();
                document[list].as_array().unwrap().iter().map(|it| it[field].clone()).collect()
            };
            let instances = "annotations/instances.json";
            assert_eq!(named(instances, "images", "file_name"), ["cat_2.png", "cat.jpg"]);
            assert_eq!(named(instances, "annotations", "image_id"), [1]);
            assert_eq!(named("annotations/captions.json", "annotations", "image_id"), [2]);
        }
        let found = descriptions(&opened(&files).await, "file_name").await;
        assert_eq!(found.len(), 2, "{format}: {:?}", found.keys());
        let captions = found.values().filter(|it| !it.captions.is_empty()).count();
        assert!(captions <= 1, "{format}");
    }
}

/// A folder with all that annotations have.
async fn annotated() -> Service {
    let object = |label: &str, annotation: Annotation| {
        let mut object = serde_json::to_value(annotation).unwrap();
        object["label"] = label.into();
        object["bbox"] = json!([0.25, 0.25, 0.5, 0.5]);
        object
    };
    let polygons =
        vec![vec![0.25, 0.25, 0.75, 0.25, 0.5, 0.75], vec![0.5, 0.5, 0.6, 0.5, 0.6, 0.6]];
    let outlined = Annotation { polygons, score: Some(0.5), ..Annotation::default() };
    let keypoints = vec![0.5, 0.5, 2.0, 0.25, 0.5, 1.0];
    let pose = Annotation { keypoints, ..Annotation::default() };
    let mask = Some(Mask::from_runs([64, 96], &[100, 5, 6_039]));
    let crowd = Annotation { mask, is_crowd: true, ..Annotation::default() };
    let rows = [
        json!({"file_name": "a/cat.png", "caption": "=A cat", "labels": ["pet"], "tags": ["keep"],
               "objects": [object("zebra", outlined), object("cat", pose)]}),
        json!({"file_name": "b/cat.png", "objects": [object("ant", crowd)]}),
        json!({"file_name": "c/cat.jpg", "caption": "Another"}),
    ];
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let jpeg = crate::support::encoded(
        &image::load_from_memory(&picture(3)).unwrap().to_rgb8(),
        image::ImageFormat::Jpeg,
    );
    Service::of(&[
        ("a/cat.png", picture(1)),
        ("b/cat.png", picture(2)),
        ("c/cat.jpg", jpeg),
        ("metadata.jsonl", lines.join("\n").into_bytes()),
    ])
    .await
}

fn text(files: &[(String, Vec<u8>)], name: &str) -> String {
    let file = files.iter().find(|(other, _)| other == name);
    let (_, bytes) = file.unwrap_or_else(|| panic!("no {name}"));
    String::from_utf8(bytes.clone()).unwrap()
}

#[tokio::test]
async fn categories_are_those_of_the_dataset_in_alphabetical_order() {
    let service = annotated().await;
    let files = files_of(&service, "coco").await;
    let instances: Value =
        serde_json::from_str(&text(&files, "annotations/instances.json")).unwrap();
    let categories: Vec<_> = instances["categories"].as_array().unwrap().iter().collect();
    let numbered: Vec<_> = categories.iter().map(|it| (&it["id"], &it["name"])).collect();
    let expected =
        [(1, "ant"), (2, "cat"), (3, "zebra")].map(|(id, name)| (json!(id), json!(name)));
    assert_eq!(numbered, expected.each_ref().map(|(id, name)| (id, name)));
    assert_eq!(categories[1]["keypoints"], json!(["1", "2"]));
    let annotations = instances["annotations"].as_array().unwrap();
    let zebra = annotations.iter().find(|it| it["category_id"] == 3).unwrap();
    assert_eq!(zebra["segmentation"][0], json!([24.0, 16.0, 72.0, 16.0, 48.0, 48.0]));
    assert_eq!((&zebra["score"], &zebra["bbox"]), (&json!(0.5), &json!([24.0, 16.0, 48.0, 32.0])));
    assert!((zebra["area"].as_f64().unwrap() - 799.0).abs() < 1.0, "{zebra}");
    let ant = annotations.iter().find(|it| it["category_id"] == 1).unwrap();
    assert_eq!((&ant["iscrowd"], &ant["area"]), (&json!(1), &json!(5.0)));
    assert_eq!(ant["segmentation"], json!({"size": [64, 96], "counts": [100, 5, 6_039]}));

    // A selection of the images without ants has the same numbers.
    let media = instances["images"][0]["media_id"].clone();
    let body = json!({"media_selection": [{"type": "media", "payload": {"media_ids": [media]}}]});
    let path = service.of_dataset("/export_entities_async?export_format=yolo");
    let (_, task) = answer(service.post(&path).json(&body)).await;
    let (_, mut zip) = finished_archive(&service, &task).await;
    assert_eq!(
        content(&mut zip, "data.yaml"),
        b"train: images\nval: images\nnames:\n  0: \"ant\"\n  1: \"cat\"\n  2: \"zebra\"\n"
    );
    assert_eq!(names(&zip), ["data.yaml", "images/cat.png", "labels/cat.txt"]);
    assert_eq!(content(&mut zip, "labels/cat.txt"), b"2 0.5 0.5 0.5 0.5\n1 0.5 0.5 0.5 0.5\n");
}

#[tokio::test]
async fn yolo_has_no_coordinate_outside_the_picture() {
    let row = json!({"file_name": "1.png", "objects": [{
        "label": "cat", "bbox": [0.5, 0.5, 0.5, 0.5],
        "polygons": [[0.5, -0.1, 1.2, 0.5, 0.5, 1.1]],
        "keypoints": [1.5, 0.5, 2.0, 0.75, -0.5, 1.0],
    }]});
    let files = [("1.png", picture(1)), ("metadata.jsonl", row.to_string().into_bytes())];
    let service = Service::of(&files).await;
    for (format, expected) in [
        ("yolo-segment", "0 0.5 0 1 0.5 0.5 1\n"),
        ("yolo-pose", "0 0.75 0.75 0.5 0.5 1 0.5 2 0.75 0 1\n"),
    ] {
        assert_eq!(text(&files_of(&service, format).await, "labels/1.txt"), expected);
    }
}

#[tokio::test]
async fn yolo_without_objects_names_no_classes() {
    let service = Service::of(&[("a.png", picture(0))]).await;
    let files = files_of(&service, "yolo").await;
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["images/a.png", "labels/a.txt"]);
    let again = opened(&files).await;
    assert_eq!(again.deployment.skipped_files(again.dataset).unwrap(), []);
    let (_, body) = preview(&service, "yolo", None).await;
    let omissions = body["omissions"].as_array().unwrap().iter();
    let texts = omissions.map(|it| it["text"].as_str().unwrap()).collect::<Vec<_>>();
    let expected = [
        "images in one set, which is both train and val: 1",
        "images of which none has an object to train with: 1",
    ];
    assert_eq!(texts, expected);
}

#[tokio::test]
async fn the_first_samples_of_a_shard_have_all_fields() {
    let object = |annotation: Value| {
        let mut object = json!({"label": "cat", "bbox": [0.25, 0.25, 0.5, 0.5]});
        object.as_object_mut().unwrap().extend(annotation.as_object().unwrap().clone());
        object
    };
    let posed = json!({"keypoints": [0.5, 0.5, 2.0]});
    let rows = [
        json!({"file_name": "8.png", "labels": ["a"], "objects": [object(json!({"score": 0.5}))]}),
        json!({"file_name": "9.png", "caption": "x", "objects": [object(posed)]}),
    ];
    let lines = rows.map(|row| row.to_string()).join("\n").into_bytes();
    let names: Vec<String> = (0..10).map(|number| format!("{number}.png")).collect();
    let pictures = (0..).zip(&names).map(|(number, name)| (name.as_str(), picture(number)));
    let files: Vec<_> = pictures.chain([("metadata.jsonl", lines)]).collect();
    let service = Service::of(&files).await;
    let shard = files_of(&service, "webdataset").await;
    let keys: Vec<&str> = shard.iter().filter_map(|(name, _)| name.strip_suffix(".png")).collect();
    assert!(keys.len() == 10 && ["8", "9"].iter().all(|it| keys[..5].contains(it)), "{keys:?}");
}

#[tokio::test]
async fn files_of_annotations_have_names_of_their_own() {
    let service = annotated().await;
    for (format, folder, extension) in [("yolo", "labels", "txt"), ("voc", "Annotations", "xml")] {
        let files = files_of(&service, format).await;
        let expected = ["cat", "cat_2", "cat_3"].map(|it| format!("{folder}/{it}.{extension}"));
        for name in expected {
            text(&files, &name);
        }
    }
    let shard = files_of(&service, "webdataset").await;
    let names: Vec<_> = shard.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "cat.png",
        "cat.json",
        "cat.txt",
        "cat_2.png",
        "cat_2.json",
        "cat_2.txt",
        "cat_3.jpg",
        "cat_3.json",
        "cat_3.txt",
    ];
    assert_eq!(names, expected);
    let csv = text(&files_of(&service, "csv").await, "metadata.csv");
    assert!(csv.contains(",'=A cat,"), "{csv}");
}

pub(crate) async fn preview(service: &Service, format: &str, body: Option<&Value>) -> (u16, Value) {
    let query = format!("export_format={format}&include_images=true");
    let path = format!("/local/dataset/{}/export_preview?{query}", service.dataset);
    let request = service.post(&path);
    let request = match body {
        Some(body) => request.json(body),
        None => request,
    };
    let (status, body) = answer(request).await;
    (status.as_u16(), body)
}

#[tokio::test]
async fn a_preview_lists_what_a_format_leaves_out() {
    let service = annotated().await;
    let texts = |body: &Value| -> Vec<String> {
        let omissions = body["omissions"].as_array().unwrap().iter();
        omissions.map(|it| it["text"].as_str().unwrap().to_owned()).collect()
    };
    let (status, body) = preview(&service, "voc", None).await;
    assert_eq!((status, &body["media_count"]), (200, &json!(3)));
    let expected = [
        "captions omitted: 2",
        "images without their labels: 3",
        "images without their user tags: 1",
        "scores omitted: 1",
        "objects without their polygons: 1",
        "masks omitted: 1",
        "objects without their keypoints: 1",
        "groups (is_crowd) written as single objects: 1",
        "objects without pose, truncated and difficult: 3",
        "images renamed, so that names are unique and safe: 2",
    ];
    assert_eq!(texts(&body), expected);
    let (_, body) = preview(&service, "coco", None).await;
    let nameless = "objects whose keypoints have numbers instead of names, and no skeleton: 1";
    assert!(texts(&body).contains(&nameless.to_owned()), "{body}");
    let (_, body) = preview(&service, "hf-parquet", None).await;
    assert_eq!(texts(&body), ["images renamed, so that names are unique and safe: 1"]);
    let (_, body) = preview(&service, "json", None).await;
    assert_eq!(body["media_count"], json!(3));

    let all = files_of(&service, "coco").await;
    let instances: Value = serde_json::from_str(&text(&all, "annotations/instances.json")).unwrap();
    let media = instances["images"][2]["media_id"].clone();
    let body = json!({"media_selection": [{"type": "media", "payload": {"media_ids": [media]}}]});
    let (_, one) = preview(&service, "yolo", Some(&body)).await;
    assert_eq!(one["media_count"], json!(1));
    assert_eq!(texts(&one)[0], "captions omitted: 1");
    assert_eq!(preview(&service, "docx", None).await.0, 422);
    assert_eq!(preview(&service, "yolo", Some(&json!({"media_selection": 3}))).await.0, 422);
}

#[test]
fn joined_outlines_are_compared_by_their_points() {
    let object = |polygons| {
        let annotation = Annotation { polygons, ..Annotation::default() };
        ("x".to_owned(), [0.0; 4], annotation)
    };
    let mut one =
        Description { objects: vec![object(vec![vec![0.0; 6]; 2])], ..Description::default() };
    let other =
        Description { objects: vec![object(vec![vec![0.0; 16]])], ..Description::default() };
    check_joined(&mut one, &other);
    assert!(are_close(&one.objects[0].2, &other.objects[0].2));
}

#[tokio::test]
async fn an_added_file_is_not_mistaken_for_the_one_of_the_same_path_in_the_folder() {
    let row = |word: &str| {
        let objects = json!([{"label": word, "bbox": [0.25, 0.25, 0.5, 0.5]}]);
        json!({"file_name": "a.png", "caption": word, "objects": objects}).to_string().into_bytes()
    };
    let service = Service::of(&[("b.png", picture(1))]).await;
    let added = [("a.png", picture(2)), ("metadata.jsonl", row("added"))];
    service.added(archived("a.zip", zip(&added.map(|(name, bytes)| (name.into(), bytes))))).await;
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    service.place.put("a.png", &picture(3));
    service.place.put("metadata.jsonl", &row("own"));
    assert_eq!(service.manage("/rescan").await.0, 200);
    service.deployment.wait_until_idle().await;
    for (format, table) in [
        ("csv", "metadata.csv"),
        ("coco", "annotations/instances.json"),
        ("json", "metadata.json"),
        ("parquet", "metadata.parquet"),
    ] {
        let (_, mut zip) = archive(&service, &format!("file_name=a&export_format={format}")).await;
        let table = (table, content(&mut zip, table));
        let opened = Service::of(&[("a.png", picture(3)), ("b.png", picture(1)), table]).await;
        let found = descriptions(&opened, "file_name").await;
        let labels: Vec<_> = found["a.png"].objects.iter().map(|(label, ..)| label).collect();
        assert_eq!(labels, ["own"], "{format}");
    }
}
