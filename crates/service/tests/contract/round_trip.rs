//! Archives of exports that are opened again: each form of an archive gives back the descriptions of the dataset.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_model::{Annotation, Mask, vql::ColumnValue};
use tessera_service::DeploymentSettings;
use walkdir::WalkDir;

use crate::{
    change::{archived, zip as zip_of},
    described,
    export::{archive, content, metadata, names},
    support::{Place, Service, picture},
};

/// The difference between the sides of boxes that counts as none, in pixels.
const BOX_TOLERANCE: f64 = 0.01;

/// A label with left, top, width and height in pixels, and the annotation.
pub(crate) type LabeledBox = (String, [f64; 4], Annotation);

/// What is exported of a picture, without its identity.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Description {
    pub(crate) captions: Vec<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) tags: BTreeSet<String>,
    pub(crate) objects: Vec<LabeledBox>,
    pub(crate) issues: Vec<String>,
    /// Columns of the user's own.
    pub(crate) columns: BTreeMap<String, Value>,
}

impl Description {
    fn of(item: &Value) -> Self {
        let mut description = Self::default();
        for typed in item["metadata_items"].as_array().unwrap() {
            let text = |key: &str| typed["properties"][key].as_str().unwrap().to_owned();
            match typed["type"].as_str().unwrap() {
                "caption" => description.captions.push(text("caption")),
                "image_label" => description.labels.push(text("category_name")),
                "user_tag" => drop(description.tags.insert(text("tag_name"))),
                "issue" => description.issues.push(text("issue_type")),
                "object_label" => {
                    let sides = serde_json::from_value(typed["properties"]["bbox"].clone());
                    let annotation = serde_json::from_value(typed["properties"].clone()).unwrap();
                    description.objects.push((text("category_name"), sides.unwrap(), annotation));
                }
                _ => {}
            }
        }
        let columns = item["columns"].as_object().into_iter().flatten();
        description.columns = columns.map(|(name, value)| (name.clone(), plain(value))).collect();
        description.sort_objects();
        description
    }

    /// Sorts by label, then by the box in tenths of a pixel, so that a box that is written and read stays where it is.
    pub(crate) fn sort_objects(&mut self) {
        let key =
            |object: &LabeledBox| (object.0.clone(), object.1.map(|side| (side * 10.0).round()));
        self.objects.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
    }

    fn is_close_to(&self, other: &Self) -> bool {
        let close = |(one, other): (&LabeledBox, &LabeledBox)| {
            let mut sides = one.1.iter().zip(&other.1);
            one.0 == other.0
                && sides.all(|(a, b)| (a - b).abs() < BOX_TOLERANCE)
                && are_close(&one.2, &other.2)
        };
        self.captions == other.captions
            && self.labels == other.labels
            && self.tags == other.tags
            && self.issues == other.issues
            && self.columns == other.columns
            && self.objects.len() == other.objects.len()
            && self.objects.iter().zip(&other.objects).all(close)
    }
}

/// Whether two annotations differ by less than boxes may.
pub(crate) fn are_close(one: &Annotation, other: &Annotation) -> bool {
    let shape = |it: &Annotation| {
        let lengths: Vec<usize> = it.polygons.iter().map(Vec::len).collect();
        (lengths, it.keypoints.len(), it.mask.clone(), it.is_crowd, it.score.is_some())
    };
    let numbers = |it: &Annotation| {
        let lists = it.polygons.concat().into_iter().chain(it.keypoints.clone());
        lists.chain(it.score).collect::<Vec<f64>>()
    };
    let mut pairs = numbers(one).into_iter().zip(numbers(other));
    shape(one) == shape(other) && pairs.all(|(a, b)| (a - b).abs() < BOX_TOLERANCE)
}

/// A value of a column, without how a date is written, and with numbers of a column of texts as texts.
fn plain(value: &Value) -> Value {
    let date = |text: &str| ColumnValue::Text(text.to_owned()).microseconds();
    match value.as_str().map(|text| (text, date(text))) {
        Some((_, Some(date))) => date.into(),
        Some(("1", None)) => json!(1),
        _ => value.clone(),
    }
}

/// The descriptions in a dataset, by the value of `key`.
pub(crate) async fn descriptions(service: &Service, key: &str) -> BTreeMap<String, Description> {
    let query = "file_name=a&export_format=json&include_images=true";
    let (_, mut zip) = archive(service, query).await;
    let items = metadata(&mut zip)["media_items"].as_array().unwrap().clone();
    items
        .iter()
        .map(|item| (item[key].as_str().unwrap().to_owned(), Description::of(item)))
        .collect()
}

pub(crate) fn assert_same(
    form: &str,
    expected: &BTreeMap<String, Description>,
    found: &BTreeMap<String, Description>,
) {
    for (name, description) in expected {
        let other = found.get(name).unwrap_or_else(|| panic!("{form}: {name} is not in {found:?}"));
        assert!(description.is_close_to(other), "{form}: {name}: {description:?} became {other:?}");
    }
}

/// Exports a dataset in each form, opens the archive again, and compares the descriptions.
async fn assert_round_trip(service: &Service) {
    for format in ["json", "parquet"] {
        let query = format!("file_name=a&export_format={format}&include_images=true");
        let (_, mut zip) = archive(service, &query).await;
        let files: Vec<_> =
            names(&zip).into_iter().map(|name| (name.clone(), content(&mut zip, &name))).collect();
        let files: Vec<_> = files.iter().map(|(name, bytes)| (&**name, bytes.clone())).collect();
        let expected = descriptions(service, "image_filename").await;
        let extracted = Service::of(&files).await;
        let problems = extracted.deployment.skipped_files(extracted.dataset).unwrap();
        assert!(problems.iter().all(|it| it.file.as_str() == "README.md"), "{problems:?}");
        let found = descriptions(&extracted, "file_name").await;
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert_same(&format!("extracted {format}"), &expected, &found);

        let uploaded = Service::of(&[("own/first.png", picture(9_999))]).await;
        uploaded.added(archived("a.zip", zip.into_inner().into_inner())).await;
        assert_eq!(uploaded.reindex().await.0, 202);
        uploaded.deployment.wait_until_idle().await;
        // Another picture in the dataset may change which pictures are outliers.
        let without_issues = |mut all: BTreeMap<String, Description>| {
            for description in all.values_mut() {
                description.issues.clear();
            }
            all
        };
        let found = without_issues(descriptions(&uploaded, "file_name").await);
        assert_same(&format!("uploaded {format}"), &without_issues(expected), &found);

        let query = format!("file_name=a&export_format={format}");
        let (_, mut zip) = archive(service, &query).await;
        let name = format!("metadata.{format}");
        let mut files = pictures_of(service.place.pictures.path());
        files.push((name.clone(), content(&mut zip, &name)));
        let files: Vec<_> = files.iter().map(|(name, bytes)| (&**name, bytes.clone())).collect();
        let beside = Service::of(&files).await;
        let expected = descriptions(service, "file_path").await;
        let found = descriptions(&beside, "file_path").await;
        assert_same(&format!("{format} beside the pictures"), &expected, &found);
    }
}

/// The files of a folder that are not sidecars.
fn pictures_of(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = WalkDir::new(folder).into_iter().map(Result::unwrap);
    let is_picture = |path: &Path| {
        path.extension().is_some_and(|it| it.eq_ignore_ascii_case("png") || it == "jpg")
    };
    let pictures = files.filter(|it| it.file_type().is_file() && is_picture(it.path()));
    let name = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    pictures.map(|it| (name(it.path()), fs::read(it.path()).unwrap())).collect()
}

#[tokio::test]
async fn captions_labels_tags_boxes_and_issues_come_back() {
    let service = described::served().await;
    let all = descriptions(&service, "file_name").await;
    assert_eq!(all["doors.png"].objects.len(), 2);
    assert_eq!(all["wall.png"].labels, ["wall", "sea"]);
    assert_eq!((all["wall.png"].columns.len(), all["hills.png"].columns.len()), (7, 4));
    assert!(all["dark.png"].issues.contains(&"dark".to_owned()));
    assert_round_trip(&service).await;
}

#[tokio::test]
async fn the_sample_dataset_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    tessera_sample::write(folder.path(), 24, 7, |_, _| {}).unwrap();
    let files = WalkDir::new(folder.path()).into_iter().map(Result::unwrap);
    let files = files.filter(|it| it.file_type().is_file()).map(|it| {
        let name = it.path().strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned();
        (name, fs::read(it.path()).unwrap())
    });
    let files: Vec<_> = files.collect();
    let files: Vec<_> = files.iter().map(|(name, bytes)| (&**name, bytes.clone())).collect();
    let service = Service::of(&files).await;
    let all = descriptions(&service, "file_name").await;
    assert!(all.values().any(|description| !description.objects.is_empty()));
    assert_round_trip(&service).await;
}

#[tokio::test]
async fn an_archive_is_opened_like_a_folder() {
    let service = described::served().await;
    let expected = descriptions(&service, "image_filename").await;
    let query = "file_name=a&export_format=parquet&include_images=true";
    let (_, zip) = archive(&service, query).await;
    let bytes = zip.into_inner().into_inner();
    let place = Place::new(&[("photos.zip", bytes.clone()), ("...zip", bytes)]);
    let deployment = place.open();
    let file = place.picture("photos.zip");
    let dataset = deployment.add_folder(&file, None).unwrap();
    deployment.wait_until_idle().await;
    let again = deployment.add_folder(&file, None).unwrap();
    assert_eq!(again, dataset, "the same archive is the same dataset");
    let odd = deployment.add_folder(&place.picture("...zip"), None).unwrap();
    place.put("copies/photos.zip", &fs::read(&file).unwrap());
    let copy = deployment.add_folder(&place.picture("copies/photos.zip"), None).unwrap();
    deployment.wait_until_idle().await;
    let opened = Service::serve(place, deployment, dataset, true).await;
    assert_eq!(opened.record().await["display_name"], "photos");
    let copy = opened.good(&format!("/api/v1/dataset/{copy}")).await;
    assert_eq!(copy["display_name"], "photos.zip");
    assert_same("opened archive", &expected, &descriptions(&opened, "file_name").await);

    let files = [("images/new.png", picture(3)), (".hidden.png", picture(4))];
    let files: Vec<_> = files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    opened.place.put("photos.zip", &zip_of(&files));
    let changed = opened.deployment.add_folder(&opened.place.picture("photos.zip"), None);
    assert_eq!(changed.unwrap(), dataset);
    opened.deployment.wait_until_idle().await;
    assert_eq!(opened.record().await["n_images"], 1, "the archive was unpacked again");
    let skipped = opened.deployment.skipped_files(dataset).unwrap();
    assert!(skipped.iter().any(|it| it.file.as_str() == ".hidden.png"), "{skipped:?}");
    assert!(opened.deployment.skipped_files(odd).unwrap().is_empty());

    opened.place.put("broken.zip", b"PK and no more");
    let error = opened.deployment.add_folder(&opened.place.picture("broken.zip"), None);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("broken.zip cannot be unpacked: "), "{error}");
    for (name, bytes, reason) in [
        ("inner.zip", zip_of(&[]), "it contains only inner.zip: nested archives are not unpacked"),
        ("shard.tar", b"no shard".repeat(100), "shard.tar: it is damaged"),
    ] {
        let files = [(name.to_owned(), bytes), ("README.md".to_owned(), b"x".to_vec())];
        let files = if name == "inner.zip" { &files[..1] } else { &files };
        opened.place.put("outer.zip", &zip_of(files));
        let error = opened.deployment.add_folder(&opened.place.picture("outer.zip"), None);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&format!("outer.zip cannot be unpacked: {reason}")), "{error}");
        assert!(error.ends_with("or unpack it and give the folder"), "{error}");
    }
}

#[tokio::test]
async fn an_archive_is_not_opened_if_the_disk_has_no_space_for_its_files() {
    let place = Place::new(&[("photos.zip", zip_of(&[("1.png".to_owned(), picture(1))]))]);
    let disk = DiskQuota::with_reserve(u64::MAX);
    let deployment = place.open_with(DeploymentSettings { disk, ..DeploymentSettings::default() });
    let error = deployment.add_folder(&place.picture("photos.zip"), None).unwrap_err().to_string();
    assert!(error.contains("has no space for the files of the archive"), "{error}");
    assert!(error.contains("free space, or unpack it on another disk"), "{error}");
}

/// Names that other programs or our own readers could misunderstand.
const NAMES: [&str; 10] = [
    "test_01.png",
    "train.png",
    "a b.png",
    "ü#%&'.png",
    "x.tar.png",
    " lead.png",
    "A_2.PNG",
    "a.png",
    "back\\slash.png",
    "images.png",
];

/// Annotations in fractions of a picture.
fn annotations() -> impl Strategy<Value = Annotation> {
    let coordinate = || (0..=10_000_u16).prop_map(|step| f64::from(step) / 1e4);
    let point = move || prop::collection::vec(coordinate(), 2);
    let polygon = prop::collection::vec(point(), 3..6).prop_map(|points| points.concat());
    let keypoint = (coordinate(), coordinate(), prop::sample::select(vec![1.0, 2.0]));
    let runs = prop::collection::vec(1..90_u64, 1..9);
    let parts = (
        prop::option::of(coordinate()),
        prop::collection::vec(polygon, 0..3),
        prop::option::of(runs),
        prop::collection::vec(keypoint, 0..4),
        any::<bool>(),
    );
    parts.prop_map(|(score, polygons, runs, keypoints, is_crowd)| Annotation {
        score,
        polygons,
        mask: runs.map(|runs| Mask::from_runs([64, 96], &runs)),
        keypoints: keypoints.into_iter().flat_map(|(x, y, seen)| [x, y, seen]).collect(),
        is_crowd,
    })
}

pub(crate) fn rows() -> impl Strategy<Value = Vec<Value>> {
    let text = || "\\PC{1,20}";
    let region = (0.0..0.9_f64, 0.0..0.9_f64, 0.02..0.1_f64, 0.02..0.1_f64);
    let object = (text(), region, annotations()).prop_map(|(label, sides, annotation)| {
        let (x, y, width, height) = sides;
        let mut object = serde_json::to_value(annotation).unwrap();
        object["label"] = format!("l{label}").into();
        object["bbox"] = json!([x, y, width, height]);
        object
    });
    let texts = || prop::collection::vec(text(), 0..4);
    let description = (
        prop::option::of(text()),
        texts(),
        texts(),
        prop::collection::vec(object, 0..4),
        prop::sample::select(vec!["", "day/", "night/test/"]),
    );
    prop::collection::vec(description, NAMES.len()).prop_map(|rows| {
        let row = |(name, (caption, labels, tags, objects, folder))| {
            json!({"file_name": format!("{folder}{name}"), "caption": caption, "labels": labels,
                   "tags": tags, "objects": objects})
        };
        NAMES.into_iter().zip(rows).map(row).collect()
    })
}

#[test]
fn any_description_comes_back() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = ProptestConfig { cases: 3, max_shrink_iters: 20, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let end = runner.run(&rows(), |rows| {
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        let mut files = vec![("metadata.jsonl", lines.join("\n").into_bytes())];
        for (number, row) in (0..).zip(&rows) {
            files.push((row["file_name"].as_str().unwrap(), picture(number)));
        }
        runtime.block_on(async { assert_round_trip(&Service::of(&files).await).await });
        Ok(())
    });
    end.unwrap();
}

#[tokio::test]
async fn an_export_of_a_hosted_service_is_a_dataset() {
    let items = json!([
        {"media_id": "m1", "media_type": "image", "file_name": "a.png", "file_path": "day/a.png",
         "width": 96, "height": 64, "metadata_items": [
            {"type": "issue", "properties": {"issue_type": "dark", "confidence": 0.9}},
            {"type": "image_label", "properties": {"category_name": "cat", "source": "Visual Layer"}},
            {"type": "object_label", "properties": {"category_name": "ear", "bbox": [24, 16, 48, 32]}},
            {"type": "caption", "properties": {"text": "A cat."}},
            {"type": "user_tag", "properties": {"tag_name": "keep", "assigned_date": "2025-04-02"}}]},
        {"media_id": "m2", "file_name": "gone.png", "file_path": "gone.png", "metadata_items": []},
    ]);
    let document = json!({"info": {"dataset": "demo"}, "media_items": items}).to_string();
    let files = [("images/a.png", picture(0)), ("metadata.json", document.into_bytes())];
    let service = Service::of(&files).await;
    let found = descriptions(&service, "file_name").await;
    let description = &found["a.png"];
    assert_eq!(description.captions, ["A cat."]);
    assert_eq!((&description.labels[..], description.tags.len()), (&["cat".to_owned()][..], 1));
    let ear = ("ear".to_owned(), [24.0, 16.0, 48.0, 32.0], Annotation::default());
    assert_eq!(description.objects, [ear]);
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let reason = skipped.iter().find(|it| it.file.as_str() == "metadata.json").unwrap();
    assert_eq!(reason.reason.as_str(), "item 2: its file_name is not in the folder");
}
