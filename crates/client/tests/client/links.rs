//! Links and redirects: where the login is sent, and which targets the client refuses.

use tessera_model::{FailureKind, Link};

use tessera_testing::clients::{dataset, hosted, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

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
