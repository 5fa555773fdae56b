//! Images and thumbnails by their links, and the paths of originals, which only a service for a client in the same
//! process sends.

use std::{collections::BTreeMap, ffi::OsStr, fs, os::unix::ffi::OsStrExt as _, path::PathBuf};

use reqwest::multipart::{Form, Part};
use serde_json::Value;
use tessera_service::{DeploymentSettings, OriginalPaths};

use crate::{
    bucket_pictures::VIDEO,
    components::object_storage::fake_s3::FakeS3,
    export::{archive, metadata},
    support::{Place, Service, assert_no_path, picture, pictures},
    video::with_ffmpeg,
};

async fn preview(service: &Service) -> Value {
    service.good(&service.explore("threshold=0")).await["clusters"][0]["previews"][0].clone()
}

#[tokio::test]
async fn links_open_without_login_and_show_what_is_in_the_folder() {
    let service = Service::of(&[("a.png", picture(3))]).await;
    let preview = preview(&service).await;
    let original = service.client.get(preview["media_uri"].as_str().unwrap());
    let original = original.send().await.unwrap();
    assert_eq!(original.status(), 200);
    assert_eq!(original.headers()["content-type"], "image/png");
    assert_eq!(original.headers()["x-content-type-options"], "nosniff");
    assert_eq!(original.headers()["content-security-policy"], "default-src 'none'");
    assert_eq!(original.headers()["content-disposition"], "inline; filename*=UTF-8''a.png");
    let tag = original.headers()["etag"].clone();
    assert_eq!(original.bytes().await.unwrap(), picture(3));
    let thumbnail = service.client.get(preview["media_thumb_uri"].as_str().unwrap());
    let thumbnail = thumbnail.send().await.unwrap();
    assert_eq!(thumbnail.headers()["content-type"], "image/jpeg");
    let bytes = thumbnail.bytes().await.unwrap();
    assert!(image::load_from_memory(&bytes).unwrap().width() <= 256);
    let tag = tag.to_str().unwrap();
    let weak = format!("W/{tag}");
    for (header, tags, status) in [
        ("if-none-match", tag.to_owned(), 304),
        ("if-none-match", weak.clone(), 304),
        ("if-none-match", format!("\"a\", {weak}"), 304),
        ("if-none-match", "*".to_owned(), 304),
        ("if-none-match", "W/\"a\"".to_owned(), 200),
        ("if-match", format!("\"a\", {tag}"), 200),
        ("if-match", "*".to_owned(), 200),
        ("if-match", "\"a\"".to_owned(), 412),
        ("if-match", weak, 412),
    ] {
        let again = service.client.get(preview["media_uri"].as_str().unwrap());
        let again = again.header(header, &tags).send().await.unwrap();
        assert_eq!(again.status(), status, "{header}: {tags}");
    }
}

#[tokio::test]
async fn ranges_of_every_form_are_served() {
    let service = Service::of(&[("a.png", picture(3))]).await;
    let preview = preview(&service).await;
    let whole = picture(3);
    let length = whole.len();
    for (range, expected) in [
        ("bytes=0-0", 0..1),
        ("bytes=2-", 2..length),
        ("bytes=-3", length - 3..length),
        ("bytes=-99999", 0..length),
        ("bytes=5-99999", 5..length),
        ("bytes=0-18446744073709551615", 0..length),
        ("bytes=99999-", 0..0),
        (format!("bytes={length}-").as_str(), 0..0),
        ("bytes=-0", 0..0),
    ] {
        let request = service.client.get(preview["media_uri"].as_str().unwrap());
        let response = request.header("range", range).send().await.unwrap();
        let status = if expected.is_empty() { 416 } else { 206 };
        assert_eq!(response.status(), status, "{range}");
        let body = response.bytes().await.unwrap();
        assert_eq!(body, whole[expected], "{range}");
    }
    for range in ["bytes=3-2", "bytes=0-1,3-4", "bytes=-", "lines=1-2"] {
        let request = service.client.get(preview["media_uri"].as_str().unwrap());
        let response = request.header("range", range).send().await.unwrap();
        assert_eq!(response.status(), 200, "{range}");
        assert_eq!(response.bytes().await.unwrap(), whole, "{range}");
    }
}

#[tokio::test]
async fn names_are_escaped_in_headers() {
    let service = Service::of(&[("ä \"x\"\r\nSet-Cookie: a.png", picture(3))]).await;
    let uri = preview(&service).await["media_uri"].as_str().unwrap().to_owned();
    let response = service.client.get(uri).send().await.unwrap();
    assert_eq!(
        response.headers()["content-disposition"],
        "inline; filename*=UTF-8''%C3%A4%20%22x%22%0D%0ASet-Cookie%3A%20a.png"
    );
}

#[tokio::test]
async fn forged_links_are_rejected() {
    let service = Service::of_pictures().await;
    let uri = preview(&service).await["media_uri"].as_str().unwrap().to_owned();
    let (resource, _) = uri.split_once('?').unwrap();
    let code = async |uri: &str| service.client.get(uri).send().await.unwrap().status().as_u16();
    assert_eq!(code(resource).await, 401);
    assert_eq!(code(&format!("{resource}?signature=AAAAAAAAAAAAAAAAAAAAAA")).await, 403);
    assert_eq!(code(&format!("{uri}x")).await, 403);
    let with_login = service.client.get(resource).bearer_auth(service.token());
    assert_eq!(with_login.send().await.unwrap().status(), 200);
    let other = service.url("/media/00000000-0000-0000-0000-000000000000/0/original");
    assert_eq!(
        service.client.get(other).bearer_auth(service.token()).send().await.unwrap().status(),
        404
    );
}

#[tokio::test]
async fn files_replaced_by_symlinks_are_not_followed() {
    let place = Place::new(&pictures(2));
    let secret = place.data.path().join("secret.png");
    std::fs::write(&secret, "secret").unwrap();
    let service = Service::at(place, true).await;
    let body = service.good(&service.explore("threshold=0")).await;
    for name in ["p000.png", "p001.png"] {
        std::fs::remove_file(service.place.picture(name)).unwrap();
        std::os::unix::fs::symlink(&secret, service.place.picture(name)).unwrap();
    }
    for cluster in body["clusters"].as_array().unwrap() {
        let uri = cluster["previews"][0]["media_uri"].as_str().unwrap();
        assert_eq!(service.client.get(uri).send().await.unwrap().status(), 404);
    }
}

const PARQUET: &[u8] = include_bytes!("../../../parquet/tests/parquet/images/bytes.parquet");

async fn served(place: Place, settings: DeploymentSettings) -> Service {
    let deployment = place.open_with(settings);
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    Service::serve(place, deployment, dataset, true).await
}

/// Returns the path of the original of each preview, by the name of its file.
async fn original_paths(service: &Service) -> BTreeMap<String, Option<PathBuf>> {
    let clusters = service.clusters("threshold=0").await;
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    previews
        .map(|preview| {
            let path = preview.get("original_path").map(|path| path.as_str().unwrap().into());
            (preview["file_name"].as_str().unwrap().to_owned(), path)
        })
        .collect()
}

#[tokio::test]
async fn an_original_has_the_path_of_the_file_that_is_or_contains_it() {
    let tools = tempfile::tempdir().unwrap();
    let files = [
        ("a b/é.png", picture(0)),
        ("clips/film.mp4", VIDEO.to_vec()),
        ("wall/bytes.parquet", PARQUET.to_vec()),
        ("folder.parquet/c.png", picture(4)),
    ];
    let settings = DeploymentSettings {
        original_paths: OriginalPaths::Shown,
        ..with_ffmpeg(tools.path(), &[2, 3])
    };
    let service = served(Place::new(&files), settings).await;
    let part = Part::bytes(picture(5)).file_name("upload.png");
    service.added(Form::new().part("files", part)).await;
    let paths = original_paths(&service).await;
    let folder = service.place.pictures.path().canonicalize().unwrap();
    let in_folder = |name: &str| Some(folder.join(name));
    for (name, path) in [
        ("é.png", "a b/é.png"),
        ("film_000001.jpg", "clips/film.mp4"),
        ("film_000002.jpg", "clips/film.mp4"),
        ("000001.png", "wall/bytes.parquet"),
        ("c.png", "folder.parquet/c.png"),
    ] {
        assert_eq!(paths.get(name), Some(&in_folder(path)), "{name}: {paths:?}");
    }
    let upload = paths["upload.png"].as_deref().unwrap();
    assert!(upload.is_absolute() && fs::read(upload).unwrap() == picture(5), "{upload:?}");
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    let (_, mut zip) = archive(&service, "file_name=a&export_format=json").await;
    let document = metadata(&mut zip);
    let folder = folder.to_str().unwrap();
    assert_eq!(document["info"]["dataset_url"], format!("file://{folder}"));
    let urls: BTreeMap<&str, &Value> = document["media_items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["file_name"].as_str().unwrap(), &item["url"]))
        .collect();
    assert_eq!(*urls["é.png"], format!("file://{folder}/a%20b/%C3%A9.png"));
    assert_eq!(*urls["film_000001.jpg"], format!("file://{folder}/clips/film.mp4"));
    assert!(urls["000001.png"].is_null(), "{urls:?}");
}

#[tokio::test]
async fn a_path_that_is_not_text_is_left_out() {
    let place = Place::new(&[("a.png", picture(0))]);
    fs::write(place.pictures.path().join(OsStr::from_bytes(b"b\xff.png")), picture(1)).unwrap();
    let settings = DeploymentSettings {
        original_paths: OriginalPaths::Shown,
        ..DeploymentSettings::default()
    };
    let service = served(place, settings).await;
    let paths = original_paths(&service).await;
    let with_path: Vec<&str> =
        paths.iter().filter(|(_, path)| path.is_some()).map(|(name, _)| name.as_str()).collect();
    assert_eq!((paths.len(), with_path), (2, vec!["a.png"]), "{paths:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_original_in_a_bucket_has_no_path() {
    let storage = FakeS3::with_objects(&[("team/set/a.png", picture(0).as_slice())]).await;
    let settings = DeploymentSettings {
        storage: storage.settings(),
        original_paths: OriginalPaths::Shown,
        ..DeploymentSettings::default()
    };
    let place = Place::new(&[]);
    let deployment = place.open_with(settings);
    let dataset = deployment.add_folder("s3://team/set/".as_ref(), None).unwrap();
    deployment.wait_until_idle().await;
    let service = Service::serve(place, deployment, dataset, true).await;
    assert_eq!(original_paths(&service).await, BTreeMap::from([("a.png".to_owned(), None)]));
}

#[tokio::test]
async fn other_clients_get_no_path() {
    let service = Service::of(&[("a.png", picture(0))]).await;
    assert_eq!(original_paths(&service).await, BTreeMap::from([("a.png".to_owned(), None)]));
    assert_no_path(&service.good(&service.explore("")).await, &service.place);
}
