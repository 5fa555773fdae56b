//! Azure Blob Storage: requests as its documentation describes them, and responses that are written by hand.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Url;
use ring::hmac::{HMAC_SHA256, Key, sign};
use tessera_media::object_storage::{BucketFolder, StorageSettings};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{ObjectBody, ObjectUri, StorageError, fake_s3, file_of, keys, object_entry_of, read};

const ACCOUNT: &str = "team";
const KEY: &[u8] = b"a shared key of 32 bytes, or so.";
const MODIFIED: &str = "Mon, 05 Jan 2026 10:00:00 GMT";
const PAGES: [&str; 2] = [
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=\"photos\">\
     <Prefix>set/</Prefix><Blobs>\
     <Blob><Name>set/a b.jpg</Name><Properties><Last-Modified>Mon, 05 Jan 2026 10:00:00 GMT\
     </Last-Modified><Etag>0x8DE1</Etag><Content-Length>8</Content-Length>\
     <Content-Type>image/jpeg</Content-Type></Properties></Blob>\
     <Blob><Name>set//empty.jpg</Name><Properties><Last-Modified>Mon, 05 Jan 2026 10:00:00 GMT\
     </Last-Modified><Etag>0x8DE2</Etag><Content-Length>1</Content-Length>\
     <Content-Type>image/jpeg</Content-Type></Properties></Blob>\
     </Blobs><NextMarker>2!72!next</NextMarker></EnumerationResults>",
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=\"photos\">\
     <Prefix>set/</Prefix><Blobs>\
     <Blob><Name>set/z.png</Name><Properties><Last-Modified>Mon, 05 Jan 2026 10:00:00 GMT\
     </Last-Modified><Etag>0x8DE3</Etag><Content-Length>5</Content-Length>\
     <Content-Type>image/png</Content-Type></Properties></Blob>\
     </Blobs><NextMarker /></EnumerationResults>",
];

fn settings(server: &ScriptedServer) -> StorageSettings {
    let variables = [
        ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT.to_owned()),
        ("AZURE_STORAGE_ACCOUNT_KEY", BASE64_STANDARD.encode(KEY)),
        ("AZURE_STORAGE_ENDPOINT", server.url()),
    ];
    StorageSettings::from_env(variables.map(|(name, value)| (name.to_owned(), value))).unwrap()
}

fn url(request: &ReceivedRequest) -> Url {
    Url::parse(&format!("http://x{}", request.target)).unwrap()
}

fn parameter(request: &ReceivedRequest, wanted: &str) -> Option<String> {
    let url = url(request);
    url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
}

/// Whether a request is signed with the shared key, computed from what arrived.
fn is_signed(request: &ReceivedRequest) -> bool {
    let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
    let length = header("content-length");
    let length = if length == "0" { String::new() } else { length };
    let mut azure_headers: Vec<String> = request
        .headers
        .iter()
        .filter(|(name, _)| name.starts_with("x-ms-"))
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    azure_headers.sort();
    let url = url(request);
    let mut query: Vec<String> =
        url.query_pairs().map(|(name, value)| format!("\n{name}:{value}")).collect();
    query.sort();
    let standard = [
        "content-encoding",
        "content-language",
        "content-length",
        "content-md5",
        "content-type",
        "date",
        "if-modified-since",
        "if-match",
        "if-none-match",
        "if-unmodified-since",
        "range",
    ];
    let standard: String = standard
        .iter()
        .map(|name| if *name == "content-length" { length.clone() } else { header(name) } + "\n")
        .collect();
    let text = format!(
        "{}\n{standard}{}/{ACCOUNT}{}{}",
        request.method,
        azure_headers.concat(),
        url.path(),
        query.concat()
    );
    let signature = sign(&Key::new(HMAC_SHA256, KEY), text.as_bytes());
    let expected = format!("SharedKey {ACCOUNT}:{}", BASE64_STANDARD.encode(signature));
    header("authorization") == expected
}

fn error(status: u16, code: &str) -> Reply {
    let body = format!(
        "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>c4nary\n\
         RequestId:1</Message></Error>"
    );
    Reply::new(status, &[("content-type", "application/xml"), ("x-ms-error-code", code)], body)
}

/// A server that checks signatures.
async fn server(
    script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
) -> ScriptedServer {
    ScriptedServer::start(move |request| {
        if is_signed(request) { script(request) } else { error(403, "AuthenticationFailed") }
    })
    .await
}

#[tokio::test]
async fn a_container_is_listed_in_parts() {
    let server = server(|request| {
        let next = parameter(request, "marker").is_some();
        Reply::new(200, &[("content-type", "application/xml")], PAGES[usize::from(next)])
    })
    .await;
    let storage = fake_s3::storage(settings(&server));
    let mut parts = storage.parts("az://photos/set", usize::MAX).unwrap();
    let first = parts.next().await.unwrap().unwrap();
    assert_eq!(
        (keys(&first), first.skipped.len(), parts.has_more()),
        (vec!["set/a b.jpg"], 1, true)
    );
    let second = parts.next().await.unwrap().unwrap();
    assert_eq!((keys(&second), parts.has_more()), (vec!["set/z.png"], false));
    assert_eq!((second.entries[0].size, parts.next().await.unwrap()), (Some(5), None));
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.path() == "/photos"));
    let asked = |name: &str| {
        let values = requests.iter().map(|request| parameter(request, name));
        values.collect::<Vec<_>>()
    };
    assert_eq!(asked("comp"), [Some("list".to_owned()), Some("list".to_owned())]);
    assert_eq!(asked("prefix"), [Some("set/".to_owned()), Some("set/".to_owned())]);
    assert_eq!(asked("marker"), [None, Some("2!72!next".to_owned())]);
}

#[tokio::test]
async fn a_part_of_a_blob_is_read_without_what_precedes_it() {
    let server = server(|request| {
        let tag = [("etag", "\"0x8DE1\""), ("last-modified", MODIFIED)];
        if request.path() != "/photos/set/a%20b.jpg" {
            return error(404, "BlobNotFound");
        }
        match request.header("range") {
            None => Reply::new(200, &tag, "01234567"),
            Some(range) => {
                assert_eq!((range, request.header("if-match")), ("bytes=5-", Some("\"0x8DE1\"")));
                Reply::new(206, &[tag[0], tag[1], ("content-range", "bytes 5-7/8")], "567")
            }
        }
    })
    .await;
    let storage = fake_s3::storage(settings(&server));
    let entry = object_entry_of("az://photos/set/a b.jpg");
    let mut body = ObjectBody::open(&storage, &entry.bucket, &entry.key).await.unwrap();
    assert_eq!(body.size(), 8);
    body.seek(5);
    assert_eq!(body.next().await.unwrap().unwrap(), &b"567"[..]);
    assert!(body.next().await.unwrap().is_none());
    let gone = read(&storage, &object_entry_of("az://photos/gone.jpg")).await.unwrap_err();
    assert_eq!(gone.to_string(), "it does not exist");
}

#[tokio::test]
async fn blobs_are_written_whole_or_in_blocks_and_deleted() {
    // Deletions are sent in batches.
    let server = server(|request| match request.method.as_str() {
        "POST" => Reply::new(
            202,
            &[("content-type", "multipart/mixed; boundary=batchresponse_1")],
            "--batchresponse_1\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\n\
             HTTP/1.1 202 Accepted\r\nx-ms-delete-type-permanent: true\r\nx-ms-request-id: 1\r\n\
             x-ms-version: 2018-11-09\r\n\r\n--batchresponse_1--",
        ),
        _ => Reply::new(201, &[("etag", "\"0x8DE4\""), ("last-modified", MODIFIED)], ""),
    })
    .await;
    let uri = ObjectUri::parse("az://photos/tessera").unwrap();
    let folder = BucketFolder::new(&settings(&server), &uri).unwrap();
    folder.put_file("small", file_of(3)).await.unwrap();
    folder.put_file("large", file_of((8 << 20) + 1)).await.unwrap();
    folder.delete("small").await.unwrap();
    let requests = server.requests();
    let sent: Vec<(&str, &str, Option<String>, usize)> = requests
        .iter()
        .map(|request| {
            let comp = parameter(request, "comp");
            (request.method.as_str(), request.path(), comp, request.body.len())
        })
        .collect();
    let (block, list) = (Some("block".to_owned()), Some("blocklist".to_owned()));
    let large = "/photos/tessera/large";
    assert_eq!(
        sent,
        [
            ("PUT", "/photos/tessera/small", None, 3),
            ("PUT", large, block.clone(), 8 << 20),
            ("PUT", large, block, 1),
            ("PUT", large, list, requests[3].body.len()),
            ("POST", "/photos", Some("batch".to_owned()), requests[4].body.len()),
        ]
    );
    let batch = String::from_utf8(requests[4].body.clone()).unwrap();
    assert!(batch.contains("DELETE /photos/tessera/small HTTP/1.1"), "{batch}");
    assert_eq!(requests[0].header("x-ms-blob-type"), Some("BlockBlob"));
    let blocks = String::from_utf8(requests[3].body.clone()).unwrap();
    let position = |number: usize| blocks.find(&parameter(&requests[number], "blockid").unwrap());
    assert!(position(1).unwrap() < position(2).unwrap(), "the order of the parts: {blocks}");
}

#[tokio::test]
async fn refusals_state_the_cause_without_secrets() {
    let causes: [(u16, &str, &str); 5] = [
        (403, "AuthenticationFailed", "the access key of this deployment is not accepted"),
        (404, "ContainerNotFound", "the bucket does not exist"),
        (403, "AuthorizationFailure", "access is denied"),
        (409, "ContainerBeingDeleted", "the storage responded with 409 ContainerBeingDeleted"),
        (503, "ServerBusy", "the storage is temporarily unavailable (503)"),
    ];
    for (status, code, expected) in causes {
        let server = server(move |_| error(status, code)).await;
        let storage = fake_s3::storage(settings(&server));
        let refusal =
            storage.list("az://photos/set", None, usize::MAX).await.unwrap_err().to_string();
        assert!(refusal.ends_with(&format!("({expected})")), "{refusal}");
        assert_eq!(server.count(), if status == 503 { 4 } else { 1 }, "{code}");
    }
}

#[tokio::test]
async fn an_account_is_required() {
    let settings = StorageSettings::from_env([]).unwrap();
    let entry = object_entry_of("az://photos/a.jpg");
    let refused = read(&fake_s3::storage(settings), &entry).await.unwrap_err();
    assert!(matches!(&refused, StorageError::Refused(reason) if
        reason == "AZURE_STORAGE_ACCOUNT_NAME is not set"));
}
