//! Tests an export with keys, from `e` to a verified ZIP on disk.

use std::{collections::BTreeSet, fs::File, io::Read};

use tessera::{state::save_selection, usecase::file_actions::selection_of_media};
use tessera_interface::app::JobState;
use tessera_model::Search;

use crate::journeys::harness::{Person, Service};

/// Follows the newest job to its end. The clock of the core moves only when the service is idle,
/// because the service works meanwhile.
async fn follow(person: &mut Person, service: &Service) {
    for _ in 0..20 {
        service.deployment.wait_until_idle().await;
        person.wait(2).await;
        let job = person.session.app.jobs().iter().next_back().unwrap();
        if !job.is_active() {
            return;
        }
    }
    panic!("the export does not end:\n{}", person.screen());
}

#[tokio::test(flavor = "multi_thread")]
async fn export_download_and_look_inside() {
    let service = Service::over_paintings(30).await;
    let mut person = Person::at(&service).await;
    // The third field is the format. JSON is chosen, because the test can read it back.
    person.press("e tab tab left enter").await;
    follow(&mut person, &service).await;
    person.sees("downloaded");
    person.sees("31 entries verified, including 30 images");

    let mut archive =
        zip::ZipArchive::new(File::open(service.folder.path().join("paintings.zip")).unwrap())
            .unwrap();
    let mut text = String::new();
    archive.by_name("metadata.json").unwrap().read_to_string(&mut text).unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let items = metadata["media_items"].as_array().unwrap();
    assert_eq!(items.len(), 30);
    assert_eq!(metadata["info"]["total_media_items"], 30);
    let named: BTreeSet<&str> =
        items.iter().map(|item| item["image_filename"].as_str().unwrap()).collect();
    for name in named {
        let mut bytes = Vec::new();
        archive.by_name(&format!("images/{name}")).unwrap().read_to_end(&mut bytes).unwrap();
        assert!(bytes.starts_with(&[0xFF, 0xD8]), "{name} is a whole JPEG");
    }
    for item in items {
        let score = item["uniqueness_score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_is_never_overwritten() {
    let service = Service::over_paintings(12).await;
    let mut person = Person::at(&service).await;
    let target = service.folder.path().join("paintings.zip");
    std::fs::write(&target, "precious").unwrap();
    person.press("e enter").await;
    person.sees("already exists");
    assert!(person.session.app.jobs().iter().next().is_none(), "nothing was exported");
    std::fs::remove_file(&target).unwrap();
    person.press("enter").await;
    std::fs::write(&target, "precious").unwrap();
    follow(&mut person, &service).await;
    person.sees("✖");
    assert_eq!(std::fs::read(&target).unwrap(), b"precious");
    let job = person.session.app.jobs().iter().next().unwrap();
    assert!(
        matches!(job.state(), JobState::ExportReady(_)),
        "it can still be fetched to another place"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_was_deleted_is_left_out_of_the_exported_selection() {
    let service = Service::over_noise(6).await;
    let mut person = Person::with_worker(&service, service.local_worker()).await;
    let finder = service.local_worker().originals.unwrap();
    let all = finder.rest(&Search::browse(service.dataset), &[]).unwrap();
    let file = service.folder.path().join("all.json");
    save_selection(file.clone(), service.dataset, &selection_of_media(&all)).unwrap();
    std::fs::remove_file(&service.pictures()[0]).unwrap();
    service.client().rescan(service.dataset, None).await.unwrap();
    service.deployment.wait_until_idle().await;
    person.press("M o ctrl-u").await;
    person.paste(file.to_str().unwrap());
    person.press("enter E").await;
    person.sees("6 media items");
    person.press("tab tab tab left enter").await;
    follow(&mut person, &service).await;
    person.sees("including 5 images");
}
