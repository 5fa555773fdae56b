//! Added media over time: after a restart, folder changes, a new extractor version, and in an
//! export started before.

use std::{collections::BTreeSet, fs, time::Duration};

use serde_json::{Value, json};
use tessera_service::DeploymentSettings;

use crate::{
    change::{archived, new, uploads, zip},
    support::{Service, picture},
};

/// The names and identifiers of all media.
async fn media(service: &Service) -> BTreeSet<(String, String)> {
    let clusters = service.clusters("threshold=0").await;
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    previews.map(|preview| (word(&preview["file_name"]), word(&preview["media_id"]))).collect()
}

#[tokio::test]
async fn a_partial_index_survives_a_restart_and_an_unchanged_folder() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14)).await;
    let before = media(&service).await;
    let service = service.again(DeploymentSettings::default()).await;
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["status_new"], "PARTIAL INDEX");
    assert_eq!(media(&service).await, before);
}

#[tokio::test]
async fn a_changed_folder_keeps_the_batches_and_ends_in_ready() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14)).await;
    service.added(archived("set.zip", zip(&new(14..15)))).await;
    let mut expected = media(&service).await;
    service.place.put("late.png", &picture(21));
    fs::remove_file(service.place.picture("p000.png")).unwrap();
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(15)));
    let after = media(&service).await;
    expected.retain(|(name, _)| name != "p000.png");
    assert!(after.is_superset(&expected), "{after:?}");
    assert_eq!(after.len(), 15);
}

#[tokio::test]
async fn batches_are_extracted_again_and_keep_their_identifiers() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14).text("auto_reindex", "1")).await;
    let before = media(&service).await;
    service.place.change("UPDATE dataset SET extractor = 0");
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["status_new"], "READY");
    assert_eq!(media(&service).await, before);
}

#[tokio::test]
async fn an_export_started_before_an_addition_reports_its_media_count() {
    let slow = Duration::from_millis(300);
    let service = Service::of_pictures().await;
    let service = service
        .again(DeploymentSettings { simulated_delay: slow, ..DeploymentSettings::default() })
        .await;
    let path = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let task = service.good(&path).await;
    service.added(uploads(12..14)).await;
    let id = task["id"].as_str().unwrap();
    let task =
        service.good(&service.of_dataset(&format!("/export_status?export_task_id={id}"))).await;
    assert_eq!(task["status"], "COMPLETED", "{task}");
    let answer = service.client.get(task["download_uri"].as_str().unwrap()).send().await.unwrap();
    let bytes = std::io::Cursor::new(answer.bytes().await.unwrap());
    let mut zip = zip::ZipArchive::new(bytes).unwrap();
    let metadata: Value = serde_json::from_reader(zip.by_name("metadata.json").unwrap()).unwrap();
    let items = metadata["media_items"].as_array().unwrap().len();
    assert_eq!(metadata["info"]["total_media_items"], items);
    assert_eq!(task["entities_count"], items);
}
