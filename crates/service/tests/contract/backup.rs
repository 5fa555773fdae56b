//! A store on a server is restored from a dump of its tables and a copy of the uploads in its folder.

use std::{collections::BTreeSet, fs, io::Cursor, path::Path, process::Command};

use reqwest::multipart::{Form, Part};
use zip::ZipArchive;

use crate::{
    damage::responses,
    described,
    support::{Place, Service, picture},
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
    let (dump, saved_uploads) = (saved.path().join("store.dump"), saved.path().join("uploads"));
    let dump = dump.to_str().unwrap();
    let schema: String = place.row("SELECT current_schema()", |row| row.get(0));
    let schema_option = format!("--schema={schema}");
    run(&place, "pg_dump", &["--format=custom", &schema_option, "--file", dump, &server]);
    let uploads = place.data.path().join("uploads");
    fs::rename(&uploads, &saved_uploads).unwrap();

    for entry in fs::read_dir(place.data.path()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { fs::remove_dir_all(entry) } else { fs::remove_file(entry) }.unwrap();
    }
    place.change(&format!("DROP SCHEMA {schema} CASCADE"));

    run(&place, "pg_restore", &["--dbname", &server, dump]);
    fs::rename(&saved_uploads, &uploads).unwrap();
    let service = Service::at(place, true).await;
    assert_eq!(responses(&service).await, expected);
    assert_eq!(exported(&service).await, names);
}
