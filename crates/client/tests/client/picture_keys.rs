//! The keys of cached pictures: stable over signatures, different for everything else.

use std::collections::HashSet;

use tessera_client::{AuthMethod, BaseUrl, Client, Credentials, PictureKey, ServiceConfig};
use tessera_model::Link;

fn hosted(api_key: &str) -> AuthMethod {
    let api_secret = "a secret of at least thirty-two bytes".into();
    AuthMethod::Hosted(Credentials { api_key: api_key.to_owned(), api_secret })
}

fn key(base: &str, auth: AuthMethod, url: &str) -> PictureKey {
    let service = ServiceConfig::new(BaseUrl::parse(base).unwrap(), auth).unwrap();
    Client::new(service).unwrap().picture_key(&Link::new(url)).unwrap()
}

#[test]
fn a_new_signature_keeps_the_key() {
    let of = |query: &str| {
        key("https://a.example", hosted("k"), &format!("https://cdn.example/1.jpg{query}"))
    };
    for query in [
        "?signature=1&expires=2",
        "?X-Amz-Signature=1&X-Amz-Date=2&X-Amz-Credential=3",
        "?X-Goog-Signature=1",
        "?Policy=1&Key-Pair-Id=2&Signature=3",
        "?sv=2024-11-04&se=2026-11-22&sr=b&sp=r&sig=1",
        "#part",
    ] {
        assert_eq!(of(query), of(""), "{query}");
    }
    assert_eq!(of("?id=1&signature=1"), of("?id=1&signature=2"));
}

#[test]
fn another_picture_account_or_service_has_another_key() {
    let (base, url) = ("https://a.example", "https://cdn.example/1.jpg");
    let mut keys = vec![
        key(base, hosted("k"), url),
        key("https://b.example", hosted("k"), url),
        key("https://a.example/k", hosted(""), url),
        key(base, hosted("l"), url),
        key(base, AuthMethod::Token("k".into()), url),
        key(base, AuthMethod::Session("k".into()), url),
        key(base, AuthMethod::OnPremises, url),
    ];
    for other in ["2.jpg", "1.jpg?id=1", "1.jpg?id=2", "1.jpg?se=1", "1.jpg?token=1", "1.JPG"] {
        keys.push(key(base, hosted("k"), &format!("https://cdn.example/{other}")));
    }
    let texts: HashSet<String> = keys.iter().map(PictureKey::to_string).collect();
    assert_eq!(texts.len(), keys.len());
    let checksums: HashSet<_> = keys.iter().map(|key| key.checksum(b"picture")).collect();
    assert_eq!(checksums.len(), keys.len());
}
