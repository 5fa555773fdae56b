//! Tests the worker: every request gets one response, cancelled and superseded requests get none,
//! and pictures queue. The server holds its responses back behind gates, so that nothing depends on
//! timing.

use std::{
    fs, mem,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use tessera::{
    state::StateFolder,
    worker::{DiskCacheOptions, Worker, WorkerOptions, spawn},
};
use tessera_client::Client;
use tessera_interface::message::{JobId, Lane, Payload, Request, Response, Ticket, WorkerEvent};
use tessera_model::{
    ArchiveName, ExportFormat, ExportSpec, FailureKind, FolderQuery, Link, MediaId, PictureSource,
    Region, SafeText, Search, Selection, StateValue,
};
use tessera_picture::{Canvas, Crop, Protocol};
use tessera_testing::clients::{dataset, hosted, on_premises, task, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};
use tokio::sync::{
    Semaphore,
    mpsc::{self, UnboundedReceiver},
};
use uuid::Uuid;

const CANVAS: Canvas = Canvas { columns: 4, rows: 2, cell: (8, 16), protocol: Protocol::HalfBlock };

fn worker(server: &ScriptedServer) -> Worker {
    let client = hosted(&server.url(), without_pauses());
    spawn(client, StateFolder::default(), WorkerOptions::default())
}

fn ticket(lane: Lane, number: u64) -> Ticket {
    Ticket { lane, number }
}

fn picture_lane(number: u128, canvas: Canvas) -> Lane {
    Lane::Picture(MediaId(Uuid::from_u128(number)).into(), canvas)
}

fn png() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let image = image::RgbImage::from_pixel(6, 6, image::Rgb([200, 80, 40]));
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Starts a server with pictures and an empty list, each behind the gate.
async fn gated(gate: &Arc<Semaphore>) -> ScriptedServer {
    let gate = Arc::clone(gate);
    let png = png();
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        let reply = match seen.path() {
            "/broken" => Reply::new(200, &[], "no picture"),
            path if path.starts_with("/api/v1/dataset/") => {
                Reply::json(format!(r#"{{"id":"{}"}}"#, task()))
            }
            path if path.contains("explore") => Reply::json(r#"{"clusters":[]}"#),
            path if path.starts_with("/api") => Reply::json("[]"),
            _ => Reply::new(200, &[], &png),
        };
        reply.after_permit(&gate)
    })
    .await
}

fn open_gate() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(Semaphore::MAX_PERMITS))
}

/// Returns the next event, except for request records and new tokens.
async fn next(replies: &mut UnboundedReceiver<WorkerEvent>) -> Option<WorkerEvent> {
    loop {
        match replies.recv().await {
            Some(WorkerEvent::Exchange(_) | WorkerEvent::TokenIssued(_)) => {}
            reply => return reply,
        }
    }
}

/// Stops a worker, and returns what it still sends.
async fn next_after_stop(mut worker: Worker) -> Option<WorkerEvent> {
    let mut replies = mem::replace(&mut worker.events, mpsc::unbounded_channel().1);
    drop(worker);
    next(&mut replies).await
}

async fn response(replies: &mut UnboundedReceiver<WorkerEvent>) -> Response {
    loop {
        if let WorkerEvent::Response(response) = replies.recv().await.unwrap() {
            return response;
        }
    }
}

#[tokio::test]
async fn every_request_gets_a_response_with_its_ticket() {
    let server = gated(&open_gate()).await;
    let mut worker = worker(&server);
    let spec = ExportSpec {
        file_name: ArchiveName::new("x"),
        format: ExportFormat::Json,
        include_images: false,
    };
    let search = Search::browse(dataset());
    let requests = [
        (Lane::Datasets, Request::Datasets),
        (Lane::Page(search.clone()), Request::Explore(search)),
        (Lane::StartJob(JobId(1)), Request::StartExport(dataset(), spec)),
        (Lane::Export(JobId(1)), Request::ExportStatus(dataset(), task())),
        (
            picture_lane(1, CANVAS),
            Request::Picture(PictureSource::Link(Link::new("/1")), Crop::Full, CANVAS),
        ),
    ];
    for (number, (lane, request)) in (1..).zip(requests) {
        worker.send(ticket(lane.clone(), number), request);
        let response = response(&mut worker.events).await;
        assert_eq!(response.ticket, ticket(lane.clone(), number));
        assert!(response.result.is_ok(), "{:?}", response.result);
    }
}

#[tokio::test]
async fn a_newer_request_supersedes_the_older_one() {
    let gate = Arc::new(Semaphore::new(0));
    let server = gated(&gate).await;
    let mut worker = worker(&server);
    worker.send(ticket(Lane::Datasets, 1), Request::Datasets);
    server.wait_for_requests(1).await;
    worker.send(ticket(Lane::Datasets, 2), Request::Datasets);
    server.wait_for_requests(2).await;
    gate.add_permits(2);
    assert_eq!(response(&mut worker.events).await.ticket, ticket(Lane::Datasets, 2));
    assert_eq!(next_after_stop(worker).await, None);
}

#[tokio::test]
async fn cancelled_reads_are_dropped_and_writes_continue() {
    let gate = Arc::new(Semaphore::new(0));
    let server = gated(&gate).await;
    let mut worker = worker(&server);
    let start = Lane::StartJob(JobId(7));
    let spec = ExportSpec {
        file_name: ArchiveName::new("x"),
        format: ExportFormat::Json,
        include_images: false,
    };
    worker.send(ticket(Lane::Datasets, 1), Request::Datasets);
    worker.send(ticket(start.clone(), 2), Request::StartExport(dataset(), spec));
    server.wait_for_requests(2).await;
    worker.cancel(Lane::Datasets);
    worker.cancel(start.clone());
    gate.add_permits(2);
    assert_eq!(response(&mut worker.events).await.ticket, ticket(start.clone(), 2));
    assert_eq!(next_after_stop(worker).await, None);
}

#[tokio::test]
async fn pictures_queue_in_order_and_cancelled_ones_are_never_sent() {
    let gate = Arc::new(Semaphore::new(0));
    let server = gated(&gate).await;
    let mut worker = worker(&server);
    for number in 0..10_u64 {
        let lane = picture_lane(number.into(), CANVAS);
        let link = Link::new(format!("/{number}"));
        worker.send(
            ticket(lane.clone(), number),
            Request::Picture(PictureSource::Link(link), Crop::Full, CANVAS),
        );
    }
    server.wait_for_requests(6).await;
    worker.cancel(picture_lane(6, CANVAS));
    worker.cancel(picture_lane(0, CANVAS));
    // The slot of the cancelled picture goes to the next one in the queue.
    server.wait_for_requests(7).await;
    worker.send(ticket(Lane::Datasets, 99), Request::Datasets);
    server.wait_for_requests(8).await;
    let targets: Vec<String> = server.requests().into_iter().map(|seen| seen.target).collect();
    let mut first = targets[..6].to_vec();
    first.sort();
    assert_eq!(first, ["/0", "/1", "/2", "/3", "/4", "/5"]);
    assert_eq!(targets[6..], ["/7", "/api/v1/datasets"]);
    gate.add_permits(100);
    let mut answered = Vec::new();
    for _ in 0..9 {
        answered.push(response(&mut worker.events).await.ticket.number);
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4, 5, 7, 8, 9, 99]);
    assert_eq!(server.count(), 10);
    assert_eq!(next_after_stop(worker).await, None);
}

#[tokio::test]
async fn another_size_of_the_same_picture_needs_no_request() {
    let server = gated(&open_gate()).await;
    let mut worker = worker(&server);
    let large = Canvas { columns: 8, rows: 4, ..CANVAS };
    for (number, canvas) in [(1, CANVAS), (2, large), (3, CANVAS)] {
        // The link has a new signature, but refers to the same resource.
        let link = Link::new(format!("/1?signature={number}"));
        worker.send(
            ticket(picture_lane(1, canvas), number),
            Request::Picture(PictureSource::Link(link), Crop::Full, canvas),
        );
        let payload = response(&mut worker.events).await.result.unwrap();
        assert!(matches!(payload, Payload::Picture(_)), "{payload:?}");
    }
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn another_part_of_an_original_needs_no_request() {
    // The picture is larger than what the cache of undecoded pictures accepts.
    let mut bmp = std::io::Cursor::new(Vec::new());
    let image = image::RgbImage::from_pixel(1_600, 1_500, image::Rgb([200, 80, 40]));
    image.write_to(&mut bmp, image::ImageFormat::Bmp).unwrap();
    let bmp = bmp.into_inner();
    let server = ScriptedServer::start(move |_: &ReceivedRequest| Reply::new(200, &[], &bmp)).await;
    let mut worker = worker(&server);
    let part = |x: f64, side: f64| Region { x, y: 0.0, width: side, height: side };
    for (number, part) in [(1, part(0.0, 0.5)), (2, part(0.4, 0.5)), (3, part(0.4, 0.1))] {
        let link = Link::new(format!("/1?signature={number}"));
        let crop = Crop::Zoomed(part, Arc::from([]));
        let request = Request::Picture(PictureSource::Link(link), crop, CANVAS);
        worker.send(ticket(picture_lane(1, CANVAS), number), request);
        let payload = response(&mut worker.events).await.result.unwrap();
        assert!(matches!(payload, Payload::Picture(_)), "{payload:?}");
    }
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn fields_that_cannot_be_read_are_reported_once() {
    let list = format!(r#"[{{"id":"{}","status_new":"READY","n_images":[3]}}]"#, task());
    let server = ScriptedServer::start(move |_: &ReceivedRequest| Reply::json(&list)).await;
    let mut worker = worker(&server);
    let mut warnings = Vec::new();
    for number in 1..=2 {
        worker.send(ticket(Lane::Datasets, number), Request::Datasets);
        loop {
            match next(&mut worker.events).await.unwrap() {
                WorkerEvent::Warning(sentence) => warnings.push(sentence.to_string()),
                event => {
                    assert!(matches!(event, WorkerEvent::Response(_)), "{event:?}");
                    break;
                }
            }
        }
    }
    let warning = "the response of GET /api/v1/datasets has fields that cannot be read: \
                   datasets.n_images is an unexpected list";
    assert_eq!(warnings, [warning]);
}

#[tokio::test]
async fn a_later_warning_is_reported_when_it_is_known() {
    let server = gated(&open_gate()).await;
    let client = hosted(&server.url(), without_pauses());
    let warning = async { Some(SafeText::detail("cannot index 1 file")) };
    let options =
        WorkerOptions { later_warning: Some(Box::pin(warning)), ..WorkerOptions::default() };
    let mut worker = spawn(client, StateFolder::default(), options);
    let expected = WorkerEvent::Warning(SafeText::detail("cannot index 1 file"));
    assert_eq!(next(&mut worker.events).await, Some(expected));
}

/// Starts a worker that stores thumbnails in a folder.
fn with_disk_cache(client: Client, folder: &Path) -> Worker {
    let disk_cache = DiskCacheOptions { folder: folder.to_owned(), max_bytes: 512 << 20 };
    let options = WorkerOptions { disk_cache: Some(disk_cache), ..WorkerOptions::default() };
    spawn(client, StateFolder::default(), options)
}

/// Loads `/1` to `/3`, each with a new signature, in a new worker with a disk cache. Returns the number of requests and
/// the warnings.
async fn requests_after_restart(
    server: &ScriptedServer,
    client: Client,
    folder: &Path,
) -> (usize, Vec<SafeText>) {
    let before = server.count();
    let mut worker = with_disk_cache(client, folder);
    for number in 1..=3 {
        let link = Link::new(format!("/{number}?signature={before}"));
        let request = Request::Picture(PictureSource::Link(link), Crop::Full, CANVAS);
        worker.send(ticket(picture_lane(number.into(), CANVAS), number), request);
    }
    let (mut pictures, mut warnings) = (0, Vec::new());
    while let Some(event) = next(&mut worker.events).await {
        match event {
            WorkerEvent::Response(response) => {
                assert!(response.result.is_ok(), "{:?}", response.result);
                pictures += 1;
            }
            WorkerEvent::Warning(sentence) => warnings.push(sentence),
            WorkerEvent::Progress(_) | WorkerEvent::Exchange(_) | WorkerEvent::TokenIssued(_) => {}
        }
        if pictures == 3 {
            break;
        }
    }
    drop(worker);
    (server.count() - before, warnings)
}

#[tokio::test]
async fn a_second_start_shows_thumbnails_without_requests() {
    let server = gated(&open_gate()).await;
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache/thumbnails");
    let client = || hosted(&server.url(), without_pauses());
    assert_eq!(requests_after_restart(&server, client(), &cache).await, (3, vec![]));
    assert_eq!(requests_after_restart(&server, client(), &cache).await, (0, vec![]));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&cache), 0o700);
    let entries: Vec<_> =
        fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.iter().map(|path| mode(path)).collect::<Vec<_>>(), [0o600; 3]);
    let other_account = on_premises(&server.url(), without_pauses());
    assert_eq!(requests_after_restart(&server, other_account, &cache).await, (3, vec![]));
    // A picture that is damaged on disk is fetched again.
    fs::write(&entries[0], "damaged").unwrap();
    assert_eq!(requests_after_restart(&server, client(), &cache).await, (1, vec![]));
    assert_eq!(requests_after_restart(&server, client(), &cache).await, (0, vec![]));
}

#[tokio::test]
async fn a_picture_that_was_fetched_for_a_comparison_is_stored_once_it_is_shown() {
    let server = gated(&open_gate()).await;
    let folder = tempfile::tempdir().unwrap();
    let client = || hosted(&server.url(), without_pauses());
    let mut worker = with_disk_cache(client(), folder.path());
    let [one, other] = ["/1", "/2"].map(|path| PictureSource::Link(Link::new(path)));
    let compare = Request::Difference([one.clone(), other], Crop::Full, CANVAS);
    for (number, request) in [(1, compare), (2, Request::Picture(one, Crop::Full, CANVAS))] {
        worker.send(ticket(picture_lane(number.into(), CANVAS), number), request);
        assert!(response(&mut worker.events).await.result.is_ok());
    }
    assert_eq!(server.count(), 2, "the shown picture was fetched for the comparison");
    drop(worker);
    assert_eq!(requests_after_restart(&server, client(), folder.path()).await, (2, vec![]));
}

#[tokio::test]
async fn without_a_usable_cache_folder_everything_works_after_one_warning() {
    let server = gated(&open_gate()).await;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    for path in [file.clone(), link, file.join("below")] {
        let client = hosted(&server.url(), without_pauses());
        let (requests, warnings) = requests_after_restart(&server, client, &path).await;
        assert_eq!((requests, warnings.len()), (3, 1), "{warnings:?}");
        let expected = format!("thumbnails cannot be stored in {}: ", path.display());
        assert!(warnings[0].as_str().starts_with(&expected), "{warnings:?}");
    }
}

#[tokio::test]
async fn a_broken_picture_fails_alone() {
    let server = gated(&open_gate()).await;
    let mut worker = worker(&server);
    let lane = picture_lane(1, CANVAS);
    worker.send(
        ticket(lane.clone(), 1),
        Request::Picture(PictureSource::Link(Link::new("/broken")), Crop::Full, CANVAS),
    );
    let failure = response(&mut worker.events).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unexpected);
    worker.send(
        ticket(lane.clone(), 2),
        Request::Picture(PictureSource::Link(Link::new("/2")), Crop::Full, CANVAS),
    );
    assert!(response(&mut worker.events).await.result.is_ok());
}

#[tokio::test]
async fn a_download_reports_progress_and_then_its_result() {
    let server = ScriptedServer::start(|seen: &ReceivedRequest| {
        if seen.path().ends_with("export_status") {
            Reply::json(r#"{"status":"COMPLETED","download_uri":"/x.zip"}"#)
        } else {
            // The shortest valid archive is an empty one.
            let empty = [&b"PK\x05\x06"[..], &[0; 18]].concat();
            Reply::new(200, &[], empty)
        }
    })
    .await;
    let mut worker = worker(&server);
    let folder = tempfile::tempdir().unwrap();
    let download = ticket(Lane::Download(JobId(1)), 1);
    let request =
        Request::Download { dataset: dataset(), task: task(), target: folder.path().join("x.zip") };
    worker.send(download.clone(), request);
    let Some(WorkerEvent::Progress(progress)) = next(&mut worker.events).await else {
        panic!("no progress")
    };
    assert_eq!((progress.ticket, progress.done, progress.total), (download, 22, Some(22)));
    let payload = response(&mut worker.events).await.result.unwrap();
    let Payload::Downloaded(archive) = payload else { panic!("{payload:?}") };
    assert_eq!((archive.bytes, archive.entries), (22, 0));
}

#[tokio::test]
async fn names_in_a_folder_are_sorted_and_printable() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.png", "A.jpg", "c\u{1b}[2J"] {
        fs::write(folder.path().join(name), "123").unwrap();
    }
    fs::create_dir(folder.path().join("Z")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("gone")).unwrap();
    let server = gated(&open_gate()).await;
    let mut worker = worker(&server);
    let mut number = 0;
    let mut list = async |folder: PathBuf, prefix: &str| {
        number += 1;
        let query = FolderQuery { folder, prefix: prefix.to_owned() };
        worker.send(ticket(Lane::Folder(query.clone()), number), Request::Folder(query));
        response(&mut worker.events).await.result
    };
    let Ok(Payload::Folder(listing)) = list(folder.path().to_owned(), "").await else {
        panic!("the folder is listed");
    };
    let names: Vec<_> = listing.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["A.jpg", "b.png", "c␛[2J", "Z"]);
    assert_eq!((listing.entries[0].bytes, listing.entries[3].is_folder), (3, true));
    let Ok(Payload::Folder(listing)) = list(folder.path().to_owned(), "a").await else {
        panic!("the folder is listed");
    };
    assert_eq!((listing.entries.len(), listing.entries[0].name.as_str()), (1, "A.jpg"));
    let failure = list(folder.path().join("b.png"), "").await.unwrap_err();
    let text = failure.to_string();
    assert!(text.contains("cannot list") && text.contains("b.png"), "{text}");
}

#[tokio::test]
async fn a_save_that_waits_is_dropped_for_a_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let state = || StateFolder::in_dir(folder.path().to_owned());
    let client = hosted("http://127.0.0.1:9", without_pauses());
    let mut worker = spawn(client, state(), WorkerOptions::default());
    let basket = StateValue::Basket(dataset(), Selection::default());
    let file = folder.path().join(format!("basket-{}.json", dataset()));
    let held = tessera_files::lock_changes(&file).unwrap();
    for number in 1..=3 {
        let lane = Lane::SaveState(basket.key());
        worker.send(ticket(lane, number), Request::SaveState(basket.clone()));
    }
    let root = FolderQuery { folder: "/".into(), prefix: String::new() };
    worker.send(ticket(Lane::Folder(root.clone()), 4), Request::Folder(root));
    let mut held = Some(held);
    let mut dropped = 0;
    for _ in 1..=4 {
        let Response { ticket, result } = response(&mut worker.events).await;
        match ticket.number {
            // One of the first two saves may wait for the lock before the third one is known.
            1 | 2 => dropped += usize::from(result == Ok(Payload::Done)),
            3 => assert!(result.is_err()),
            _ => {
                // A save that has the lock now fails.
                fs::write(&file, "{").unwrap();
                held.take();
            }
        }
    }
    assert!(dropped >= 1, "every save that waited was carried out");
}
