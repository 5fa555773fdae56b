//! The retry table (reliability, section E), written by hand: every operation meets every failure,
//! and the scripted server counts the requests. `export_context_async` is a GET that starts a
//! job, so the number that matters most here is its 1.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails here fails rightly")]

#[expect(dead_code, reason = "other tests use the rest")]
#[path = "support/clients.rs"]
mod clients;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "support/scripted.rs"]
mod scripted;

use tessera::{
    api::{Client, QueryImage},
    model::{
        AddMedia, ArchiveName, EntityType, ExportFormat, ExportSpec, Failure, FailureKind,
        Granularity, Link, MediaId, MediaSource, Search, SelectionItem,
    },
};

use clients::{dataset, hosted, impatient, task};
use scripted::{Act, Scripted, Seen};

/// What goes wrong, in the order of the columns below.
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

/// Requests seen for each fault. Pictures and archives carry no login, so a 401 there is no
/// expired token; for an archive it means a link that has expired, and three fresh ones are tried.
const TABLE: [(&str, [usize; 8]); 12] = [
    ("datasets", [0, 3, 3, 2, 1, 3, 3, 3]),
    ("dataset", [0, 3, 3, 2, 1, 3, 3, 3]),
    ("explore", [0, 3, 3, 2, 1, 3, 3, 3]),
    ("search-image-similarity", [0, 2, 2, 2, 1, 2, 2, 2]),
    ("export_context_async", [0, 1, 1, 2, 1, 1, 1, 1]),
    ("export_entities_async", [0, 1, 1, 2, 1, 1, 1, 1]),
    ("export_status", [0, 3, 3, 2, 1, 3, 3, 3]),
    ("enrichment context", [0, 3, 3, 2, 1, 3, 3, 3]),
    ("reindex", [0, 1, 1, 2, 1, 1, 1, 1]),
    // Without login, so a 401 is no expired token. `add_media` itself is in tests/client/uploads.rs:
    // it reads the dataset first.
    ("process/add_media", [0, 1, 1, 1, 1, 1, 1, 1]),
    ("picture", [0, 3, 3, 1, 1, 3, 3, 3]),
    ("archive", [0, 5, 5, 4, 1, 5, 5, 5]),
];

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n not read any further by the client";

async fn perform(operation: &str, client: &Client, link: &str) -> Result<(), Failure> {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("query.png");
    std::fs::write(&image, PNG).unwrap();
    let (entity, granularity) = (EntityType::Images, Granularity::DEFAULT);
    let spec = ExportSpec {
        file_name: ArchiveName::new("x"),
        format: ExportFormat::Json,
        include_images: false,
    };
    match operation {
        "datasets" => client.datasets().await.map(drop),
        "dataset" => client.dataset(dataset()).await.map(drop),
        "explore" => client.explore(&Search::browse(dataset())).await.map(drop),
        "search-image-similarity" => {
            let image = QueryImage::read(&image).await?;
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
        "reindex" => client.reindex(dataset()).await,
        "process/add_media" => {
            let endpoint = client.endpoint().clone();
            let pipeline = endpoint.base_url().clone();
            let client = Client::with_policy(endpoint.with_pipeline(pipeline), impatient())?;
            let addition = AddMedia::new(MediaSource::ServerPath("/data/new".into()));
            client.add_media(dataset(), &addition, &mut |_, _| {}).await
        }
        "export_status" => client.export_status(dataset(), task()).await.map(drop),
        "picture" => client.picture(&Link::new(link), 1_000).await.map(drop),
        "archive" => {
            let target = folder.path().join("x.zip");
            let mut report = |_, _| {};
            let download = client.download(dataset(), task(), &target, &mut report);
            download.await.map(drop)
        }
        other => panic!("{other}"),
    }
}

/// What the server does when it reads the request and the fault is `fault`.
fn act(fault: &str) -> Act {
    match fault.parse() {
        Ok(status) => Act::reply(status, &[("retry-after", "1")], r#"{"detail":"scripted"}"#),
        Err(_) => Act::cut(),
    }
}

/// A service that works, but whose archive is at `link`.
async fn service_with_archive_at(link: String) -> Scripted {
    let status = format!(r#"{{"status":"COMPLETED","download_uri":"{link}"}}"#);
    Scripted::start(move |_: &Seen| Act::json(&status)).await
}

/// An address where nobody listens.
fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// Runs one case. Returns the requests seen by the server with the fault, and the failure.
async fn case(operation: &str, fault: &'static str) -> (usize, Failure) {
    let faulty = match fault {
        "refused" => None,
        "cut before it was read" => Some(Scripted::deaf().await),
        _ => Some(Scripted::start(move |_: &Seen| act(fault)).await),
    };
    let url = faulty.as_ref().map_or_else(closed, Scripted::url);
    let link = format!("{url}/file.zip");
    let result = if operation == "archive" {
        let service = service_with_archive_at(link.clone()).await;
        perform(operation, &hosted(&service.url(), impatient()), &link).await
    } else {
        perform(operation, &hosted(&url, impatient()), &link).await
    };
    (faulty.map_or(0, |faulty| faulty.count()), result.unwrap_err())
}

#[tokio::test]
async fn e_every_operation_meets_every_failure() {
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
async fn e_each_failure_has_its_kind() {
    use FailureKind as Kind;
    for (fault, read, write) in [
        ("refused", Kind::Unreachable, Kind::Unreachable),
        ("cut after it was read", Kind::NoAnswer, Kind::NoAnswer),
        ("401", Kind::Login, Kind::Login),
        ("409", Kind::Conflict, Kind::Conflict),
        ("429", Kind::Busy, Kind::Busy),
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
