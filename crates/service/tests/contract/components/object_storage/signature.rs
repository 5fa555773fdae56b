//! Checks signatures of requests (AWS Signature Version 4), independently of the client.

use aws_lc_rs::{
    digest,
    hmac::{HMAC_SHA256, Key, sign},
};
use axum::http::request::Parts;
use reqwest::Url;

/// Whether the request is signed with this key and names its session token.
pub fn is_signed(request: &Parts, key: (&str, &str), token: &str, region: &str) -> bool {
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
    let Some(authorization) = header("authorization") else { return false };
    let field = |name: &str| {
        let (_, rest) = authorization.split_once(&format!("{name}="))?;
        rest.split([',', ' ']).next()
    };
    let (Some(signed), Some(signature)) = (field("SignedHeaders"), field("Signature")) else {
        return false;
    };
    let date = header("x-amz-date").unwrap_or_default();
    let day = &date[..8];
    let scope = format!("{day}/{region}/s3/aws4_request");
    let headers: String = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", header(name).unwrap_or_default().trim()))
        .collect();
    let payload = header("x-amz-content-sha256").unwrap_or_default();
    let (path, query) = (request.uri.path(), canonical_query(&request.uri.to_string()));
    let canonical = format!("{}\n{path}\n{query}\n{headers}\n{signed}\n{payload}", request.method);
    let digest = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}");
    let mut derived = format!("AWS4{}", key.1).into_bytes();
    for part in [day, region, "s3", "aws4_request", &text] {
        derived = sign(&Key::new(HMAC_SHA256, &derived), part.as_bytes()).as_ref().to_vec();
    }
    field("Credential") == Some(&format!("{}/{scope}", key.0))
        && header("x-amz-security-token") == Some(token)
        && signature == hex(&derived)
}

fn canonical_query(uri: &str) -> String {
    let url = Url::parse(&format!("http://x{uri}")).unwrap();
    let mut pairs: Vec<String> = url
        .query_pairs()
        .map(|(name, value)| format!("{}={}", encode(&name), encode(&value)))
        .collect();
    pairs.sort();
    pairs.join("&")
}

fn encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
