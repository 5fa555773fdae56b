//! The paths of originals, which only a service for a client in the same process sends.

use std::{collections::BTreeMap, ffi::OsStr, fs, os::unix::ffi::OsStrExt as _, path::PathBuf};

use reqwest::multipart::{Form, Part};
use serde_json::Value;
use tessera_service::{DeploymentSettings, OriginalPaths};

use crate::{
    bucket_pictures::VIDEO,
    components::object_storage::fake_s3::FakeS3,
    export::{archive, metadata},
    support::{Place, Service, assert_no_path, picture},
    video::with_ffmpeg,
};

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
