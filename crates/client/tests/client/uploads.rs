//! Failing uploads: rejected early, interrupted, without a response, and with changing files. None
//! is ever retried automatically.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tempfile::TempDir;
use tessera_model::{Failure, FailureKind, MediaAddition, MediaSource};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use tessera_testing::clients::{dataset, hosted, on_premises, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

/// A folder with one picture of about `bytes`.
fn picture(bytes: u64) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    image::RgbImage::new(4, 4).save(&path).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() + bytes).unwrap();
    (folder, path)
}

fn record(status: &str) -> String {
    format!(r#"{{"id":"{}","status_new":"{status}","n_images":3}}"#, dataset())
}

async fn add(url: &str, path: &Path) -> Result<(), Failure> {
    let addition = MediaAddition::new(MediaSource::Files(vec![path.to_owned()]));
    hosted(url, without_pauses()).add_media(dataset(), &addition, &mut |_, _| {}).await.map(drop)
}

/// A service whose dataset has these states, one per request, and that responds to uploads with
/// `reply`.
async fn service<const N: usize>(
    states: [&'static str; N],
    reply: fn() -> Reply,
) -> ScriptedServer {
    let served = AtomicUsize::new(0);
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.method == "POST" {
            return reply();
        }
        let turn = served.fetch_add(1, Ordering::Relaxed);
        Reply::json(record(states[turn.min(N - 1)]))
    })
    .await
}

fn uploads(server: &ScriptedServer) -> usize {
    server.requests().iter().filter(|seen| seen.method == "POST").count()
}

#[tokio::test]
async fn an_upload_reports_its_progress_to_the_last_byte() {
    let server = service(["READY", "READ ONLY"], || Reply::new(202, &[], "")).await;
    let (_folder, path) = picture(100_000);
    let addition = MediaAddition::new(MediaSource::Files(vec![path]));
    let client = hosted(&server.url(), without_pauses());
    let mut reported = Vec::new();
    let mut report = |sent, total| reported.push((sent, total));
    client.add_media(dataset(), &addition, &mut report).await.unwrap();
    assert!(reported.is_sorted(), "{reported:?}");
    let (sent, total) = reported.last().unwrap();
    assert_eq!(Some(*sent), *total, "{reported:?}");
    assert!(*sent > 100_000);
}

/// The server's reaction, the number of requests, and the resulting failure.
type Case = (fn() -> Reply, usize, FailureKind);

#[tokio::test]
async fn an_upload_carries_a_session_in_place_of_the_token_and_nothing_else_does() {
    let (_folder, path) = picture(100);
    for (reply, accepted) in [
        ((|| Reply::new(202, &[], "")) as fn() -> Reply, true),
        (|| Reply::new(401, &[], "{}"), false),
    ] {
        let server = service(["READY", "READ ONLY"], reply).await;
        let client = hosted(&server.url(), without_pauses());
        let client = client.with_upload_session(&"canary-of-a-session".into()).unwrap();
        let addition = MediaAddition::new(MediaSource::Files(vec![path.clone()]));
        let outcome = client.add_media(dataset(), &addition, &mut |_, _| {}).await;
        assert_eq!(outcome.is_ok(), accepted);
        if let Err(failure) = outcome {
            assert_eq!(failure.kind, FailureKind::Unauthorized);
            let text = failure.to_string();
            assert!(text.contains("the session was not accepted"), "{text}");
            assert!(!text.contains("canary"), "{text}");
        }
        assert_eq!(uploads(&server), 1, "a session is not renewed");
        for seen in server.requests() {
            let (cookie, token) = (seen.header("cookie"), seen.header("authorization"));
            let session = (seen.method == "POST").then_some("SESSION=canary-of-a-session");
            assert_eq!((cookie, token.is_none()), (session, session.is_some()), "never both");
        }
    }
}

#[tokio::test]
async fn an_upload_is_never_sent_twice() {
    let (_folder, path) = picture(10_000);
    let replies: [Case; 6] = [
        (Reply::disconnect, 1, FailureKind::NoResponse),
        (|| Reply::new(401, &[], "{}"), 2, FailureKind::Unauthorized),
        (|| Reply::new(409, &[], "{}"), 1, FailureKind::Conflict),
        (|| Reply::new(413, &[], "{}"), 1, FailureKind::Invalid),
        (|| Reply::new(429, &[], "{}"), 1, FailureKind::RateLimited),
        (|| Reply::new(503, &[], "{}"), 1, FailureKind::Server),
    ];
    for (reply, expected, kind) in replies {
        let server = service(["READY", "READY"], reply).await;
        let failure = add(&server.url(), &path).await.unwrap_err();
        assert_eq!((uploads(&server), failure.kind), (expected, kind), "{failure}");
    }
}

#[tokio::test]
async fn a_lost_response_is_resolved_from_the_dataset_state() {
    let (_folder, path) = picture(10_000);
    let server = service(["READY", "READ ONLY"], Reply::disconnect).await;
    assert_eq!(add(&server.url(), &path).await, Ok(()));
    let server = service(["READY", "READY"], Reply::disconnect).await;
    let failure = add(&server.url(), &path).await.unwrap_err();
    assert!(failure.to_string().contains("may have started"), "{failure}");
    let accepted: fn() -> Reply = || Reply::new(202, &[], "");
    assert_eq!(add(&service(["READY", "READY"], accepted).await.url(), &path).await, Ok(()));
}

#[tokio::test]
async fn a_busy_dataset_is_reported_before_sending() {
    let (_folder, path) = picture(10_000);
    let server = service(["INDEXING", "INDEXING"], Reply::disconnect).await;
    let failure = add(&server.url(), &path).await.unwrap_err();
    assert_eq!((uploads(&server), failure.kind), (0, FailureKind::Conflict));
    assert!(failure.to_string().contains("wait until it is indexed"), "{failure}");
}

/// Closes the connection in the middle of an upload, and reports the dataset in `state`.
async fn impolite(state: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut state_now = "READY";
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 4_096];
            let read = stream.read(&mut head).await.unwrap();
            if head[..read].starts_with(b"POST") {
                state_now = state;
                continue;
            }
            let body = record(state_now);
            let reply = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            // A disconnected client needs no response.
            let _ = stream.write_all(reply.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn an_interrupted_upload_is_reported_with_its_cause() {
    let (_folder, path) = picture(50 << 20);
    let failure = add(&impolite("READ ONLY").await, &path).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Conflict);
    assert!(failure.to_string().contains("READ ONLY now"), "{failure}");
    let failure = add(&impolite("READY").await, &path).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoResponse);
    assert!(failure.to_string().contains("nothing was added"), "{failure}");
}

/// Responds as soon as an upload starts, and continues reading it, as proxies do.
async fn hasty() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let uploads = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&uploads);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 4_096];
            let read = stream.read(&mut head).await.unwrap();
            let (status, body) = if head[..read].starts_with(b"POST") {
                count.fetch_add(1, Ordering::Relaxed);
                (413, "{}".to_owned())
            } else {
                (200, record("READY"))
            };
            let reply = format!(
                "HTTP/1.1 {status} Hasty\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(reply.as_bytes()).await.unwrap();
            // The client disconnects after reading the response.
            while stream.read(&mut head).await.is_ok_and(|read| read > 0) {}
        }
    });
    (url, uploads)
}

#[tokio::test]
async fn a_response_during_an_upload_is_reported() {
    let (_folder, path) = picture(4 << 20);
    let (url, uploads) = hasty().await;
    let client = hosted(&url, without_pauses());
    let addition = MediaAddition::new(MediaSource::Files(vec![path]));
    let mut right = 0;
    for _ in 0..200 {
        let failure = client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap_err();
        right += usize::from(failure.status == Some(413));
    }
    assert!(right >= 198, "{right} of 200");
    assert_eq!(uploads.load(Ordering::Relaxed), 200, "one each");
}

#[tokio::test]
async fn lost_responses_are_never_retried() {
    let (_folder, path) = picture(0);
    let server = service(["READY", "READY"], Reply::disconnect).await;
    let client = on_premises(&server.url(), without_pauses());
    let addition = MediaAddition::new(MediaSource::Files(vec![path]));
    for _ in 0..1_000 {
        let failure = client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NoResponse);
    }
    assert_eq!(uploads(&server), 1_000);
}

#[tokio::test]
async fn a_dataset_that_changes_late_shows_that_the_upload_was_accepted() {
    let (_folder, path) = picture(0);
    let server = service(["READY", "READY", "READY", "READ ONLY"], Reply::disconnect).await;
    add(&server.url(), &path).await.unwrap();
    assert_eq!((uploads(&server), server.count()), (1, 5));
}

#[tokio::test]
async fn file_names_are_escaped_as_in_browsers() {
    let (folder, path) = picture(0);
    let odd = folder.path().join("a\"b\r\nX: y\u{202e}.png");
    std::fs::rename(&path, &odd).unwrap();
    let server = service(["READY", "READY"], || Reply::new(202, &[], "")).await;
    add(&server.url(), &odd).await.unwrap();
    let requests = server.requests();
    let upload = requests.iter().find(|seen| seen.method == "POST").unwrap();
    let body = String::from_utf8_lossy(&upload.body);
    let name = "name=\"files\"; filename=\"a%22b%0D%0AX: y\u{202e}.png\"\r\n";
    assert!(body.contains(name), "{body}");
    assert!(!body.contains("\nX: y"));
    assert_eq!(upload.header("content-length"), Some(upload.body.len().to_string().as_str()));
}

/// The body of an accepted upload.
async fn uploaded(source: MediaSource) -> String {
    let server = service(["READY", "READY"], || Reply::new(202, &[], "")).await;
    let client = hosted(&server.url(), without_pauses());
    let addition = MediaAddition::new(source);
    client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap();
    let requests = server.requests();
    let upload = requests.iter().find(|request| request.method == "POST").unwrap();
    String::from_utf8_lossy(&upload.body).into_owned()
}

#[tokio::test]
async fn equal_file_names_become_unique() {
    let ((_first, one), (_second, other)) = (picture(0), picture(0));
    let body = uploaded(MediaSource::Files(vec![one, other])).await;
    assert!(body.contains("filename=\"a.png\"") && body.contains("filename=\"a-2.png\""), "{body}");
}

#[tokio::test]
async fn the_generated_name_of_an_archive_keeps_its_type() {
    let path = tempfile::Builder::new().suffix(".TGZ").tempfile().unwrap().into_temp_path();
    let mut header = tar::Header::new_gnu();
    header.set_size(0);
    header.set_cksum();
    let gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gz);
    archive.append_data(&mut header, "a.png", std::io::empty()).unwrap();
    std::fs::write(&path, archive.into_inner().unwrap().finish().unwrap()).unwrap();
    let body = uploaded(MediaSource::Archive(path.to_path_buf())).await;
    assert!(body.contains("filename=\"media.tgz\""), "{body}");
}

/// Changes a file while it is being sent; the function sets its size.
type Change = fn(&Path, &dyn Fn(&Path, u64));

#[tokio::test]
async fn a_changing_file_ends_the_upload_and_is_named() {
    let resized = |path: &Path, bytes| {
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(bytes).unwrap();
    };
    let changes: [Change; 3] = [
        |path, resized| resized(path, 20_000),
        |path, resized| resized(path, 5_000),
        |path, _| {
            let other = path.with_extension("other");
            std::fs::copy(path, &other).unwrap();
            std::fs::rename(&other, path).unwrap();
        },
    ];
    for change in changes {
        let (_folder, path) = picture(10_000);
        let changing = path.clone();
        let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
            if seen.method == "GET" {
                change(&changing, &resized);
            }
            Reply::json(record("READY"))
        })
        .await;
        let failure = add(&server.url(), &path).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Local);
        let words = failure.to_string();
        assert!(words.contains("a.png: it changed while it was sent"), "{words}");
    }
}
