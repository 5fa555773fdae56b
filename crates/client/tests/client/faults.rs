//! Failing requests: no response, slow responses, huge responses, rejections, expired logins.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::test_zip::gzip;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use tessera_client::{Client, ClientPolicy, QueryImageUpload};
use tessera_model::{EntityType, Failure, FailureKind, Granularity, Link, Region};

use tessera_testing::clients::{dataset, hosted, on_premises, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer, head};

async fn datasets(server: &ScriptedServer, policy: ClientPolicy) -> Result<usize, Failure> {
    let client = on_premises(&server.url(), policy);
    client.list_datasets().await.map(|list| list.datasets.len())
}

#[tokio::test]
async fn a_service_that_does_not_respond_is_reported_before_the_timeout() {
    let silent = ScriptedServer::start(|_: &ReceivedRequest| Reply::hold(Vec::new())).await;
    let policy = ClientPolicy {
        header_timeout: Duration::from_millis(400),
        slow_response: Duration::from_millis(50),
        retries: Some(0),
        ..without_pauses()
    };
    let reported = Arc::new(Mutex::new(Vec::new()));
    let heard = reported.clone();
    let client = on_premises(&silent.url(), policy)
        .with_slow_listener(move |sentence| heard.lock().unwrap().push(sentence));
    client.list_datasets().await.unwrap_err();
    let sentence = "the service has not responded yet; still trying to list the datasets";
    assert_eq!(*reported.lock().unwrap(), [sentence]);
}

#[tokio::test]
async fn silence_and_stalls_time_out() {
    let short = Duration::from_millis(100);
    let silent = ScriptedServer::start(|_: &ReceivedRequest| Reply::hold(Vec::new())).await;
    let policy = ClientPolicy { header_timeout: short, ..without_pauses() };
    let failure = datasets(&silent, policy).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoResponse);

    let begun = [head(200, &[("content-length", "100")]), b"[".to_vec()].concat();
    let stalling =
        ScriptedServer::start(move |_: &ReceivedRequest| Reply::hold(begun.clone())).await;
    let policy = ClientPolicy { idle_timeout: short, ..without_pauses() };
    let failure = datasets(&stalling, policy).await.unwrap_err();
    assert!(failure.message.as_str().contains("stalled"), "{failure}");
}

#[tokio::test]
async fn a_slow_response_hits_the_total_timeout() {
    let drip = |_: &ReceivedRequest| {
        Reply::repeat(head(200, &[]), b" ".to_vec(), Duration::from_millis(5))
    };
    let server = ScriptedServer::start(drip).await;
    let policy = ClientPolicy { total_timeout: Duration::from_millis(150), ..without_pauses() };
    let failure = datasets(&server, policy).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoResponse);
}

#[tokio::test]
async fn a_retry_succeeds() {
    let tries = std::sync::atomic::AtomicUsize::new(0);
    let server = ScriptedServer::start(move |_: &ReceivedRequest| {
        match tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Reply::new(503, &[], "busy"),
            1 => Reply::disconnect(),
            _ => Reply::json("[]"),
        }
    })
    .await;
    assert_eq!(datasets(&server, without_pauses()).await, Ok(0));
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn a_401_causes_one_new_token_and_one_replay() {
    let tries = std::sync::atomic::AtomicUsize::new(0);
    let once = ScriptedServer::start(move |_: &ReceivedRequest| {
        match tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Reply::new(401, &[], r#"{"detail":"expired"}"#),
            _ => Reply::json("[]"),
        }
    })
    .await;
    assert!(hosted(&once.url(), without_pauses()).list_datasets().await.is_ok());
    assert_eq!(once.count(), 2);

    let always = ScriptedServer::start(|_: &ReceivedRequest| Reply::new(401, &[], "{}")).await;
    let failure = hosted(&always.url(), without_pauses()).list_datasets().await.unwrap_err();
    assert_eq!((failure.kind, always.count()), (FailureKind::Unauthorized, 2));
    assert!(failure.to_string().contains("credentials were rejected"));

    let failure = datasets(&always, without_pauses()).await.unwrap_err();
    assert_eq!((failure.kind, always.count()), (FailureKind::Unauthorized, 3));
    assert!(failure.to_string().contains("A hosted deployment"), "{failure}");
}

/// When a token was issued.
fn issued(seen: &ReceivedRequest) -> u64 {
    let token = seen.header("authorization").unwrap();
    let payload = token.split('.').nth(1).unwrap();
    let payload = BASE64_URL_SAFE_NO_PAD.decode(payload).unwrap();
    let payload: serde_json::Value = serde_json::from_slice(&payload).unwrap();
    payload["iat"].as_u64().unwrap()
}

/// A service whose clock is off by `ahead` seconds, and which accepts only tokens of the current
/// minute.
async fn service_with_clock(ahead: i64) -> ScriptedServer {
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        let seconds = UNIX_EPOCH.elapsed().unwrap().as_secs().strict_add_signed(ahead);
        let now: SystemTime = UNIX_EPOCH + Duration::from_secs(seconds);
        let date = httpdate::fmt_http_date(now);
        let date = [("date", date.as_str())];
        if issued(seen).abs_diff(seconds) < 60 {
            Reply::new(200, &date, "[]")
        } else {
            Reply::new(401, &date, "{}")
        }
    })
    .await
}

#[tokio::test]
async fn clock_skew_is_learned_within_two_requests() {
    for ahead in [-90_000, -3_600, -300, 0, 300, 3_600, 90_000] {
        let server = service_with_clock(ahead).await;
        let client = hosted(&server.url(), without_pauses());
        assert!(client.list_datasets().await.is_ok(), "{ahead}");
        assert_eq!(server.count(), if ahead == 0 { 1 } else { 2 }, "{ahead}");
        assert!(client.list_datasets().await.is_ok());
        assert_eq!(server.count(), if ahead == 0 { 2 } else { 3 }, "{ahead}");
        // A date has whole seconds, and a response may be old.
        assert!(client.clock_skew().abs_diff(ahead) <= 60, "{ahead}: {}", client.clock_skew());
    }
    let server = service_with_clock(7_200).await;
    let client = hosted(&server.url(), without_pauses());
    let all = join_all((0..64).map(|_| client.list_datasets())).await;
    assert!(all.iter().all(Result::is_ok) && server.count() <= 128);
}

#[tokio::test]
async fn documented_rejections_are_final_and_quote_the_service() {
    use FailureKind as Kind;
    for (status, detail, kind) in [
        (400, "no file", Kind::Invalid),
        (403, "Add media feature is not enabled", Kind::Forbidden),
        (404, "Dataset not found", Kind::NotFound),
        (409, "Operation 'x' is blocked while MEDIA_ADDITION task is running", Kind::Conflict),
        (413, "too large", Kind::Invalid),
        (422, "invalid vql", Kind::Invalid),
    ] {
        let body = serde_json::json!({ "detail": format!("{detail}\u{1b}[2J") }).to_string();
        let server =
            ScriptedServer::start(move |_: &ReceivedRequest| Reply::new(status, &[], &body)).await;
        let client = hosted(&server.url(), without_pauses());
        let failure = client.dataset(dataset()).await.unwrap_err();
        assert_eq!((failure.kind, server.count()), (kind, 1), "{status}");
        let text = failure.to_string();
        assert!(text.contains(&format!("({status})")) && text.contains(detail), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}

async fn endless() -> ScriptedServer {
    let piece = vec![b' '; 64 << 10];
    let reply =
        move |_: &ReceivedRequest| Reply::repeat(head(200, &[]), piece.clone(), Duration::ZERO);
    ScriptedServer::start(reply).await
}

#[tokio::test]
async fn responses_are_limited_after_decoding() {
    let bomb = gzip(&vec![b' '; 40 << 20]);
    assert!(bomb.len() < 1 << 20);
    let gzipped =
        move |_: &ReceivedRequest| Reply::new(200, &[("content-encoding", "gzip")], &bomb);
    for server in [endless().await, ScriptedServer::start(gzipped).await] {
        let failure = datasets(&server, without_pauses()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unexpected);
        assert!(failure.to_string().contains("larger than 32 MiB"), "{failure}");
        assert_eq!(server.count(), 1);
    }
}

#[tokio::test]
async fn invalid_responses_are_reported() {
    let deep = "[".repeat(100_000);
    let long = "x".repeat(5_000);
    for body in [
        "<html><title>Sign in</title>\u{1b}]0;x\u{7}</html>",
        "<?xml version=\"1.0\"?><Error/>",
        "",
        "null",
        "42",
        "\"text\"",
        "{}",
        "{\"a\":[],\"b\":[]}",
        "[",
        "\u{feff}[",
        "NaN",
        deep.as_str(),
        long.as_str(),
    ] {
        let text = body.to_owned();
        let html = [("content-type", "text/html\u{9b}")];
        let server =
            ScriptedServer::start(move |_: &ReceivedRequest| Reply::new(200, &html, &text)).await;
        let failure = datasets(&server, without_pauses()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unexpected, "{body:.40}");
        assert!(failure.message.as_str().contains("200"), "{failure}");
        let detail = failure.detail.map_or(0, |detail| detail.as_str().chars().count());
        assert!(detail <= 201, "{body:.40}");
        assert!(!failure.message.as_str().contains(char::is_control));
    }
}

#[tokio::test]
async fn an_endless_error_body_is_still_a_rejection() {
    let piece = vec![b'x'; 4 << 10];
    let reply =
        move |_: &ReceivedRequest| Reply::repeat(head(409, &[]), piece.clone(), Duration::ZERO);
    let server = ScriptedServer::start(reply).await;
    let failure = datasets(&server, without_pauses()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Conflict);
}

/// No other limit ends the response to a link.
#[tokio::test]
async fn an_error_body_that_trickles_is_not_waited_for() {
    let pause = Duration::from_millis(20);
    let reply = move |_: &ReceivedRequest| Reply::repeat(head(403, &[]), b"x".to_vec(), pause);
    let server = ScriptedServer::start(reply).await;
    let policy = ClientPolicy { idle_timeout: Duration::from_millis(200), ..without_pauses() };
    let client = on_premises(&server.url(), policy);
    let link = Link::new(format!("{}/a.jpg", server.url()));
    let fetched = tokio::time::timeout(Duration::from_secs(20), client.fetch_picture(&link, 100));
    assert_eq!(fetched.await.unwrap().unwrap_err().kind, FailureKind::Forbidden);
}

/// Run by the next test in its own process, with proxies in its environment.
#[tokio::test]
#[ignore = "a_local_service_bypasses_the_proxy runs it"]
async fn inner() {
    let url = std::env::var("SCRIPTED_URL").unwrap();
    hosted(&url, without_pauses()).list_datasets().await.unwrap();
}

#[tokio::test]
async fn a_local_service_bypasses_the_proxy() {
    let service = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("[]")).await;
    let proxy = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("[]")).await;
    let mut inner = std::process::Command::new(std::env::current_exe().unwrap());
    inner.args(["--exact", "faults::inner", "--ignored"]);
    inner.env("SCRIPTED_URL", service.url());
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"] {
        inner.env(name, proxy.url());
    }
    let ran = tokio::task::spawn_blocking(move || inner.output()).await.unwrap();
    assert!(ran.unwrap().status.success());
    assert_eq!((service.count(), proxy.count()), (1, 0));
}

#[tokio::test]
async fn invalid_pictures_are_not_sent() {
    let server = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("{}")).await;
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.jpg");
    std::fs::write(&text, "no picture").unwrap();
    let huge = folder.path().join("huge.png");
    std::fs::File::create(&huge).unwrap().set_len((32 << 20) + 1).unwrap();
    for (file, word) in [
        (text, "not a picture"),
        (huge, "larger than 32 MiB"),
        (folder.path().to_owned(), "not a file"),
        (folder.path().join("missing"), "No such file"),
    ] {
        let failure = QueryImageUpload::read(&file).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Local);
        assert!(failure.to_string().contains(word), "{failure}");
    }
    // A picture that cannot be decoded locally may be sent whole, but not with a box.
    let client: Client = hosted(&server.url(), without_pauses());
    let photo = QueryImageUpload::new("II*\0 a TIFF".into(), "photo.tiff").await.unwrap();
    let region = Region::new(0.0, 0.0, 0.5, 0.5);
    let anchor =
        client.register_anchor(dataset(), photo, EntityType::Images, Granularity::DEFAULT, region);
    assert!(anchor.await.unwrap_err().to_string().contains("cannot decode"));
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_202_needs_an_anchor() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.gif");
    std::fs::write(&file, b"GIF89a").unwrap();
    let anchor = r#"{"anchor_media_id":"ad195246-0000-11ef-9529-000000000001"}"#;
    for (body, found) in [(anchor, true), ("", false)] {
        let server =
            ScriptedServer::start(move |_: &ReceivedRequest| Reply::new(202, &[], body)).await;
        let client = hosted(&server.url(), without_pauses());
        let image = QueryImageUpload::read(&file).await.unwrap();
        let result = client
            .register_anchor(dataset(), image, EntityType::Images, Granularity::DEFAULT, None)
            .await;
        assert_eq!(result.is_ok(), found, "{result:?}");
        assert_eq!(server.count(), 1);
    }
}
