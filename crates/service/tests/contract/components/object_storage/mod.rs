//! Tests against fake services on loopback: S3, and in files of their own Azure and Google Cloud.

mod azure;
pub mod fake_s3;
mod fake_uploads;
mod google_cloud;
mod manifests;
mod reading;
mod settings;
mod signature;

use std::{
    fs::File,
    io::{Seek as _, Write as _},
    sync::Arc,
    time::Duration,
};

use fake_s3::{FakeFailure, FakeS3, SECRET, TOKEN, storage, storage_with_timeout};

use tessera_media::object_storage::{
    BucketFolder, ObjectBody, ObjectEntry, ObjectListing, ObjectStorage, ObjectUri, PathRoot,
    RoleArn, StorageError,
};
use tokio::sync::Semaphore;

fn keys(listing: &ObjectListing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.key.as_str()).collect()
}

fn object_entry(key: &str) -> ObjectEntry {
    object_entry_of(&format!("s3://photos/{key}"))
}

fn object_entry_of(uri: &str) -> ObjectEntry {
    let ObjectUri { bucket, key } = ObjectUri::parse(uri).unwrap();
    let path_root = PathRoot::ListedFolder(0);
    ObjectEntry { bucket: bucket.into(), key, size: None, version: 0, path_root }
}

/// A file of this length, at its start.
fn file_of(bytes: usize) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![7; bytes]).unwrap();
    file.rewind().unwrap();
    file
}

/// Reads a whole object.
pub async fn read(storage: &ObjectStorage, entry: &ObjectEntry) -> Result<Vec<u8>, StorageError> {
    let mut body = ObjectBody::open(storage, &entry.bucket, &entry.key).await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = body.next().await? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The error of listing an address, without its common prefix.
async fn list_error(server: &FakeS3, uri: &str) -> String {
    let refusal = server.storage().list(uri, None, usize::MAX).await.unwrap_err().to_string();
    for secret in [SECRET, TOKEN, "X-Amz", "127.0.0.1", "c4nary"] {
        assert!(!refusal.contains(secret), "{refusal}");
    }
    let begin = format!("Invalid S3 URI or no media files found at {uri}");
    refusal.strip_prefix(&begin).unwrap().trim().to_owned()
}

#[tokio::test]
async fn a_folder_is_listed_in_pages_and_read() {
    let objects: [(&str, &[u8]); 12] = [
        ("photos/set/", b""),
        ("photos/set/a b+c&d=é%2F~.jpg", b"odd"),
        ("photos/set/cats/1.JPG", b"one"),
        ("photos/set/cats/2.png", b"two"),
        ("photos/set/clip.mp4", b"film"),
        ("photos/set/metadata.jsonl", b"{}"),
        ("photos/set/notes.doc", b"-"),
        ("photos/set/sub/../up.jpg", b"-"),
        ("photos/set/tab\tnew\nline.jpg", b"raw"),
        ("photos/set/x?y#z.jpg", b"mark"),
        ("photos/set2/other.jpg", b"-"),
        ("photos/top.jpg", b"-"),
    ];
    let server = FakeS3::with_objects(&objects).await;
    let storage = server.storage();
    let task = storage.clone();
    // Handlers must be `Send`.
    let listing = tokio::spawn(async move { task.list("s3://photos/set", None, usize::MAX).await });
    let listing = listing.await.unwrap().unwrap();
    let expected = [
        "set/a b+c&d=é%2F~.jpg",
        "set/cats/1.JPG",
        "set/cats/2.png",
        "set/clip.mp4",
        "set/metadata.jsonl",
        "set/x?y#z.jpg",
    ];
    assert_eq!(keys(&listing), expected);
    let skipped: Vec<_> = listing.skipped.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    assert_eq!(skipped, ["sub/../up.jpg", "tab\tnew\nline.jpg"]);
    assert_eq!((listing.media, listing.truncated), (5, false));
    assert_eq!(server.request_count(), 4, "ten objects, three a page");
    let mut contents = Vec::new();
    for entry in &listing.entries {
        let bytes = read(&storage, entry).await.unwrap();
        assert_eq!(Some(bytes.len() as u64), entry.size, "{}", entry.key);
        contents.push((entry.path().to_str().unwrap().to_owned(), bytes));
    }
    let content = |name: &str| contents.iter().find(|(path, _)| path == name).unwrap().1.as_slice();
    assert_eq!(content("a b+c&d=é%2F~.jpg"), b"odd");
    assert_eq!(content("cats/1.JPG"), b"one");
    assert_eq!(content("x?y#z.jpg"), b"mark");
}

#[tokio::test]
async fn listing_stops_at_the_requested_number_of_media() {
    let objects: [(&str, &[u8]); 5] = [
        ("photos/1.jpg", b"-"),
        ("photos/2.jpg", b"-"),
        ("photos/3.jpg", b"-"),
        ("photos/4.jpg", b"-"),
        ("photos/5.jpg", b"-"),
    ];
    let server = FakeS3::with_objects(&objects).await;
    let listing = server.storage().list("s3://photos", None, 1).await.unwrap();
    assert_eq!((keys(&listing), listing.truncated), (vec!["1.jpg"], true));
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn a_folder_is_listed_in_parts_and_an_object_that_is_gone_since_is_reported() {
    let names: Vec<String> = (0..7).map(|n| format!("photos/{n}.jpg")).collect();
    let objects: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"-"[..])).collect();
    let server = FakeS3::with_objects(&objects).await;
    let storage = server.storage();
    let mut parts = storage.parts("s3://photos/", usize::MAX).unwrap();
    let (mut sizes, mut ends) = (Vec::new(), Vec::new());
    while let Some(part) = parts.next().await.unwrap() {
        sizes.push((part.entries.len(), parts.has_more()));
        if server.names().contains(&"photos/4.jpg".to_owned()) {
            server.remove("photos/4.jpg");
        }
        for entry in &part.entries {
            ends.push(
                read(&storage, entry).await.map_err(|error| format!("{}: {error}", entry.key)),
            );
        }
    }
    assert_eq!(sizes, [(3, true), (3, false)], "without the one that is gone");
    assert_eq!(ends.len(), 6);
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let again = storage.list("s3://photos/", None, usize::MAX).await.unwrap();
    server.remove("photos/6.jpg");
    let gone = read(&storage, again.entries.last().unwrap()).await;
    assert_eq!(gone.unwrap_err().to_string(), "it does not exist");
}

#[tokio::test]
async fn public_buckets_need_no_key() {
    let server = FakeS3::public_bucket(&[("photos/1.jpg", b"one")]).await;
    let storage = storage(server.public_settings());
    let listing = storage.list("s3://photos/", None, usize::MAX).await.unwrap();
    assert_eq!(read(&storage, &listing.entries[0]).await.unwrap(), b"one");
}

#[tokio::test]
async fn the_media_of_a_manifest_are_read_wherever_they_are() {
    let objects: [(&str, &[u8]); 4] = [
        ("photos/lists/set.csv", b"uri,label\ncats/1.jpg,cat\ns3://shared/2.jpg,dog\n"),
        ("photos/lists/none.txt", b"readme.md\n"),
        ("photos/lists/cats/1.jpg", b"one"),
        ("shared/2.jpg", b"two"),
    ];
    let server = FakeS3::with_objects(&objects).await;
    let storage = server.storage();
    let listing = storage.list("s3://photos/lists/set.csv", None, usize::MAX).await.unwrap();
    let manifest = ObjectUri::parse("s3://photos/lists/set.csv").unwrap();
    let mut contents = Vec::new();
    for entry in &listing.entries {
        let bytes = read(&storage, entry).await.unwrap();
        assert_eq!(ObjectEntry::at_path(&manifest, &entry.path()).as_ref(), Some(entry));
        contents.push((entry.path().to_str().unwrap().to_owned(), bytes));
    }
    let expected = [("cats/1.jpg", b"one"), ("s3://shared/2.jpg", b"two")];
    assert_eq!(contents, expected.map(|(path, bytes)| (path.to_owned(), bytes.to_vec())));
    assert_eq!(list_error(&server, "s3://photos/lists/none.txt").await, "");
    assert_eq!(list_error(&server, "s3://photos/lists/gone.txt").await, "(it does not exist)");
    assert!(!list_error(&server, "s3://photos/lists/gone.parquet").await.is_empty());
}

#[tokio::test]
async fn list_errors_state_the_cause_without_secrets() {
    let server = FakeS3::with_objects(&[("photos/readme.md", b"-")]).await;
    assert_eq!(list_error(&server, "s3://photos").await, "");
    assert_eq!(list_error(&server, "s3://photos/nothing/").await, "");
    assert_eq!(list_error(&server, "s3://other").await, "(the bucket does not exist)");
    assert_eq!(
        list_error(&server, "https://photos/a").await,
        "(only s3://bucket/prefix, gs:// and az:// are supported)"
    );
    let causes = [
        (FakeFailure::S3Error(403, "AccessDenied"), "(access is denied)"),
        (FakeFailure::RawError(403, ""), "(access is denied)"),
        (
            FakeFailure::S3Error(400, "ExpiredToken"),
            "(the session token of this deployment has expired)",
        ),
        (
            FakeFailure::S3Error(403, "SignatureDoesNotMatch"),
            "(the access key of this deployment is not accepted)",
        ),
        (FakeFailure::S3Error(418, "Te\u{1b}a pot"), "(the storage responded with 418)"),
        (FakeFailure::S3Error(418, "Teapot"), "(the storage responded with 418 Teapot)"),
        (
            FakeFailure::RawError(200, "<html>c4nary</html>"),
            "(the server is not an object storage service)",
        ),
        (FakeFailure::RawError(200, "\u{FFFD}"), "(the server is not an object storage service)"),
        (
            FakeFailure::Region("eu-other-2"),
            "(the bucket is in the region eu-other-2; set AWS_REGION to it)",
        ),
    ];
    for (trouble, words) in causes {
        server.fail_next([trouble]);
        assert_eq!(list_error(&server, "s3://photos").await, words);
    }
    let settings = server.settings_with(&[("AWS_SECRET_ACCESS_KEY", "another")]);
    let refusal =
        storage(settings).list("s3://photos", None, usize::MAX).await.unwrap_err().to_string();
    assert!(refusal.ends_with("is not accepted)"), "the service checks: {refusal}");
    let role = RoleArn::parse("arn:aws:iam::123456789012:role/reader");
    let refusal = server
        .storage()
        .list("s3://photos", role.as_ref(), usize::MAX)
        .await
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("no token service (STS)"), "{refusal}");
}

#[tokio::test]
async fn invalid_addresses_are_refused_without_a_request() {
    let server = FakeS3::with_objects(&[]).await;
    let long = format!("s3://photos/{}", "k".repeat(2_000));
    for uri in [
        "",
        "photos",
        "https://photos.s3.amazonaws.com/a",
        "S3://photos",
        "s3://",
        "s3:///a",
        "s3://ab",
        "s3://user@host/a",
        "s3://host:80/a",
        "s3://..a/b",
        "s3://photos?x/a",
        "s3://photos/../other",
        "s3://photos/a/./b",
        &long,
    ] {
        assert!(server.storage().list(uri, None, usize::MAX).await.is_err(), "{uri}");
    }
    assert_eq!(server.request_count(), 0);
}

#[tokio::test]
async fn access_denied_without_a_key_suggests_setting_one() {
    let server = FakeS3::with_objects(&[("photos/1.jpg", b"-")]).await;
    server.fail_next([FakeFailure::S3Error(403, "AccessDenied")]);
    let storage = storage(server.public_settings());
    let refusal = storage.list("s3://photos", None, usize::MAX).await.unwrap_err().to_string();
    assert!(refusal.contains("AWS_ACCESS_KEY_ID"), "{refusal}");
}

#[tokio::test]
async fn unreachable_storage_is_reported() {
    let server = FakeS3::with_objects(&[]).await;
    // A port where nothing listens any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{gone}");
    let storage = storage(server.settings_with(&[("AWS_ENDPOINT_URL_S3", &endpoint)]));
    let refusal = storage.list("s3://photos", None, usize::MAX).await.unwrap_err().to_string();
    assert!(refusal.ends_with("(the storage cannot be reached)"), "{refusal}");
}

#[tokio::test]
async fn temporary_failures_are_retried_and_lasting_ones_reported() {
    let server = FakeS3::with_objects(&[("photos/1.jpg", b"one")]).await;
    let storage = server.storage();
    server.fail_next([
        FakeFailure::S3Error(500, "InternalError"),
        FakeFailure::S3Error(503, "SlowDown"),
        FakeFailure::Truncated,
    ]);
    let listing = storage.list("s3://photos", None, usize::MAX).await.unwrap();
    assert_eq!((listing.media, server.request_count()), (1, 4));
    server.fail_next([FakeFailure::Truncated, FakeFailure::S3Error(500, "InternalError")]);
    assert_eq!(read(&storage, &listing.entries[0]).await.unwrap(), b"one");
    assert_eq!(server.request_count(), 7);
    server.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 4]);
    assert_eq!(
        list_error(&server, "s3://photos").await,
        "(the storage is temporarily unavailable (503))"
    );
    assert_eq!(server.request_count(), 11);
}

#[tokio::test]
async fn an_object_that_is_not_sent_says_nothing_about_others_unless_the_storage_fails() {
    const ENCRYPTED: &str = "<Error><Code>InvalidRequest</Code><Message>The object was stored using a form of Server \
                             Side Encryption.</Message></Error>";
    let server = FakeS3::with_objects(&[("photos/1.jpg", b"one")]).await;
    for (failure, expected) in [
        (FakeFailure::S3Error(404, "NoSuchBucket"), "refused: the bucket does not exist"),
        (FakeFailure::S3Error(403, "InvalidObjectState"), "refused: it is archived; restore"),
        (FakeFailure::S3Error(405, "MethodNotAllowed"), "refused: the storage responded with 405"),
        (FakeFailure::S3Error(400, "KMS.DisabledException"), "refused: its encryption key cannot"),
        (FakeFailure::RawError(400, ENCRYPTED), "refused: the storage responded with 400 InvalidR"),
        (FakeFailure::Region("eu-other-2"), "refused: the bucket is in the region eu-other-2"),
        (FakeFailure::S3Error(400, "RequestTimeout"), "temporary: the storage is temporarily"),
        (FakeFailure::S3Error(400, "ThrottlingException"), "temporary: the storage is temporar"),
        (FakeFailure::RawError(429, ""), "temporary: the storage is temporarily unavailable"),
        (FakeFailure::S3Error(400, "ExpiredToken"), "service: the session token"),
        (FakeFailure::RawError(400, "<html>"), "service: the storage responded with 400"),
    ] {
        server.fail_object("photos/1.jpg", failure);
        let error = read(&server.storage(), &object_entry("1.jpg")).await.unwrap_err();
        let kind = match &error {
            StorageError::Refused(_) => "refused",
            StorageError::Temporary(_) => "temporary",
            StorageError::Service(_) => "service",
            _ => "another",
        };
        let error = format!("{kind}: {error}");
        assert!(error.starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn a_timed_out_request_is_retried() {
    let server = FakeS3::with_objects(&[("photos/1.jpg", b"one")]).await;
    let storage = storage_with_timeout(server.settings(), Duration::from_millis(200));
    server.fail_next([FakeFailure::NoResponse]);
    let listing = storage.list("s3://photos", None, usize::MAX).await.unwrap();
    server.fail_next([FakeFailure::NoResponse]);
    assert_eq!(read(&storage, &listing.entries[0]).await.unwrap(), b"one");
}

#[tokio::test]
async fn a_large_request_has_more_time_than_the_next_bytes_of_a_response() {
    let server = FakeS3::with_objects(&[("photos/1.jpg", b"one")]).await;
    let storage = storage_with_timeout(server.settings(), Duration::from_millis(200));
    let folder = BucketFolder { storage, folder: ObjectUri::parse("s3://photos").unwrap() };
    let gate = Arc::new(Semaphore::new(0));
    server.fail_next([FakeFailure::Held(gate.clone())]);
    let put = folder.put("large", vec![0; 2 << 20].into());
    let open = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        gate.add_permits(1);
    };
    let (put, ()) = tokio::join!(put, open);
    put.unwrap();
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = FakeS3::with_objects(&[("photos/1.jpg", b"-")]).await;
    let other = FakeS3::public_bucket(&[("photos/1.jpg", b"-")]).await;
    server.fail_next([FakeFailure::Redirect(format!("{}/photos", other.address()))]);
    assert_eq!(list_error(&server, "s3://photos").await, "(the storage responded with 307)");
    assert_eq!(other.request_count(), 0);
}
