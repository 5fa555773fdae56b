//! The retry table, written by hand: every operation meets every fault, and the scripted server
//! counts the requests. `export_context_async` is a GET that starts a job, so its 1 matters most.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails here fails rightly")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tessera_client::{
    AuthMethod, Client, ClientPolicy, Endpoint, ExistingFile, QueryImageUpload, RequestRecorder,
};
use tessera_model::{
    ArchiveName, EntityType, ExportFormat, ExportSpec, Failure, FailureKind, Granularity, Link,
    MediaAddition, MediaId, MediaSource, Query, QueryText, Search, SelectionItem,
};

use tessera_testing::clients::{dataset, hosted, task, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

/// The faults, in the order of the columns below.
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

/// Requests per fault; of an addition only those that add. Pictures and archives carry no login, so
/// a 401 is not an expired token; for an archive it means an expired link, and three new ones are
/// tried. A pipeline has no login either, and a session cannot be renewed.
#[rustfmt::skip]
const TABLE: [(&str, [usize; 8]); 16] = [
    //                          refused  cut  cut  401  409  429  500  503
    ("datasets",                [0,      3,   3,   2,   1,   3,   3,   3]),
    ("dataset",                 [0,      3,   3,   2,   1,   3,   3,   3]),
    ("enrichment context",      [0,      3,   3,   2,   1,   3,   3,   3]),
    ("export_status",           [0,      3,   3,   2,   1,   3,   3,   3]),
    ("explore",                 [0,      3,   3,   2,   1,   3,   3,   3]),
    ("explore by caption",      [0,      3,   3,   2,   1,   3,   3,   3]),
    ("picture",                 [0,      3,   3,   1,   1,   3,   3,   3]),
    ("archive",                 [0,      5,   5,   4,   1,   5,   5,   5]),
    ("search-image-similarity", [0,      2,   2,   2,   1,   2,   2,   2]),
    ("export_context_async",    [0,      1,   1,   2,   1,   1,   1,   1]),
    ("export_entities_async",   [0,      1,   1,   2,   1,   1,   1,   1]),
    ("add_media s3_uri",        [0,      1,   1,   2,   1,   1,   1,   1]),
    ("add_media files",         [0,      1,   1,   2,   1,   1,   1,   1]),
    ("reindex",                 [0,      1,   1,   2,   1,   1,   1,   1]),
    ("process/add_media",       [0,      1,   1,   1,   1,   1,   1,   1]),
    ("api_credentials",         [0,      1,   1,   1,   1,   1,   1,   1]),
];

/// The start of the counted requests. Requests around them read the dataset.
fn beginning(operation: &str) -> &'static str {
    let posts = ["search-", "export_entities", "add_media", "reindex"];
    match operation {
        "process/add_media" => "GET /api/v1/process/",
        _ if posts.iter().any(|post| operation.starts_with(post)) => "POST ",
        _ => "GET ",
    }
}

#[expect(clippy::too_many_lines, reason = "a line for each operation")]
async fn perform(operation: &str, client: &Client, link: &str) -> Result<(), Failure> {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("query.png");
    ::image::RgbImage::new(4, 4).save(&image).unwrap();
    let (entity, granularity) = (EntityType::Images, Granularity::DEFAULT);
    let spec = ExportSpec {
        file_name: ArchiveName::new("x"),
        format: ExportFormat::Json,
        include_images: false,
    };
    match operation {
        "datasets" => client.list_datasets().await.map(drop),
        "dataset" => client.dataset(dataset()).await.map(drop),
        "explore" => client.explore(&Search::browse(dataset())).await.map(drop),
        "explore by caption" => {
            let query = Query::Caption { text: QueryText::new("a van").unwrap(), max_score: None };
            let search = Search { query, ..Search::browse(dataset()) };
            client.explore(&search).await.map(drop)
        }
        "search-image-similarity" => {
            let image = QueryImageUpload::read(&image).await?;
            let anchor = client.register_anchor(dataset(), image, entity, granularity, None);
            anchor.await.map(drop)
        }
        "export_context_async" => client.start_export(dataset(), &spec).await.map(drop),
        "export_entities_async" => {
            let items = [SelectionItem::Media(vec![MediaId(task().0)])];
            let start = client.start_selective_export(dataset(), ExportFormat::Json, false, &items);
            start.await.map(drop)
        }
        "enrichment context" => client.enrichment(dataset()).await.map(drop),
        "reindex" => client.reindex(dataset()).await.map(drop),
        "add_media s3_uri" => add(client, MediaSource::Storage("s3://bucket/new/".into())).await,
        "add_media files" => add(client, MediaSource::Files(vec![image])).await,
        "api_credentials" => {
            let url = client.endpoint().base_url().clone();
            let endpoint = Endpoint::new(url, AuthMethod::Session("a session".into()))?;
            Client::with_policy(endpoint, without_pauses())?.create_credentials().await.map(drop)
        }
        "process/add_media" => {
            let endpoint = client.endpoint().clone();
            let pipeline = endpoint.base_url().clone();
            let client = Client::with_policy(endpoint.with_pipeline(pipeline), without_pauses())?;
            add(&client, MediaSource::ServerPath("/data/new".into())).await
        }
        "export_status" => client.export_status(dataset(), task()).await.map(drop),
        "picture" => client.fetch_picture(&Link::new(link), 1_000).await.map(drop),
        "archive" => {
            let target = folder.path().join("x.zip");
            let mut report = |_, _| {};
            let download =
                client.download((dataset(), task()), (&target, ExistingFile::Keep), &mut report);
            download.await.map(drop)
        }
        other => panic!("{other}"),
    }
}

async fn add(client: &Client, source: MediaSource) -> Result<(), Failure> {
    client.add_media(dataset(), &MediaAddition::new(source), &mut |_, _| {}).await.map(drop)
}

/// The server's reaction to a request for `fault`.
fn reply(fault: &str) -> Reply {
    match fault.parse() {
        Ok(status) => Reply::new(status, &[("retry-after", "1")], r#"{"detail":"scripted"}"#),
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
async fn case(operation: &str, fault: &'static str) -> (usize, Failure) {
    let beginning = beginning(operation);
    let server = faulty(beginning, fault).await;
    let url = server.as_ref().map_or_else(closed, ScriptedServer::url);
    let link = format!("{url}/file.zip");
    let result = if operation == "archive" {
        let service = service_with_archive_at(link.clone()).await;
        perform(operation, &hosted(&service.url(), without_pauses()), &link).await
    } else {
        perform(operation, &hosted(&url, without_pauses()), &link).await
    };
    let read = |server: &ScriptedServer| {
        server.requests().iter().filter(|seen| begins(seen, beginning)).count()
            + server.closed_unread()
    };
    (server.as_ref().map_or(0, read), result.unwrap_err())
}

#[tokio::test]
async fn every_operation_meets_every_fault() {
    let mut wrong = Vec::new();
    for (operation, row) in TABLE {
        for (fault, expected) in FAULTS.into_iter().zip(row) {
            let (seen, failure) = case(operation, fault).await;
            if seen != expected {
                wrong.push(format!("{operation}, {fault}: {seen} not {expected} ({failure})"));
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
        for operation in ["datasets", "dataset", "export_context_async", "reindex", "picture"] {
            let tried = Arc::<AtomicUsize>::default();
            let counter = Arc::clone(&tried);
            let witness = RequestRecorder::new(move |_| {
                counter.fetch_add(1, Ordering::SeqCst);
            });
            let url = closed();
            let client =
                hosted(&url, ClientPolicy { retries, ..without_pauses() }).with_recorder(witness);
            perform(operation, &client, &format!("{url}/a.png")).await.unwrap_err();
            assert_eq!(tried.load(Ordering::SeqCst), expected, "{operation}, {retries:?}");
        }
    }
}

#[tokio::test]
async fn custom_retries_apply_only_to_safe_requests() {
    for (operation, retries, expected) in
        [("dataset", 0, 1), ("dataset", 4, 5), ("export_context_async", 4, 1), ("reindex", 4, 1)]
    {
        let server = ScriptedServer::start(|_: &ReceivedRequest| reply("503")).await;
        let policy = ClientPolicy { retries: Some(retries), ..without_pauses() };
        perform(operation, &hosted(&server.url(), policy), "").await.unwrap_err();
        assert_eq!(server.count(), expected, "{operation}, {retries}");
    }
}
