//! Uploads that are kept in a bucket.

use std::fs;

use reqwest::multipart::Form;
use serde_json::json;
use tessera_media::object_storage::ObjectUri;
use tessera_service::{DeploymentSettings, InjectedFailure};

use crate::{
    change::{archived, gzip, new, tar, uploads, zip},
    components::object_storage::fake_s3::{FakeFailure, FakeS3},
    support::{Place, Service, picture, pictures},
};

const UPLOADS: &str = "team/tessera/uploads/";

async fn storage() -> FakeS3 {
    let storage = FakeS3::with_objects(&[("team/readme.md", b"-")]).await;
    // As those of processes that are running.
    storage.set_modified("2999-01-01T00:00:00.000Z");
    storage
}

fn settings(storage: &FakeS3) -> DeploymentSettings {
    let bucket = Some(ObjectUri::parse("s3://team/tessera/").unwrap());
    DeploymentSettings { storage: storage.settings(), bucket, ..DeploymentSettings::default() }
}

/// The uploaded objects, without the identifiers of their uploads.
fn uploaded(storage: &FakeS3) -> Vec<String> {
    let names = storage.names().into_iter();
    let mut names: Vec<String> = names
        .filter_map(|name| {
            let rest = name.strip_prefix(UPLOADS)?;
            let (_, below) = rest.split_once(['/', '.'])?;
            Some(below.to_owned())
        })
        .collect();
    names.sort();
    names
}

fn local_uploads(service: &Service) -> usize {
    fs::read_dir(service.place.data.path().join("uploads")).unwrap().count()
}

async fn original(service: &Service, name: &str) -> Vec<u8> {
    let clusters = service.clusters("threshold=0").await;
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let preview = previews.into_iter().find(|preview| preview["file_name"] == name).unwrap();
    let link = preview["media_uri"].as_str().unwrap();
    service.client.get(link).send().await.unwrap().bytes().await.unwrap().to_vec()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_and_archives_are_kept_in_the_bucket_and_served_from_there() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    service.added(uploads(12..14)).await;
    service.added(archived("set.zip", zip(&new(14..16)))).await;
    service.added(archived("set.tar.gz", gzip(&tar(&new(16..17))))).await;
    let expected = [
        "json",
        "json",
        "json",
        "n012.png",
        "n013.png",
        "unpacked/n014.png",
        "unpacked/n015.png",
        "unpacked/n016.png",
    ];
    assert_eq!(uploaded(&storage), expected);
    assert_eq!((local_uploads(&service), storage.open_uploads()), (0, 0));
    assert_eq!(service.record().await["n_images"], 17);
    for (name, number) in [("n012.png", 12), ("n015.png", 15), ("n016.png", 16)] {
        assert_eq!(original(&service, name).await, picture(number), "{name}");
    }
    let service = service.again(settings(&storage)).await;
    assert_eq!(service.record().await["n_images"], 17);
    assert_eq!(original(&service, "n014.png").await, picture(14));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn archives_without_media_and_sources_that_were_emptied_do_not_stop_the_rest() {
    let storage = storage().await;
    let objects =
        [("in/1.png", picture(20)), ("2.png", picture(21)), ("list.txt", b"2.png".to_vec())];
    for (name, bytes) in &objects {
        storage.put(&format!("team/{name}"), bytes);
    }
    let service = Service::with(settings(&storage)).await;
    for uri in ["s3://team/in", "s3://team/list.txt"] {
        service.added(Form::new().text("s3_uri", uri)).await;
    }
    service.added(archived("set.zip", zip(&[("readme.doc".to_owned(), b"-".to_vec())]))).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("PARTIAL INDEX"), &json!(14)));
    assert!(record.to_string().contains("; the upload is kept in the bucket\""), "{record}");
    for (name, _) in objects {
        storage.remove(&format!("team/{name}"));
    }
    let place = service.stop().await;
    place.put("new.png", &picture(22));
    let service = Service::at_with(place, settings(&storage)).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(13)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_whose_key_would_be_too_long_is_skipped() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let long = format!("{}.png", ["x".repeat(250), "y".repeat(250)].join("/"));
    let long = format!("{}/{}/{long}", "a".repeat(250), "b".repeat(250));
    let members = [(long, picture(14)), ("n015.png".to_owned(), picture(15))];
    service.added(archived("set.zip", zip(&members))).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("PARTIAL INDEX"), &json!(13)));
    assert_eq!(uploaded(&storage), ["json", "skipped.json", "unpacked/n015.png"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_that_was_accepted_is_unpacked_after_a_failure() {
    let storage = storage().await;
    let injected_failures = [InjectedFailure::AddMedia].into();
    let service =
        Service::with(DeploymentSettings { injected_failures, ..settings(&storage) }).await;
    service.added(archived("set.zip", zip(&new(12..15)))).await;
    assert_eq!(service.record().await["status_new"], "ERROR");
    assert_eq!(uploaded(&storage), ["archive", "json"]);
    let service = Service::at_with(service.stop().await, settings(&storage)).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(15)));
    assert_eq!(uploaded(&storage).len(), 4, "the archive is gone: {:?}", storage.names());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_in_the_bucket_outlive_the_database() {
    let storage = storage().await;
    let place = Place::new(&pictures(12)).with_store_file();
    let service = Service::at_with(place, settings(&storage)).await;
    service.added(uploads(12..14)).await;
    service.added(archived("set.zip", zip(&new(14..16)))).await;
    let place = service.stop().await;
    fs::remove_file(place.data.path().join("tessera.db")).unwrap();
    let service = Service::at_with(place, settings(&storage)).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(16)));
    assert_eq!(original(&service, "n014.png").await, picture(14));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_that_are_newer_than_a_restored_database_are_added() {
    let storage = storage().await;
    let service = Service::at_with(Place::new(&pictures(12)).with_store_file(), settings(&storage));
    let service = service.await;
    service.added(uploads(12..13)).await;
    let place = service.stop().await;
    let database = place.data.path().join("tessera.db");
    let older = fs::read(&database).unwrap();
    let service = Service::at_with(place, settings(&storage)).await;
    service.added(uploads(13..15)).await;
    let place = service.stop().await;
    fs::write(&database, older).unwrap();
    let service = Service::at_with(place, settings(&storage)).await;
    assert_eq!(service.record().await["n_images"], 15);
    assert_eq!(original(&service, "n014.png").await, picture(14));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_that_the_bucket_refuses_is_not_accepted() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let folder = || Form::new().text("s3_uri", "s3://team/in");
    for (failure, of_upload, of_folder) in [
        (
            FakeFailure::S3Error(403, "AccessDenied"),
            "The upload to storage failed: the object storage refuses it",
            (400, "access is denied"),
        ),
        (
            FakeFailure::S3Error(503, "SlowDown"),
            "The upload to storage failed: the object storage cannot be reached; try again later",
            (503, "The object storage cannot be reached; try again later"),
        ),
    ] {
        storage.fail_next(vec![failure; 100]);
        let (status, body) = service.add(uploads(12..13)).await;
        assert_eq!((status, body.contains(of_upload)), (500, true), "{body}");
        let (status, body) = service.add(folder()).await;
        assert_eq!((status, body.contains(of_folder.1)), (of_folder.0, true), "{body}");
        storage.recover();
        assert_eq!((uploaded(&storage).len(), local_uploads(&service)), (0, 0));
        assert_eq!(service.record().await["status_new"], "READY");
    }
    storage.fail_next([FakeFailure::S3Error(503, "SlowDown"), FakeFailure::LostResponse]);
    service.added(uploads(12..13)).await;
    assert_eq!(service.record().await["n_images"], 13);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_interrupted_upload_left_in_the_bucket_is_removed_at_a_start_after_a_day() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    service.added(uploads(12..14)).await;
    let of_others = format!("{UPLOADS}0c6e62d8-7a35-4a52-9d29-5b1f2f6b8f8e/photo.png");
    storage.put(&of_others, b"-");
    let kept = storage.names();
    let id = "7b7d7a5e-54a5-4d0c-9c4c-0f1d6a8f3b11";
    storage.put(&format!("{UPLOADS}{id}/n099.png"), b"-");
    storage.put(&format!("team/tessera/begun-uploads/{id}"), b"-");
    let left = storage.names();
    for name in [format!("exports/{id}.zip"), format!("uploads/{id}/archive")] {
        storage.begin_upload(&format!("team/tessera/{name}"));
    }
    storage.begin_upload("team/tessera/uploads/of-others.zip");
    storage.set_modified("2999-01-01T00:00:00.000Z");
    let service = service.again(settings(&storage)).await;
    assert_eq!(storage.names(), left, "another process may be receiving it");
    assert_eq!(storage.open_uploads(), 3);
    storage.set_modified("2026-01-01T00:00:00.000Z");
    let service = service.again(settings(&storage)).await;
    assert_eq!(storage.names(), kept);
    assert_eq!(storage.open_uploads(), 1, "that of others");
    assert_eq!(original(&service, "n013.png").await, picture(13));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accepted_upload_is_kept_whose_end_was_not_noted() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    service.added(uploads(12..14)).await;
    let kept = storage.names();
    let record = kept.iter().find_map(|name| name.strip_prefix(UPLOADS)?.strip_suffix(".json"));
    storage.put(&format!("team/tessera/begun-uploads/{}", record.unwrap()), b"-");
    storage.set_modified("2026-01-01T00:00:00.000Z");
    let service = service.again(settings(&storage)).await;
    assert_eq!(storage.names(), kept);
    assert_eq!(original(&service, "n013.png").await, picture(13));
}
