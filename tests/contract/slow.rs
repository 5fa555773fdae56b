//! Clients that are slow, silent or many.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::support::{Place, Service, pictures};

/// How long the server keeps a connection that was opened with these bytes.
async fn kept(service: &Service, bytes: &[u8]) -> Duration {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let begun = Instant::now();
    let mut rest = Vec::new();
    let closed = timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
    assert!(closed.is_ok(), "never closed");
    begun.elapsed()
}

#[tokio::test]
async fn e14_silent_and_slow_heads_are_closed_after_ten_seconds() {
    let service = Service::at(Place::new(&pictures(1)), false).await;
    let half = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: ", service.address);
    let (silent, slow) = tokio::join!(kept(&service, b""), kept(&service, half.as_bytes()));
    for time in [silent, slow] {
        assert!((9..15).contains(&time.as_secs()), "{time:?}");
    }
}

#[tokio::test]
async fn e14_idle_connections_do_not_keep_others_out_for_long() {
    let service = Service::at(Place::new(&pictures(1)), false).await;
    let mut idle = Vec::new();
    for _ in 0..255 {
        idle.push(TcpStream::connect(service.address).await.unwrap());
    }
    let begun = Instant::now();
    service.good("/api/v1/datasets").await;
    assert!(begun.elapsed() < Duration::from_secs(2), "the last place is free");
}
