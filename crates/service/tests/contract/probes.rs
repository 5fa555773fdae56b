//! Health and readiness: what load balancers and supervisors read.

use std::{fs, time::Duration};

use reqwest::StatusCode;
use serde_json::Value;
use tessera_service::DeploymentSettings;
use tokio::time::timeout;

use crate::support::{Place, Service, answer, pictures};

/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);

async fn probe(service: &Service, path: &str) -> StatusCode {
    service.client.get(service.url(path)).send().await.unwrap().status()
}

/// Serves an indexed folder with non-default settings.
async fn with_settings(settings: DeploymentSettings) -> Service {
    let place = Place::new(&pictures(4));
    let deployment = place.open_with(settings);
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    Service::serve(place, deployment, dataset, true).await
}

#[tokio::test]
async fn probes_need_no_login_and_no_known_host_and_reveal_nothing() {
    let service = Service::of_pictures().await;
    for (path, expected) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let request = service.client.get(service.url(path)).header("host", "probe.example");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["cache-control"], "no-store");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        assert!(!response.headers().contains_key("access-control-allow-origin"));
        assert_eq!(response.text().await.unwrap(), expected);
        let (status, _) = answer(service.client.post(service.url(path))).await;
        assert_eq!(status, 405, "{path}");
        let (status, _) = answer(service.client.get(service.url(&format!("{path}?a=1")))).await;
        assert_eq!(status, 422, "{path}");
    }
}

#[tokio::test]
async fn a_service_that_cannot_store_uploads_is_not_ready_until_it_can() {
    let service = with_settings(DeploymentSettings::default()).await;
    let uploads = service.place.data.path().join("uploads");
    fs::remove_dir(&uploads).unwrap();
    fs::write(&uploads, "").unwrap();
    let (status, problem) = answer(service.client.get(service.url("/readyz"))).await;
    assert_eq!(
        (status.as_u16(), &problem["detail"]),
        (503, &Value::from("The service is not ready"))
    );
    assert_eq!(probe(&service, "/healthz").await, 200);
    fs::remove_file(&uploads).unwrap();
    let recovered = async { while probe(&service, "/readyz").await != 200 {} };
    timeout(GUARD, recovered).await.unwrap();
}

#[tokio::test]
async fn a_service_without_uploads_needs_no_place_for_them() {
    for settings in [
        DeploymentSettings { write_access: false, ..DeploymentSettings::default() },
        DeploymentSettings { add_media: false, ..DeploymentSettings::default() },
    ] {
        let service = with_settings(settings).await;
        let uploads = service.place.data.path().join("uploads");
        fs::remove_dir(&uploads).unwrap();
        fs::write(&uploads, "").unwrap();
        assert_eq!(probe(&service, "/readyz").await, 200);
    }
}

#[tokio::test]
async fn a_service_that_cannot_read_its_store_is_not_ready() {
    let service = Service::of_pictures().await;
    service.place.database().execute_batch("ALTER TABLE export RENAME TO other").unwrap();
    assert_eq!(probe(&service, "/readyz").await, 503);
    assert_eq!(probe(&service, "/healthz").await, 200);
}
