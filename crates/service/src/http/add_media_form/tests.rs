//! Forms byte by byte: fields, files, bounds, and what is refused early.

use std::fs;

use axum::{
    body::{Body, to_bytes},
    http::header,
    response::IntoResponse as _,
};
use futures_util::stream;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const ONE_SOURCE: &str = "Exactly one media source must be provided: files[], s3_uri, or archive";

fn text(name: &str, value: &str) -> Vec<u8> {
    let head = format!("Content-Disposition: form-data; name=\"{name}\"");
    format!("--X\r\n{head}\r\n\r\n{value}\r\n").into_bytes()
}

fn upload(name: &str, file: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("Content-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"");
    let mut part = format!("--X\r\n{head}\r\nContent-Type: image/png\r\n\r\n").into_bytes();
    part.extend(bytes);
    part.extend(b"\r\n");
    part
}

/// Reads a form of these parts into a new folder.
async fn submitted(parts: &[Vec<u8>]) -> (TempDir, Result<AddMediaRequest, Problem>) {
    let folder = tempfile::tempdir().unwrap();
    let mut body = parts.concat();
    body.extend(b"--X--\r\n");
    let form = "multipart/form-data; boundary=X";
    let request = Request::builder().header(header::CONTENT_TYPE, form);
    let request = request.body(Body::from(body)).unwrap();
    let result = read_form(request, &folder.path().join("uploads")).await;
    (folder, result)
}

/// The status and detail of a refused form, which must leave nothing behind.
async fn refusal(parts: &[Vec<u8>]) -> (u16, Value) {
    let (folder, result) = submitted(parts).await;
    assert_eq!(fs::read_dir(folder.path().join("uploads")).unwrap().count(), 0);
    let response = result.unwrap_err().into_response();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let mut body: Value = serde_json::from_slice(&body).unwrap();
    (status, body["detail"].take())
}

fn zip() -> Vec<u8> {
    zip::ZipWriter::new(io::Cursor::new(Vec::new())).finish().unwrap().into_inner()
}

#[tokio::test]
async fn files_are_stored_under_safe_unique_names() {
    let parts = [
        upload("files", "a.png", b"one"),
        upload("files", "a.png", b"two"),
        upload("files", "cats/1.png", b"cat"),
        upload("files", "../../etc/x.png", b"out"),
        upload("files", "empty.png", b""),
        upload("files", "", b""),
    ];
    let (folder, result) = submitted(&parts).await;
    let submission = result.unwrap();
    assert!(!submission.auto_reindex && submission.assume_role.is_none());
    let AddMediaSource::Files(staged) = submission.source else { panic!("no files") };
    let read = |name: &str| fs::read(staged.path().join(name)).unwrap();
    assert_eq!(read("a.png"), b"one");
    assert_eq!(read("a_2.png"), b"two");
    assert_eq!(read("cats/1.png"), b"cat");
    assert_eq!(read("empty.png"), b"");
    let etc = fs::read_dir(staged.path().join("etc")).unwrap().next().unwrap().unwrap();
    assert_eq!(fs::read(etc.path()).unwrap(), b"out");
    assert!(staged.path().starts_with(folder.path().join("uploads")));
    let path = staged.path().to_owned();
    drop(staged);
    assert!(!path.exists());
}

#[tokio::test]
async fn archive_needs_a_known_extension_and_matching_content() {
    let (_place, result) = submitted(&[upload("archive", "Set.ZIP", &zip())]).await;
    let AddMediaSource::Archive(staged, kind) = result.unwrap().source else {
        panic!("no archive")
    };
    assert_eq!(kind, ArchiveKind::Zip);
    assert_eq!(fs::read(staged.path().join(ARCHIVE_FILE_NAME)).unwrap(), zip());
    let format = "The archive must be a .zip, .tar or .tar.gz file";
    for name in ["set.tgz", "set.rar", "set", "set.png"] {
        assert_eq!(refusal(&[upload("archive", name, &zip())]).await, (400, json!(format)));
    }
    let other = refusal(&[upload("archive", "set.tar.gz", &zip())]).await;
    assert_eq!(other, (400, json!("The archive is not a .tar.gz file")));
}

#[tokio::test]
async fn storage_uri_is_kept_as_sent() {
    let parts = [text("files_", "unknown"), text("s3_uri", " s3://b/p/ ")];
    let (_place, result) = submitted(&parts).await;
    let AddMediaSource::Storage(uri) = result.unwrap().source else { panic!("no storage") };
    assert_eq!(uri, "s3://b/p/");
}

#[tokio::test]
async fn exactly_one_source_is_required() {
    let file = || upload("files", "a.png", b"x");
    let archive = || upload("archive", "a.zip", &zip());
    let uri = || text("s3_uri", "s3://b/p");
    let wrong = [
        vec![],
        vec![text("auto_reindex", "true")],
        vec![text("s3_uri", "")],
        vec![upload("files", "", b"")],
        vec![file(), archive()],
        vec![archive(), file()],
        vec![uri(), file()],
        vec![file(), uri()],
        vec![archive(), uri()],
    ];
    for parts in wrong {
        assert_eq!(refusal(&parts).await, (400, json!(ONE_SOURCE)));
    }
    let (_place, result) = submitted(&[text("s3_uri", ""), file()]).await;
    assert!(matches!(result.unwrap().source, AddMediaSource::Files(_)));
}

#[tokio::test]
async fn duplicate_fields_and_the_list_field_are_refused() {
    let uri = || text("s3_uri", "s3://b/p");
    for (parts, name) in [
        (vec![uri(), uri()], "s3_uri"),
        (vec![uri(), text("use_spot", "true"), text("use_spot", "")], "use_spot"),
        (vec![upload("archive", "a.zip", &zip()), upload("archive", "a.zip", b"")], "archive"),
    ] {
        let message = format!("The field '{name}' was given more than once");
        assert_eq!(refusal(&parts).await, (400, json!(message)));
    }
    let (status, detail) = refusal(&[upload("files[]", "a.png", b"x")]).await;
    assert_eq!((status, &detail[0]["loc"]), (422, &json!(["body", "files"])));
    assert_eq!(detail[0]["type"], "missing");
}

#[tokio::test]
async fn optional_fields_are_read_or_refused_by_name() {
    let uri = text("s3_uri", "s3://b/p");
    let role = "arn:aws:iam::123456789012:role/reader";
    let right = [
        ("auto_reindex", "True"),
        ("assume_role", role),
        ("batch_n_videos", "0"),
        ("batch_n_images", "1000"),
        ("batch_n_objects", ""),
        ("use_spot", "off"),
    ];
    let mut parts = vec![uri.clone()];
    parts.extend(right.map(|(name, value)| text(name, value)));
    let (_place, result) = submitted(&parts).await;
    let submission = result.unwrap();
    assert!(submission.auto_reindex);
    assert_eq!(submission.assume_role.unwrap().to_string(), role);
    let wrong = [
        ("auto_reindex", "maybe"),
        ("assume_role", "reader"),
        ("batch_n_videos", "-1"),
        ("batch_n_images", "1.5"),
        ("batch_n_objects", "9999999999"),
        ("use_spot", "2"),
    ];
    for (name, value) in wrong {
        let (status, detail) = refusal(&[uri.clone(), text(name, value)]).await;
        assert_eq!((status, &detail[0]["loc"]), (422, &json!(["body", name])));
        assert_eq!(detail[0]["input"], value);
    }
}

#[tokio::test]
async fn file_fields_need_a_file_name_and_text_fields_are_short() {
    let (status, detail) = refusal(&[text("files", "a.png")]).await;
    assert_eq!((status, &detail[0]["loc"]), (422, &json!(["body", "files"])));
    assert_eq!(refusal(&[upload("files", "", b"x")]).await.0, 413);
    assert_eq!(refusal(&[text("s3_uri", &"x".repeat(5_000))]).await.0, 413);
    let mut raw = text("s3_uri", "????");
    let at = raw.windows(4).position(|window| window == b"????").unwrap();
    raw[at] = 0xFF;
    assert_eq!(refusal(&[raw]).await.0, 422);
}

#[tokio::test]
async fn interrupted_upload_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let body = [upload("files", "a.png", b"x"), b"--X\r\nContent".to_vec()].concat();
    let form = "multipart/form-data; boundary=X";
    let request = Request::builder().header(header::CONTENT_TYPE, form);
    let request = request.body(Body::from(body)).unwrap();
    assert!(read_form(request, folder.path()).await.is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn disk_failures_are_reported_without_paths() {
    let message = |kind| match storage_problem(&kind) {
        Problem::Plain(status, message) => (status.as_u16(), message),
        Problem::Invalid(_) => panic!("no 422"),
    };
    let full = io::Error::from(ErrorKind::StorageFull);
    assert_eq!(message(full), (500, "The upload could not be stored: the disk is full".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn corrupted_forms_are_read_or_refused(
        wrong in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        pieces in 1_usize..200,
    ) {
        let mut body = [
            upload("files", "cats/1.png", b"one"),
            text("auto_reindex", "true"),
            upload("files", "2.png", &[7; 300]),
            b"--X--\r\n".to_vec(),
        ]
        .concat();
        for (at, byte) in &wrong {
            let at = at.index(body.len());
            body[at] = *byte;
        }
        let pieces: Vec<_> = body.chunks(pieces).map(|piece| Ok(piece.to_vec())).collect();
        let body = Body::from_stream(stream::iter::<Vec<io::Result<_>>>(pieces));
        let request = Request::builder()
            .header(header::CONTENT_TYPE, "multipart/form-data; boundary=X")
            .body(body)
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let result = runtime.unwrap().block_on(read_form(request, folder.path()));
        let left = fs::read_dir(folder.path()).unwrap().count();
        match result {
            Ok(submission) => {
                prop_assert!(left <= 1);
                drop(submission);
            }
            Err(problem) => {
                prop_assert_eq!(left, 0);
                prop_assert!(problem.into_response().status().is_client_error());
            }
        }
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
