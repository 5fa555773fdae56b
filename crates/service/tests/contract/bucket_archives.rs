//! Archives of exports that are kept in a bucket.

use std::{fs, io::Cursor};

use reqwest::{StatusCode, redirect::Policy};
use serde_json::{Value, json};
use tessera_media::object_storage::ObjectUri;
use tessera_service::DeploymentSettings;
use zip::ZipArchive;

use crate::{
    components::object_storage::fake_s3::{FakeFailure, FakeS3},
    support::Service,
};

const EXPORT: &str = "/export_context_async?file_name=days.zip&export_format=json";

const EXPIRE: &str = "UPDATE export SET ended_at = 0";

async fn storage() -> FakeS3 {
    let storage = FakeS3::with_objects(&[("team/readme.md", b"-")]).await;
    // As those of processes that are running.
    storage.set_modified("2999-01-01T00:00:00.000Z");
    storage
}

/// The names of all objects but thumbnails.
fn names(storage: &FakeS3) -> Vec<String> {
    let names = storage.names().into_iter();
    names.filter(|name| !name.starts_with("team/tessera/pictures/")).collect()
}

fn settings(storage: &FakeS3) -> DeploymentSettings {
    let bucket = Some(ObjectUri::parse("s3://team/tessera/").unwrap());
    DeploymentSettings { storage: storage.settings(), bucket, ..DeploymentSettings::default() }
}

/// Exports the dataset. Returns the ended task.
async fn exported(service: &Service) -> Value {
    let started = service.good(&service.of_dataset(EXPORT)).await;
    service.deployment.wait_until_idle().await;
    let id = started["id"].as_str().unwrap();
    service.good(&service.of_dataset(&format!("/export_status?export_task_id={id}"))).await
}

fn object_name(task: &Value) -> String {
    format!("team/tessera/exports/{}.zip", task["id"].as_str().unwrap())
}

/// Stops the service, changes its store, and starts it again.
async fn restarted(service: Service, storage: &FakeS3, change: &str) -> Service {
    let place = service.stop().await;
    place.database().execute_batch(change).unwrap();
    Service::at_with(place, settings(storage)).await
}

fn local_archives(service: &Service) -> usize {
    fs::read_dir(service.place.data.path().join("exports")).unwrap().count()
}

#[tokio::test]
async fn an_archive_is_kept_in_the_bucket_and_downloaded_over_a_signed_link() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let task = exported(&service).await;
    assert_eq!(task["status"], "COMPLETED", "{task}");
    assert_eq!(names(&storage), ["team/readme.md".to_owned(), object_name(&task)]);
    assert_eq!((local_archives(&service), storage.open_uploads()), (0, 0));
    let uri = task["download_uri"].as_str().unwrap();
    assert!(uri.starts_with(&service.url("/exports/")), "{uri}");
    let direct = tessera_testing::clients::raw_client().redirect(Policy::none()).build().unwrap();
    let redirect = direct.get(uri).send().await.unwrap();
    assert_eq!(
        (redirect.status(), &redirect.headers()["cache-control"]),
        (307.try_into().unwrap(), &"private, no-store".parse().unwrap())
    );
    let link = redirect.headers()["location"].to_str().unwrap();
    assert!(link.starts_with(storage.address()), "{link}");
    let archive = direct.get(link).send().await.unwrap();
    assert_eq!(archive.headers()["content-type"], "application/zip");
    assert_eq!(archive.headers()["content-disposition"], "attachment; filename*=UTF-8''days.zip");
    let bytes = service.client.get(uri).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(bytes, archive.bytes().await.unwrap());
    assert!(ZipArchive::new(Cursor::new(bytes)).unwrap().by_name("metadata.json").is_ok());
    let forged = format!("{link}0");
    assert_eq!(direct.get(forged).send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn an_expired_link_of_the_bucket_is_replaced_by_the_link_of_the_export() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let task = exported(&service).await;
    let uri = task["download_uri"].as_str().unwrap();
    storage.fail_next([FakeFailure::S3Error(403, "AccessDenied")]);
    assert_eq!(service.client.get(uri).send().await.unwrap().status(), 403);
    assert_eq!(service.client.get(uri).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn an_upload_survives_failures_of_the_storage() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    // All attempts of the first run fail.
    storage.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 4]);
    storage.fail_next([
        FakeFailure::S3Error(503, "SlowDown"),
        FakeFailure::LostResponse,
        FakeFailure::S3Error(503, "SlowDown"),
        FakeFailure::None,
        FakeFailure::LostResponse,
    ]);
    let task = exported(&service).await;
    assert_eq!(task["status"], "COMPLETED", "{task}");
    assert_eq!(names(&storage), ["team/readme.md".to_owned(), object_name(&task)]);
    assert_eq!((local_archives(&service), storage.open_uploads()), (0, 0));
}

#[tokio::test]
async fn an_export_that_cannot_be_uploaded_fails_with_the_reason_and_leaves_nothing() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    storage.fail_next([FakeFailure::None, FakeFailure::S3Error(403, "AccessDenied")]);
    let task = exported(&service).await;
    assert_eq!(task["status"], "FAILED", "{task}");
    let message = "the archive cannot be kept in the bucket: access is denied";
    assert_eq!(task["result_message"], message);
    assert_eq!((local_archives(&service), storage.open_uploads()), (0, 0));
    assert_eq!(names(&storage), ["team/readme.md"]);
}

#[tokio::test]
async fn an_export_that_was_interrupted_is_uploaded_after_the_next_start() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let task = exported(&service).await;
    let service = restarted(service, &storage, "UPDATE export SET status = 'IN_PROGRESS'").await;
    let path = format!("/export_status?export_task_id={}", task["id"].as_str().unwrap());
    let again = service.good(&service.of_dataset(&path)).await;
    assert_eq!(again["status"], "COMPLETED", "{again}");
    assert_eq!(names(&storage), ["team/readme.md".to_owned(), object_name(&task)]);
}

#[tokio::test]
async fn an_expired_archive_is_deleted_from_the_bucket() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    exported(&service).await;
    let service = restarted(service, &storage, EXPIRE).await;
    let task = exported(&service).await;
    assert_eq!(names(&storage), ["team/readme.md".to_owned(), object_name(&task)]);
}

#[tokio::test]
async fn an_archive_whose_deletion_is_denied_is_deleted_once_it_is_allowed() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let expired = exported(&service).await;
    storage.deny_deletions(true);
    let service = restarted(service, &storage, EXPIRE).await;
    let second = exported(&service).await;
    assert!(names(&storage).contains(&object_name(&expired)));
    let service = restarted(service, &storage, "UPDATE export SET progress = 1.0").await;
    storage.deny_deletions(false);
    let third = exported(&service).await;
    let mut kept = [object_name(&second), object_name(&third)];
    kept.sort();
    assert_eq!(names(&storage), [&["team/readme.md".to_owned()], &kept[..]].concat());
}

#[tokio::test]
async fn the_archives_of_a_removed_dataset_are_deleted_once_the_bucket_allows_it() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let archive = object_name(&exported(&service).await);
    storage.deny_deletions(true);
    assert_eq!(service.manage("/remove").await, (StatusCode::OK, json!({"uploads": 0})));
    service.deployment.wait_until_idle().await;
    assert!(names(&storage).contains(&archive));
    let place = service.stop().await;
    assert_eq!(place.count("setting WHERE name LIKE 'removed_export/%'"), 1);
    storage.deny_deletions(false);
    let deployment = place.open_with(settings(&storage));
    deployment.wait_until_idle().await;
    assert_eq!(names(&storage), ["team/readme.md"]);
    assert_eq!(place.count("setting WHERE name LIKE 'removed_export/%'"), 0);
}

#[tokio::test]
async fn a_bucket_that_cannot_be_written_is_reported_before_it_is_needed() {
    let storage = storage().await;
    // A store of its own each time: one with a bucket refuses another.
    let check = async |settings: DeploymentSettings| {
        let place = crate::support::Place::new(&[]);
        let deployment = place.open_with(settings);
        deployment.check_settings().await.map_err(|error| error.to_string())
    };
    assert_eq!(check(settings(&storage)).await, Ok(()));
    assert_eq!(names(&storage), ["team/readme.md"], "the check leaves nothing");
    let missing = Some(ObjectUri::parse("s3://other/tessera").unwrap());
    let missing = DeploymentSettings { bucket: missing, ..settings(&storage) };
    let begin = "the bucket cannot be used: ";
    assert_eq!(check(missing).await, Err(format!("{begin}the bucket does not exist")));
    let wrong = storage.settings_with(&[("AWS_SECRET_ACCESS_KEY", "other")]);
    let wrong = DeploymentSettings { storage: wrong, ..settings(&storage) };
    let reason = "the access key of this deployment is not accepted";
    assert_eq!(check(wrong).await, Err(format!("{begin}{reason}")));
}
