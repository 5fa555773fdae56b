//! A store on a server is restored from a dump of its tables, and a copy of the uploads in its folder or of its bucket.

use std::{collections::BTreeSet, fs, io::Cursor, path::Path, process::Command};

use reqwest::multipart::{Form, Part};
use tessera_media::object_storage::ObjectUri;
use tessera_service::DeploymentSettings;
use zip::ZipArchive;

use crate::{
    bucket_pictures::thumbnails,
    components::object_storage::fake_s3::FakeS3,
    damage::responses,
    described,
    support::{Place, Service, picture, pictures},
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
