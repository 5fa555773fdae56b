//! Forms with wrong bytes, and failures of the disk.

use std::fs;

use axum::{body::Body, http::header, response::IntoResponse as _};
use futures_util::stream;
use proptest::prelude::*;

use super::*;

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

#[test]
fn disk_failures_are_reported_without_paths() {
    let message = |kind| match storage_problem(kind) {
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
