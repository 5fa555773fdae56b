//! Reading objects over connections that break.

use std::io::{Read as _, Seek as _, SeekFrom};

use tessera_media::object_storage::{LazyStorage, ObjectReader};

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_read_leaves_no_bytes_of_another_part_behind() {
    let large = content(1 << 22);
    let server = FakeS3::with_objects(&[("photos/1.jpg", &large)]).await;
    let storage = server.settings();
    tokio::task::spawn_blocking(move || {
        let storage = LazyStorage::new(&storage).get().unwrap();
        let mut file = ObjectReader::open(&storage, &object_entry("1.jpg")).unwrap();
        let mut part = [0; 16];
        // After the failures, the part before the one that failed is read, and then the first one.
        for (failures, position) in
            [(0, 1 << 21), (4, 3 << 20), (0, (3 << 20) - 64), (4, 64), (0, 0)]
        {
            server.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); failures]);
            file.seek(SeekFrom::Start(position)).unwrap();
            let read = file.read_exact(&mut part);
            assert_eq!(read.is_err(), failures > 0, "{position}");
            let start = usize::try_from(position).unwrap();
            assert!(failures > 0 || part == large[start..start + 16], "{position}");
        }
    })
    .await
    .unwrap();
}
