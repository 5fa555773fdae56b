//! Tests bodies with and without a length, and bodies that are too long, too slow, or cut off.

use std::convert::Infallible;

use axum::response::IntoResponse as _;

use super::*;
use crate::http::timed_body::TimedBody;

const LIMIT: SizeLimit = SizeLimit { bytes: 1 << 30, message: "too much" };

fn request(body: Body) -> Request {
    let form = "multipart/form-data; boundary=X";
    Request::builder().header(header::CONTENT_TYPE, form).body(body).unwrap()
}

async fn parts(body: impl Into<Body>, limit: SizeLimit) -> MultipartForm {
    MultipartForm::open(request(body.into()), limit).await.unwrap()
}

/// Returns a body that is available at once, in chunks, and a counter of the chunks that were read.
fn chunks(all: Vec<Bytes>) -> (Body, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let count = read.clone();
    let stream = stream::iter(all).inspect(move |piece| {
        count.fetch_add(piece.len(), Ordering::Relaxed);
    });
    (Body::from_stream(stream.map(Ok::<_, Infallible>)), read)
}

fn part(head: &str, content: &str) -> String {
    format!("--X\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
}

fn status<T>(end: Result<T, Problem>) -> u16 {
    end.err().unwrap().into_response().status().as_u16()
}

#[tokio::test]
async fn parts_are_read_in_order_with_their_names() {
    let form = part("name=\"a\"; filename=\"x y.png\"", "one") + &part("name=b", "") + "--X--";
    let mut parts = parts(form, LIMIT).await;
    let first = parts.next().await.unwrap().unwrap();
    assert_eq!((first.name(), first.file_name()), (Some("a"), Some("x y.png")));
    assert_eq!(first.bytes(LIMIT).await.unwrap(), b"one");
    let second = parts.next().await.unwrap().unwrap();
    assert_eq!((second.name(), second.file_name()), (Some("b"), None));
    second.skip().await.unwrap();
    assert!(parts.next().await.unwrap().is_none());
}

#[tokio::test]
async fn body_is_read_no_faster_than_its_parts() {
    let mut all = vec![Bytes::from(part("name=small", "x").repeat(1_000))];
    all.push(part("name=large", "").trim_end().to_owned().into());
    all.extend(vec![Bytes::from(vec![b'y'; 64 << 10]); 100]);
    let (body, read) = chunks(all);
    let mut parts = parts(body, LIMIT).await;
    for _ in 0..1_000 {
        parts.next().await.unwrap().unwrap().skip().await.unwrap();
    }
    let read = read.load(Ordering::Relaxed);
    assert!(read < 256 << 10, "{read} bytes were read for the small parts");
}

#[tokio::test]
async fn form_is_parsed_from_chunks_of_any_size() {
    let form = part("name=a", &"y".repeat(100_000)) + &part("name=b", "z") + "--X--";
    for first in [1, 2, 3, 20, 50, 60] {
        let (head, tail) = form.split_at(first);
        let all = [head, tail].map(|piece| Bytes::from(piece.to_owned()));
        let mut parts = parts(chunks(all.into()).0, LIMIT).await;
        let part = parts.next().await.unwrap().unwrap();
        assert_eq!(part.bytes(LIMIT).await.unwrap().len(), 100_000);
        let part = parts.next().await.unwrap().unwrap();
        assert_eq!(part.bytes(LIMIT).await.unwrap(), b"z");
        assert!(parts.next().await.unwrap().is_none());
    }
    let all = form.bytes().map(|byte| Bytes::from(vec![byte])).collect();
    let mut parts = parts(chunks(all).0, LIMIT).await;
    assert_eq!(parts.next().await.unwrap().unwrap().name(), Some("a"));
}

#[tokio::test]
async fn endless_part_head_is_refused_early() {
    let mut all = vec![Bytes::from("--X\r\nContent-Disposition: form-data; name=\"")];
    all.extend(vec![Bytes::from(vec![b'n'; 16 << 10]); 1_000]);
    let (body, read) = chunks(all);
    assert_eq!(status(parts(body, LIMIT).await.next().await), 400);
    assert!(read.load(Ordering::Relaxed) < 256 << 10);
    let (body, read) = chunks(vec![Bytes::from(vec![b' '; 16 << 10]); 1_000]);
    assert_eq!(status(parts(body, LIMIT).await.next().await), 400, "no boundary");
    assert!(read.load(Ordering::Relaxed) < 256 << 10);
}

#[tokio::test]
async fn body_over_its_limit_is_413() {
    let limit = SizeLimit { bytes: 200, message: "too much" };
    let declared = Request::builder().header(header::CONTENT_LENGTH, "201");
    let declared = declared.body(Body::empty()).unwrap();
    assert_eq!(status(MultipartForm::open(declared, limit).await), 413);
    let long = Bytes::from(part("name=a", &"x".repeat(100)));
    let (body, _) = chunks(vec![long.clone(), long.clone(), long]);
    let mut parts = parts(body, limit).await;
    assert_eq!(status(parts.next().await.unwrap().unwrap().skip().await), 413);
    let small = SizeLimit { bytes: 10, message: "too much" };
    let mut parts = self::parts(part("name=a", &"x".repeat(11)), LIMIT).await;
    assert_eq!(status(parts.next().await.unwrap().unwrap().bytes(small).await), 413);
}

#[tokio::test]
async fn stalled_body_is_408() {
    let begun = stream::once(async { Ok::<_, Infallible>(part("name=a", "x")) });
    let body = Body::from_stream(begun.chain(stream::pending()));
    let mut parts = parts(TimedBody::wrap(body, Duration::from_millis(20)), LIMIT).await;
    assert_eq!(status(parts.next().await.unwrap().unwrap().skip().await), 408);
}

#[tokio::test]
async fn refused_body_is_drained_up_to_one_mebibyte() {
    let endless = || chunks(vec![Bytes::from(vec![b'y'; 64 << 10]); 1_000]);
    let assert_drained = |read: Arc<AtomicUsize>| {
        let read = read.load(Ordering::Relaxed);
        assert!((DRAIN_LIMIT.1..2 * DRAIN_LIMIT.1).contains(&read), "{read}");
    };
    let (body, read) = endless();
    let mut broken = parts(body, LIMIT).await;
    assert_eq!(status(broken.next().await), 400);
    broken.drain().await;
    assert_drained(read);
    let (body, read) = endless();
    assert_eq!(status(MultipartForm::open(Request::new(body), LIMIT).await), 400, "no form");
    assert_drained(read);
}
