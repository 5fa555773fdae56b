//! Requests written byte by byte: forms as curl, browsers and careless clients send them, and the
//! bytes of the responses.

use std::path::{Path, PathBuf};

use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::support::{Service, picture};

/// A form with the boundary `X`.
const FORM: &str = "multipart/form-data; boundary=X";
const ONE_SOURCE: &str =
    r#"{"detail":"Exactly one media source must be provided: files[], s3_uri, or archive"}"#;

/// The head of a POST with login, up to its own headers.
fn head(service: &Service, path: &str) -> String {
    let (host, token) = (service.address, service.token());
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
    )
}

/// Posts bytes; returns status line and body of the response.
async fn post(service: &Service, path: &str, kind: &str, body: &[u8]) -> (String, String) {
    let length = body.len();
    let head = head(service, path);
    let head = format!("{head}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    reported(&service.raw(&[head.as_bytes(), body].concat()).await)
}

async fn add(service: &Service, kind: &str, body: &[u8]) -> (String, String) {
    post(service, &service.of_dataset("/add_media"), kind, body).await
}

/// The status line and body of a response.
pub fn reported(answer: &str) -> (String, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

fn status(line: &str) -> u16 {
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

/// A part with this header line, for the boundary `X`.
fn part(head: &str, content: &[u8]) -> Vec<u8> {
    [b"--X\r\n", head.as_bytes(), b"\r\n\r\n", content, b"\r\n"].concat()
}

fn file(disposition: &str) -> Vec<u8> {
    part(&format!("Content-Disposition: form-data; {disposition}"), &picture(13))
}

/// The parts with the end of a form.
fn form(parts: &[Vec<u8>]) -> Vec<u8> {
    [parts.concat(), b"--X--\r\n".to_vec()].concat()
}

/// A body in chunks of this size.
fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(size) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

/// Resets a dataset to READY without its additions.
async fn settled(service: &Service) -> u64 {
    service.deployment.wait_until_idle().await;
    let images = service.record().await["n_images"].as_u64().unwrap();
    service.set_status("READY");
    images
}

#[tokio::test]
async fn accepted_forms_get_an_empty_202_response() {
    let service = Service::of_pictures().await;
    let boundary = "------------------------d74496d66958873e";
    let kind = format!("multipart/form-data; boundary={boundary}");
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.png\"\r\n\
         Content-Type: image/png\r\n\r\n"
    )
    .into_bytes();
    body.extend(picture(12));
    body.extend(
        format!(
            "\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"auto_reindex\"\r\n\r\n\
             false\r\n--{boundary}--\r\n"
        )
        .as_bytes(),
    );
    let length = body.len();
    let head = head(&service, &service.of_dataset("/add_media"));
    let head = format!("{head}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    let answer = service.raw(&[head.as_bytes(), &body].concat()).await;
    assert!(answer.starts_with("HTTP/1.1 202 Accepted\r\n"), "{answer}");
    assert!(answer.contains("\r\ncontent-length: 0\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n") && !answer.contains("\r\ncontent-type:"), "{answer}");
    assert_eq!(settled(&service).await, 13);
}

#[tokio::test]
async fn a_file_field_in_every_spelling() {
    let service = Service::of_pictures().await;
    let plain = file("name=\"files\"; filename=\"a.png\"");
    let mut images = 12;
    for (kind, body) in [
        ("multipart/form-data; boundary=\"X\"", form(std::slice::from_ref(&plain))),
        ("Multipart/Form-Data; charset=utf-8; boundary=X", form(std::slice::from_ref(&plain))),
        (FORM, form(&[file("name=files; filename=a.png")])),
        (FORM, form(&[file("filename=\"a.png\"; name=\"files\"")])),
        (FORM, form(&[file("name=\"files\"; filename=\"x.png\"; filename*=UTF-8''%C3%A4.png")])),
        (FORM, form(&[file("name=\"files\"; filename=\"say \\\"cheese\\\".png\"")])),
        (FORM, form(&[file("name=\"files\"; filename=\"\u{e4}\u{1f600}.png\"")])),
        (FORM, form(&[file("name=\"files\"; filename=\"a%0D%0AX-Evil: 1.png\"")])),
        (FORM, form(&[file("name=\"files\"; filename=\"..\\..\\escaped-7f3a.png\"")])),
        (FORM, form(&[file("name=\"files\"; filename=\"/../../../escaped-7f3a.png\"")])),
        (
            FORM,
            form(&[part(
                "content-disposition: form-data; name=\"files\"; filename=\"a.png\"\r\nX-Other: y",
                &picture(13),
            )]),
        ),
        (FORM, [form(std::slice::from_ref(&plain)), b"what comes after".to_vec()].concat()),
        (
            FORM,
            form(&[part("Content-Disposition: form-data; name=\"s3_uri\"", b""), plain.clone()]),
        ),
    ] {
        let (line, answer) = add(&service, kind, &body).await;
        let text = String::from_utf8_lossy(&body);
        assert_eq!((status(&line), answer.as_str()), (202, ""), "{kind} {text}");
        images += 1;
        assert_eq!(settled(&service).await, images, "{kind} {text}");
    }
    for above in service.place.data.path().join("uploads").ancestors() {
        assert!(!above.join("escaped-7f3a.png").exists(), "{}", above.display());
    }
    let names = service.names("").await;
    let name = |end: &str| names.iter().any(|name| name.ends_with(end));
    assert!(name("\u{e4}\u{1f600}.png") && name("cheese\".png"), "{names:?}");
    assert!(names.iter().all(|name| !name.contains(['\r', '\n'])), "{names:?}");
}

#[tokio::test]
async fn files_are_stored_under_safe_unique_names() {
    let service = Service::of_pictures().await;
    let upload = |name: &str, content: &str| {
        let head = format!("Content-Disposition: form-data; name=\"files\"; filename=\"{name}\"");
        part(&head, content.as_bytes())
    };
    let body = form(&[
        upload("a.png", "one"),
        upload("a.png", "two"),
        upload("cats/1.png", "cat"),
        upload("../../etc/x.png", "out"),
        upload("empty.png", ""),
        upload("", ""),
    ]);
    assert_eq!(status(&add(&service, FORM, &body).await.0), 202);
    let uploads = service.place.data.path().join("uploads");
    let [folder] = &folders(&uploads)[..] else { panic!("one folder for the form") };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(
        ["a.png", "a_2.png", "cats/1.png", "empty.png"].map(read),
        ["one", "two", "cat", ""]
    );
    let outside = std::fs::read_dir(folder.join("etc")).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(outside.path()).unwrap(), "out");
}

#[tokio::test]
async fn incomplete_forms_are_400_and_leave_nothing_behind() {
    let service = Service::of_pictures().await;
    let plain = || file("name=\"files\"; filename=\"a.png\"");
    for (kind, body) in [
        (FORM, plain()),
        (FORM, [plain(), b"--X\r\nContent-Disposition: form-da".to_vec()].concat()),
        (FORM, plain()[..40].to_vec()),
        (FORM, b"no form at all".to_vec()),
        (FORM, part("no header", b"x")),
        (FORM, b"".to_vec()),
        (FORM, b"--X".to_vec()),
        (FORM, b"--X\r\nno head".to_vec()),
        (FORM, b"--X\r\n\x01: x\r\n\r\nx\r\n--X--".to_vec()),
        (FORM, form(&vec![part("Content-Disposition: form-data; name=a", b""); 10_001])),
        (FORM, form(&[file("name=\"files\"; filename=\"a\r\nb.png\"")])),
        ("multipart/form-data", form(&[plain()])),
        ("multipart/form-data; boundary=", form(&[plain()])),
        ("multipart/form-data; boundary=Y", form(&[plain()])),
        ("application/x-www-form-urlencoded", b"s3_uri=s3%3A%2F%2Fa".to_vec()),
        ("application/json", br#"{"s3_uri":"s3://photos/"}"#.to_vec()),
    ] {
        let (line, answer) = add(&service, kind, &body).await;
        assert_eq!(status(&line), 400, "{kind} {}: {answer}", String::from_utf8_lossy(&body));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["detail"].is_string(), "{answer}");
    }
    assert_eq!(service.record().await["status_new"], "READY");
    let left = std::fs::read_dir(service.place.data.path().join("uploads"));
    assert_eq!(left.map_or(0, Iterator::count), 0);
}

#[tokio::test]
async fn a_form_without_a_source_is_rejected_with_the_documented_message() {
    let service = Service::of_pictures().await;
    for body in [
        b"".to_vec(),
        b"--X--\r\n".to_vec(),
        b"--X--".to_vec(),
        form(&[part("Content-Disposition: form-data; name=\"auto_reindex\"", b"true")]),
        form(&[part("Content-Disposition: form-data; name=\"file\"; filename=\"a.png\"", b"x")]),
        form(&[part("Content-Disposition: form-data; name=\"files\"; filename=\"\"", b"")]),
        form(&[part("Content-Disposition: form-data; name=\"s3_uri\"", b"")]),
        form(&[part("Content-Disposition: form-data; filename=\"a.png\"", b"x")]),
    ] {
        let (line, answer) = add(&service, FORM, &body).await;
        let text = String::from_utf8_lossy(&body);
        assert_eq!(
            (line.as_str(), answer.as_str()),
            ("HTTP/1.1 400 Bad Request", ONE_SOURCE),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_form_in_small_chunks_is_a_form() {
    let service = Service::of_pictures().await;
    let body = form(&[file("name=\"files\"; filename=\"a.png\"")]);
    let head = head(&service, &service.of_dataset("/add_media"));
    let head = format!("{head}Content-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n");
    // Seven bytes at a time, so that every delimiter is split somewhere.
    let bytes = [head.into_bytes(), chunked(&body, 7)].concat();
    let (line, answer) = reported(&service.raw(&bytes).await);
    assert_eq!((line.as_str(), answer.as_str()), ("HTTP/1.1 202 Accepted", ""));
    assert_eq!(settled(&service).await, 13);
}

/// The folders of accepted forms; beside each is a file that describes it.
fn folders(uploads: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(uploads).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn corrupted_forms_are_added_or_refused() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::of_pictures());
    let uploads = service.place.data.path().join("uploads");
    let left = || folders(&uploads).len();
    let head = head(&service, &service.of_dataset("/add_media"));
    let head = format!("{head}Content-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let upload = |name: &str, content: &[u8]| {
        let head = format!("Content-Disposition: form-data; name=\"files\"; filename=\"{name}\"");
        part(&head, content)
    };
    let valid = form(&[
        upload("cats/1.png", b"one"),
        part("Content-Disposition: form-data; name=\"auto_reindex\"", b"true"),
        upload("2.png", &[7; 300]),
    ]);
    let wrong = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    let result = runner.run(&(wrong, 1_usize..200), |(wrong, size)| {
        let mut body = valid.clone();
        for (at, byte) in &wrong {
            let at = at.index(body.len());
            body[at] = *byte;
        }
        let bytes = [head.clone().into_bytes(), chunked(&body, size)].concat();
        let before = left();
        let (line, answer) = reported(&runtime.block_on(service.raw(&bytes)));
        let accepted = status(&line) == 202;
        prop_assert!(accepted || (400..500).contains(&status(&line)), "{line} {answer}");
        prop_assert_eq!(left() - before, usize::from(accepted));
        runtime.block_on(settled(&service));
        Ok(())
    });
    result.unwrap();
}

#[tokio::test]
async fn disconnected_clients_leave_nothing_behind() {
    let service = Service::of_pictures().await;
    let uploads = service.place.data.path().join("uploads");
    let left = || std::fs::read_dir(&uploads).map_or(0, Iterator::count);
    let head = head(&service, &service.of_dataset("/add_media"));
    let head = format!("{head}Content-Type: {FORM}\r\nContent-Length: 1000000\r\n\r\n");
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&file("name=\"files\"; filename=\"a.png\"")).await.unwrap();
    while left() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    drop(stream);
    while left() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    assert_eq!(service.place.count("indexing_task WHERE kind = 'MEDIA_ADDITION'"), 0);
    assert_eq!(service.record().await["status_new"], "READY");
}

#[tokio::test]
async fn the_form_of_a_query_image_byte_by_byte() {
    let service = Service::of_pictures().await;
    let path = |query: &str| service.of_dataset(&format!("/search-image-similarity?{query}"));
    let image = || file("name=\"file\"; filename=\"query.png\"");
    let boxed = "%7B%22x%22%3A0.1%2C+%22y%22%3A0%2C%22width%22%3A0.5%2C%22height%22%3A1.0%7D";
    for query in [
        "entity_type=IMAGES".to_owned(),
        "threshold=0&entity_type=OBJECTS".to_owned(),
        "entity_type=%49MAGES&threshold=4".to_owned(),
        format!("entity_type=IMAGES&bounding_box={boxed}"),
        "entity_type=IMAGES&bounding_box={%22x%22:0,%22y%22:0,%22width%22:1,%22height%22:1}"
            .to_owned(),
    ] {
        let (line, answer) = post(&service, &path(&query), FORM, &form(&[image()])).await;
        assert_eq!(line, "HTTP/1.1 200 OK", "{query}: {answer}");
        let anchor: Value = serde_json::from_str(&answer).unwrap();
        let id = anchor["anchor_media_id"].as_str().unwrap();
        let expected = format!(r#"{{"anchor_media_id":"{id}","anchor_type":"UPLOAD"}}"#);
        assert_eq!(answer, expected, "compact, and nothing else");
    }
    let twice = "entity_type=IMAGES&bounding_box={%22x%22:0,%22x%22:1}";
    let (_, answer) = post(&service, &path(twice), FORM, &form(&[image()])).await;
    assert!(answer.starts_with(r#"{"detail":"bounding_box: "#), "{answer}");
    let (line, answer) =
        post(&service, &path("entity_type=IMAGES"), "application/json", b"{}").await;
    assert_eq!(line, "HTTP/1.1 400 Bad Request");
    assert!(answer.contains("The body must be a form: multipart/form-data"), "{answer}");
    let compressed = format!("{FORM}\r\nContent-Encoding: gzip");
    let (line, answer) = post(&service, &path("entity_type=IMAGES"), &compressed, b"x").await;
    assert_eq!(line, "HTTP/1.1 415 Unsupported Media Type");
    assert!(answer.contains("without Content-Encoding"), "{answer}");
    let list = form(&[file("name=\"file[]\"; filename=\"query.png\"")]);
    let (line, answer) = post(&service, &path("entity_type=IMAGES"), FORM, &list).await;
    assert_eq!(line, "HTTP/1.1 400 Bad Request");
    assert!(answer.starts_with(r#"{"detail":"No file was provided"#), "{answer}");
    let (line, answer) = post(&service, &path(""), FORM, &form(&[image()])).await;
    assert_eq!(
        (line.as_str(), answer.as_str()),
        ("HTTP/1.1 400 Bad Request", r#"{"detail":"entity_type: Field required"}"#)
    );
}
