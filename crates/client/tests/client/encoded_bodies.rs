//! Bodies that a storage or a proxy has encoded although nobody asked for it: gzip is decoded and never resumed by
//! ranges, and any other encoding is named.

use crate::download_service::{
    DownloadFolder, archive, equal, fetches, part, serve, service, start_of, torn,
};
use crate::test_zip::gzip;
use tessera_model::{DatasetList, FailureKind, Link};
use tessera_testing::{
    clients::{hosted, without_pauses},
    scripted::{ReceivedRequest, Reply, ScriptedServer, head},
};

fn encoded(bytes: &[u8], encoding: &str) -> Reply {
    Reply::new(200, &[("etag", "\"v1\""), ("content-encoding", encoding)], bytes)
}

#[tokio::test]
async fn a_compressed_archive_is_decoded() {
    let bytes = archive();
    let whole = gzip(&bytes);
    let (one, two) = bytes.split_at(1_000);
    let padded = [gzip(one), vec![0; 3], gzip(two), vec![0; 5_000]].concat();
    for body in [whole, [gzip(one), gzip(two)].concat(), padded] {
        // An object that was uploaded compressed may have no header, so that its own bytes have to show it.
        for header in ["gzip", "identity"] {
            let body = body.clone();
            let server = service(move |_, _| encoded(&body, header)).await;
            let downloads = DownloadFolder::new();
            downloads.download(&server).await.unwrap();
            assert!(equal(&downloads.target(), &bytes));
            assert_eq!(fetches(&server)[0].header("accept-encoding"), Some("identity"));
        }
    }
}

#[tokio::test]
async fn other_bytes_after_a_compressed_archive_are_damage() {
    let body = [gzip(&archive()), b"\0more".to_vec()].concat();
    let server = service(move |_, _| encoded(&body, "gzip")).await;
    let failure = DownloadFolder::new().download(&server).await.unwrap_err().to_string();
    assert!(failure.contains("the compressed response is damaged"), "{failure}");
}

#[tokio::test]
async fn a_compressed_picture_is_decoded_within_its_limit() {
    let picture = vec![7; 100_000];
    let body = gzip(&picture);
    let server = ScriptedServer::start(move |_: &ReceivedRequest| encoded(&body, "gzip")).await;
    let client = hosted(&server.url(), without_pauses());
    let link = Link::new("/thumb/1.jpg");
    assert_eq!(client.fetch_picture(&link, 100_000).await.unwrap(), picture);
    let failure = client.fetch_picture(&link, 99_999).await.unwrap_err().to_string();
    assert!(failure.contains("larger than"), "{failure}");
}

#[tokio::test]
async fn a_wrong_header_does_not_damage_an_archive() {
    for encoding in
        ["gzip", "aws-chunked", "aws-chunked,gzip", "utf-8", "Binary", "text/plain", "br"]
    {
        let (bytes, stored) = (archive(), archive());
        let server = service(move |_, _| encoded(&stored, encoding)).await;
        let downloads = DownloadFolder::new();
        downloads.download(&server).await.unwrap();
        assert!(equal(&downloads.target(), &bytes), "{encoding}");
    }
}

#[tokio::test]
async fn a_wrong_header_does_not_damage_json() {
    for encoding in ["UTF8", "8bit", "none", "zstd"] {
        let server =
            ScriptedServer::start(move |_: &ReceivedRequest| encoded(b"[]", encoding)).await;
        let listed = hosted(&server.url(), without_pauses()).list_datasets().await;
        assert_eq!(listed, Ok(DatasetList::default()), "{encoding}");
    }
}

#[tokio::test]
async fn compressed_json_without_a_header_is_decoded() {
    let server =
        ScriptedServer::start(|_: &ReceivedRequest| encoded(&gzip(b"[]"), "identity")).await;
    let listed = hosted(&server.url(), without_pauses()).list_datasets().await;
    assert_eq!(listed, Ok(DatasetList::default()));
}

#[tokio::test]
async fn a_web_page_is_no_archive() {
    let page = b"\n<!DOCTYPE html><title>Log in</title>";
    let server = service(move |_, _| Reply::new(200, &[("content-type", "text/html")], page)).await;
    let downloads = DownloadFolder::new();
    let failure = downloads.download(&server).await.unwrap_err().to_string();
    assert!(failure.contains("returned a web page"), "{failure}");
    assert!(!downloads.target().exists());
}

#[tokio::test]
async fn an_interrupted_compressed_archive_starts_over_without_a_range() {
    let (bytes, stored) = (archive(), gzip(&archive()));
    let server = service(move |_, request| match request {
        0 => {
            let length = stored.len().to_string();
            let headers = [("content-length", length.as_str()), ("content-encoding", "gzip")];
            Reply::raw([&head(200, &headers), &stored[..stored.len() / 2]].concat())
        }
        _ => encoded(&stored, "x-gzip"),
    })
    .await;
    let downloads = DownloadFolder::new();
    downloads.download(&server).await.unwrap();
    assert!(equal(&downloads.target(), &bytes));
    let starts: Vec<_> = fetches(&server).iter().map(start_of).collect();
    assert_eq!(starts, [None, None]);
}

#[tokio::test]
async fn a_range_of_a_compressed_archive_is_not_appended() {
    let (bytes, plain) = (archive(), archive());
    let stored = gzip(&bytes);
    let server = service(move |seen, request| match request {
        0 => torn(&plain, 1_500, "\"v1\""),
        _ if start_of(seen).is_some() => {
            let range = format!("bytes 1500-{}/{}", stored.len() - 1, stored.len());
            let headers = [
                ("etag", "\"v1\""),
                ("content-encoding", "gzip"),
                ("content-range", range.as_str()),
            ];
            Reply::new(206, &headers, &stored[1_500.min(stored.len())..])
        }
        _ => encoded(&stored, "gzip"),
    })
    .await;
    let downloads = DownloadFolder::new();
    downloads.download(&server).await.unwrap();
    assert!(equal(&downloads.target(), &bytes));
    let starts: Vec<_> = fetches(&server).iter().map(start_of).collect();
    assert_eq!(starts, [None, Some(1_500), None]);
}

#[tokio::test]
async fn other_encodings_are_named_and_identity_is_none() {
    for encoding in ["br", "zstd", "gzip, br"] {
        let server = service(move |_, _| encoded(b"compressed", encoding)).await;
        let failure = DownloadFolder::new().download(&server).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unexpected);
        let text = failure.to_string();
        assert!(text.contains(encoding) && text.contains("Content-Encoding"), "{text}");
        assert_eq!(fetches(&server).len(), 1, "it is not sent again");
    }
    let bytes = archive();
    let server = service(move |seen, request| match request {
        0 => torn(&bytes, 1_000, "\"v1\""),
        _ => part(&bytes, start_of(seen).unwrap(), "\"v1\""),
    })
    .await;
    DownloadFolder::new().download(&server).await.unwrap();
    let bytes = archive();
    let server = service(move |seen, _| serve(seen, &bytes, "\"v1\"")).await;
    DownloadFolder::new().download(&server).await.unwrap();
}
