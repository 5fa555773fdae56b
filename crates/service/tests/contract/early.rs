//! Errors during an upload, which the client must receive.

use reqwest::multipart::{Form, Part};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{change::plain, support::Service};

/// Size of a rejected upload, larger than what the buffers of the system hold.
const LARGE: usize = 16 << 20;

fn upload() -> Form {
    Form::new().part("files", Part::bytes(vec![0x55; LARGE]).file_name("large.png"))
}

#[tokio::test]
async fn the_error_of_a_large_upload_is_received() {
    let service = Service::of_pictures().await;
    service.set_status("ERROR");
    let url = service.url(&service.of_dataset("/add_media"));
    let nobody = "/api/v1/dataset/00000000-0000-0000-0000-000000000000/add_media";
    for _ in 0..5 {
        let stranger = service.client.post(&url).multipart(upload());
        assert_eq!(plain(stranger).await.0, 401);
        let busy = service.post(&service.of_dataset("/add_media")).multipart(upload());
        assert_eq!(plain(busy).await.0, 409);
        assert_eq!(plain(service.post(nobody).multipart(upload())).await.0, 404);
        let wrong = service.post("/api/v1/dataset/x/add_media").multipart(upload());
        assert_eq!(plain(wrong).await.0, 422);
        let path = service.of_dataset("/search-image-similarity");
        assert_eq!(plain(service.post(&path).multipart(upload())).await.0, 400);
        let path = service.of_dataset("/nothing");
        assert_eq!(plain(service.post(&path).multipart(upload())).await.0, 404);
    }
}

/// The first bytes of the response to `Expect: 100-continue`.
async fn asked_first(service: &Service, path: &str, token: &str) -> String {
    let host = service.address;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: multipart/form-data; boundary=X\r\nContent-Length: 900000000\r\n\
         Expect: 100-continue\r\n\r\n"
    );
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = vec![0; 12];
    stream.read_exact(&mut first).await.unwrap();
    String::from_utf8(first).unwrap()
}

#[tokio::test]
async fn expect_100_continue_is_rejected_before_the_body() {
    let service = Service::of_pictures().await;
    let (add, token) = (service.of_dataset("/add_media"), service.token());
    assert_eq!(asked_first(&service, &add, &token).await, "HTTP/1.1 100");
    assert_eq!(asked_first(&service, &add, "").await, "HTTP/1.1 401");
    let search = service.of_dataset("/search-image-similarity");
    assert_eq!(asked_first(&service, &search, &token).await, "HTTP/1.1 400");
    service.set_status("ERROR");
    assert_eq!(asked_first(&service, &add, &token).await, "HTTP/1.1 409");
}

/// The status of the response to a client that sends its whole body before it reads.
async fn answered_after_the_body(
    service: &Service,
    path: &str,
    kind: &str,
    length: usize,
) -> String {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: {kind}\r\n\
         Content-Length: {length}\r\n\r\n",
        service.address,
        service.token()
    );
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b' '; length]).await.unwrap();
    let mut first = vec![0; 12];
    stream.read_exact(&mut first).await.unwrap();
    String::from_utf8(first).unwrap()
}

#[tokio::test]
async fn a_client_that_reads_only_after_its_body_receives_the_error() {
    let service = Service::of_pictures().await;
    let form = "multipart/form-data; boundary=X";
    let selection = service.of_dataset("/export_entities_async?export_format=json");
    let answered = |kind, length| answered_after_the_body(&service, &selection, kind, length);
    assert_eq!(answered("application/json", 64 << 20).await, "HTTP/1.1 413");
    assert_eq!(answered("text/plain", 64 << 20).await, "HTTP/1.1 422");
    let image = service.of_dataset("/search-image-similarity?entity_type=IMAGES");
    assert_eq!(answered_after_the_body(&service, &image, form, 64 << 20).await, "HTTP/1.1 413");
    let upload = service.of_dataset("/add_media");
    assert_eq!(answered_after_the_body(&service, &upload, form, 64 << 20).await, "HTTP/1.1 400");
}
