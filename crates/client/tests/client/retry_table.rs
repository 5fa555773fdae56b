//! The retry table of `requests.rs`, written by hand: every endpoint meets every fault, and the scripted server
//! counts the requests. `export_context_async` is a GET that starts a job, so its 1 matters most.

#![expect(clippy::unwrap_used, reason = "a test that fails here fails rightly")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tessera_client::{ClientPolicy, RequestRecorder};
use tessera_model::{Failure, FailureKind};
use tessera_testing::clients::{dataset, hosted, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use crate::requests::{TABLE, client_for, perform};

/// The faults, in the order of the columns of the table.
const FAULTS: [&str; 8] = [
    "refused",
    "cut before it was read",
    "cut after it was read",
    "401",
    "409",
    "429",
    "500",
    "503",
];

/// The start of the counted requests. Requests around them read the dataset.
fn beginning(endpoint: &str) -> &'static str {
    let posts = [
        "search_",
        "export_entities",
        "export_preview",
        "add_media",
        "reindex",
        "remove_",
        "rename_",
        "rescan",
        "cancel_",
        "change_tags",
        "define_tag",
        "undo_tags",
    ];
    match endpoint {
        "process_add_media" => "GET /api/v1/process/",
        _ if posts.iter().any(|post| endpoint.starts_with(post)) => "POST ",
        _ => "GET ",
    }
}

/// The server's reaction to a request for `fault`.
fn reply(fault: &str) -> Reply {
    match fault.parse() {
        Ok(status) => Reply::new(status, &[("retry-after", "0")], r#"{"detail":"scripted"}"#),
        Err(_) => Reply::disconnect(),
    }
}

/// The READY dataset, for any request.
fn record(_: &ReceivedRequest) -> Reply {
    Reply::json(format!(r#"{{"id":"{}","status_new":"READY","n_images":3}}"#, dataset()))
}

/// A working service whose archive is at `link`.
async fn service_with_archive_at(link: String) -> ScriptedServer {
    let status = format!(r#"{{"status":"COMPLETED","download_uri":"{link}"}}"#);
    ScriptedServer::start(move |_: &ReceivedRequest| Reply::json(&status)).await
}

/// An address where nothing listens.
fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn begins(seen: &ReceivedRequest, with: &str) -> bool {
    format!("{} {}", seen.method, seen.target).starts_with(with)
}

/// A server with the fault for requests that start with `beginning`; `None` if it refuses
/// connections.
async fn faulty(beginning: &'static str, fault: &'static str) -> Option<ScriptedServer> {
    match fault {
        "refused" => None,
        "cut before it was read" => Some(ScriptedServer::closing_unread(beginning, record).await),
        _ => {
            let script = move |seen: &ReceivedRequest| {
                if begins(seen, beginning) { reply(fault) } else { record(seen) }
            };
            Some(ScriptedServer::start(script).await)
        }
    }
}

/// Runs one case. Returns the number of requests to the faulty server, and the failure.
async fn case(endpoint: &str, fault: &'static str) -> (usize, Failure) {
    let beginning = beginning(endpoint);
    let server = faulty(beginning, fault).await;
    let url = server.as_ref().map_or_else(closed, ScriptedServer::url);
    let link = format!("{url}/file.zip");
    let result = if endpoint == "archive" {
        let service = service_with_archive_at(link.clone()).await;
        perform(endpoint, &client_for(endpoint, &service.url()), &link).await
    } else {
        perform(endpoint, &client_for(endpoint, &url), &link).await
    };
    let read = |server: &ScriptedServer| {
        server.requests().iter().filter(|seen| begins(seen, beginning)).count()
            + server.connections_without_request()
    };
    (server.as_ref().map_or(0, read), result.unwrap_err())
}

#[tokio::test]
async fn every_endpoint_meets_every_fault() {
    let mut wrong = Vec::new();
    for (endpoint, row) in TABLE {
        for (fault, expected) in FAULTS.into_iter().zip(row) {
            let (seen, failure) = case(endpoint, fault).await;
            if seen != expected {
                wrong.push(format!("{endpoint}, {fault}: {seen} not {expected} ({failure})"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn every_fault_maps_to_its_failure_kind() {
    use FailureKind as Kind;
    for (fault, read, write) in [
        ("refused", Kind::Unreachable, Kind::Unreachable),
        ("cut after it was read", Kind::NoResponse, Kind::NoResponse),
        ("401", Kind::Unauthorized, Kind::Unauthorized),
        ("409", Kind::Conflict, Kind::Conflict),
        ("429", Kind::RateLimited, Kind::RateLimited),
        ("503", Kind::Server, Kind::Server),
    ] {
        assert_eq!(case("datasets", fault).await.1.kind, read, "{fault}");
        let (_, failure) = case("export_context_async", fault).await;
        assert_eq!(failure.kind, write, "{fault}");
        let may_have_started = failure.to_string().contains("may have started");
        let expected = matches!(fault, "cut after it was read" | "503");
        assert_eq!(may_have_started, expected, "{failure}");
    }
}

#[tokio::test]
async fn unsent_requests_are_retried() {
    for (retries, expected) in [(None, 3), (Some(0), 1), (Some(4), 5)] {
        for endpoint in ["datasets", "dataset", "export_context_async", "reindex", "picture"] {
            let tried = Arc::<AtomicUsize>::default();
            let counter = Arc::clone(&tried);
            let witness = RequestRecorder::new(move |_| {
                counter.fetch_add(1, Ordering::SeqCst);
            });
            let url = closed();
            let client =
                hosted(&url, ClientPolicy { retries, ..without_pauses() }).with_recorder(witness);
            perform(endpoint, &client, &format!("{url}/a.png")).await.unwrap_err();
            assert_eq!(tried.load(Ordering::SeqCst), expected, "{endpoint}, {retries:?}");
        }
    }
}

#[tokio::test]
async fn custom_retries_apply_only_to_safe_requests() {
    for (endpoint, retries, expected) in
        [("dataset", 0, 1), ("dataset", 4, 5), ("export_context_async", 4, 1), ("reindex", 4, 1)]
    {
        let server = ScriptedServer::start(|_: &ReceivedRequest| reply("503")).await;
        let policy = ClientPolicy { retries: Some(retries), ..without_pauses() };
        perform(endpoint, &hosted(&server.url(), policy), "").await.unwrap_err();
        assert_eq!(server.count(), expected, "{endpoint}, {retries}");
    }
}
