//! Exports share a queue of limited length, and the disk with uploads.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use reqwest::multipart::{Form, Part};
use serde_json::json;
use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_service::DeploymentSettings;
use tokio::time::sleep;

use crate::{
    change::{detail, uploads},
    support::{Service, answer, picture},
};

/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);

const WHOLE: &str = "/export_context_async?file_name=a&export_format=json";

/// Serves a dataset whose exports stay unfinished.
async fn with_slow_exports() -> Service {
    let simulated_delay = Duration::from_secs(20);
    let settings = DeploymentSettings { simulated_delay, ..DeploymentSettings::default() };
    Service::of_pictures().await.again(settings).await
}

#[tokio::test]
async fn a_flood_of_exports_is_429_beyond_the_queue() {
    let service = with_slow_exports().await;
    let requests = (0..60).map(|_| service.get(&service.of_dataset(WHOLE)).send());
    let mut answers = BTreeMap::new();
    for response in join_all(requests).await {
        let response = response.unwrap();
        let wait = response.headers().get("retry-after").cloned();
        *answers.entry((response.status().as_u16(), wait.is_some())).or_insert(0) += 1;
    }
    assert_eq!(answers, BTreeMap::from([((200, false), 32), ((429, true), 28)]));
    assert_eq!(service.place.count("export"), 32);
    service.good("/api/v1/datasets").await;
}

#[tokio::test]
async fn without_free_disk_space_exports_and_uploads_are_refused_and_reads_continue() {
    let disk = DiskQuota::with_reserve(u64::MAX);
    let settings = DeploymentSettings { disk, ..DeploymentSettings::default() };
    let service = Service::of_pictures().await.again(settings).await;
    let with_images = format!("{WHOLE}&include_images=true");
    let response = service.get(&service.of_dataset(&with_images)).send().await.unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()["retry-after"], "5");
    let body = response.text().await.unwrap();
    assert_eq!(detail(&body), "There is not enough free disk space for an export");
    let (status, body) = service.add(uploads(12..13)).await;
    assert_eq!(
        (status, detail(&body)),
        (500, json!("The upload could not be stored: the disk is full, of which 1 GiB stays free"))
    );
    assert_eq!(service.place.count("export"), 0);
    // Metadata may use the reserve.
    service.good(&service.of_dataset(WHOLE)).await;
    assert_eq!(fs::read_dir(service.place.data.path().join("uploads")).unwrap().count(), 0);
    service.good(&service.explore("")).await;
}

#[tokio::test]
async fn ended_exports_expire_while_the_service_runs() {
    let export_retention = Duration::from_millis(500);
    let settings = DeploymentSettings { export_retention, ..DeploymentSettings::default() };
    let service = Service::of_pictures().await.again(settings).await;
    service.good(&service.of_dataset(WHOLE)).await;
    service.deployment.wait_until_idle().await;
    let begun = Instant::now();
    let exports = service.place.data.path().join("exports");
    while fs::read_dir(&exports).unwrap().count() > 0 || service.place.count("export") > 0 {
        assert!(begun.elapsed() < GUARD, "it was never deleted");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn an_export_that_took_longer_than_exports_are_kept_is_kept() {
    let service = Service::of_pictures().await;
    service.good(&service.of_dataset(WHOLE)).await;
    service.deployment.wait_until_idle().await;
    service.place.change("UPDATE export SET created_at = 0");
    let service = service.again(DeploymentSettings::default()).await;
    // Expired exports are deleted before the next one is written.
    service.good(&service.of_dataset(WHOLE)).await;
    service.deployment.wait_until_idle().await;
    assert_eq!(service.place.count("export"), 2);
}

#[tokio::test]
async fn query_images_replace_the_oldest_ones_without_free_disk_space() {
    let disk = DiskQuota::with_reserve(u64::MAX);
    let settings = DeploymentSettings { disk, ..DeploymentSettings::default() };
    let service = Service::of_pictures().await.again(settings).await;
    let path = service.of_dataset("/search-image-similarity?entity_type=IMAGES");
    let mut anchors = Vec::new();
    for number in 0..20 {
        let image = Part::bytes(picture(number)).file_name("a.png");
        let form = Form::new().part("file", image);
        let (status, anchor) = answer(service.post(&path).multipart(form)).await;
        assert_eq!(status, 200, "{anchor}");
        anchors.push(anchor["anchor_media_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(service.place.count("anchor"), 16);
    for (anchor, expected) in [(&anchors[3], 404), (&anchors[4], 200), (&anchors[19], 200)] {
        let search = format!("anchor_media_id={anchor}&anchor_type=UPLOAD");
        assert_eq!(service.json(&service.explore(&search)).await.0, expected);
    }
}
