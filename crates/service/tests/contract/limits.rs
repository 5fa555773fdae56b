//! Slow, silent and numerous clients, and expensive queries.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use image::{ImageFormat, Rgb, RgbImage};
use reqwest::multipart::{Form, Part};
use serde_json::json;
use tessera_service::ServerLimits;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};

use crate::support::{Service, answer, encoded, picture};

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_mins(1);

fn question(service: &Service) -> String {
    let vql = r#"[{"uniqueness":{"op":"uniqueness","value":0.0}}]"#;
    service.explore(&format!("vql={vql}"))
}

/// How long the server keeps a connection after these bytes, and its response.
async fn kept(service: &Service, bytes: &[u8]) -> (Duration, String) {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let begun = Instant::now();
    let mut said = Vec::new();
    let closed = timeout(Duration::from_secs(10), stream.read_to_end(&mut said)).await;
    assert!(closed.is_ok(), "never closed");
    (begun.elapsed(), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test]
async fn silent_and_slow_heads_are_closed() {
    let service = Service::limited(|limits| limits.head_timeout = SHORT).await;
    let half = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: ", service.address);
    for bytes in ["", &half] {
        let (time, said) = kept(&service, bytes.as_bytes()).await;
        assert!(time >= SHORT * 3 / 4 && said.is_empty(), "{time:?} {said}");
    }
}

#[tokio::test]
async fn idle_time_between_requests_exceeds_the_header_timeout() {
    let idle = SHORT * 3;
    let service =
        Service::limited(|limits| (limits.head_timeout, limits.idle_timeout) = (SHORT, idle)).await;
    let whole = format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: {}\r\n\r\n", service.address);
    let (time, said) = kept(&service, whole.as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(time >= idle * 3 / 4, "{time:?}");
}

#[tokio::test]
async fn clients_that_do_not_read_are_disconnected() {
    let service =
        Service::limited(|limits| (limits.write_timeout, limits.max_connections) = (SHORT, 1))
            .await;
    let request = format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: {}\r\n\r\n", service.address);
    let mut greedy = TcpStream::connect(service.address).await.unwrap();
    // Far more than the socket buffers.
    greedy.write_all(request.repeat(2_000).as_bytes()).await.unwrap();
    service.good("/api/v1/datasets").await;
}

#[tokio::test]
async fn stalled_bodies_are_408() {
    let service = Service::limited(|limits| limits.body_timeout = SHORT).await;
    let path = service.of_dataset("/export_entities_async?export_format=json");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 99\r\nConnection: close\r\n\r\n{{",
        service.address,
        service.token()
    );
    let said = service.raw(head.as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
    assert!(said.ends_with(r#"{"detail":"The request body did not arrive in time"}"#), "{said}");
}

#[tokio::test]
async fn a_selection_over_its_limit_is_413() {
    let service = Service::limited(|_| {}).await;
    let path = service.of_dataset("/export_entities_async?export_format=json");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 33554433\r\n\r\n",
        service.address,
        service.token()
    );
    let said = service.raw(head.as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 413") && said.contains("32 MiB"), "{said}");
    // The client must not send another request to a connection that is closed, because the body was not read.
    assert!(said.to_lowercase().contains("\r\nconnection: close\r\n"), "{said}");
}

#[tokio::test]
async fn searches_without_a_slot_are_503_and_light_reads_continue() {
    let service =
        Service::limited(|limits| (limits.max_expensive, limits.queue_timeout) = (0, SHORT)).await;
    let response = service.get(&question(&service)).send().await.unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()["retry-after"], "5");
    let words = "Too many searches are running; try again in a moment";
    let body: serde_json::Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(body, json!({ "detail": words }));
    let item = json!({"type": "media", "payload": {"media_ids": [service.dataset]}});
    let path = service.of_dataset("/export_entities_async?export_format=json");
    let selection = service.post(&path).json(&json!({"media_selection": [item]}));
    assert_eq!(answer(selection).await.0, 503);
    for light in [service.explore(""), service.of_dataset("")] {
        service.good(&light).await;
    }
    let whole = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    service.good(&whole).await;
}

#[tokio::test]
async fn bodies_without_free_memory_are_503() {
    let service = Service::limited(|limits| {
        (limits.max_medium_bodies, limits.queue_timeout) = (0, SHORT);
    })
    .await;
    let image = Part::bytes([picture(1), vec![0; 64 << 10]].concat()).file_name("a.png");
    let path = service.of_dataset("/search-image-similarity?entity_type=IMAGES");
    let form = service.post(&path).multipart(Form::new().part("file", image));
    let ids = vec![service.dataset; 2_000];
    let item = json!({"type": "media", "payload": {"media_ids": ids}});
    let path = service.of_dataset("/export_entities_async?export_format=json");
    let selection = service.post(&path).json(&json!({"media_selection": [item]}));
    for request in [form, selection] {
        let (status, body) = answer(request).await;
        assert_eq!(status, 503, "{body}");
    }
    // A small one fits.
    let item = json!({"type": "media", "payload": {"media_ids": [service.dataset]}});
    let selection = service.post(&path).json(&json!({"media_selection": [item]}));
    assert_eq!(answer(selection).await.0, 404);
}

#[tokio::test]
async fn selections_are_read_in_their_turn() {
    let service =
        Service::limited(|limits| (limits.max_expensive, limits.queue_timeout) = (0, SHORT)).await;
    let path = service.of_dataset("/export_entities_async?export_format=json");
    for body in ["{\"media_selection\":[{},{},{}]}", "no JSON"] {
        let request = service.post(&path).header("content-type", "application/json").body(body);
        assert_eq!(answer(request).await.0, 503, "{body}");
    }
}

/// A PNG of 4 megapixels in one color, which takes long to decode.
fn heavy_picture() -> Vec<u8> {
    let image = RgbImage::from_pixel(2_000, 2_000, Rgb([7, 7, 7]));
    encoded(&image, ImageFormat::Png)
}

/// Sends eight bodies that are heavy to read, and returns how many light reads were answered meanwhile.
async fn light_reads_beside_hostile_bodies(service: &Arc<Service>) -> usize {
    let (image, ids) = (heavy_picture(), format!("\"{}\",", service.dataset).repeat(200_000));
    let selection = format!(
        "{{\"media_selection\":[{{\"type\":\"media\",\"payload\":{{\"media_ids\":[{}]}}}}]}}",
        ids.trim_end_matches(',')
    );
    let mut hostile = JoinSet::new();
    for number in 0..8 {
        let request = if number % 2 == 0 {
            let form = Form::new().part("file", Part::bytes(image.clone()).file_name("a.png"));
            let path = service.of_dataset("/search-image-similarity?entity_type=IMAGES");
            service.post(&path).multipart(form)
        } else {
            let path = service.of_dataset("/export_entities_async?export_format=json");
            let request = service.post(&path).header("content-type", "application/json");
            request.body(selection.clone())
        };
        hostile.spawn(async move { request.send().await.unwrap().status().as_u16() });
    }
    let mut light_reads = 0;
    while !hostile.is_empty() {
        service.good("/api/v1/datasets").await;
        light_reads += 1;
        while let Some(status) = hostile.try_join_next() {
            let status = status.unwrap();
            assert!([200, 400, 404].contains(&status), "{status}");
        }
    }
    light_reads
}

/// The server and this test share a thread, so light reads are answered only if heavy work is done
/// on others.
#[tokio::test]
async fn light_reads_are_answered_beside_eight_hostile_bodies() {
    let service = Arc::new(Service::limited(|limits| limits.queue_timeout = LONG).await);
    // The system may give this thread no time until the bodies are read, but not again and again.
    for _ in 0..5 {
        // As many as there are hostile bodies, or one of them held up the others.
        if light_reads_beside_hostile_bodies(&service).await >= 8 {
            return;
        }
    }
    panic!("hostile bodies held up light reads five times");
}

#[tokio::test]
async fn a_region_over_its_limit_is_413() {
    let service = Service::limited(|_| {}).await;
    let path = service.of_dataset("/search-image-similarity?entity_type=IMAGES");
    for (length, status) in [(4 << 10, 400), ((4 << 10) + 1, 413)] {
        let form = Form::new().text("bounding_box", "[".repeat(length));
        let form = form.part("file", Part::bytes(picture(1)).file_name("a.png"));
        let (actual, body) = answer(service.post(&path).multipart(form)).await;
        assert_eq!(actual, status, "{body}");
    }
}

#[tokio::test]
async fn search_slots_are_released() {
    let service = Arc::new(
        Service::limited(|limits| (limits.max_expensive, limits.queue_timeout) = (1, LONG)).await,
    );
    let mut many = JoinSet::new();
    for _ in 0..8 {
        let service = service.clone();
        many.spawn(async move { service.good(&question(&service)).await });
    }
    assert_eq!(many.join_all().await.len(), 8);
}

#[tokio::test]
async fn requests_of_disconnected_clients_are_dropped() {
    let change = |limits: &mut ServerLimits| {
        (limits.max_expensive, limits.queue_timeout, limits.max_connections) = (0, LONG, 1);
    };
    let service = Service::limited(change).await;
    let mut gone = TcpStream::connect(service.address).await.unwrap();
    let head = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        question(&service).replace('"', "%22"),
        service.address,
        service.token()
    );
    gone.write_all(head.as_bytes()).await.unwrap();
    drop(gone);
    let begun = Instant::now();
    service.good("/api/v1/datasets").await;
    assert!(begun.elapsed() < Duration::from_secs(3), "it waits for its turn although nobody does");
}
