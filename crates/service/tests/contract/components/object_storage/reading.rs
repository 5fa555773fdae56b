//! Reading objects over connections that break.

use std::fs;

use super::{
    fake_s3::{FakeFailure, FakeS3},
    object_entry,
};

/// Bytes of which every part is different.
fn content(length: u32) -> Vec<u8> {
    (0..length).flat_map(|number| (number / 4).to_le_bytes()).take(length as usize).collect()
}

#[tokio::test]
async fn a_download_that_breaks_is_resumed_where_it_broke() {
    let large = content(1 << 16);
    let server = FakeS3::with_objects(&[("photos/1.jpg", &large)]).await;
    let folder = tempfile::tempdir().unwrap();
    let broken = FakeFailure::Truncated;
    server.fail_next([broken.clone(), FakeFailure::S3Error(503, "SlowDown"), broken]);
    let downloaded = server.storage().download(&object_entry("1.jpg", None), folder.path()).await;
    assert_eq!(downloaded.unwrap(), 1 << 16);
    assert!(fs::read(folder.path().join("1.jpg")).unwrap() == large);
    assert_eq!(server.ranges(), ["bytes=32768-", "bytes=49152-"]);
}

#[tokio::test]
async fn a_connection_that_makes_progress_is_resumed_as_often_as_it_breaks() {
    let large = content(1 << 16);
    let server = FakeS3::with_objects(&[("photos/1.jpg", &large)]).await;
    let folder = tempfile::tempdir().unwrap();
    server.fail_next(vec![FakeFailure::Truncated; 12]);
    let downloaded = server.storage().download(&object_entry("1.jpg", None), folder.path()).await;
    assert_eq!((downloaded.unwrap(), server.request_count()), (1 << 16, 13));
    assert!(fs::read(folder.path().join("1.jpg")).unwrap() == large);
}

#[tokio::test]
async fn bytes_of_two_versions_are_never_mixed() {
    let server = FakeS3::with_objects(&[("photos/1.jpg", &content(1 << 16))]).await;
    let folder = tempfile::tempdir().unwrap();
    server.fail_next([FakeFailure::Replaced(&[7; 1 << 16])]);
    let entry = object_entry("1.jpg", None);
    let failed = server.storage().download(&entry, folder.path()).await.unwrap_err();
    assert_eq!(failed.to_string(), "it has changed while it was read");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(server.storage().download(&entry, folder.path()).await.unwrap(), 1 << 16);
}
