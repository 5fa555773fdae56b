//! Connections: addresses that do not respond, connections that die while idle, hostile headers,
//! stalled uploads, many files, and proxies that require a login.

use std::{
    env,
    net::SocketAddr,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, setrlimit};
use tessera_client::ClientPolicy;
use tessera_model::{DatasetList, FailureKind, MediaAddition, MediaSource};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
};

use tessera_testing::clients::{dataset, on_premises, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer, head};

const PROXY_PASSWORD: &str = "a password of a proxy";

/// A listener whose queue is full: further connections get no response at all.
async fn unresponsive(socket: TcpSocket, address: SocketAddr) -> (TcpListener, Vec<TcpStream>) {
    socket.bind(address).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    let wait = Duration::from_millis(200);
    while let Ok(stream) = tokio::time::timeout(wait, TcpStream::connect(address)).await {
        queued.push(stream.unwrap());
    }
    (listener, queued)
}

#[tokio::test]
async fn an_address_that_does_not_respond_times_out() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (listener, _queued) = unresponsive(TcpSocket::new_v4().unwrap(), any).await;
    let url = format!("http://{}", listener.local_addr().unwrap());
    let policy = ClientPolicy { connect_timeout: Duration::from_millis(50), ..without_pauses() };
    let failure = on_premises(&url, policy).list_datasets().await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreachable);
    assert!(failure.to_string().contains("connecting took too long"), "{failure}");
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
async fn the_next_address_of_a_name_is_tried() {
    let server = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("[]")).await;
    let port = server.address.port();
    let first = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port));
    if std::net::TcpListener::bind(first).is_err() {
        println!("skipped: this machine has no IPv6, or another program uses the port");
        return;
    }
    let _unresponsive = unresponsive(TcpSocket::new_v6().unwrap(), first).await;
    let client = on_premises(&format!("http://localhost:{port}"), without_pauses());
    assert_eq!(client.list_datasets().await, Ok(DatasetList::default()));
    assert_eq!(server.count(), 1);
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// Closes every other connection after its first response, and all others when a POST follows other
/// requests. Returns the URL, and the number of received POSTs.
async fn dying() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let posts = Arc::<AtomicUsize>::default();
    let received = Arc::clone(&posts);
    tokio::spawn(async move {
        for number in 0.. {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let received = Arc::clone(&received);
            tokio::spawn(async move {
                for request in 0.. {
                    let Some(head) = read_head(&mut stream).await else { return };
                    let is_post = head.starts_with("POST");
                    received.fetch_add(usize::from(is_post), Ordering::SeqCst);
                    if is_post && request > 0 {
                        return;
                    }
                    let status = if is_post { "202 Accepted" } else { "200 OK" };
                    let reply = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n[]");
                    stream.write_all(reply.as_bytes()).await.unwrap();
                    if number % 2 == 0 {
                        return;
                    }
                }
            });
        }
    });
    (url, posts)
}

#[tokio::test]
async fn a_change_on_a_dead_connection_is_sent_at_most_once() {
    let (url, posts) = dying().await;
    let client = on_premises(&url, without_pauses());
    let rounds = env::var("TESSERA_FAULT_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let (mut done, mut unknown) = (0, 0);
    for _ in 0..rounds.unwrap_or(100) {
        // Leaves an idle connection, which is dead or dies with the next request.
        client.list_datasets().await.unwrap();
        let before = posts.load(Ordering::SeqCst);
        let result = client.reindex(dataset()).await;
        let received = posts.load(Ordering::SeqCst) - before;
        match result {
            Ok(_) => {
                assert_eq!(received, 1);
                done += 1;
            }
            Err(failure) => {
                assert_eq!(failure.kind, FailureKind::NoResponse, "{failure}");
                assert!(received <= 1, "sent {received} times");
                unknown += 1;
            }
        }
    }
    assert!(done > 0 && unknown > 0, "{done} done, {unknown} unknown");
}

#[tokio::test]
async fn cookies_are_not_kept_and_huge_headers_are_refused() {
    let server = ScriptedServer::start(|_: &ReceivedRequest| {
        Reply::new(200, &[("set-cookie", "SESSION=theirs; Path=/")], "[]")
    })
    .await;
    let client = on_premises(&server.url(), without_pauses());
    for _ in 0..2 {
        client.list_datasets().await.unwrap();
    }
    assert!(server.requests().iter().all(|request| request.header("cookie").is_none()));

    let many: Vec<(String, String)> =
        (0..10_000).map(|number| (format!("x-{number}"), "y".to_owned())).collect();
    let long = vec![("x".to_owned(), "y".repeat(8 << 20))];
    for headers in [many, long] {
        let server = ScriptedServer::start(move |_: &ReceivedRequest| {
            let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            Reply::raw([head(200, &headers), b"[]".to_vec()].concat())
        })
        .await;
        let client = on_premises(&server.url(), without_pauses());
        let failure = client.list_datasets().await.unwrap_err();
        assert_eq!((failure.kind, server.count()), (FailureKind::NoResponse, 3), "{failure}");
    }
}

/// Media of `count` small pictures in a folder.
fn pictures(count: usize) -> (tempfile::TempDir, MediaAddition) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..count).map(|n| folder.path().join(format!("{n}.png"))).collect();
    image::RgbImage::new(4, 4).save(&paths[0]).unwrap();
    for path in &paths[1..] {
        std::fs::copy(&paths[0], path).unwrap();
    }
    (folder, MediaAddition::new(MediaSource::Files(paths)))
}

fn record() -> String {
    format!(r#"{{"id":"{}","status_new":"READY","n_images":3}}"#, dataset())
}

#[tokio::test]
async fn a_stalled_upload_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut stalled = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(request) = read_head(&mut stream).await else { continue };
            if request.starts_with("POST") {
                // Reads no more.
                stalled.push(stream);
                continue;
            }
            let body = record();
            let reply = [head(200, &[("content-length", &body.len().to_string())]), body.into()];
            stream.write_all(&reply.concat()).await.unwrap();
        }
    });
    let (folder, addition) = pictures(1);
    let file = std::fs::OpenOptions::new().write(true).open(folder.path().join("0.png")).unwrap();
    // More than the buffers of a connection hold.
    file.set_len(64 << 20).unwrap();
    let policy =
        ClientPolicy { upload_idle_timeout: Duration::from_millis(200), ..without_pauses() };
    let client = on_premises(&url, policy);
    let failure = client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoResponse);
    assert!(failure.to_string().contains("the upload was interrupted after"), "{failure}");
}

#[tokio::test]
async fn an_upload_that_goes_on_may_take_longer_than_a_response() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(request) = read_head(&mut stream).await else { continue };
            let accepted = request.starts_with("POST");
            if accepted {
                read_slowly(&mut stream, &request).await;
            }
            let (status, body) = if accepted { (202, String::new()) } else { (200, record()) };
            let head = head(status, &[("content-length", &body.len().to_string())]);
            stream.write_all(&[head, body.into()].concat()).await.unwrap();
        }
    });
    let (folder, addition) = pictures(1);
    let file = std::fs::OpenOptions::new().write(true).open(folder.path().join("0.png")).unwrap();
    file.set_len(16 << 20).unwrap();
    let total_timeout = Duration::from_secs(1);
    let client = on_premises(&url, ClientPolicy { total_timeout, ..without_pauses() });
    let start = Instant::now();
    client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap();
    assert!(start.elapsed() > total_timeout, "the service reads for 1.28 s at least");
}

/// Reads the rest of a request in 128 parts, with pauses.
async fn read_slowly(stream: &mut TcpStream, head: &str) {
    let header = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = header.unwrap().trim().parse().unwrap();
    for number in 0..128 {
        let mut part = vec![0; length * (number + 1) / 128 - length * number / 128];
        stream.read_exact(&mut part).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Run by the next test in its own process.
#[tokio::test]
#[ignore = "an_upload_opens_few_files_at_a_time runs it"]
async fn inner_upload() {
    let (_folder, addition) = pictures(2_000);
    let server = ScriptedServer::start(|request: &ReceivedRequest| match request.method.as_str() {
        "POST" => Reply::new(202, &[], ""),
        _ => Reply::json(record()),
    })
    .await;
    let client = on_premises(&server.url(), without_pauses());
    let open = std::fs::read_dir("/proc/self/fd").map_or(16, Iterator::count) as u64;
    // 16 files besides what is open, and the connections.
    let limit = Some(open + 16 + 8);
    setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit }).unwrap();
    client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap();
    let requests = server.requests();
    let upload = requests.iter().find(|request| request.method == "POST").unwrap();
    let body = String::from_utf8_lossy(&upload.body);
    assert_eq!(body.matches("filename=").count(), 2_000);
}

#[test]
fn an_upload_opens_few_files_at_a_time() {
    let output = inner("connections::inner_upload").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// This program again, running one test.
fn inner(test: &str) -> Command {
    let mut inner = Command::new(env::current_exe().unwrap());
    inner.args(["--exact", test, "--ignored", "--nocapture"]);
    inner
}

/// Run by the next test in its own process, with proxies in its environment.
#[tokio::test]
#[ignore = "a_proxy_that_requires_a_login_is_reported_without_the_password runs it"]
#[expect(clippy::print_stdout, reason = "the next test reads it")]
async fn inner_proxy() {
    for url in ["http://media.example", "https://media.example"] {
        let client = on_premises(url, without_pauses());
        let failure = client.list_datasets().await.unwrap_err();
        println!("FAILURE {failure} {failure:?} {client:?}");
        assert_eq!(failure.kind, FailureKind::Unreachable);
    }
}

#[tokio::test]
async fn a_proxy_that_requires_a_login_is_reported_without_the_password() {
    let proxy = ScriptedServer::start(|_: &ReceivedRequest| {
        Reply::new(407, &[("proxy-authenticate", "Basic")], "no")
    })
    .await;
    let password = PROXY_PASSWORD.replace(' ', "%20");
    let url = format!("http://user:{password}@{}", proxy.address);
    let mut inner = inner("connections::inner_proxy");
    inner.env("http_proxy", &url).env("https_proxy", &url).env_remove("no_proxy");
    let output = tokio::task::spawn_blocking(move || inner.output()).await.unwrap().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let shown = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{shown}");
    assert!(shown.matches("the proxy requires a login").count() >= 2, "{shown}");
    assert!(!shown.contains(PROXY_PASSWORD) && !shown.contains(&password), "{shown}");
    assert_eq!(proxy.count(), 2, "one attempt each");
    for request in proxy.requests() {
        assert!(request.header("proxy-authorization").is_some());
    }
}
