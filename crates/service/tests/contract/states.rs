//! The statuses of a dataset over HTTP (API: States and transitions).

use serde_json::{Value, json};
use std::time::Duration;
use tessera_service::{DeploymentSettings, InjectedFailure};

use crate::{
    change::{detail, uploads},
    support::{Place, Service, assert_no_path, pictures},
};

/// Long enough to observe every status on a busy machine, short enough to wait for.
const SLOW: Duration = Duration::from_secs(1);

async fn slow() -> Service {
    let service = Service::of_pictures().await;
    service
        .again(DeploymentSettings { simulated_delay: SLOW, ..DeploymentSettings::default() })
        .await
}

#[tokio::test]
async fn an_addition_is_read_only_then_partial_index() {
    let service = slow().await;
    assert_eq!(service.add(uploads(12..15)).await, (202, String::new()));
    let record = service.record().await;
    assert_eq!(
        (&record["status_new"], &record["status"]),
        (&json!("READ ONLY"), &json!("UPDATING"))
    );
    assert!(record["n_images"].is_u64() && record["n_videos"].is_u64(), "{record}");
    let blocked = "is blocked while MEDIA_ADDITION task is running";
    let (status, body) = service.add(uploads(15..16)).await;
    let words = format!("Operation 'add_media' {blocked}");
    assert_eq!((status, body), (409, json!({"detail": words}).to_string()));
    let (status, body) = service.reindex().await;
    assert_eq!((status, detail(&body)), (409, json!(format!("Operation 'reindex' {blocked}"))));
    let export = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let (status, body) = service.json(&export).await;
    assert_eq!(
        (status.as_u16(), &body["detail"]),
        (409, &json!(format!("Operation 'export' {blocked}")))
    );
    assert!(service.names("").await.len() >= 12, "what is there stays visible");
    assert_eq!(service.path_to("PARTIAL INDEX").await, ["READ ONLY", "PARTIAL INDEX"]);
    assert_eq!(service.record().await["status"], "READY", "the legacy word");
}

#[tokio::test]
async fn progress_and_counts_only_increase_during_an_addition() {
    let service = slow().await;
    assert_eq!(service.add(uploads(12..24)).await.0, 202);
    let (mut images, mut progress) = (12, 0);
    loop {
        let record = service.record().await;
        let now = (record["n_images"].as_u64().unwrap(), record["progress"].as_u64().unwrap());
        assert!(now.0 >= images && now.1 >= progress && now.1 <= 100, "{record}");
        (images, progress) = now;
        if record["status_new"] == "PARTIAL INDEX" {
            break;
        }
        assert_eq!(record["status_new"], "READ ONLY");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!((images, progress), (24, 100));
}

#[tokio::test]
async fn a_reindex_is_read_only_then_indexing_then_ready() {
    let service = slow().await;
    service.added(uploads(12..15)).await;
    assert_eq!(service.reindex().await, (202, String::new()));
    let record = service.record().await;
    assert_eq!(
        (&record["status_new"], &record["status"]),
        (&json!("READ ONLY"), &json!("UPDATING"))
    );
    let blocked = "is blocked while REINDEX task is running";
    for (operation, (status, body)) in
        [("add_media", service.add(uploads(15..16)).await), ("reindex", service.reindex().await)]
    {
        let words = format!("Operation '{operation}' {blocked}");
        assert_eq!((status, detail(&body)), (409, json!(words)));
    }
    assert_eq!(service.path_to("READY").await, ["READ ONLY", "INDEXING", "READY"]);
    let sizes: u64 = service
        .clusters("threshold=4")
        .await
        .iter()
        .map(|cluster| cluster["n_images"].as_u64().unwrap())
        .sum();
    assert_eq!(sizes, 15);
    let (status, body) = service.reindex().await;
    assert_eq!(status, 409, "{body}");
    assert!(
        detail(&body).as_str().unwrap().ends_with("while the dataset is READY: add media first"),
        "{body}"
    );
}

#[tokio::test]
async fn auto_reindex_ends_in_ready_without_a_pause() {
    let service = slow().await;
    let form = uploads(12..15).text("auto_reindex", "true");
    assert_eq!(service.add(form).await, (202, String::new()));
    assert_eq!(service.path_to("READY").await, ["READ ONLY", "INDEXING", "READY"]);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["n_images"], 15);
    assert_eq!(
        service.place.count("indexing_task WHERE kind = 'REINDEX' AND stage = 'COMPLETED'"),
        1
    );
    let fresh = Service::at(Place::new(&all_fifteen()), true).await;
    assert_eq!(sizes(&service).await, sizes(&fresh).await, "as if they had always been there");
}

/// The twelve images and the three added ones, under the names of both.
fn all_fifteen() -> Vec<(&'static str, Vec<u8>)> {
    let mut all = pictures(12);
    let new = crate::change::new(12..15);
    all.extend(new.into_iter().map(|(name, bytes)| (&*name.leak(), bytes)));
    all
}

async fn sizes(service: &Service) -> Vec<Vec<u64>> {
    let mut sizes = Vec::new();
    for level in 0..5 {
        let clusters = service.clusters(&format!("threshold={level}")).await;
        let size = |cluster: &Value| cluster["n_images"].as_u64().unwrap();
        sizes.push(clusters.iter().map(size).collect());
    }
    sizes
}

#[tokio::test]
async fn a_second_batch_is_added_to_a_partial_index() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14)).await;
    let before = service.clusters("threshold=1").await;
    service.added(uploads(14..17)).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("PARTIAL INDEX"), &json!(17)));
    let after = service.clusters("threshold=1").await;
    assert_eq!(after[..before.len()], before, "both older parts are untouched");
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    let names = service.names("").await;
    assert_eq!((service.record().await["status_new"].clone(), names.len()), (json!("READY"), 17));
}

#[tokio::test]
async fn the_same_files_again_are_a_batch_of_their_own() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14)).await;
    service.added(uploads(12..14)).await;
    assert_eq!(service.record().await["n_images"], 16);
    assert_eq!(service.names("").await.len(), 16);
}

#[tokio::test]
async fn a_partial_index_neither_exports_nor_searches_by_image() {
    let service = Service::of_pictures().await;
    let anchor = service.media("p001.png").await;
    service.added(uploads(12..13)).await;
    let export = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let anchored = service.explore(&format!("anchor_media_id={anchor}&anchor_type=MEDIA"));
    for path in [export, anchored] {
        let (status, body) = service.json(&path).await;
        assert_eq!(status, 409, "{path}");
        assert!(
            body["detail"].as_str().unwrap().contains("PARTIAL INDEX: reindex first"),
            "{body}"
        );
    }
}

#[tokio::test]
async fn failed_operations_end_in_error_and_the_folder_restores_the_dataset() {
    for failing in [InjectedFailure::AddMedia, InjectedFailure::Reindex] {
        let service = Service::of_pictures().await;
        service.added(uploads(12..13)).await;
        let service = service
            .again(DeploymentSettings {
                injected_failures: [failing].into(),
                ..DeploymentSettings::default()
            })
            .await;
        let begun = match failing {
            InjectedFailure::AddMedia => service.add(uploads(13..14)).await,
            _ => service.reindex().await,
        };
        assert_eq!(begun, (202, String::new()), "{failing:?}");
        service.deployment.wait_until_idle().await;
        let record = service.record().await;
        assert_eq!((&record["status_new"], &record["progress"]), (&json!("ERROR"), &json!(0)));
        let words = record["fatal_error_msg"].as_str().unwrap();
        assert!(words.contains(failing.as_str()), "{words}");
        assert_no_path(&record, &service.place);
        service.good(&service.explore("")).await;
        let service = service.again(DeploymentSettings::default()).await;
        assert_eq!(service.record().await["status_new"], "ERROR", "durable");
        service.place.add(&service.deployment);
        service.deployment.wait_until_idle().await;
        assert_eq!(service.record().await["status_new"], "READY");
        assert!(service.names("").await.len() >= 13);
    }
}

#[tokio::test]
async fn a_batch_without_images_only_reports_the_skipped_files() {
    let service = Service::of_pictures().await;
    let form = reqwest::multipart::Form::new();
    let file = reqwest::multipart::Part::bytes(b"no picture".to_vec()).file_name("a.png");
    service.added(form.part("files", file)).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("PARTIAL INDEX"), &json!(12)));
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["status_new"], "READY");
}

#[tokio::test]
async fn a_failing_search_is_500() {
    let service = Service::failing(InjectedFailure::Search).await;
    let file = reqwest::multipart::Part::bytes(crate::support::picture(1)).file_name("a.png");
    let form = reqwest::multipart::Form::new().part("file", file);
    let path = service.of_dataset("/search-image-similarity?entity_type=IMAGES");
    let (status, body) = crate::change::plain(service.post(&path).multipart(form)).await;
    assert_eq!(status, 500);
    assert!(detail(&body).is_string());
    assert_eq!(service.place.count("anchor"), 0);
}
