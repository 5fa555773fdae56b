//! Checks signatures of requests (AWS Signature Version 4), independently of the client.

use axum::http::request::Parts;
use reqwest::Url;
use ring::{
    digest,
    hmac::{HMAC_SHA256, Key, sign},
};

/// Whether the request is signed with this key and names its session token, in its headers or, as a
/// link, in its query.
pub fn is_signed(request: &Parts, key: (&str, &str), token: &str, region: &str) -> bool {
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
    let uri = request.uri.to_string();
    if uri.contains("X-Amz-Signature=") {
        return is_signed_link(request, key, token, region);
    }
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
    let value = |name: &str| header(name).unwrap_or_default().trim();
    let headers: Vec<String> =
        signed.split(';').map(|name| format!("{name}:{}", value(name))).collect();
    let headers = headers.join("\n");
    let payload = header("x-amz-content-sha256").unwrap_or_default();
    let query = canonical_query(&uri, "");
    let canonical = format!(
        "{}\n{}\n{query}\n{headers}\n\n{signed}\n{payload}",
        request.method,
        request.uri.path()
    );
    let expected = sign_request(&canonical, key.1, date, &scope);
    field("Credential") == Some(&format!("{}/{scope}", key.0))
        && header("x-amz-security-token") == Some(token)
        && signature == expected
}

fn is_signed_link(request: &Parts, key: (&str, &str), token: &str, region: &str) -> bool {
    let uri = request.uri.to_string();
    let url = Url::parse(&format!("http://x{uri}")).unwrap();
    let value = |wanted: &str| {
        let found = url.query_pairs().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let date = value("X-Amz-Date");
    let scope = format!("{}/{region}/s3/aws4_request", &date[..8]);
    let host = request.headers["host"].to_str().unwrap();
    let canonical = format!(
        "{}\n{}\n{}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD",
        request.method,
        request.uri.path(),
        canonical_query(&uri, "X-Amz-Signature")
    );
    value("X-Amz-Credential") == format!("{}/{scope}", key.0)
        && value("X-Amz-Security-Token") == token
        && value("X-Amz-Signature") == sign_request(&canonical, key.1, &date, &scope)
}

fn sign_request(canonical: &str, secret: &str, date: &str, scope: &str) -> String {
    let digest = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}");
    let mut derived = format!("AWS4{secret}").into_bytes();
    for part in scope.split('/').chain([text.as_str()]) {
        derived = sign(&Key::new(HMAC_SHA256, &derived), part.as_bytes()).as_ref().to_vec();
    }
    hex(&derived)
}

fn canonical_query(uri: &str, without: &str) -> String {
    let url = Url::parse(&format!("http://x{uri}")).unwrap();
    let mut pairs: Vec<String> = url
        .query_pairs()
        .filter(|(name, _)| name != without)
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
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}
