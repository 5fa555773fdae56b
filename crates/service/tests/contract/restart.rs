//! What a crash leaves behind, and how the next start resumes.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use serde_json::json;
use tessera_service::{EXTRACTOR_VERSION, InjectedFailure};
use tessera_store::{params, query};
use uuid::Uuid;

use crate::{
    change::{archived, new, tar, uploads, zip},
    support::{Place, Service, pictures},
};

/// The version of a dataset of which only a part is extracted again.
const INCOMPLETE: u32 = 1 << 16 | EXTRACTOR_VERSION;

/// A dataset as after a crash during its first indexing.
const TORN: &str = "
    UPDATE dataset SET status = 'INDEXING', progress = 30;
    UPDATE indexing_task SET stage = 'RUNNING';
    DELETE FROM cluster;
    DELETE FROM place;
    DELETE FROM media WHERE row % 2 = 0;
";

#[tokio::test]
async fn indexing_resumes_after_a_crash() {
    let place = Service::of_pictures().await.stop().await;
    place.change(TORN);
    let kept: i64 = place.row("SELECT CAST(sum(row) AS bigint) FROM media", |row| row.get(0));
    let deployment = place.open(); // nobody adds the folder again
    deployment.wait_until_idle().await;
    let sql = "SELECT status, n_images FROM dataset";
    let (status, images): (String, i64) = place.row(sql, |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!((status.as_str(), images), ("READY", 12));
    let sql = "SELECT CAST(sum(row) AS bigint) FROM media WHERE row % 2 = 1 AND row < 13";
    let still: i64 = place.row(sql, |row| row.get(0));
    assert_eq!(still, kept, "the extracted ones were not extracted again");
}

#[tokio::test]
async fn nothing_is_cleared_while_the_folder_is_missing() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14)).await;
    let before = media_ids(&service);
    let place = service.stop().await;
    place.change("UPDATE dataset SET extractor = 0");
    let folder = place.data.path().join("away");
    fs::rename(place.pictures.path(), &folder).unwrap();
    // The indexing task would clear everything, and ends at the folder that is missing.
    place.change(
        "UPDATE dataset SET status = 'INDEXING'; UPDATE indexing_task SET stage = 'RUNNING' WHERE row = 1",
    );
    place.open().wait_until_idle().await;
    assert_eq!(place.count("media"), 14);
    fs::rename(&folder, place.pictures.path()).unwrap();
    let service = Service::at(place, true).await;
    assert_eq!(media_ids(&service), before);
    // An upload is missing instead, and only a part of the files was extracted again.
    let place = service.stop().await;
    let upload = batch_dir(&place);
    for extractor in [0, INCOMPLETE] {
        let away = place.data.path().join("away");
        fs::rename(&upload, &away).unwrap();
        place.change(&format!("UPDATE dataset SET extractor = {extractor}"));
        let deployment = place.open();
        place.add(&deployment);
        deployment.wait_until_idle().await;
        let record = deployment.datasets().unwrap().remove(0);
        assert_eq!((record.status.as_str(), record.n_images), ("ERROR", 14));
        let message = record.fatal_error.unwrap();
        assert!(message.contains(": missing, or without any of its files"), "{message}");
        fs::rename(&away, &upload).unwrap();
    }
}

#[tokio::test]
async fn what_was_not_unpacked_is_reported_also_after_a_crash() {
    let service = Service::of_pictures().await;
    let archive = tar(&new(12..16));
    service.added(archived("set.tar", archive[..archive.len() / 2].to_vec())).await;
    let expected = service.record().await["fatal_error_msg"].take();
    assert!(expected.as_str().unwrap().contains("archive.tar (it is "), "{expected}");
    let place = service.stop().await;
    place.change(
        "UPDATE dataset SET status = 'READ ONLY', fatal_error = NULL;
         UPDATE indexing_task SET stage = 'RUNNING' WHERE kind = 'MEDIA_ADDITION'",
    );
    let deployment = place.open();
    deployment.wait_until_idle().await;
    assert_eq!(deployment.datasets().unwrap()[0].fatal_error.as_deref(), expected.as_str());
}

#[tokio::test]
async fn accepted_uploads_whose_addition_failed_are_added_at_the_next_start() {
    let service = Service::failing(InjectedFailure::AddMedia).await;
    service.added(uploads(12..14)).await;
    assert_eq!(service.record().await["status_new"], "ERROR");
    let service = Service::at(service.stop().await, true).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(14)));
}

#[tokio::test]
async fn a_folder_missing_at_restart_ends_in_error_with_a_reason() {
    let place = Service::of_pictures().await.stop().await;
    place.change(
        "UPDATE dataset SET status = 'INDEXING'; UPDATE indexing_task SET stage = 'RUNNING'",
    );
    let away = place.data.path().join("away");
    std::fs::rename(place.pictures.path(), &away).unwrap();
    let deployment = place.open();
    deployment.wait_until_idle().await;
    let sql = "SELECT status, fatal_error FROM dataset";
    let (status, words): (String, String) = place.row(sql, |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(status, "ERROR");
    assert!(words.contains("is missing, unreadable or empty"), "{words}");
    std::fs::rename(away, place.pictures.path()).unwrap();
    place.add(&deployment);
    deployment.wait_until_idle().await;
    assert_eq!(
        place.count("media WHERE dataset = (SELECT id FROM dataset WHERE status = 'READY')"),
        12
    );
}

#[tokio::test]
async fn work_interrupted_by_closing_is_finished_at_the_next_start() {
    let place = Place::new(&pictures(150));
    for _ in 0..3 {
        let deployment = place.open();
        place.add(&deployment);
        drop(deployment); // wherever it is
    }
    let deployment = place.open();
    deployment.wait_until_idle().await;
    assert_eq!(place.count("media"), 150);
    assert_eq!(place.count("place"), 150);
    assert_eq!(place.count("dataset WHERE status = 'READY' AND n_images = 150"), 1);
}

#[tokio::test]
async fn progress_and_counts_only_increase_during_indexing() {
    let place = Place::new(&pictures(120));
    let deployment = place.open();
    let dataset = place.add(&deployment);
    let service = Service::serve(place, deployment, dataset, true).await;
    let deadline = Instant::now() + Duration::from_mins(1);
    let (mut images, mut progress) = (0, 0);
    loop {
        let record = service.good(&service.of_dataset("")).await;
        let (now_images, now_progress) =
            (record["n_images"].as_u64().unwrap(), record["progress"].as_u64().unwrap());
        assert!(now_images >= images && now_progress >= progress, "{record}");
        (images, progress) = (now_images, now_progress);
        assert_eq!(service.json(&service.explore("")).await.0, 200);
        if record["status_new"] == "READY" {
            break;
        }
        assert_eq!(record["status_new"], "INDEXING");
        assert!(Instant::now() < deadline, "{record}");
    }
    assert_eq!((images, progress), (120, 100));
}

#[tokio::test]
async fn a_stop_releases_the_directory() {
    let service = Service::of_pictures().await;
    let begun = Instant::now();
    let place = service.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(6));
    let service = Service::at(place, true).await;
    let list = service.good("/api/v1/datasets").await;
    assert_eq!(list[0]["status_new"], json!("READY"));
}

/// Damages the database file.
type Damage = fn(&Path);

/// Ways to lose the database of a closed deployment.
const LOSSES: &[(&str, Damage)] = &[
    ("missing", |file| fs::remove_file(file).unwrap()),
    ("emptied", |file| fs::write(file, "").unwrap()),
    ("overwritten", |file| fs::write(file, "not a database".repeat(999)).unwrap()),
    ("replaced by an empty database", |file| {
        fs::remove_file(file).unwrap();
        Connection::open(file).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    }),
    ("without its tables", |file| {
        let sql = "PRAGMA foreign_keys = OFF; DROP TABLE source; DROP TABLE setting;";
        Connection::open(file).unwrap().execute_batch(sql).unwrap();
    }),
];

pub fn media_ids(service: &Service) -> Vec<Uuid> {
    let sql = "SELECT id FROM media ORDER BY id";
    query::all(&service.place.database(), sql, params![], |row| row.get(0)).unwrap()
}

/// The only batch of added media.
pub fn batch_dir(place: &Place) -> PathBuf {
    let entries = fs::read_dir(place.data.path().join("uploads")).unwrap();
    let mut dirs = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let only = dirs.next().unwrap();
    assert!(dirs.next().is_none());
    only
}

#[tokio::test]
async fn uploads_survive_the_loss_of_the_database() {
    for (loss, lose) in LOSSES {
        let service = Service::at(Place::new(&pictures(12)).with_store_file(), true).await;
        service.added(uploads(12..14)).await;
        service.added(archived("set.zip", zip(&new(14..16)))).await;
        let before = media_ids(&service);
        assert_eq!(before.len(), 16);
        let place = service.stop().await;
        lose(&place.data.path().join("tessera.db"));
        for _ in 0..2 {
            drop(place.open()); // the folder is not opened yet
        }
        let service = Service::at(place, true).await;
        assert_eq!(service.record().await["status_new"], "READY", "{loss}");
        assert_eq!(media_ids(&service), before, "{loss}");
        let service = Service::at(service.stop().await, true).await;
        assert_eq!(media_ids(&service), before, "{loss}, once more");
    }
}

#[tokio::test]
async fn an_archive_not_yet_unpacked_survives_the_loss_of_the_database() {
    let service = Service::at(Place::new(&pictures(12)).with_store_file(), true).await;
    let archive = zip(&new(12..15));
    service.added(archived("set.zip", archive.clone())).await;
    let place = service.stop().await;
    let batch = batch_dir(&place);
    fs::remove_dir_all(batch.join("unpacked")).unwrap();
    fs::write(batch.join("archive"), archive).unwrap();
    fs::remove_file(place.data.path().join("tessera.db")).unwrap();
    let service = Service::at(place, true).await;
    assert_eq!(service.record().await["n_images"], 15);
}

/// The files below a directory, and the directories among them.
fn everything_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| {
        let inside = if path.is_dir() { everything_below(&path) } else { Vec::new() };
        inside.into_iter().chain([path])
    };
    entries.flat_map(below).collect()
}

#[tokio::test]
async fn other_users_can_read_nothing_in_the_data_directory() {
    let service = Service::at(Place::new(&pictures(12)).with_store_file(), true).await;
    let export = "/export_context_async?file_name=a&export_format=json";
    service.good(&service.of_dataset(export)).await;
    service.deployment.wait_until_idle().await;
    service.added(uploads(12..14)).await;
    service.added(archived("set.zip", zip(&new(14..16)))).await;
    let paths = everything_below(service.place.data.path());
    let named = |end: &str| paths.iter().any(|path| path.to_str().unwrap().ends_with(end));
    assert!(named(".zip") && named("n012.png") && named("n014.png") && named("tessera.db-wal"));
    for path in paths {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    }
}

#[tokio::test]
async fn a_result_that_cannot_be_written_ends_the_task() {
    let service = Service::of_pictures().await;
    // The tables of an earlier build, for example, have other columns.
    service.place.change("ALTER TABLE place RENAME COLUMN twin_order TO former_order");
    assert_eq!(service.add(uploads(12..15)).await.0, 202);
    service.deployment.wait_until_idle().await;
    let record = service.record().await;
    assert_eq!(record["status_new"], "ERROR", "{record}");
    let reason = record["fatal_error_msg"].as_str().unwrap();
    assert!(reason.contains("the store could not be read or written"), "{reason}");

    service.place.change("ALTER TABLE place RENAME COLUMN former_order TO twin_order");
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["status_new"], "READY");
}
