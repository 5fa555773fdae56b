//! What the access log records of requests, and what it must not contain.

use std::time::Duration;

use reqwest::RequestBuilder;
use secrecy::ExposeSecret as _;
use tessera_service::{AccessLog, AccessRecord, ServerOptions};
use tokio::{sync::mpsc, time::timeout};

use crate::support::{Place, Service, pictures};

/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);

struct LoggedService {
    service: Service,
    records: mpsc::UnboundedReceiver<AccessRecord>,
}

impl LoggedService {
    async fn start() -> Self {
        let (sender, records) = mpsc::unbounded_channel();
        let service = Service::serving(Place::new(&pictures(4)), |access| {
            let access_log = AccessLog::new(move |record| sender.send(record).unwrap());
            ServerOptions { access_log: Some(access_log), ..ServerOptions::from(access) }
        })
        .await;
        Self { service, records }
    }

    /// The record of a request, whose response is read whole.
    async fn record(&mut self, request: RequestBuilder) -> AccessRecord {
        let response = request.send().await.unwrap();
        let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        let (status, body) = (response.status().as_u16(), response.bytes().await.unwrap());
        let record = timeout(GUARD, self.records.recv()).await.unwrap().unwrap();
        assert_eq!((record.status, record.bytes), (Some(status), body.len() as u64));
        assert_eq!((&record.request_id, record.remote.is_loopback()), (&id, true));
        assert!(record.time.ends_with('Z'), "{record:?}");
        record
    }
}

#[tokio::test]
async fn a_request_is_recorded_by_its_route_with_what_was_sent() {
    let mut logged = LoggedService::start().await;
    let service = &logged.service;
    let explore = "/api/v1/explore/{dataset_id}";
    let requests = [
        (service.get(&service.explore("")), "GET", Some(explore), 200),
        (service.client.get(service.url(&service.explore(""))), "GET", Some(explore), 401),
        (service.get(&service.explore("threshold=9")), "GET", Some(explore), 422),
        (service.post(&service.explore("")), "POST", Some(explore), 405),
        (service.client.get(service.url("/nowhere/at/all")), "GET", None, 404),
        (service.get("/api/v1/nowhere"), "GET", None, 404),
        (
            service.get("/api/v1/datasets").header("host", "evil.example"),
            "GET",
            Some("/api/v1/datasets"),
            403,
        ),
    ];
    for (request, method, route, status) in requests {
        let record = logged.record(request).await;
        let found = (record.method, record.status, record.route.as_deref());
        assert_eq!(found, (method, Some(status), route), "{record:?}");
    }
}

#[tokio::test]
async fn no_secret_identifier_or_name_is_recorded() {
    let mut logged = LoggedService::start().await;
    let page = logged.service.good(&logged.service.explore("")).await;
    logged.records.recv().await.unwrap();
    let preview = &page["clusters"][0]["previews"][0];
    let link = preview["media_uri"].as_str().unwrap();
    let service = &logged.service;
    let (token, session) =
        (service.token(), service.credentials.session.expose_secret().to_owned());
    let requests = [
        service.client.get(link),
        service.get(&service.explore("caption=a+private+thought")),
        service.client.get(service.url("/api/v1/datasets")).bearer_auth(&token),
        service
            .client
            .get(service.url("/api/v1/api_credentials"))
            .header("cookie", format!("SESSION={session}")),
        service.get("/api/v1/private-path?a=private"),
    ];
    let signature = link.split("signature=").nth(1).unwrap().to_owned();
    let dataset = service.dataset.to_string();
    let media = preview["media_id"].as_str().unwrap();
    let secrets = [&token, &signature, &dataset, media, &session, "private", ".png"];
    let mut records = Vec::new();
    for request in requests {
        records.push(logged.record(request).await);
    }
    let recorded = format!("{records:?}");
    for secret in secrets {
        assert!(!recorded.contains(secret), "{secret}: {recorded}");
    }
}

#[tokio::test]
async fn what_a_proxy_knows_of_a_request_is_recorded_if_it_is_plain() {
    let mut logged = LoggedService::start().await;
    let request = logged.service.get("/api/v1/datasets");
    let request = request.header("x-request-id", "4bf92f3577b34da6");
    let record = logged.record(request.header("x-forwarded-for", "203.0.113.7, 10.0.0.1")).await;
    assert_eq!(record.request_id, "4bf92f3577b34da6");
    let addresses: Vec<String> = record.forwarded_for.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["203.0.113.7", "10.0.0.1"]);
    let request = logged.service.get("/api/v1/datasets");
    let request = request.header("x-request-id", "a\" b");
    let record = logged.record(request.header("x-forwarded-for", "\"}<script>")).await;
    assert_eq!((record.request_id.len(), record.forwarded_for.len()), (32, 0));
}
