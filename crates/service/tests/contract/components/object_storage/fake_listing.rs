//! The listings of the fake S3 service.

use std::fmt::Write as _;

use axum::{
    body::Bytes,
    response::{IntoResponse as _, Response},
};
use reqwest::Url;

use super::fake_s3::FakeS3;

pub fn list_response(server: &FakeS3, bucket: &str, url: &Url) -> Response {
    let value = |wanted: &str| {
        url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    if value("uploads").is_some() {
        let (prefix, after) = (value("prefix").unwrap(), value("key-marker").unwrap_or_default());
        return server.uploads.list(bucket, &prefix, &after, &server.modified.lock().unwrap());
    }
    assert_eq!(value("list-type").as_deref(), Some("2"));
    let prefix = format!("{bucket}/{}", value("prefix").unwrap());
    // A token with characters that need escaping.
    let start = value("continuation-token")
        .map_or(0, |token| token.strip_prefix("from /+=& ").unwrap().parse().unwrap());
    let objects = server.objects.lock().unwrap();
    let delimiter = value("delimiter");
    // The common prefix of a name, or its object.
    let mut found: Vec<(&str, Option<&Bytes>)> = Vec::new();
    for (name, bytes) in objects.iter().filter(|(name, _)| name.starts_with(&prefix)) {
        let below = delimiter.as_deref().and_then(|it| name[prefix.len()..].find(it));
        match below {
            None => found.push((name, Some(bytes))),
            Some(at) => found.push((&name[..=prefix.len() + at], None)),
        }
    }
    found.dedup();
    let modified = *server.modified.lock().unwrap();
    let rest = found.len() > start + server.page;
    let mut xml = String::from(
        "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">",
    );
    for (name, bytes) in found.iter().skip(start).take(server.page) {
        let key = xml_escape(&name[bucket.len() + 1..]);
        let Some(bytes) = bytes else {
            write!(xml, "<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>").unwrap();
            continue;
        };
        let size = bytes.len();
        let tag = blake3::hash(bytes).to_hex();
        write!(
            xml,
            "<Contents><Key>{key}</Key><LastModified>{modified}</LastModified>\
             <ETag>&quot;{tag}&quot;</ETag><Size>{size}</Size></Contents>"
        )
        .unwrap();
    }
    write!(xml, "<IsTruncated>{rest}</IsTruncated>").unwrap();
    if rest {
        let token = format!("from /+=&amp; {}", start + server.page);
        write!(xml, "<NextContinuationToken>{token}</NextContinuationToken>").unwrap();
    }
    (xml + "</ListBucketResult>").into_response()
}

/// Escapes like the XML library of Go, which many services use.
fn xml_escape(text: &str) -> String {
    let escape = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '"' | '\t' | '\n' => format!("&#{};", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}
