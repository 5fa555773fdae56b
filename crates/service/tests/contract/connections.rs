//! Idle, silent and slow clients do not keep others out.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::multipart::{Form, Part};
use tessera_service::{AccessLog, ServerOptions};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    time::{interval, timeout},
};

use crate::support::{Place, Service, answer, picture, pictures};

const MAX_CONNECTIONS: usize = 64;
const CLIENTS: usize = 300;
const LIGHT_READS: usize = 30;
const SHORT: Duration = Duration::from_millis(200);
/// Longer than any test: what it would end does not end.
const LONG: Duration = Duration::from_hours(1);
/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);

/// The head of an upload of this many bytes, and the start of its form.
fn upload_head(service: &Service, length: usize) -> String {
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {length}\r\n\
         Content-Type: multipart/form-data; boundary=X\r\n\r\n--X\r\n\
         Content-Disposition: form-data; name=\"files\"; filename=\"a.png\"\r\n\r\n",
        service.of_dataset("/add_media"),
        service.address,
        service.token()
    )
}

fn selection_head(service: &Service, length: usize) -> String {
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {length}\r\n\
         Content-Type: application/json\r\n\r\n[",
        service.of_dataset("/export_entities_async?export_format=json"),
        service.address,
        service.token()
    )
}

/// Connects clients that then do nothing: after a request, before one, within its head, and within
/// its body.
async fn connect_crowd(service: &Service) -> Vec<TcpStream> {
    let whole = format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: {}\r\n\r\n", service.address);
    let half = whole[..whole.len() - 4].to_owned();
    let beginnings = [whole, String::new(), half, upload_head(service, 100_000)];
    let mut crowd = Vec::new();
    for beginning in beginnings.iter().cycle().take(CLIENTS) {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        crowd.push(stream);
    }
    crowd
}

#[tokio::test]
async fn hundreds_of_idle_and_slow_clients_do_not_keep_others_out() {
    let service = Service::limited(|limits| {
        (limits.max_connections, limits.stall_grace) = (MAX_CONNECTIONS, SHORT);
        (limits.head_timeout, limits.idle_timeout, limits.body_timeout) = (LONG, LONG, SHORT);
    })
    .await;
    let crowd = connect_crowd(&service).await;
    // A connection for each request.
    let client = tessera_testing::clients::raw_client().pool_max_idle_per_host(0).build().unwrap();
    let mut answered = 0;
    for _ in 0..LIGHT_READS {
        let read = client.get(service.url("/api/v1/datasets")).bearer_auth(service.token()).send();
        let response = timeout(GUARD, read).await.unwrap_or_else(|_| {
            panic!("{answered} of {LIGHT_READS} light reads were answered, then none")
        });
        answered += usize::from(response.unwrap().status() == 200);
    }
    assert_eq!(answered, LIGHT_READS);
    drop(crowd);
}

#[tokio::test]
async fn bodies_below_the_minimum_rate_are_408() {
    let service = Service::limited(|limits| limits.body_timeout = SHORT).await;
    for head in [selection_head(&service, 100_000), upload_head(&service, 100_000)] {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = stream.split();
        // A byte that arrives well within the time limit for the next one.
        let mut pace = interval(SHORT / 10);
        let mut response = [0; 12];
        let read = reader.read_exact(&mut response);
        let drip = async {
            loop {
                pace.tick().await;
                if writer.write_all(b" ").await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::select! {
            read = timeout(GUARD, read) => assert!(read.is_ok(), "still open: {head}"),
            () = drip => {}
        }
        assert_eq!(&response, b"HTTP/1.1 408");
    }
}

fn query_image(bytes: usize) -> Form {
    let image = [picture(1), vec![0; bytes]].concat();
    Form::new().part("file", Part::bytes(image).file_name("a.png"))
}

fn query_image_path(service: &Service) -> String {
    service.of_dataset("/search-image-similarity?entity_type=IMAGES")
}

/// Declares a large query image, and sends this many bytes of it.
async fn begin_query_image(service: &Service, bytes: usize) -> TcpStream {
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: 30000000\r\n\
         Content-Type: multipart/form-data; boundary=X\r\n\r\n--X\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n",
        query_image_path(service),
        service.address,
        service.token()
    );
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(&[head.into_bytes(), vec![0; bytes]].concat()).await.unwrap();
    stream
}

#[tokio::test]
async fn declared_lengths_reserve_no_memory() {
    let service =
        Service::limited(|limits| (limits.body_timeout, limits.stall_grace) = (LONG, LONG)).await;
    let mut slow = Vec::new();
    for _ in 0..6 {
        slow.push(begin_query_image(&service, 100).await);
    }
    let search = service.post(&query_image_path(&service)).multipart(query_image(2 << 20));
    let (status, body) = timeout(GUARD, answer(search)).await.unwrap();
    assert_eq!(status, 200, "{body}");
    drop(slow);
}

#[tokio::test]
async fn a_stalled_large_body_makes_room_for_another() {
    let service = Service::limited(|limits| {
        (limits.max_large_bodies, limits.body_timeout) = (1, LONG);
        (limits.stall_grace, limits.queue_timeout) = (SHORT, LONG);
    })
    .await;
    let slow = begin_query_image(&service, 2 << 20).await;
    for _ in 0..2 {
        let search = service.post(&query_image_path(&service)).multipart(query_image(2 << 20));
        let (status, body) = timeout(GUARD, answer(search)).await.unwrap();
        assert_eq!(status, 200, "{body}");
    }
    drop(slow);
}

#[tokio::test]
async fn a_stalled_upload_makes_room_for_another() {
    let service = Service::limited(|limits| {
        (limits.max_uploads, limits.body_timeout) = (1, LONG);
        (limits.stall_grace, limits.queue_timeout) = (SHORT, LONG);
    })
    .await;
    let mut slow = TcpStream::connect(service.address).await.unwrap();
    slow.write_all(upload_head(&service, 100_000).as_bytes()).await.unwrap();
    let form = Form::new().part("files", Part::bytes(picture(2)).file_name("b.png"));
    let upload = service.post(&service.of_dataset("/add_media")).multipart(form).send();
    assert_eq!(timeout(GUARD, upload).await.unwrap().unwrap().status(), 202);
}

#[tokio::test]
async fn probes_are_answered_while_no_request_can_be_served() {
    let service = Service::limited(|limits| {
        (limits.max_connections, limits.max_expensive, limits.queue_timeout) = (16, 0, LONG);
    })
    .await;
    let search = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        service.explore(
            "vql=[%7B%22uniqueness%22:%7B%22op%22:%22uniqueness%22,%22value%22:0.0%7D%7D]"
        ),
        service.address,
        service.token()
    );
    let mut waiting = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(search.as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    let client = tessera_testing::clients::raw_client().pool_max_idle_per_host(0).build().unwrap();
    for path in ["/healthz", "/readyz"].repeat(5) {
        let probe = client.get(service.url(path)).send();
        assert_eq!(timeout(GUARD, probe).await.unwrap().unwrap().status(), 200, "{path}");
    }
    drop(waiting);
}

async fn connect_from(source: [u8; 4], target: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((source, 0))).unwrap();
    socket.connect(target).await.unwrap()
}

// Only Linux has all addresses of 127.0.0.0/8.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_crowd_of_one_address_does_not_replace_clients_of_others() {
    let service = Service::limited(|limits| limits.max_connections = 16).await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", service.address);
    let mut other = TcpStream::connect(service.address).await.unwrap();
    let mut crowd = Vec::new();
    for _ in 0..20 {
        for _ in 0..10 {
            crowd.push(connect_from([127, 0, 0, 2], service.address).await);
        }
        other.write_all(request.as_bytes()).await.unwrap();
        let mut response = [0; 1024];
        let length = timeout(GUARD, other.read(&mut response)).await.unwrap().unwrap();
        assert!(response[..length].starts_with(b"HTTP/1.1 200"), "the connection was closed");
    }
}

#[tokio::test]
async fn a_client_that_reads_no_response_is_not_served_further() {
    const SENT: usize = 20_000;
    let served = Arc::<AtomicUsize>::default();
    let count = served.clone();
    let access_log = AccessLog::new(move |record| {
        let is_probe = record.route.is_some_and(|route| route == "/healthz");
        count.fetch_add(usize::from(is_probe), Ordering::Relaxed);
    });
    let service = Service::serving(Place::new(&pictures(4)), |access| ServerOptions {
        access_log: Some(access_log),
        ..ServerOptions::from(access)
    })
    .await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", service.address);
    let mut greedy = TcpStream::connect(service.address).await.unwrap();
    // The service stops reading, so only a part can be sent.
    let requests = request.repeat(SENT);
    let _ = timeout(Duration::from_secs(2), greedy.write_all(requests.as_bytes())).await;
    let mut previous = usize::MAX;
    while served.load(Ordering::Relaxed) != previous {
        previous = served.load(Ordering::Relaxed);
        for _ in 0..10 {
            service.good("/api/v1/datasets").await;
        }
    }
    assert!(previous < SENT / 4, "{previous} requests were served");
}
