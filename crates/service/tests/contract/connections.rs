//! Idle, silent and slow clients do not keep others out.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{interval, timeout},
};

use crate::support::Service;

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
        (limits.max_connections, limits.head_grace) = (MAX_CONNECTIONS, SHORT);
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
