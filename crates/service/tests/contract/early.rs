//! Errors during an upload, which the client must receive.

use reqwest::multipart::{Form, Part};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{change::plain, support::Service};

/// Size of a rejected upload, larger than what the server drains.
const LARGE: usize = 4 << 20;

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
