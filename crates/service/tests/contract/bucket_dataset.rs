//! Datasets whose folder is in a bucket: their originals stay there.

use std::{fs, ops::Range, path::Path, sync::Arc, time::Duration};

use reqwest::multipart::Form;
use serde_json::json;
use tessera_model::{DatasetId, SkippedFile};
use tessera_service::{Deployment, DeploymentSettings, LocalError};
use tessera_testing::tiny_model::ModelFolder;
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

use crate::{
    components::object_storage::fake_s3::{FakeFailure, FakeS3},
    export,
    parquet_images::IMAGES,
    support::{Place, Service, answer, picture},
    user_model::with_model,
    video::with_ffmpeg,
};

const FOLDER: &str = "s3://team/set/";
/// Requests of a listing of twelve pictures and a sidecar, three a page.
const PAGES: usize = 5;
/// Requests before the first picture of a new dataset: a check, a listing, and the sidecar.
const BEFORE_PICTURES: usize = 1 + PAGES + 1;

/// A bucket with twelve pictures and their captions.
async fn storage() -> FakeS3 {
    let storage = FakeS3::with_objects(&[("team/other/a.png", b"-")]).await;
    for n in 0..12 {
        storage.put(&format!("team/set/p{n:03}.png"), &picture(n));
    }
    let captions = r#"{"file_name": "p003.png", "caption": "a wide gray field"}"#;
    storage.put("team/set/metadata.jsonl", captions.as_bytes());
    storage
}

fn open(place: &Place, storage: &FakeS3) -> Deployment {
    let settings = storage.settings();
    place.open_with(DeploymentSettings { storage: settings, ..DeploymentSettings::default() })
}

fn add(deployment: &Deployment, uri: &str) -> Result<DatasetId, LocalError> {
    deployment.add_folder(Path::new(uri), Some("demo"))
}

/// Serves the folder, indexed.
async fn served(place: Place, storage: &FakeS3) -> Service {
    let deployment = open(&place, storage);
    let dataset = add(&deployment, FOLDER).unwrap();
    deployment.wait_until_idle().await;
    Service::serve(place, deployment, dataset, true).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rescan_continues_an_indexing_that_failed_or_was_cancelled() {
    let storage = storage().await;
    let service = served(Place::new(&[]), &storage).await;
    service.set_status("ERROR");
    let request = service.post(&format!("/local/dataset/{}/rescan", service.dataset));
    let (status, rescanned) = answer(request).await;
    assert_eq!((status.as_u16(), &rescanned["indexing"]), (200, &true.into()), "{rescanned}");
    service.deployment.wait_until_indexed(service.dataset).await.unwrap();
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(12)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn originals_are_indexed_shown_and_exported_from_where_they_are() {
    let storage = storage().await;
    let service = served(Place::new(&[]), &storage).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(12)));
    let clusters = service.clusters("threshold=0&caption=gray%20field").await;
    let preview = &clusters[0]["previews"][0];
    assert_eq!(preview["file_name"], "p003.png", "the sidecar is read, too");
    let original = service.client.get(preview["media_uri"].as_str().unwrap());
    assert_eq!(original.send().await.unwrap().bytes().await.unwrap(), picture(3));
    let query = "file_name=a&export_format=json&include_images=true";
    let (task, mut zip) = export::archive(&service, query).await;
    assert_eq!(task["result_message"], json!(null));
    assert_eq!(export::names(&zip).len(), 13);
    assert_eq!(export::content(&mut zip, "images/p007.png"), picture(7));
    let uploads = service.place.data.path().join("uploads");
    assert_eq!(fs::read_dir(uploads).unwrap().count(), 0, "nothing stays on disk");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_dataset_is_there_before_its_folder_is_listed() {
    let (storage, place) = (storage().await, Place::new(&[]));
    let deployment = open(&place, &storage);
    let second_page = Arc::new(Semaphore::new(0));
    // The check, and the first page.
    storage.fail_next([
        FakeFailure::None,
        FakeFailure::None,
        FakeFailure::Held(second_page.clone()),
    ]);
    let dataset = add(&deployment, FOLDER).unwrap();
    let service = Service::serve(place, deployment, dataset, true).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("INDEXING"), &json!(0)));
    second_page.add_permits(1);
    service.deployment.wait_until_idle().await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(12)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_indexed_dataset_is_shown_while_its_folder_is_listed_again() {
    let storage = storage().await;
    let place = served(Place::new(&[]), &storage).await.stop().await;
    storage.put("team/set/p012.png", &picture(12));
    let deployment = open(&place, &storage);
    let last_page = Arc::new(Semaphore::new(0));
    storage.fail_next(vec![FakeFailure::None; PAGES]);
    storage.fail_next([FakeFailure::Held(last_page.clone())]);
    let dataset = add(&deployment, FOLDER).unwrap();
    let service = Service::serve(place, deployment, dataset, true).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(12)));
    assert_eq!(service.names("").await.len(), 12);
    last_page.add_permits(1);
    service.deployment.wait_until_idle().await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(13)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_an_original_is_read_without_what_precedes_it() {
    let storage = storage().await;
    let service = served(Place::new(&[]), &storage).await;
    let clusters = service.clusters("threshold=0&caption=gray%20field").await;
    let link = clusters[0]["previews"][0]["media_uri"].as_str().unwrap();
    let part = service.client.get(link).header("range", "bytes=100-149").send().await.unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(part.bytes().await.unwrap(), picture(3)[100..150]);
    assert_eq!(storage.ranges(), Vec::<String>::new(), "a small object arrives with its head");
    let mut other = picture(3);
    *other.last_mut().unwrap() ^= 1;
    storage.put("team/set/p003.png", &other);
    for _ in 0..2 {
        let status = service.client.get(link).send().await.unwrap().status();
        assert_eq!(status, 410, "an object of the same size has another tag");
    }
    let large: Vec<u8> = [picture(3), vec![0; 1 << 24], picture(4)].concat();
    storage.put("team/set/p003.png", &large);
    assert_eq!(service.client.get(link).send().await.unwrap().status(), 410, "it has changed");
    add(&service.deployment, FOLDER).unwrap();
    service.deployment.wait_until_idle().await;
    let tail = format!("bytes={}-", large.len() - 9);
    let part = service.client.get(link).header("range", &tail).send().await.unwrap();
    assert_eq!(part.bytes().await.unwrap(), large[large.len() - 9..]);
    assert_eq!(storage.ranges().last(), Some(&tail));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_original_whose_connections_break_is_indexed_and_shown_whole() {
    let storage = storage().await;
    storage.fail_next(vec![FakeFailure::None; BEFORE_PICTURES]);
    storage.fail_next(vec![FakeFailure::Truncated; 6]);
    let service = served(Place::new(&[]), &storage).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(12)));
    let clusters = service.clusters("threshold=0&caption=gray%20field").await;
    let link = clusters[0]["previews"][0]["media_uri"].as_str().unwrap();
    storage.fail_next([FakeFailure::Truncated, FakeFailure::S3Error(503, "SlowDown")]);
    let original = service.client.get(link).send().await.unwrap();
    assert_eq!(original.bytes().await.unwrap(), picture(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_video_is_streamed_to_its_decoder() {
    let storage = storage().await;
    let video = [b"FLV\x01".to_vec(), vec![7; 1 << 20]].concat();
    storage.put("team/set/film.flv", &video);
    let tools = tempfile::tempdir().unwrap();
    let place = Place::new(&[]);
    let settings = with_ffmpeg(tools.path(), &[1, 2]);
    let deployment =
        place.open_with(DeploymentSettings { storage: storage.settings(), ..settings });
    let dataset = add(&deployment, FOLDER).unwrap();
    deployment.wait_until_idle().await;
    let service = Service::serve(place, deployment, dataset, true).await;
    let record = service.record().await;
    assert_eq!((&record["n_images"], &record["n_videos"]), (&json!(12), &json!(1)));
    assert!(fs::read(tools.path().join("input")).unwrap() == video);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reopening_reads_only_what_changed() {
    let storage = storage().await;
    let place = served(Place::new(&[]), &storage).await.stop().await;
    let before = storage.request_count();
    let service = served(place, &storage).await;
    assert_eq!(storage.request_count() - before, 1 + PAGES, "nothing changed: one listing");
    let place = service.stop().await;
    storage.put("team/set/p001.png", &picture(21));
    storage.put("team/set/sub/p012.png", &picture(12));
    storage.remove("team/set/p002.png");
    let before = storage.request_count();
    let service = served(place, &storage).await;
    // The check, the first page with a difference, a listing, both pictures, and the sidecar.
    assert_eq!(storage.request_count() - before, 2 + PAGES + 3);
    let mut names = service.names("").await;
    names.sort();
    assert_eq!(names.len(), 12);
    assert!(names.contains(&"p012.png".to_owned()) && !names.contains(&"p002.png".to_owned()));
    let clusters = service.clusters("threshold=0").await;
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let changed = previews.into_iter().find(|preview| preview["file_name"] == "p001.png").unwrap();
    let original = service.client.get(changed["media_uri"].as_str().unwrap());
    assert_eq!(original.send().await.unwrap().bytes().await.unwrap(), picture(21));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_date_of_an_object_is_its_last_change() {
    let storage = storage().await;
    let mut place = Place::new(&[]);
    for (time, seconds) in
        [("2026-01-01T00:00:00.000Z", 1_767_225_600), ("2026-02-01T10:20:30.456Z", 1_769_941_230)]
    {
        storage.set_modified(time);
        let service = served(place, &storage).await;
        let dated = format!("media WHERE modified / 1000000000 = {seconds}");
        assert_eq!(service.place.count(&dated), 12, "{time}");
        let clusters = service.clusters("threshold=0&caption=gray%20field").await;
        let link = clusters[0]["previews"][0]["media_uri"].as_str().unwrap();
        assert_eq!(service.client.get(link).send().await.unwrap().status(), 200, "{time}");
        place = service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_is_gone_since_the_listing_is_skipped() {
    let storage = storage().await;
    storage.fail_next(vec![FakeFailure::None; BEFORE_PICTURES]);
    storage.fail_next([FakeFailure::S3Error(404, "NoSuchKey")]);
    let service = served(Place::new(&[]), &storage).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(11)));
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert_eq!(skipped[0].reason.as_str(), "cannot be read (it does not exist)");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn indexing_waits_while_the_bucket_cannot_be_reached() {
    let storage = storage().await;
    // The listing fails during the first run, and pictures fail during the second run.
    storage.fail_next([FakeFailure::None]);
    storage.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 4]);
    storage.fail_next(vec![FakeFailure::None; BEFORE_PICTURES + 2]);
    storage.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 36]);
    let service = served(Place::new(&[]), &storage).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(12)));
    assert!(service.deployment.skipped_files(service.dataset).unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_not_lost_while_the_bucket_cannot_be_reached() {
    let storage = storage().await;
    let boxes =
        r#"{"file_name": "p003.png", "objects": [{"label": "left", "bbox": [0, 0, 0.5, 1]}]}"#;
    storage.put("team/set/metadata.jsonl", boxes.as_bytes());
    storage.fail_next(vec![FakeFailure::None; BEFORE_PICTURES + 12]);
    storage.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 4]);
    let service = served(Place::new(&[]), &storage).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_objects"]), (&json!("READY"), &json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_refuses_the_key_fails_the_indexing_and_the_next_opening_continues() {
    let storage = storage().await;
    storage.fail_next(vec![FakeFailure::None; BEFORE_PICTURES + 3]);
    storage.fail_next(vec![FakeFailure::S3Error(403, "ExpiredToken"); 1_000]);
    let service = served(Place::new(&[]), &storage).await;
    let record = service.record().await;
    assert_eq!(record["status_new"], "ERROR", "{record}");
    let reason = "object storage failed: the session token of this deployment has expired";
    assert!(record.to_string().contains(reason), "{record}");
    let place = service.stop().await;
    storage.recover();
    let service = served(place, &storage).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(12)));
    assert!(service.deployment.skipped_files(service.dataset).unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_is_not_sent_is_named_and_does_not_stop_the_others() {
    let storage = storage().await;
    let failures = [
        (403, "AccessDenied", "access is denied"),
        (403, "InvalidObjectState", "it is archived; restore it first"),
        (405, "MethodNotAllowed", "the storage responded with 405 MethodNotAllowed"),
    ];
    for (n, (status, code, _)) in failures.into_iter().enumerate() {
        storage.fail_object(&format!("team/set/p00{n}.png"), FakeFailure::S3Error(status, code));
    }
    let service = served(Place::new(&[]), &storage).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(9)));
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let reasons: Vec<&str> = skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(reasons, failures.map(|(.., reason)| format!("cannot be read ({reason})")));
    let clusters = service.clusters("threshold=0&caption=gray%20field").await;
    let link = clusters[0]["previews"][0]["media_uri"].as_str().unwrap();
    let query = "file_name=a&export_format=json&include_images=true";
    for (status, code, reason) in failures {
        storage.fail_object("team/set/p003.png", FakeFailure::S3Error(status, code));
        let original = service.client.get(link).send().await.unwrap();
        assert_eq!(original.status(), 503);
        assert!(original.text().await.unwrap().contains(reason));
        let (task, zip) = export::archive(&service, query).await;
        let message = format!(
            "1 picture could not be read and was omitted: p003.png; object storage says: {reason}"
        );
        assert_eq!((&task["result_message"], export::names(&zip).len()), (&json!(message), 9));
    }
    // An access key that may read nothing loses no picture of an export.
    storage.fail_next(vec![FakeFailure::S3Error(403, "AccessDenied"); 9]);
    let task = export::ended(&service, &export::start(&service, query).await).await;
    let reason = "object storage failed: access is denied";
    assert_eq!((&task["status"], &task["result_message"]), (&json!("FAILED"), &json!(reason)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_denies_every_original_fails_a_task_instead_of_costing_pictures() {
    let storage = storage().await;
    let deny = |pictures: Range<u32>| {
        for n in pictures {
            let denied = FakeFailure::S3Error(403, "AccessDenied");
            storage.fail_object(&format!("team/set/p{n:03}.png"), denied);
        }
    };
    for n in 12..40 {
        storage.put(&format!("team/set/p{n:03}.png"), &picture(n));
    }
    let service = served(Place::new(&[]), &storage).await;
    deny(0..40);
    let before = storage.request_count();
    let query = "file_name=a&export_format=json&include_images=true";
    let task = export::ended(&service, &export::start(&service, query).await).await;
    let reason = "object storage failed: access is denied";
    assert_eq!((&task["status"], &task["result_message"]), (&json!("FAILED"), &json!(reason)));
    assert_eq!(storage.request_count() - before, 32, "it ends early");
    // The side of the model's input is longer than that of a thumbnail.
    let model = with_model(&ModelFolder::brightest(300));
    let mut place = service.stop().await;
    for (denied, status, message, vectors) in
        [(0..40, "ERROR", json!(reason), 0), (0..1, "READY", json!(null), 40)]
    {
        storage.recover();
        deny(denied);
        let settings = DeploymentSettings { storage: storage.settings(), ..model.clone() };
        let deployment = place.open_with(settings);
        let dataset = add(&deployment, FOLDER).unwrap();
        deployment.wait_until_idle().await;
        let service = Service::serve(place, deployment, dataset, true).await;
        let record = service.record().await;
        assert_eq!((&record["status_new"], &record["fatal_error_msg"]), (&json!(status), &message));
        assert_eq!(service.place.count("model_vector"), vectors);
        place = service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_object_storage_no_longer_lists_or_sends_keeps_its_media_and_is_named() {
    const PARQUET: &str = "team/set/images.parquet";
    let storage = storage().await;
    storage.put(PARQUET, IMAGES);
    storage.put("more/x.png", &picture(20));
    storage.put("other/y.png", &picture(21));
    let service = served(Place::new(&[]), &storage).await;
    for bucket in ["more", "other"] {
        service.added(Form::new().text("s3_uri", format!("s3://{bucket}/"))).await;
    }
    for (images, name, message) in [
        (
            19,
            "more",
            json!(
                "Invalid S3 URI or no media files found at s3://more/ (access is denied), so its media are kept as \
                 they were. Restore the access to it, and rescan the dataset. To drop its media, remove the dataset \
                 and open the dataset's folder again"
            ),
        ),
        (20, PARQUET, json!(null)),
    ] {
        storage.fail_object(name, FakeFailure::S3Error(403, "AccessDenied"));
        // A rescan reads everything again only if the folder has changed.
        storage.put(&format!("team/set/{images}.png"), &picture(22));
        let rescan = service.post(&format!("/local/dataset/{}/rescan", service.dataset));
        assert_eq!(answer(rescan).await.0, 200);
        service.deployment.wait_until_idle().await;
        let record = service.record().await;
        assert_eq!(
            (&record["status_new"], &record["fatal_error_msg"]),
            (&json!("READY"), &message)
        );
        assert_eq!(record["n_images"], images, "{name}");
        storage.recover();
    }
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let (file, reason) = (skipped[0].file.as_str(), skipped[0].reason.as_str());
    assert_eq!((file, reason), ("images.parquet", "it cannot be read (access is denied)"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_whose_keys_cannot_be_addressed_are_named() {
    let storage = storage().await;
    for name in ["/a.png", "sub//b.png", "sub/./c.png", "tab\t.png", "sub//notes.doc"] {
        storage.put(&format!("team/set/{name}"), &picture(20));
    }
    let service = served(Place::new(&[]), &storage).await;
    assert_eq!(service.record().await["n_images"], 12);
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    assert_eq!(skipped.len(), 4, "{skipped:?}");
    let is_named = |it: &SkippedFile| it.reason.as_str().ends_with("rename the object");
    assert!(skipped.iter().all(is_named), "{skipped:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_rows_of_a_manifest_are_named_and_the_others_added() {
    const LIST: &str = "team/lists/list.txt";
    let storage = storage().await;
    storage.put("team/lists/new.png", &picture(20));
    let service = served(Place::new(&[]), &storage).await;
    let added = async |rows: &str| {
        storage.put(LIST, rows.as_bytes());
        service.added(Form::new().text("s3_uri", format!("s3://{LIST}"))).await;
        let record = service.record().await;
        assert_eq!(record["status_new"], "PARTIAL INDEX", "{record}");
        (record["n_images"].clone(), record["fatal_error_msg"].clone())
    };
    let rows = "new.png\nhttps://example.com/x.png?key=c4nary\ns3://other/x.png\ngone.png";
    let message = "3 files were not added: gone.png (cannot be read (it does not exist)), row 2 (a link; only s3:// \
                   addresses and keys are supported), s3://other/x.png (cannot be read (the bucket does not exist)); \
                   check them, and add the manifest again";
    assert_eq!(added(rows).await, (json!(13), json!(message)));
    storage.put("team/lists/gone.png", &picture(21));
    storage.put("other/x.png", &picture(22));
    let corrected = "new.png\ns3://other/x.png\ngone.png";
    assert_eq!(added(corrected).await, (json!(15), json!(null)));
    // A manifest that cannot be read stops nothing, and its media are kept.
    storage.fail_object(LIST, FakeFailure::S3Error(403, "AccessDenied"));
    storage.put("team/set/p012.png", &picture(12));
    let rescan = service.post(&format!("/local/dataset/{}/rescan", service.dataset));
    assert_eq!(answer(rescan).await.0, 200);
    service.deployment.wait_until_idle().await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(16)));
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    assert_eq!((skipped.len(), skipped[0].file.as_str()), (1, "list.txt"), "{skipped:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_says_that_it_waits_for_the_bucket() {
    let storage = storage().await;
    let service = served(Place::new(&[]), &storage).await;
    storage.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 1_000]);
    let query = "file_name=a&export_format=json&include_images=true";
    let started = export::start(&service, query).await;
    let reason =
        "waiting, because object storage failed: the storage is temporarily unavailable (503)";
    let waiting = async {
        while export::status(&service, &started["id"]).await["result_message"] != reason {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_mins(1), waiting).await.unwrap();
    storage.recover();
    let (task, zip) = export::finished_archive(&service, &started).await;
    assert_eq!((&task["result_message"], export::names(&zip).len()), (&json!(null), 13));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_without_media_and_a_manifest_are_rejected_with_the_reason() {
    let storage = storage().await;
    let place = Place::new(&[]);
    let deployment = open(&place, &storage);
    for (uri, reason) in [
        ("s3://team/none", "no media files found at s3://team/none"),
        ("s3://missing/a", "(the bucket does not exist)"),
        ("s3://team/list.csv", "s3://team/list.csv is a manifest"),
    ] {
        let refusal = add(&deployment, uri).unwrap_err().to_string();
        assert!(refusal.contains(reason), "{refusal}");
    }
    assert_eq!(place.count("dataset"), 0);
    let same = add(&deployment, "s3://team/set").unwrap();
    assert_eq!(add(&deployment, "s3://team/set/").unwrap(), same);
}

/// A row of the sidecar, whose picture has as many objects.
fn row(name: &str, objects: usize) -> String {
    let boxes = vec![[0.0, 0.0, 20.0, 20.0]; objects];
    let categories = vec!["door"; objects];
    let row = json!({"file_name": name, "caption": "a wide gray field",
                     "objects": {"bbox": boxes, "categories": categories}});
    format!("{row}\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_known_stays_while_a_sidecar_or_picture_cannot_be_read() {
    const SIDECAR: &str = "team/set/metadata.jsonl";
    let storage = storage().await;
    storage.put(SIDECAR, row("p003.png", 1).as_bytes());
    let service = served(Place::new(&[]), &storage).await;
    let rescan = format!("/local/dataset/{}/rescan", service.dataset);
    let described = || {
        let count = |table: &str| service.place.count(table);
        (
            count("media WHERE parent IS NULL AND caption IS NOT NULL"),
            count("media WHERE parent IS NOT NULL"),
        )
    };
    assert_eq!(described(), (1, 1));
    let denied = FakeFailure::S3Error(403, "AccessDenied");
    let sidecar_denied = ("p012.png", SIDECAR, denied.clone());
    let picture_denied = ("p013.png", "team/set/p003.png", denied);
    for (new, name, failure) in [sidecar_denied, picture_denied] {
        storage.put(&format!("team/set/{new}"), &picture(12));
        storage.put(SIDECAR, row("p003.png", 2).as_bytes());
        storage.fail_object(name, failure);
        assert_eq!(answer(service.post(&rescan)).await.0, 200);
        service.deployment.wait_until_idle().await;
        assert_eq!(service.record().await["status_new"], "READY", "{name}");
        assert_eq!(described(), (1, 1), "{name}");
        storage.recover();
    }
    // The file that could not be read is read again, although nothing has changed.
    assert_eq!(answer(service.post(&rescan)).await.0, 200);
    service.deployment.wait_until_idle().await;
    assert_eq!(described(), (1, 2));
    // A service that does not respond postpones the task.
    storage.put(SIDECAR, row("p004.png", 1).as_bytes());
    storage.fail_object(SIDECAR, FakeFailure::S3Error(503, "SlowDown"));
    assert_eq!(answer(service.post(&rescan)).await.0, 200);
    let waits = async {
        while service.record().await["fatal_error_msg"] == json!(null) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_mins(1), waits).await.unwrap();
    assert_eq!(described(), (1, 2));
    storage.recover();
    service.deployment.wait_until_idle().await;
    assert_eq!(described(), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_compared_is_noted_in_its_record() {
    let storage = storage().await;
    let service = served(Place::new(&[]), &storage).await;
    let rescan = format!("/local/dataset/{}/rescan", service.dataset);
    for failures in [1, 0] {
        // The check succeeds, and the listing fails.
        storage.fail_next([FakeFailure::None]);
        storage.fail_next(vec![FakeFailure::S3Error(403, "AccessDenied"); failures]);
        assert_eq!(answer(service.post(&rescan)).await.0, 200);
        service.deployment.wait_until_idle().await;
        let record = service.record().await;
        let message = record["fatal_error_msg"].as_str().unwrap_or_default();
        let expected = "The folder could not be compared with its index";
        assert_eq!(message.starts_with(expected), failures > 0, "{record}");
        assert_eq!(record["status_new"], "READY");
    }
}
