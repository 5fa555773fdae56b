//! Google Cloud Storage: requests as its documentation of the XML API describes them, and responses that are
//! written by hand.

use reqwest::Url;
use tessera_media::object_storage::{BucketFolder, StorageSettings};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{
    ObjectBody, ObjectUri, fake_s3, fake_s3::percent_decode, file_of, keys, object_entry_of,
};

const TOKEN: &str = "ya29.c4nary";
const MODIFIED: &str = "Mon, 05 Jan 2026 10:00:00 GMT";
const PAGES: [&str; 2] = [
    "<?xml version='1.0' encoding='UTF-8'?><ListBucketResult \
     xmlns='http://doc.s3.amazonaws.com/2006-03-01'><Name>photos</Name><Prefix>set/</Prefix>\
     <KeyCount>2</KeyCount><IsTruncated>true</IsTruncated><NextContinuationToken>EgZhIGI=\
     </NextContinuationToken><Contents><Key>set/a b.jpg</Key><Generation>1767607200000000</Generation>\
     <MetaGeneration>1</MetaGeneration><LastModified>2026-01-05T10:00:00.000Z</LastModified>\
     <ETag>\"5d41\"</ETag><Size>8</Size></Contents><Contents><Key>set/</Key>\
     <Generation>1767607200000001</Generation><MetaGeneration>1</MetaGeneration>\
     <LastModified>2026-01-05T10:00:00.000Z</LastModified><ETag>\"5d42\"</ETag><Size>0</Size>\
     </Contents></ListBucketResult>",
    "<?xml version='1.0' encoding='UTF-8'?><ListBucketResult \
     xmlns='http://doc.s3.amazonaws.com/2006-03-01'><Name>photos</Name><Prefix>set/</Prefix>\
     <KeyCount>1</KeyCount><IsTruncated>false</IsTruncated><Contents><Key>set/z.png</Key>\
     <Generation>1767607200000002</Generation><MetaGeneration>1</MetaGeneration>\
     <LastModified>2026-01-05T10:00:00.000Z</LastModified><ETag>\"5d43\"</ETag><Size>5</Size>\
     </Contents></ListBucketResult>",
];

fn settings(server: &ScriptedServer) -> StorageSettings {
    let variables = [("GOOGLE_BEARER_TOKEN", TOKEN.to_owned()), ("GOOGLE_BASE_URL", server.url())];
    StorageSettings::from_env(variables.map(|(name, value)| (name.to_owned(), value))).unwrap()
}

fn parameter(request: &ReceivedRequest, wanted: &str) -> Option<String> {
    let url = Url::parse(&format!("http://x{}", request.target)).unwrap();
    url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
}

fn error(status: u16, code: &str) -> Reply {
    let body = format!(
        "<?xml version='1.0' encoding='UTF-8'?><Error><Code>{code}</Code><Message>c4nary</Message></Error>"
    );
    Reply::new(status, &[("content-type", "application/xml; charset=UTF-8")], body)
}

/// Slashes are escaped in the names of objects, too.
fn path(request: &ReceivedRequest) -> String {
    percent_decode(request.path())
}

/// A server that checks the token.
async fn server(
    script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
) -> ScriptedServer {
    ScriptedServer::start(move |request| {
        let is_allowed = request.header("authorization") == Some(&format!("Bearer {TOKEN}"));
        if is_allowed { script(request) } else { error(401, "AuthenticationRequired") }
    })
    .await
}

#[tokio::test]
async fn a_bucket_is_listed_in_parts() {
    let server = server(|request| {
        let next = parameter(request, "continuation-token").is_some();
        Reply::new(200, &[("content-type", "application/xml")], PAGES[usize::from(next)])
    })
    .await;
    let storage = fake_s3::storage(settings(&server));
    let mut parts = storage.parts("gs://photos/set", usize::MAX).unwrap();
    let first = parts.next().await.unwrap().unwrap();
    assert_eq!(
        (keys(&first), first.skipped.len(), parts.has_more()),
        (vec!["set/a b.jpg"], 0, true)
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
    assert_eq!(asked("prefix"), [Some("set/".to_owned()), Some("set/".to_owned())]);
    assert_eq!(asked("continuation-token"), [None, Some("EgZhIGI=".to_owned())]);
}

#[tokio::test]
async fn a_part_of_an_object_is_read_without_what_precedes_it() {
    let server = server(|request| {
        let tag = [("etag", "\"5d41\""), ("last-modified", MODIFIED)];
        if path(request) != "/photos/set/a b.jpg" {
            return error(404, "NoSuchKey");
        }
        match request.header("range") {
            None => Reply::new(200, &tag, "01234567"),
            Some(range) => {
                assert_eq!((range, request.header("if-match")), ("bytes=5-", Some("\"5d41\"")));
                Reply::new(206, &[tag[0], tag[1], ("content-range", "bytes 5-7/8")], "567")
            }
        }
    })
    .await;
    let storage = fake_s3::storage(settings(&server));
    let entry = object_entry_of("gs://photos/set/a b.jpg");
    let mut body = ObjectBody::open(&storage, &entry.bucket, &entry.key).await.unwrap();
    assert_eq!(body.size(), 8);
    body.seek(5);
    assert_eq!(body.next().await.unwrap().unwrap(), &b"567"[..]);
    assert!(body.next().await.unwrap().is_none());
    let gone = object_entry_of("gs://photos/gone.jpg");
    let gone = ObjectBody::open(&storage, &gone.bucket, &gone.key).await.unwrap_err();
    assert_eq!(gone.to_string(), "it does not exist");
}

#[tokio::test]
async fn objects_are_written_whole_or_in_parts_and_deleted() {
    let server = server(|request| {
        let written = [("etag", "\"5d44\""), ("x-goog-generation", "1767607200000003")];
        let xml = |body: &str| Reply::new(200, &written, body);
        match (request.method.as_str(), parameter(request, "uploadId")) {
            ("DELETE", _) => Reply::new(204, &[], ""),
            ("POST", None) => xml(
                "<InitiateMultipartUploadResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>\
                 <Bucket>photos</Bucket><Key>tessera/large</Key><UploadId>VXBsb2Fk</UploadId>\
                 </InitiateMultipartUploadResult>",
            ),
            ("POST", Some(_)) => xml(
                "<CompleteMultipartUploadResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>\
                 <Bucket>photos</Bucket><Key>tessera/large</Key><ETag>\"5d45-2\"</ETag>\
                 </CompleteMultipartUploadResult>",
            ),
            _ => xml(""),
        }
    })
    .await;
    let uri = ObjectUri::parse("gs://photos/tessera").unwrap();
    let folder = BucketFolder::new(&settings(&server), &uri).unwrap();
    folder.put_file("small", file_of(3)).await.unwrap();
    folder.put_file("large", file_of((8 << 20) + 1)).await.unwrap();
    folder.delete("small").await.unwrap();
    let requests = server.requests();
    let paths: Vec<String> = requests.iter().map(path).collect();
    let sent: Vec<(&str, &str, Option<String>)> = requests
        .iter()
        .zip(&paths)
        .map(|(request, path)| {
            let part = parameter(request, "partNumber");
            (request.method.as_str(), path.as_str(), part)
        })
        .collect();
    let (small, large) = ("/photos/tessera/small", "/photos/tessera/large");
    assert_eq!(
        sent,
        [
            ("PUT", small, None),
            ("POST", large, None),
            ("PUT", large, Some("1".to_owned())),
            ("PUT", large, Some("2".to_owned())),
            ("POST", large, None),
            ("DELETE", small, None),
        ]
    );
    assert_eq!((requests[2].body.len(), requests[3].body.len()), (8 << 20, 1));
    assert_eq!(parameter(&requests[4], "uploadId").as_deref(), Some("VXBsb2Fk"));
    let complete = String::from_utf8(requests[4].body.clone()).unwrap();
    assert_eq!(complete.matches("<PartNumber>").count(), 2, "{complete}");
}

#[tokio::test]
async fn an_object_that_is_gone_counts_as_deleted() {
    let server = server(|_| error(404, "NoSuchKey")).await;
    let uri = ObjectUri::parse("gs://photos/tessera").unwrap();
    let folder = BucketFolder::new(&settings(&server), &uri).unwrap();
    folder.delete("small").await.unwrap();
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn refusals_state_the_cause_without_secrets() {
    let causes: [(u16, &str, &str); 5] = [
        (401, "InvalidToken", "the access key of this deployment is not accepted"),
        (404, "NoSuchBucket", "the bucket does not exist"),
        (403, "AccessDenied", "access is denied"),
        (400, "InvalidBucketName", "the storage responded with 400 InvalidBucketName"),
        (503, "ServiceUnavailable", "the storage is temporarily unavailable (503)"),
    ];
    for (status, code, expected) in causes {
        let server = server(move |_| error(status, code)).await;
        let storage = fake_s3::storage(settings(&server));
        let refusal =
            storage.list("gs://photos/set", None, usize::MAX).await.unwrap_err().to_string();
        assert!(refusal.ends_with(&format!("({expected})")), "{refusal}");
        assert!(!refusal.contains("c4nary"), "{refusal}");
        assert_eq!(server.count(), if status == 503 { 4 } else { 1 }, "{code}");
    }
}
