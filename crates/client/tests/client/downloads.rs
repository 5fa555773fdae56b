//! Downloads: interrupted, resumed, changed and expired ones, and what each leaves on disk: a verified archive, or
//! nothing with its name.

use std::{
    fs,
    io::Write as _,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use zip::{ZipWriter, write::SimpleFileOptions};

use crate::download_service::{
    DownloadFolder, archive, equal, fetches, full, part, serve, service, start_of, torn,
};
use tessera_client::{ClientPolicy, ExistingFile};
use tessera_model::FailureKind;
use tessera_testing::{
    clients::{dataset, hosted, task, without_pauses},
    scripted::{ReceivedRequest, Reply, ScriptedServer, head},
};

/// The response to the request for the second half.
type Second = fn(&[u8], usize) -> Reply;

#[tokio::test]
async fn a_download_that_crawls_ends() {
    let server = service(|_, _| {
        let head = head(200, &[("content-length", "1000000")]);
        Reply::repeat(head, b"x".to_vec(), Duration::from_millis(5))
    })
    .await;
    let folder = DownloadFolder::new();
    let idle_timeout = Duration::from_millis(300);
    let policy = ClientPolicy { idle_timeout, retries: Some(0), ..without_pauses() };
    let client = hosted(&server.url(), policy);
    let target = folder.target();
    let mut report = |_, _| {};
    let download = client.download(dataset(), task(), &target, ExistingFile::Keep, &mut report);
    let failure = download.await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoResponse);
    assert!(failure.to_string().contains("the response stalled"), "{failure}");
    assert_eq!(folder.names(), ["x.zip.cf8b3e78.part"], "what came is kept");
}

#[tokio::test]
async fn an_interrupted_download_resumes_at_the_same_byte() {
    let bytes = archive();
    for cut in (1..bytes.len()).step_by(bytes.len() / 40) {
        let stored = bytes.clone();
        let server = service(move |seen, request| match request {
            0 => torn(&stored, cut, "\"v1\""),
            _ => serve(seen, &stored, "\"v1\""),
        })
        .await;
        let downloads = DownloadFolder::new();
        downloads.download(&server).await.unwrap();
        assert!(equal(&downloads.target(), &bytes), "{cut}");
        let fetches = fetches(&server);
        assert_eq!((fetches.len(), start_of(&fetches[1])), (2, Some(cut)));
        assert_eq!(fetches[1].header("if-range"), Some("\"v1\""));
    }
}

#[tokio::test]
async fn a_mismatching_part_restarts_the_download() {
    let bytes = archive();
    let half = bytes.len() / 2;
    let seconds: [(&str, Second); 6] = [
        ("range ignored", |bytes, _| full(bytes, "\"v1\"")),
        ("wrong start", |bytes, half| part(bytes, half - 1, "\"v1\"")),
        ("other version", |bytes, half| part(bytes, half, "\"v2\"")),
        ("wrong total", |bytes, half| {
            Reply::new(206, &[("content-range", "bytes 9-10/11")], &bytes[half..])
        }),
        ("no range named", |bytes, half| Reply::new(206, &[], &bytes[half..])),
        ("other 416", |_, _| Reply::new(416, &[("content-range", "bytes */7")], "")),
    ];
    for (name, second) in seconds {
        let stored = bytes.clone();
        let server = service(move |seen, request| match request {
            0 => torn(&stored, half, "\"v1\""),
            1 => second(&stored, half),
            _ => serve(seen, &stored, "\"v1\""),
        })
        .await;
        let downloads = DownloadFolder::new();
        downloads.download(&server).await.unwrap();
        assert!(equal(&downloads.target(), &bytes), "{name}");
        assert!(fetches(&server).len() <= 3, "{name}");
    }
}

#[tokio::test]
async fn the_part_of_an_earlier_run_is_resumed() {
    let bytes = archive();
    let half = bytes.len() / 2;
    for (left, expected) in [
        (bytes[..half].to_vec(), vec![Some(half)]),
        (bytes.clone(), vec![Some(bytes.len())]),
        // Not of this archive: only the checksums reveal it.
        (vec![7; half], vec![Some(half), None]),
    ] {
        let stored = bytes.clone();
        let server = service(move |seen, _| serve(seen, &stored, "\"v1\"")).await;
        let downloads = DownloadFolder::new();
        fs::write(downloads.part(), left).unwrap();
        downloads.download(&server).await.unwrap();
        assert!(equal(&downloads.target(), &bytes));
        let starts: Vec<_> = fetches(&server).iter().map(start_of).collect();
        assert_eq!(starts, expected);
    }
}

#[tokio::test]
async fn an_expired_link_is_renewed() {
    let bytes = archive();
    for status in [400, 401, 403, 404, 410] {
        let stored = bytes.clone();
        let server = service(move |seen, request| match request {
            0 => torn(&stored, 1_000, "\"v1\""),
            1 => Reply::new(status, &[], "<Error><Code>AccessDenied</Code></Error>"),
            _ => serve(seen, &stored, "\"v1\""),
        })
        .await;
        let downloads = DownloadFolder::new();
        downloads.download(&server).await.unwrap();
        assert!(equal(&downloads.target(), &bytes));
        let targets: Vec<_> = fetches(&server).into_iter().map(|seen| seen.target).collect();
        let link = |number| format!("/cdn/x.zip?signature={number}");
        assert_eq!(targets, [link(0), link(0), link(1)]);
    }
}

#[tokio::test]
async fn links_are_renewed_three_times_without_progress() {
    let server = service(|_, _| Reply::new(403, &[], "expired")).await;
    let downloads = DownloadFolder::new();
    let failure = downloads.download(&server).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Forbidden);
    assert!(!failure.to_string().contains("signature"), "{failure}");
    assert_eq!(fetches(&server).len(), 4);
    assert!(!downloads.target().exists());
}

#[tokio::test]
async fn a_link_that_is_refused_leaves_no_file() {
    for (link, target) in [
        ("file:///etc/passwd", ""),
        ("/cdn/x.zip", "file:///etc/passwd"),
        ("/cdn/x.zip", "/cdn/x.zip"),
    ] {
        let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
            if seen.path().ends_with("export_status") {
                return Reply::json(format!(r#"{{"status":"COMPLETED","download_uri":"{link}"}}"#));
            }
            Reply::new(302, &[("location", target)], "")
        })
        .await;
        let downloads = DownloadFolder::new();
        let failure = downloads.download(&server).await.unwrap_err().to_string();
        assert!(failure.contains("link") && !failure.contains("base URL"), "{failure}");
        assert!(downloads.names().is_empty(), "{:?}", downloads.names());
    }
}

#[tokio::test]
async fn exports_without_an_archive_fail() {
    for (body, kind) in [
        (r#"{"status":"FAILED","result_message":"out of memory"}"#, FailureKind::NotFound),
        (r#"{"status":"IN_PROGRESS"}"#, FailureKind::Conflict),
        (r#"{"status":"COMPLETED"}"#, FailureKind::Unexpected),
    ] {
        let server = ScriptedServer::start(move |_: &ReceivedRequest| Reply::json(body)).await;
        let failure = DownloadFolder::new().download(&server).await.unwrap_err();
        assert_eq!((failure.kind, server.count()), (kind, 1), "{failure}");
    }
}

#[tokio::test]
async fn a_late_link_is_awaited() {
    let polls = AtomicUsize::new(0);
    let bytes = archive();
    let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
        if !seen.path().ends_with("export_status") {
            return full(&bytes, "\"v1\"");
        }
        match polls.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Reply::json(r#"{"status":"COMPLETED"}"#),
            _ => Reply::json(r#"{"status":"COMPLETED","download_uri":"/cdn/x.zip"}"#),
        }
    })
    .await;
    let downloads = DownloadFolder::new();
    let policy = ClientPolicy { link_timeout: Duration::from_mins(1), ..without_pauses() };
    let client = hosted(&server.url(), policy);
    let target = downloads.target();
    client.download(dataset(), task(), &target, ExistingFile::Keep, &mut |_, _| {}).await.unwrap();
    assert_eq!(server.count(), 4);
}

#[tokio::test]
async fn an_archive_is_fetched_verified_and_renamed() {
    let bytes = archive();
    let stored = bytes.clone();
    let server = service(move |seen, _| serve(seen, &stored, "\"v1\"")).await;
    let downloads = DownloadFolder::new();
    let archive = downloads.download(&server).await.unwrap();
    assert_eq!((archive.entries, archive.images), (4, 3));
    assert!(equal(&downloads.target(), &bytes));
    assert_eq!(downloads.names(), ["x.zip"]);
    let fetch = &fetches(&server)[0];
    assert_eq!(fetch.header("authorization"), None);
    assert_eq!(fetch.header("accept-encoding"), Some("identity"));
    assert_eq!(fetch.header("range"), None);
}

#[tokio::test]
async fn a_damaged_archive_never_gets_the_final_name() {
    let bytes = archive();
    let torn = bytes[..bytes.len() - 30].to_vec();
    let cut = ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.path().ends_with("export_status") {
            return Reply::json(r#"{"status":"COMPLETED","download_uri":"/cdn/x.zip"}"#);
        }
        // Without a length, the end of the connection is the end of the file.
        Reply::raw([&head(200, &[]), torn.as_slice()].concat())
    })
    .await;
    let downloads = DownloadFolder::new();
    let failure = downloads.download(&cut).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unexpected);
    assert!(downloads.names().is_empty());

    for at in (0..bytes.len()).step_by(53) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let server = service(move |seen, _| serve(seen, &damaged, "\"v1\"")).await;
        let downloads = DownloadFolder::new();
        match downloads.download(&server).await {
            // A flip in a field that no checksum covers, such as a timestamp.
            Ok(archive) => assert_eq!(archive.entries, 4, "{at}"),
            Err(failure) => {
                assert!(failure.to_string().contains("damaged"), "{failure}");
                assert!(downloads.names().is_empty(), "{at}");
            }
        }
    }
}

#[tokio::test]
async fn a_text_instead_of_an_archive_is_shown() {
    let (error, empty) = ("returned an error", "returned an empty response");
    for (status, body, found, shown) in [
        (200, r#"{"detail": "Link\u001b expired"}"#, error, "Link␛ expired"),
        (
            200,
            "<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
            error,
            "AccessDenied",
        ),
        (200, "upstream timed out", error, "upstream timed out"),
        (200, "\n<!DOCTYPE html><p>Sign in", "returned a web page", "Sign in"),
        (200, "", empty, ""),
        (204, "", empty, ""),
    ] {
        let server = service(move |_, _| Reply::new(status, &[], body)).await;
        let downloads = DownloadFolder::new();
        let failure = downloads.download(&server).await.unwrap_err();
        assert_eq!(failure.kind == FailureKind::Rejected, found == error, "{failure}");
        let text = failure.to_string();
        assert!(text.contains(found) && text.contains(shown), "{text}");
        assert!(downloads.names().is_empty(), "{text}");
    }
}

#[tokio::test]
async fn archive_bombs_are_rejected() {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let name = "images/\u{1b}[2J.jpg";
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    zip.write_all(&vec![0; 80 << 20]).unwrap();
    let bomb = zip.finish().unwrap().into_inner();
    let server = service(move |seen, _| serve(seen, &bomb, "\"v1\"")).await;
    let downloads = DownloadFolder::new();
    let failure = downloads.download(&server).await.unwrap_err().to_string();
    assert!(failure.contains("compression limit") && !failure.contains('\u{1b}'), "{failure}");
    assert!(downloads.names().is_empty());
}

#[tokio::test]
async fn existing_files_and_other_downloads_are_left_alone() {
    let server = service(|_, _| Reply::disconnect()).await;
    let downloads = DownloadFolder::new();
    fs::write(downloads.target(), "mine").unwrap();
    let failure = downloads.download(&server).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Local);
    assert!(failure.to_string().contains("already exists"), "{failure}");
    assert!(equal(&downloads.target(), b"mine"));

    let downloads = DownloadFolder::new();
    let other = fs::File::create(downloads.part()).unwrap();
    other.lock().unwrap();
    let failure = downloads.download(&server).await.unwrap_err();
    assert!(failure.to_string().contains("another program"), "{failure}");

    let downloads = DownloadFolder::new();
    std::os::unix::fs::symlink("/dev/null", downloads.part()).unwrap();
    let failure = downloads.download(&server).await.unwrap_err();
    assert!(failure.to_string().contains("not a regular file"), "{failure}");

    let missing = DownloadFolder::new();
    fs::remove_dir(missing.folder.path()).unwrap();
    let failure = missing.download(&server).await.unwrap_err();
    assert!(failure.to_string().contains("Create the folder first"), "{failure}");
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_file_created_meanwhile_is_not_replaced() {
    let downloads = DownloadFolder::new();
    let (target, bytes) = (downloads.target(), archive());
    let server = service(move |seen, _| {
        fs::write(&target, "mine").unwrap();
        serve(seen, &bytes, "\"v1\"")
    })
    .await;
    let failure = downloads.download(&server).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Local);
    assert!(equal(&downloads.target(), b"mine"));
    assert!(downloads.part().exists());
}

#[tokio::test]
async fn missing_disk_space_is_reported_before_the_transfer() {
    let huge = (1_u64 << 60).to_string();
    let endless =
        move |_: &ReceivedRequest, _| Reply::hold(head(200, &[("content-length", &huge)]));
    let server = service(endless).await;
    let failure = DownloadFolder::new().download(&server).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Local);
    let words = failure.to_string();
    assert!(words.contains("MiB are needed") && words.contains("Free some space"), "{words}");
}
