//! Copies of a store: it is restored from a dump and its uploads, and its index folder is moved, copied, or restored
//! without an upload. Uploads and opened archives are in the index folder.

use std::{collections::BTreeSet, fs, io::Cursor, path::Path, process::Command};

use reqwest::multipart::{Form, Part};
use serde_json::Value;
use tempfile::TempDir;
use tessera_media::object_storage::ObjectUri;
use tessera_service::DeploymentSettings;
use zip::ZipArchive;

use crate::{
    bucket_pictures::thumbnails,
    change::{archived, new, uploads, zip},
    components::object_storage::fake_s3::FakeS3,
    damage::responses,
    described,
    export::{archive, metadata},
    restart::{batch_dir, media_ids},
    support::{Place, Service, answer, assert_no_path, picture, pictures},
};

const EXPORT: &str =
    "/export_context_async?file_name=all.zip&export_format=json&include_images=true";

/// Runs one of the programs that belong to the server.
fn run(place: &Place, program: &str, arguments: &[&str]) {
    let folder = "SELECT setting FROM pg_config WHERE name = 'BINDIR'";
    let folder: String = place.row(folder, |row| row.get(0));
    let output = Command::new(Path::new(&folder).join(program)).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Writes a dump of the tables to a file.
fn dump(place: &Place, server: &str, file: &Path) {
    let schema: String = place.row("SELECT current_schema()", |row| row.get(0));
    let (schema, file) = (format!("--schema={schema}"), file.to_str().unwrap());
    run(place, "pg_dump", &["--format=custom", &schema, "--file", file, server]);
}

/// Replaces the tables by those of a dump.
fn restore(place: &Place, server: &str, file: &Path) {
    let schema: String = place.row("SELECT current_schema()", |row| row.get(0));
    place.change(&format!("DROP SCHEMA {schema} CASCADE"));
    run(place, "pg_restore", &["--dbname", server, file.to_str().unwrap()]);
}

/// The names of the images in an archive of all media.
async fn exported(service: &Service) -> BTreeSet<String> {
    let started = service.good(&service.of_dataset(EXPORT)).await;
    service.deployment.wait_until_idle().await;
    let id = started["id"].as_str().unwrap();
    let status = format!("/export_status?export_task_id={id}");
    let task = service.good(&service.of_dataset(&status)).await;
    let link = task["download_uri"].as_str().unwrap();
    let archive = service.client.get(link).send().await.unwrap().bytes().await.unwrap();
    let zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    zip.file_names().map(|name| name.unwrap().into_owned()).collect()
}

#[tokio::test]
async fn a_store_is_restored_from_a_dump_and_its_uploads() {
    let place = described::place();
    let Ok(server) = std::env::var("TESSERA_TEST_STORE") else { return };
    let service = Service::at(place, true).await;
    let form = Form::new()
        .part("files", Part::bytes(picture(9)).file_name("uploaded.png"))
        .text("auto_reindex", "true");
    let added = service.post(&service.of_dataset("/add_media")).multipart(form).send().await;
    assert_eq!(added.unwrap().status(), 202);
    service.deployment.wait_until_idle().await;
    let (expected, names) = (responses(&service).await, exported(&service).await);
    assert!(names.iter().any(|name| name.contains("uploaded")), "{names:?}");

    let place = service.stop().await;
    let saved = tempfile::tempdir().unwrap();
    let (file, saved_uploads) = (saved.path().join("store.dump"), saved.path().join("uploads"));
    dump(&place, &server, &file);
    let uploads = place.data.path().join("uploads");
    fs::rename(&uploads, &saved_uploads).unwrap();

    let place = Place { data: tempfile::tempdir().unwrap(), ..place };
    restore(&place, &server, &file);
    fs::rename(&saved_uploads, place.data.path().join("uploads")).unwrap();
    let service = Service::at(place, true).await;
    assert_eq!(responses(&service).await, expected);
    assert_eq!(exported(&service).await, names);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_the_bucket_has_the_thumbnails_of_an_earlier_dump() {
    let Ok(server) = std::env::var("TESSERA_TEST_STORE") else { return };
    let storage = FakeS3::with_objects(&[("team/readme.md", b"-")]).await;
    storage.set_modified("2999-01-01T00:00:00.000Z");
    let bucket = Some(ObjectUri::parse("s3://team/tessera").unwrap());
    let storage_settings = storage.settings();
    let settings = || DeploymentSettings {
        storage: storage_settings.clone(),
        bucket: bucket.clone(),
        ..DeploymentSettings::default()
    };
    let service = Service::at_with(Place::new(&pictures(4)), settings()).await;
    let expected = thumbnails(&service).await;
    let place = service.stop().await;
    let saved = tempfile::tempdir().unwrap();
    let file = saved.path().join("store.dump");
    dump(&place, &server, &file);

    for n in 0..4 {
        place.put(&format!("p{n:03}.png"), &picture(n + 12));
    }
    let service = Service::at_with(place, settings()).await;
    assert!(thumbnails(&service).await != expected);
    storage.set_modified("2026-01-01T00:00:00.000Z");
    let place = service.again(settings()).await.stop().await;

    restore(&place, &server, &file);
    for (name, bytes) in pictures(4) {
        place.put(name, &bytes);
    }
    let service = Service::at_with(place, settings()).await;
    assert!(thumbnails(&service).await == expected);
}

/// The same place with a copy of its index folder, and the original folder.
fn copied(place: Place) -> (Place, TempDir) {
    let data = tempfile::tempdir().unwrap();
    let inside = place.data.path().join(".");
    let copy = Command::new("cp").arg("-a").arg(inside).arg(data.path()).status().unwrap();
    assert!(copy.success());
    let Place { pictures, data: original, store } = place;
    (Place { pictures, data, store }, original)
}

/// What is missing in an export of all images.
async fn missing_in_export(service: &Service) -> Value {
    let query = "file_name=a&export_format=json&include_images=true";
    archive(service, query).await.0["result_message"].take()
}

#[tokio::test]
async fn a_moved_or_copied_index_folder_has_its_own_uploads() {
    for is_moved in [true, false] {
        let service = Service::at(Place::new(&pictures(12)).with_store_file(), true).await;
        service.added(uploads(12..14)).await;
        let form = archived("set.zip", zip(&new(14..16)));
        service.added(form.text("auto_reindex", "true")).await;
        let before = media_ids(&service);
        assert_eq!(before.len(), 16);
        let (place, original) = copied(service.stop().await);
        let original = (!is_moved).then_some(original);
        let service = Service::at(place, true).await;
        assert_eq!((service.place.count("source"), media_ids(&service)), (3, before.clone()));
        drop(original);
        assert_eq!(missing_in_export(&service).await, Value::Null);

        let place = service.stop().await;
        fs::remove_file(place.data.path().join("tessera.db")).unwrap();
        let service = Service::at(place, true).await;
        assert_eq!(media_ids(&service), before, "also after the loss of the database");
    }
}

#[tokio::test]
async fn an_opened_archive_is_the_same_dataset_in_a_moved_index_folder() {
    let files = zip(&new(12..15));
    // The name of the folder is the one of a file in which a program could describe what was unpacked.
    let place = Place::new(&[("unpacked.json.zip", files)]);
    let opened = |place: &Place| {
        let deployment = place.open();
        let dataset = deployment.add_folder(&place.picture("unpacked.json.zip"), None).unwrap();
        (deployment, dataset)
    };
    let (deployment, dataset) = opened(&place);
    deployment.wait_until_idle().await;
    drop(deployment);
    let (place, _) = copied(place);
    let (deployment, again) = opened(&place);
    deployment.wait_until_idle().await;
    let datasets = deployment.datasets().unwrap();
    let found: Vec<_> = datasets.iter().map(|it| (it.id, it.name.as_str(), it.n_images)).collect();
    assert_eq!((again, found), (dataset, vec![(dataset, "unpacked.json", 3)]));
}

#[tokio::test]
async fn a_lost_upload_is_named_and_left_out_of_exports() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14).text("auto_reindex", "true")).await;
    let lost = batch_dir(&service.place);
    fs::remove_dir_all(&lost).unwrap();
    let canonical = service.place.data.path().canonicalize().unwrap();
    let name = format!("uploads/{}", lost.file_name().unwrap().to_str().unwrap());
    let missing = service.deployment.missing_folders(service.dataset).unwrap();
    assert_eq!(missing, [canonical.join(&name)]);

    let (task, mut zip) = archive(&service, "file_name=a&export_format=json").await;
    let rows = metadata(&mut zip)["media_items"].as_array().unwrap().len();
    assert_eq!((rows, &task["result_message"]), (14, &Value::Null));
    let expected = format!(
        "2 pictures could not be read and were omitted: n012.png, n013.png; \
         the folder {name} cannot be opened. Restore it, and export again"
    );
    assert_eq!(missing_in_export(&service).await, expected);

    service.place.put("new.png", &picture(20));
    let rescan = format!("/local/dataset/{}/rescan", service.dataset);
    assert_eq!(answer(service.post(&rescan)).await.0, 200);
    service.deployment.wait_until_idle().await;
    let mut record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&"READY".into(), &15.into()));
    let reason = record["fatal_error_msg"].take();
    let expected = format!("{name}: missing, or without any of its files, so its media are kept");
    assert!(reason.as_str().unwrap().starts_with(&expected), "{reason}");
    assert_no_path(&reason, &service.place);
}
