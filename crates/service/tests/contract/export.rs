//! Exports, from start to archive.

use std::{
    io::{Cursor, Read as _},
    time::Duration,
};

use parquet::{
    file::reader::{FileReader as _, SerializedFileReader},
    record::{ListAccessor as _, RowAccessor as _},
};
use serde_json::{Value, json};
use tessera_service::DeploymentSettings;
use zip::ZipArchive;

use crate::support::{Place, Service, answer, assert_no_path, encoded, now, picture, pictures};

const START: &str = "/export_context_async";

pub(crate) async fn start(service: &Service, query: &str) -> Value {
    service.good(&service.of_dataset(&format!("{START}?{query}"))).await
}

/// Exports and downloads the archive without login.
pub(crate) async fn archive(
    service: &Service,
    query: &str,
) -> (Value, ZipArchive<Cursor<Vec<u8>>>) {
    let started = start(service, query).await;
    finished_archive(service, &started).await
}

/// Waits for a started export and downloads its archive without login.
pub(crate) async fn finished_archive(
    service: &Service,
    started: &Value,
) -> (Value, ZipArchive<Cursor<Vec<u8>>>) {
    let task = ended(service, started).await;
    assert_eq!(task["status"], "COMPLETED", "{task}");
    let uri = task["download_uri"].as_str().unwrap();
    let bytes = service.client.get(uri).send().await.unwrap().bytes().await.unwrap();
    (task, ZipArchive::new(Cursor::new(bytes.to_vec())).unwrap())
}

/// Waits for a started export, which may fail.
pub(crate) async fn ended(service: &Service, started: &Value) -> Value {
    service.deployment.wait_until_idle().await;
    status(service, &started["id"]).await
}

pub(crate) async fn status(service: &Service, id: &Value) -> Value {
    let id = id.as_str().unwrap();
    service.good(&service.of_dataset(&format!("/export_status?export_task_id={id}"))).await
}

pub(crate) fn names(archive: &ZipArchive<Cursor<Vec<u8>>>) -> Vec<String> {
    let mut names: Vec<String> =
        archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    names.sort();
    names
}

pub(crate) fn content(archive: &mut ZipArchive<Cursor<Vec<u8>>>, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

pub(crate) fn metadata(archive: &mut ZipArchive<Cursor<Vec<u8>>>) -> Value {
    serde_json::from_slice(&content(archive, "metadata.json")).unwrap()
}

#[tokio::test]
async fn starting_an_export_returns_the_whole_task() {
    let service = Service::of_pictures().await;
    let task = start(&service, "file_name=a.zip&export_format=json").await;
    assert!(task["id"].is_string());
    assert_eq!(task["dataset_id"], service.dataset.to_string());
    assert_eq!((&task["status"], &task["progress"]), (&json!("INIT"), &json!(0.0)));
    assert_eq!((&task["download_uri"], &task["entities_count"]), (&json!(null), &json!(12)));
    assert_eq!(task["result_message"], json!(null));
}

#[tokio::test]
async fn the_json_archive_describes_every_image() {
    let service = Service::of_pictures().await;
    let (_, mut zip) = archive(&service, "file_name=a&export_format=json").await;
    assert_eq!(names(&zip), ["metadata.json"]);
    let document = metadata(&mut zip);
    assert_eq!(document["info"]["total_media_items"], 12);
    assert_eq!(document["info"]["dataset"], "demo");
    let items = document["media_items"].as_array().unwrap();
    assert_eq!(items.len(), 12);
    let first = &items[0];
    assert_eq!((&first["file_name"], &first["media_type"]), (&json!("p000.png"), &json!("image")));
    assert_eq!((&first["width"], &first["height"]), (&json!(96), &json!(64)));
    assert_eq!(first["image_filename"], json!(null), "no images were asked for");
    assert!(first["uniqueness_score"].is_number() && first["cluster_id"].is_string());
    assert!(first["metadata_items"].is_array());
    assert_no_path(&document, &service.place);
}

#[tokio::test]
async fn links_of_the_metadata_open_without_login() {
    let place = crate::described::place();
    let service = Service::at(place, true).await;
    let (_, mut zip) = archive(&service, "file_name=a&export_format=json").await;
    let document = metadata(&mut zip);
    let mut links = Vec::new();
    for item in document["media_items"].as_array().unwrap() {
        links.push(item["url"].as_str().unwrap().to_owned());
        let parts = item["metadata_items"].as_array().unwrap().iter();
        let objects = parts.filter(|part| part["type"] == "object_label");
        links
            .extend(objects.map(|object| object["properties"]["url"].as_str().unwrap().to_owned()));
    }
    assert_eq!(links.len(), 14, "ten pictures and four objects");
    for link in links {
        let response = service.client.get(&link).send().await.unwrap();
        assert_eq!(response.status(), 200, "{link}");
        // The link expires with the export, and nobody can extend it.
        let (start, rest) = link.split_once("?expires=").unwrap();
        let (expires, signature) = rest.split_once("&signature=").unwrap();
        let day = now() + 23 * 3600..=now() + 24 * 3600;
        assert!(day.contains(&expires.parse().unwrap()), "{link}");
        for forged in ["9999999999", "0", "x"] {
            let forged = format!("{start}?expires={forged}&signature={signature}");
            assert_eq!(service.client.get(&forged).send().await.unwrap().status(), 403, "{forged}");
        }
        let lasting = format!("{start}?signature={signature}");
        assert_eq!(service.client.get(&lasting).send().await.unwrap().status(), 403);
    }
}

#[tokio::test]
async fn a_row_finds_its_image_by_each_of_its_names() {
    let service = Service::of(&[("a/one.png", picture(1)), ("two.png", picture(2))]).await;
    let query = "file_name=a&export_format=json&include_images=true";
    let (_, mut zip) = archive(&service, query).await;
    let document = metadata(&mut zip);
    let items = document["media_items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    for item in items {
        let original = service.place.picture(item["file_path"].as_str().unwrap());
        for name in ["image_filename", "file_name"] {
            let image = format!("images/{}", item[name].as_str().unwrap());
            assert_eq!(content(&mut zip, &image), std::fs::read(&original).unwrap(), "{name}");
        }
    }
}

#[tokio::test]
async fn rows_name_the_cluster_that_was_exported() {
    let service = Service::of_pictures().await;
    for threshold in 0..5 {
        let clusters = service.clusters(&format!("threshold={threshold}")).await;
        let id = clusters[0]["cluster_id"].as_str().unwrap();
        let scope = format!("file_name=a&export_format=json&cluster_id={id}");
        let (_, mut zip) = archive(&service, &scope).await;
        let document = metadata(&mut zip);
        let items = document["media_items"].as_array().unwrap();
        assert_eq!(items.len(), clusters[0]["n_images"]);
        assert!(items.iter().all(|item| item["cluster_id"] == id), "{threshold}: {items:?}");
    }
    let fine: std::collections::BTreeSet<String> = service
        .clusters("threshold=0")
        .await
        .iter()
        .map(|cluster| cluster["cluster_id"].as_str().unwrap().to_owned())
        .collect();
    let (_, mut zip) = archive(&service, "file_name=a&export_format=json&threshold=0").await;
    let document = metadata(&mut zip);
    let items = document["media_items"].as_array().unwrap();
    assert_eq!(items.len(), 12);
    assert!(items.iter().all(|item| fine.contains(item["cluster_id"].as_str().unwrap())));
}

#[tokio::test]
async fn exports_by_similarity_carry_their_confidence() {
    let service = Service::of_pictures().await;
    let media = service.media("p002.png").await;
    let query = format!("file_name=a&export_format=json&anchor_media_id={media}&anchor_type=MEDIA");
    let (_, mut zip) = archive(&service, &query).await;
    let document = metadata(&mut zip);
    let items = document["media_items"].as_array().unwrap();
    let confidence = |name: &str| {
        let item = items.iter().find(|item| item["file_name"] == name).unwrap();
        item["search_confidence"].as_f64().unwrap()
    };
    assert!(confidence("p002.png") > 0.99);
    assert!(confidence("p001.png") < confidence("p006.png"));
    let (_, mut zip) = archive(&service, "file_name=a&export_format=json").await;
    let document = metadata(&mut zip);
    assert_eq!(document["media_items"][0].get("search_confidence"), None);
}

#[tokio::test]
async fn the_parquet_archive_contains_its_images() {
    let twins = [("a/x.png", picture(1)), ("b/x.png", picture(2)), ("b/X.png", picture(3))];
    let service = Service::of(&twins).await;
    let query = "file_name=a&export_format=parquet&include_images=True";
    let (task, mut zip) = archive(&service, query).await;
    assert_eq!((&task["entities_count"], &task["progress"]), (&json!(3), &json!(1.0)));
    let rows = bytes::Bytes::from(content(&mut zip, "metadata.parquet"));
    let reader = SerializedFileReader::new(rows).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let columns = schema.root_schema().get_fields();
    let documentation = include_str!("../../../../docs/exports.md");
    for column in columns {
        let cell = format!("`{}`", column.name());
        assert!(documentation.contains(&cell), "{cell} is not documented");
    }
    let place = |name: &str| columns.iter().position(|column| column.name() == name).unwrap();
    let mut expected = vec!["metadata.parquet".to_owned()];
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let path = row.get_string(place("file_path")).unwrap();
        let image = format!("images/{}", row.get_string(place("image_filename")).unwrap());
        assert_eq!(row.get_string(place("file_name")).unwrap(), &image);
        let original = std::fs::read(service.place.picture(path)).unwrap();
        assert_eq!(content(&mut zip, &image), original, "{path}");
        let size = u64::try_from(row.get_long(place("file_size")).unwrap()).unwrap();
        assert_eq!(size, original.len() as u64);
        let uniqueness = row.get_double(place("uniqueness_score")).unwrap();
        assert!((0.0..=1.0).contains(&uniqueness));
        let modified = row.get_timestamp_micros(place("modified_at")).unwrap() / 1_000_000;
        assert!(modified.abs_diff(crate::support::now().cast_signed()) < 600, "{modified}");
        let labels = row.get_list(place("labels")).unwrap();
        assert_eq!(labels.get_string(0).unwrap(), &path[..1], "the name of the folder");
        row.get_string(place("media_id")).unwrap().parse::<uuid::Uuid>().unwrap();
        row.get_string(place("cluster_id")).unwrap().parse::<uuid::Uuid>().unwrap();
        expected.push(image);
    }
    expected.sort();
    assert_eq!(names(&zip), expected);
}

/// The rows of `metadata.parquet`, without the columns of one picture.
fn parquet_rows(zip: &mut ZipArchive<Cursor<Vec<u8>>>) -> Vec<Value> {
    let bytes = bytes::Bytes::from(content(zip, "metadata.parquet"));
    let rows = SerializedFileReader::new(bytes).unwrap();
    rows.get_row_iter(None).unwrap().map(|row| row.unwrap().to_json_value()).collect()
}

#[tokio::test]
async fn parquet_has_lists_of_labels_objects_and_issues() {
    let service = crate::described::served().await;
    let (_, mut zip) = archive(&service, "file_name=a&export_format=parquet").await;
    let rows = parquet_rows(&mut zip);
    let row = |path: &str| rows.iter().find(|row| row["file_path"] == path).unwrap();
    let doors = row("doors.png");
    assert_eq!(
        doors["file_name"], "doors.png",
        "the path in the dataset, because no images are included"
    );
    assert_eq!(doors["image_filename"], json!(null));
    assert_eq!(doors["labels"], json!(["door", "wall"]));
    assert_eq!(doors["user_tags"], json!(["keep", "front"]));
    let objects = doors["objects"].as_array().unwrap();
    let boxes: Vec<_> = objects.iter().map(|object| (&object["label"], &object["bbox"])).collect();
    let door = json!("door");
    let (first, second) = (json!([0.0, 0.0, 48.0, 32.0]), json!([48.0, 32.0, 48.0, 32.0]));
    assert_eq!(boxes, [(&door, &first), (&door, &second)]);
    let scores: Vec<_> = objects.iter().map(|object| &object["score"]).collect();
    assert_eq!(scores, [&json!(0.75), &json!(null)]);
    assert!(objects.iter().all(|object| object["issues"].is_array()));
    let plain = row("bright.png");
    let empty = ["labels", "user_tags", "objects"].map(|column| &plain[column]);
    assert_eq!(empty, [&json!([]); 3]);
    let group = |path: &str| {
        let issues = row(path)["issues"].as_array().unwrap().iter();
        let duplicate = issues.clone().find(|issue| issue["type"] == "duplicates").unwrap();
        assert!(duplicate["confidence"].as_f64().unwrap() > 0.9, "{duplicate}");
        duplicate["group"].as_str().unwrap().to_owned()
    };
    assert_eq!(group("twin.png"), group("twin2.png"));
    let dark = &row("dark.png")["issues"].as_array().unwrap().clone();
    let dark = dark.iter().find(|issue| issue["type"] == "dark").unwrap();
    assert_eq!(dark["group"], json!(null), "only near-duplicates have a group");
}

#[tokio::test]
async fn names_like_those_of_splits_come_with_a_dataset_card() {
    for (name, has_card) in [("latest_1.png", false), ("test_1.png", true)] {
        let service = Service::of(&[(name, picture(1))]).await;
        for format in ["json", "parquet"] {
            let query = format!("file_name=a&export_format={format}&include_images=true");
            let (_, zip) = archive(&service, &query).await;
            let card = names(&zip).iter().any(|entry| entry == "README.md");
            assert_eq!(card, has_card, "{name}, {format}");
        }
        let (_, zip) = archive(&service, "file_name=a&export_format=parquet").await;
        assert_eq!(names(&zip), ["metadata.parquet"], "no card without images");
    }
}

#[tokio::test]
async fn exports_contain_quality_issues() {
    let night = image::RgbImage::from_fn(64, 64, |x, _| image::Rgb([u8::try_from(x).unwrap(); 3]));
    let night = encoded(&night, image::ImageFormat::Png);
    let service = Service::of(&[("night.png", night), ("scene.png", picture(2))]).await;
    let (_, mut zip) = archive(&service, "file_name=a&export_format=json").await;
    let document = metadata(&mut zip);
    let issues = |place: usize| -> Vec<&str> {
        let items = document["media_items"][place]["metadata_items"].as_array().unwrap();
        assert!(items.iter().all(|item| item["type"] == "issue"), "{items:?}");
        items.iter().map(|item| item["properties"]["issue_type"].as_str().unwrap()).collect()
    };
    assert_eq!(issues(0), ["blur", "dark"]);
    assert!(issues(1).is_empty(), "{:?}", issues(1));
}

#[tokio::test]
async fn names_in_an_archive_are_unique_and_safe() {
    let names = ["a.jpg", "A.JPG", "a_2.jpg", "a.jpg", "x\\..\\y", "e\u{1b}[2J.png", "bare"];
    let paths: Vec<String> =
        names.iter().enumerate().map(|(at, name)| format!("{at}/{name}")).collect();
    let files: Vec<_> = (0..).zip(&paths).map(|(n, path)| (path.as_str(), picture(n))).collect();
    let service = Service::of(&files).await;
    let query = "file_name=a&export_format=json&include_images=true";
    let (_, mut zip) = archive(&service, query).await;
    let document = metadata(&mut zip);
    let items = document["media_items"].as_array().unwrap();
    let names: Vec<&str> =
        items.iter().map(|item| item["image_filename"].as_str().unwrap()).collect();
    let expected = ["a.jpg", "A_2.JPG", "a_2_2.jpg", "a_3.jpg", "x_.._y", "e_[2J.png", "bare"];
    assert_eq!(names, expected);
    for (n, name) in (0..).zip(names) {
        assert_eq!(content(&mut zip, &format!("images/{name}")), picture(n), "{name}");
    }
}

#[tokio::test]
async fn missing_images_are_reported_and_omitted() {
    let service = Service::of_pictures().await;
    std::fs::remove_file(service.place.picture("p004.png")).unwrap();
    let query = "file_name=a&export_format=json&include_images=true";
    let (task, mut zip) = archive(&service, query).await;
    assert_eq!(task["result_message"], "1 picture could not be read and was omitted: p004.png");
    assert_eq!(names(&zip).len(), 12, "eleven images and the metadata");
    let document = metadata(&mut zip);
    for item in document["media_items"].as_array().unwrap() {
        assert_eq!(item["image_filename"].is_null(), item["file_name"] == "p004.png", "{item}");
    }
}

#[tokio::test]
async fn parameters_of_the_start() {
    let service = Service::of_pictures().await;
    for (query, name) in [
        ("export_format=json", "file_name"),
        ("file_name=&export_format=json", "file_name"),
        ("file_name=a", "export_format"),
        ("file_name=a&export_format=xml", "export_format"),
        ("file_name=a&export_format=json&include_images=maybe", "include_images"),
    ] {
        let (status, body) = service.json(&service.of_dataset(&format!("{START}?{query}"))).await;
        assert_eq!(status, 422, "{query}");
        assert_eq!(body["detail"][0]["loc"], json!(["query", name]), "{query}");
    }
    assert_eq!(service.place.count("export"), 0);
    for flag in ["true", "True", "FALSE", "1", "0"] {
        start(&service, &format!("file_name=a&export_format=json&include_images={flag}")).await;
    }
}

#[tokio::test]
async fn export_needs_ready() {
    let service = Service::of_pictures().await;
    for status in ["PARTIAL INDEX", "READ ONLY", "INDEXING", "ERROR"] {
        service.set_status(status);
        let path = service.of_dataset(&format!("{START}?file_name=a&export_format=json"));
        let (code, body) = service.json(&path).await;
        assert_eq!(code, 409, "{status}");
        assert!(body["detail"].as_str().unwrap().contains(status), "{body}");
    }
    assert_eq!(service.place.count("export"), 0);
}

#[tokio::test]
async fn an_export_is_queried_by_its_id() {
    let service = Service::of_pictures().await;
    let ask = async |query: &str| {
        let path = service.of_dataset(&format!("/export_status?{query}"));
        service.json(&path).await.0.as_u16()
    };
    assert_eq!(ask("").await, 422);
    assert_eq!(ask("export_task_id=x").await, 422);
    assert_eq!(ask("export_task_id=00000000-0000-0000-0000-000000000000").await, 404);
}

#[tokio::test]
async fn the_archive_supports_range_requests() {
    let service = Service::of_pictures().await;
    let (task, _) = archive(&service, "file_name=My%20pictures&export_format=json").await;
    let uri = task["download_uri"].as_str().unwrap();
    let whole = service.client.get(uri).send().await.unwrap();
    assert_eq!(whole.headers()["content-type"], "application/zip");
    assert_eq!(
        whole.headers()["content-disposition"],
        "attachment; filename*=UTF-8''My%20pictures.zip"
    );
    assert_eq!(whole.headers()["accept-ranges"], "bytes");
    let tag = whole.headers()["etag"].to_str().unwrap().to_owned();
    assert!(tag.starts_with('"'), "strong: {tag}");
    let whole = whole.bytes().await.unwrap();
    let part = |range: &str, held: &str| {
        service.client.get(uri).header("range", range).header("if-range", held).send()
    };
    let rest = part("bytes=10-", &tag).await.unwrap();
    assert_eq!(rest.status(), 206);
    let range = format!("bytes 10-{}/{}", whole.len() - 1, whole.len());
    assert_eq!(rest.headers()["content-range"], range);
    assert_eq!(rest.bytes().await.unwrap(), whole[10..]);
    assert_eq!(part("bytes=10-", "\"older\"").await.unwrap().status(), 200);
    let beyond = part(&format!("bytes={}-", whole.len()), &tag).await.unwrap();
    assert_eq!(beyond.status(), 416);
    assert_eq!(beyond.headers()["content-range"], format!("bytes */{}", whole.len()));
}

#[tokio::test]
async fn a_changed_link_is_403_and_has_a_json_body() {
    let service = Service::of_pictures().await;
    let (task, _) = archive(&service, "file_name=a&export_format=json").await;
    let uri = task["download_uri"].as_str().unwrap();
    let later = uri.replace("expires=", "expires=9");
    for wrong in [&later, uri.split_once('?').unwrap().0] {
        let (status, body) = answer(service.client.get(wrong)).await;
        assert_eq!(status, 403);
        assert!(body["detail"].is_string());
    }
}

#[tokio::test]
async fn only_a_missing_archive_is_reported_as_missing() {
    let service = Service::of_pictures().await;
    let (task, _) = archive(&service, "file_name=a&export_format=json").await;
    let name = format!("{}.zip", task["id"].as_str().unwrap());
    let path = service.place.data.path().join("exports").join(name);
    let uri = task["download_uri"].as_str().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(answer(service.client.get(uri)).await.0, 404);
    // A link to itself cannot be opened, like any file when the process has too many open files.
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert_eq!(answer(service.client.get(uri)).await.0, 500);
}

#[tokio::test]
async fn a_started_export_survives_a_crash() {
    let service = Service::of_pictures().await;
    let started = start(&service, "file_name=a&export_format=json&include_images=1").await;
    service.deployment.wait_until_idle().await;
    let dataset = service.dataset;
    let place = service.stop().await;
    // As after a crash: a partial archive, and IN_PROGRESS in the store.
    let exports = place.data.path().join("exports");
    let name = started["id"].as_str().unwrap();
    std::fs::remove_file(exports.join(format!("{name}.zip"))).unwrap();
    std::fs::write(exports.join(format!("{name}.part")), "PK torn").unwrap();
    place.change("UPDATE export SET status = 'IN_PROGRESS', progress = 0.4");
    let deployment = place.open();
    deployment.wait_until_idle().await;
    let service = Service::serve(place, deployment, dataset, true).await;
    let task = status(&service, &started["id"]).await;
    assert_eq!(task["status"], "COMPLETED", "{task}");
    let uri = task["download_uri"].as_str().unwrap();
    let bytes = service.client.get(uri).send().await.unwrap().bytes().await.unwrap();
    let zip = ZipArchive::new(Cursor::new(bytes.to_vec())).unwrap();
    assert_eq!(names(&zip).len(), 13);
    assert!(!exports.join(format!("{name}.part")).exists());
}

#[tokio::test]
async fn an_attempt_removes_the_file_of_an_attempt_that_was_killed() {
    let simulated_delay = Duration::from_secs(20);
    let settings = || DeploymentSettings { simulated_delay, ..DeploymentSettings::default() };
    let service = Service::of_pictures().await.again(settings()).await;
    let started = start(&service, "file_name=a&export_format=json").await;
    while status(&service, &started["id"]).await["status"] != "IN_PROGRESS" {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let place = service.stop().await;
    let name = format!("exports/{}.1.part", started["id"].as_str().unwrap());
    let killed = place.data.path().join(name);
    std::fs::write(&killed, "PK torn").unwrap();
    let _next = place.open_with(settings());
    while killed.exists() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let state: String = place.row("SELECT status FROM export", |row| row.get(0));
    assert_eq!(state, "IN_PROGRESS");
}

#[tokio::test]
async fn an_export_that_cannot_be_done_fails_with_a_reason() {
    let service = Service::at(Place::new(&pictures(3)), true).await;
    std::fs::rename(service.place.pictures.path(), service.place.data.path().join("away")).unwrap();
    let (task, _) = archive(&service, "file_name=a&export_format=json").await;
    assert_eq!(task["result_message"], json!(null), "an export without images needs no folder");
    let started = start(&service, "file_name=a&export_format=json&include_images=true").await;
    let settled =
        tokio::time::timeout(Duration::from_secs(20), service.deployment.wait_until_idle());
    settled.await.unwrap();
    let task = status(&service, &started["id"]).await;
    assert_eq!((&task["status"], &task["download_uri"]), (&json!("FAILED"), &json!(null)));
    assert!(task["result_message"].as_str().unwrap().contains("folder"), "{task}");
    assert_no_path(&task, &service.place);
}

#[tokio::test]
async fn an_export_waits_for_the_indexing_of_its_dataset() {
    let waiting = || DeploymentSettings { jobs: 0, ..DeploymentSettings::default() };
    let service = Service::of_pictures().await.again(waiting()).await;
    let whole = start(&service, "file_name=a&export_format=json").await;
    let ids = [service.media("p000.png").await, service.media("p001.png").await];
    let body = json!({"media_selection": [{"type": "media", "payload": {"media_ids": ids}}]});
    let path = service.of_dataset("/export_entities_async?export_format=json&include_images=0");
    let (_, selected) = answer(service.post(&path).json(&body)).await;
    let dataset = service.dataset;
    let place = service.stop().await;
    place.put("new.png", &picture(30));
    std::fs::remove_file(place.picture("p001.png")).unwrap();
    place.change(
        "UPDATE dataset SET status = 'INDEXING';
         INSERT INTO indexing_task (dataset, kind, stage, reindex, created_at)
         SELECT id, 'DATASET_CREATION', 'RUNNING', false, 0 FROM dataset",
    );
    let deployment = place.open();
    let service = Service::serve(place, deployment, dataset, true).await;
    let (task, mut zip) = finished_archive(&service, &whole).await;
    assert_eq!((&task["entities_count"], &task["result_message"]), (&json!(12), &json!(null)));
    let rows = metadata(&mut zip)["media_items"].take();
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().any(|row| row["file_name"] == "new.png"), "{rows:?}");
    assert!(rows.iter().all(|row| row["cluster_id"].is_string()), "{rows:?}");
    let (task, _) = finished_archive(&service, &selected).await;
    let message = "1 selected media item is not in the dataset any more";
    assert_eq!((&task["entities_count"], &task["result_message"]), (&json!(1), &json!(message)));
    let service = service.again(waiting()).await;
    let started = start(&service, "file_name=a&export_format=json").await;
    let place = &service.place;
    place.change("UPDATE dataset SET status = 'INDEXING'; UPDATE dataset SET status = 'ERROR'");
    let service = service.again(DeploymentSettings::default()).await;
    let task = ended(&service, &started).await;
    let message = "its dataset is ERROR. Resolve the error, and export again";
    assert_eq!((&task["status"], &task["result_message"]), (&json!("FAILED"), &json!(message)));
}
