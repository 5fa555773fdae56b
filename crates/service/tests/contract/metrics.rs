//! The metrics, as a scraper reads them, and health and readiness, which load balancers and supervisors read.

use std::{collections::BTreeMap, fs, net::SocketAddr, time::Duration};

use reqwest::{Method, StatusCode, header::CONTENT_TYPE};
use serde_json::Value;
use tessera_model::DatasetId;
use tessera_service::{Deployment, DeploymentSettings, ServerOptions};
use tessera_store::{params, query};
use tokio::{net::TcpListener, time::timeout};
use uuid::Uuid;

use crate::support::{Place, Service, answer, pictures};

/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);

struct MeasuredService {
    service: Service,
    metrics: SocketAddr,
}

impl MeasuredService {
    async fn start() -> Self {
        let place = Place::new(&pictures(4));
        let deployment = place.open();
        let dataset = place.add(&deployment);
        deployment.wait_until_idle().await;
        Self::serve(place, deployment, dataset).await
    }

    /// Leaves tasks to workers, of which there are none.
    async fn without_jobs() -> Self {
        let Self { service, .. } = Self::start().await;
        let dataset = service.dataset;
        let place = service.stop().await;
        let settings = DeploymentSettings { jobs: 0, ..DeploymentSettings::default() };
        let deployment = place.open_with(settings);
        Self::serve(place, deployment, dataset).await
    }

    async fn serve(place: Place, deployment: Deployment, dataset: DatasetId) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let metrics = listener.local_addr().unwrap();
        let options =
            |access| ServerOptions { metrics: Some(listener), ..ServerOptions::from(access) };
        let service = Service::serve_as(place, deployment, dataset, true, options).await;
        Self { service, metrics }
    }

    async fn text(&self) -> String {
        let request = self.service.client.get(format!("http://{}/metrics", self.metrics));
        // Scrapers use names that only they know.
        let response = request.header("host", "scraped.example").send().await.unwrap();
        assert_eq!(response.status(), 200);
        let kind = response.headers()[CONTENT_TYPE].to_str().unwrap();
        assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
        let text = response.text().await.unwrap();
        assert!(text.ends_with("# EOF\n"), "{text}");
        text
    }

    /// The samples that are whole numbers, by name and labels.
    async fn samples(&self) -> BTreeMap<String, u64> {
        let text = self.text().await;
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        let sample = |line: &str| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            Some((name.to_owned(), value.parse().ok()?))
        };
        samples.filter_map(sample).collect()
    }

    /// Sends a request and waits until it is counted: its client may have the response before.
    async fn count(&self, method: Method, path: &str, host: Option<&str>) {
        let total = |samples: &BTreeMap<String, u64>| -> u64 {
            let counters = samples.iter().filter(|(name, _)| name.contains("requests_total"));
            counters.map(|(_, count)| count).sum()
        };
        let before = total(&self.samples().await);
        let mut request = self.service.client.request(method, self.service.url(path));
        if let Some(host) = host {
            request = request.header("host", host);
        }
        request.bearer_auth(self.service.token()).send().await.unwrap().bytes().await.unwrap();
        let counted = async { while total(&self.samples().await) <= before {} };
        timeout(GUARD, counted).await.unwrap();
    }
}

#[tokio::test]
async fn requests_are_counted_by_method_route_and_status() {
    let measured = MeasuredService::start().await;
    let explore = measured.service.explore("");
    measured.count(Method::GET, &explore, None).await;
    measured.count(Method::GET, &explore, None).await;
    measured.count(Method::GET, &format!("{explore}&threshold=9"), None).await;
    let samples = measured.samples().await;
    let route = "route=\"/api/v1/explore/{dataset_id}\"";
    let requests = |status: u16| {
        samples
            [&format!("tessera_http_requests_total{{method=\"GET\",{route},status=\"{status}\"}}")]
    };
    let durations = samples[&format!("tessera_http_request_duration_seconds_count{{{route}}}")];
    assert_eq!(format!("{} {} {durations}", requests(200), requests(422)), "2 1 3");
    assert!(samples[&format!("tessera_http_response_body_bytes_total{{{route}}}")] > 1_000);
}

#[tokio::test]
async fn clients_cannot_add_time_series() {
    let measured = MeasuredService::start().await;
    for (method, path, host) in [
        ("GET", "/other/path", None),
        ("GET", "/private/path", None),
        ("GET", "/api/v1/private/path", None),
        ("BREW", "/private/path", None),
        ("STEEP", "/private/path", None),
        ("GET", "/private/path", Some("evil.example")),
    ] {
        measured.count(method.parse().unwrap(), path, host).await;
    }
    let text = measured.text().await;
    let series: Vec<&str> =
        text.lines().filter(|line| line.starts_with("tessera_http_requests_total")).collect();
    let expected = [("GET", 403, 1), ("GET", 404, 3), ("OTHER", 404, 2)];
    let mut expected = expected.map(|(method, status, count)| {
        format!(
            "tessera_http_requests_total{{method=\"{method}\",route=\"none\",status=\"{status}\"}} \
             {count}"
        )
    });
    let mut series: Vec<String> = series.into_iter().map(str::to_owned).collect();
    series.sort();
    expected.sort();
    assert_eq!(series, expected);
}

#[tokio::test]
async fn the_state_of_the_service_is_measured_without_names() {
    let measured = MeasuredService::start().await;
    measured.count(Method::GET, "/api/v1/datasets", None).await;
    let samples = measured.samples().await;
    let version = format!("tessera_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    for (name, expected) in [
        (version.as_str(), 1),
        ("tessera_ready", 1),
        ("tessera_store_readable", 1),
        ("tessera_http_connections_max", 1024),
        ("tessera_http_expensive_requests", 0),
        ("tessera_http_body_memory_bytes", 0),
        ("tessera_tasks{kind=\"DATASET_CREATION\",state=\"running\"}", 0),
        ("tessera_tasks{kind=\"EXPORT\",state=\"queued\"}", 0),
        ("tessera_task_age_seconds{kind=\"REINDEX\"}", 0),
    ] {
        assert_eq!(samples.get(name), Some(&expected), "{name}: {samples:?}");
    }
    assert!(samples["tessera_http_connections"] >= 1);
    assert!(samples.contains_key("tessera_disk_available_bytes"));
    let text = measured.text().await;
    let service = &measured.service;
    let folder = service.place.pictures.path().display().to_string();
    for private in [&service.dataset.to_string(), &folder, "demo", ".png"] {
        assert!(!text.contains(private), "{private}: {text}");
    }
}

#[tokio::test]
async fn unfinished_tasks_are_running_or_queued() {
    let measured = MeasuredService::without_jobs().await;
    let database = measured.service.place.database();
    let indexing_task = "INSERT INTO indexing_task (dataset, kind, stage, reindex, created_at)
                     SELECT id, 'REINDEX', 'RUNNING', false, 0 FROM dataset RETURNING row";
    let row: i64 = query::one(&database, indexing_task, params![], |row| row.get(0)).unwrap();
    let tasks = async |state: &str| {
        let name = format!("tessera_tasks{{kind=\"REINDEX\",state=\"{state}\"}}");
        measured.samples().await[&name].to_string()
    };
    assert_eq!([tasks("queued").await, tasks("running").await], ["1", "0"]);
    let wait = "tessera_task_wait_seconds{kind=\"REINDEX\"}";
    assert!(measured.samples().await[wait] > 1_000_000_000, "since 1970");
    let lease = "INSERT INTO lease (task, holder, fence, expires_at)
                 VALUES (?1, ?2, 1, ?3)";
    let params = params![format!("indexing/{row}"), Uuid::nil(), i64::MAX];
    query::execute(&database, lease, params).unwrap();
    assert_eq!([tasks("queued").await, tasks("running").await], ["0", "1"]);
    let samples = measured.samples().await;
    assert!(samples["tessera_task_age_seconds{kind=\"REINDEX\"}"] > 1_000_000_000, "since 1970");
    assert_eq!(samples[wait], 0, "none waits");
}

#[tokio::test]
async fn leases_are_held_or_expired() {
    let measured = MeasuredService::without_jobs().await;
    let leases = async || {
        let samples = measured.samples().await;
        ["leases{state=\"held\"}", "leases{state=\"expired\"}", "workers"]
            .map(|name| samples[&format!("tessera_{name}")])
    };
    assert_eq!(leases().await, [0, 0, 0]);
    let database = measured.service.place.database();
    let lease = "INSERT INTO lease (task, holder, fence, expires_at) VALUES (?1, ?2, 1, ?3)";
    for (task, expires_at) in [
        ("indexing/1", i64::MAX),
        ("indexing/2", 1),
        ("indexing/3", 0), // given back
        ("worker/1", i64::MAX),
        ("worker/2", 1),
    ] {
        query::execute(&database, lease, params![task, Uuid::nil(), expires_at]).unwrap();
    }
    assert_eq!(leases().await, [1, 1, 1]);
}

#[tokio::test]
async fn the_cache_of_search_indexes_is_measured() {
    let measured = MeasuredService::start().await;
    let cache = async || {
        let samples = measured.samples().await;
        ["indexes", "index_loads_total", "ranking_misses_total", "ranking_hits_total"]
            .map(|name| samples[&format!("tessera_{name}")])
    };
    assert_eq!(cache().await, [0, 0, 0, 0], "nothing is loaded before it is searched");
    let media = measured.service.media("p000.png").await;
    let search = format!("anchor_type=MEDIA&anchor_media_id={media}");
    let search = measured.service.explore(&search);
    measured.service.good(&search).await;
    let [indexes, loads, misses, hits] = cache().await;
    assert_eq!([indexes, loads], [1, 1]);
    assert!(measured.samples().await["tessera_index_memory_bytes"] > 0);
    measured.service.good(&search).await;
    assert_eq!(cache().await, [1, 1, misses, hits + 1]);
}

#[tokio::test]
async fn metrics_are_not_at_the_address_of_the_service() {
    let measured = MeasuredService::start().await;
    let (status, _) = measured.service.json("/metrics").await;
    assert_eq!(status, 404);
    let other = format!("http://{}/api/v1/datasets", measured.metrics);
    assert_eq!(measured.service.client.get(other).send().await.unwrap().status(), 404);
}

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
