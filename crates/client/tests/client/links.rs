//! Links and redirects: where the login is sent, which targets the client refuses, and the keys of cached pictures.

use std::collections::HashSet;

use tessera_client::{AuthMethod, BaseUrl, Client, Credentials, PictureKey, ServiceConfig};
use tessera_model::{FailureKind, Link};
use tessera_testing::tls_service::TlsService;
use tessera_testing::{
    certificates::self_signed,
    clients::{dataset, hosted, without_pauses},
    scripted::{ReceivedRequest, Reply, ScriptedServer},
};

const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

async fn redirecting(status: u16, target: String) -> ScriptedServer {
    ScriptedServer::start(move |_: &ReceivedRequest| {
        Reply::new(status, &[("location", &target)], "")
    })
    .await
}

#[tokio::test]
async fn api_paths_are_never_redirected() {
    let elsewhere = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("[]")).await;
    for status in REDIRECTS {
        for target in [
            format!("{}/api/v1/datasets?sig=SECRET", elsewhere.url()),
            "/api/v1/elsewhere".to_owned(),
            "file:///etc/passwd".to_owned(),
            "https://vl.example/".to_owned(),
            "//other.example/".to_owned(),
            "rubbish".to_owned(),
        ] {
            let server = redirecting(status, target).await;
            let client = hosted(&server.url(), without_pauses());
            let failure = client.dataset(dataset()).await.unwrap_err();
            assert_eq!((failure.kind, server.count()), (FailureKind::Unexpected, 1));
            assert!(!failure.to_string().contains("SECRET"), "{failure}");
        }
    }
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn links_are_followed_without_login_or_referrer() {
    let store = ScriptedServer::start(|_: &ReceivedRequest| Reply::new(200, &[], "picture")).await;
    for status in REDIRECTS {
        let cdn = redirecting(status, format!("{}/final", store.url())).await;
        let client = hosted(&cdn.url(), without_pauses());
        let link = Link::new("/thumb/1.jpg?X-Amz-Signature=SECRET");
        assert_eq!(client.fetch_picture(&link, 100).await.unwrap(), "picture");
        for seen in [cdn.requests(), store.requests()].concat() {
            for forbidden in ["authorization", "cookie", "referer"] {
                assert_eq!(seen.header(forbidden), None);
            }
            assert_eq!(seen.header("accept-encoding"), None);
        }
        assert_eq!(cdn.requests()[0].target, "/thumb/1.jpg?X-Amz-Signature=SECRET");
    }
}

#[tokio::test]
async fn the_target_of_a_redirect_is_named_if_it_fails() {
    let port = |listener: &std::net::TcpListener| listener.local_addr().unwrap().port();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let down = format!("http://127.0.0.1:{}", port(&closed));
    drop(closed);
    let (config, _) = self_signed("localhost");
    let untrusted = TlsService::start_tls(config, |_, _| async {}).await;
    let untrusted = format!("https://127.0.0.1:{}", untrusted.port);
    let silent = TlsService::start(|stream: tokio::net::TcpStream, _| async { drop(stream) }).await;
    let silent = format!("http://127.0.0.1:{}", silent.port);
    for (storage, reason) in [
        (&down, format!("no connection to {down} (")),
        (&untrusted, format!("the identity of the service at {untrusted}: ")),
        (&silent, format!("no complete response came from {silent} (")),
    ] {
        let service = redirecting(302, format!("{storage}/1.jpg?sig=SECRET")).await;
        let client = hosted(&service.url(), without_pauses()).with_retries(0);
        let failure = client.fetch_picture(&Link::new("/1.jpg"), 100).await.unwrap_err();
        let text = failure.to_string();
        assert!(text.contains(&reason) && !text.contains(&service.url()), "{text}");
        assert!(!text.contains("SECRET"), "{text}");
    }
}

#[tokio::test]
async fn redirect_loops_and_other_schemes_fail() {
    let looping = redirecting(302, "/again".to_owned()).await;
    let client = hosted(&looping.url(), without_pauses());
    let failure = client.fetch_picture(&Link::new("/a?SECRET"), 100).await.unwrap_err();
    assert_eq!((failure.kind, looping.count()), (FailureKind::Unexpected, 6));
    assert!(!failure.to_string().contains("SECRET"), "{failure}");

    let escaping = redirecting(302, "file:///etc/passwd".to_owned()).await;
    let client = hosted(&escaping.url(), without_pauses());
    assert!(client.fetch_picture(&Link::new("/a"), 100).await.is_err());
    assert_eq!(escaping.count(), 1);
}

#[tokio::test]
async fn unsafe_links_are_not_fetched() {
    let server = ScriptedServer::start(|_: &ReceivedRequest| Reply::new(200, &[], "x")).await;
    let local = hosted(&server.url(), without_pauses());
    let remote = hosted("https://vl.example", without_pauses());
    let near = format!("{}/x", server.url());
    for (client, link) in [
        (&local, "file:///etc/passwd"),
        (&local, "data:image/png;base64,AA"),
        (&local, "http://"),
        (&remote, near.as_str()),
        (&remote, "http://169.254.169.254/latest/meta-data"),
    ] {
        let failure = client.fetch_picture(&Link::new(link), 100).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unexpected, "{link}");
    }
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn pictures_have_a_size_limit() {
    let server = ScriptedServer::start(|_: &ReceivedRequest| Reply::new(200, &[], "12345")).await;
    let client = hosted(&server.url(), without_pauses());
    assert!(client.fetch_picture(&Link::new("/a"), 5).await.is_ok());
    let failure = client.fetch_picture(&Link::new("/a"), 4).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unexpected);
    assert_eq!(server.count(), 2);
}

fn with_key(api_key: &str) -> AuthMethod {
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
        key("https://a.example", with_key("k"), &format!("https://cdn.example/1.jpg{query}"))
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
        key(base, with_key("k"), url),
        key("https://b.example", with_key("k"), url),
        key("https://a.example/k", with_key(""), url),
        key(base, with_key("l"), url),
        key(base, AuthMethod::Token("k".into()), url),
        key(base, AuthMethod::Session("k".into()), url),
        key(base, AuthMethod::OnPremises, url),
    ];
    for other in ["2.jpg", "1.jpg?id=1", "1.jpg?id=2", "1.jpg?se=1", "1.jpg?token=1", "1.JPG"] {
        keys.push(key(base, with_key("k"), &format!("https://cdn.example/{other}")));
    }
    let texts: HashSet<String> = keys.iter().map(PictureKey::to_string).collect();
    assert_eq!(texts.len(), keys.len());
    let checksums: HashSet<_> = keys.iter().map(|key| key.checksum(b"picture")).collect();
    assert_eq!(checksums.len(), keys.len());
}
