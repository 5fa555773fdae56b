//! Reading objects over connections that break.

use super::{
    fake_s3::{FakeFailure, FakeS3},
    object_entry, read,
};

/// Bytes of which every part is different.
fn content(length: u32) -> Vec<u8> {
    (0..length).flat_map(|number| (number / 4).to_le_bytes()).take(length as usize).collect()
}

#[tokio::test]
async fn an_object_is_read_on_where_a_connection_broke() {
    let large = content(1 << 16);
    let server = FakeS3::with_objects(&[("photos/1.jpg", &large)]).await;
    let broken = FakeFailure::Truncated;
    server.fail_next([broken.clone(), FakeFailure::S3Error(503, "SlowDown"), broken]);
    let entry = object_entry("1.jpg");
    assert!(read(&server.storage(), &entry).await.unwrap() == large);
    assert_eq!(server.ranges(), ["bytes=32768-", "bytes=49152-"]);
}

#[tokio::test]
async fn a_connection_that_makes_progress_is_resumed_as_often_as_it_breaks() {
    let large = content(1 << 16);
    let server = FakeS3::with_objects(&[("photos/1.jpg", &large)]).await;
    server.fail_next(vec![FakeFailure::Truncated; 12]);
    let entry = object_entry("1.jpg");
    assert!(read(&server.storage(), &entry).await.unwrap() == large);
    assert_eq!(server.request_count(), 13);
}

#[tokio::test]
async fn bytes_of_two_versions_are_never_mixed() {
    const NEW: &[u8] = &[7; 1 << 14];
    let server = FakeS3::with_objects(&[("photos/1.jpg", &content(1 << 16))]).await;
    server.fail_next([FakeFailure::Replaced(NEW)]);
    let entry = object_entry("1.jpg");
    let failed = read(&server.storage(), &entry).await.unwrap_err();
    assert_eq!(failed.to_string(), "it has changed while it was read");
    assert_eq!(read(&server.storage(), &entry).await.unwrap(), NEW);
}
