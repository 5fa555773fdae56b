//! Security headers of every response, against sniffing and caching.

use reqwest::Response;
use secrecy::ExposeSecret as _;

use crate::support::Service;

fn assert_harmless(response: &Response, what: &str) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(response.headers()[name], value, "{what}");
    }
    assert!(response.headers().contains_key("cache-control"), "{what}");
    assert!(!response.headers().contains_key("access-control-allow-origin"), "{what}");
}

#[tokio::test]
async fn every_media_response_has_security_headers() {
    let service = Service::of_pictures().await;
    let body = service.good(&service.explore("")).await;
    let preview = &body["clusters"][0]["previews"][0];
    let path = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let task = service.good(&path).await["id"].as_str().unwrap().to_owned();
    service.deployment.wait_until_idle().await;
    let status = service.of_dataset(&format!("/export_status?export_task_id={task}"));
    let status = service.good(&status).await;
    for (link, kind) in [
        (&preview["media_uri"], "image/png"),
        (&preview["media_thumb_uri"], "image/jpeg"),
        (&status["download_uri"], "application/zip"),
    ] {
        let link = link.as_str().unwrap();
        let whole = service.client.get(link).send().await.unwrap();
        assert_eq!(
            (whole.status().as_u16(), &whole.headers()["content-type"]),
            (200, &kind.parse().unwrap())
        );
        assert_harmless(&whole, link);
        let disposition = whole.headers()["content-disposition"].to_str().unwrap();
        assert!(disposition.contains("filename*=UTF-8''"), "{disposition}");
        let tag = whole.headers()["etag"].to_str().unwrap().to_owned();
        for (name, value, expected) in [
            ("range", "bytes=0-0", 206),
            ("range", "bytes=999999999-", 416),
            ("if-none-match", tag.as_str(), 304),
        ] {
            let part = service.client.get(link).header(name, value).send().await.unwrap();
            assert_eq!(part.status(), expected, "{link}");
            assert_harmless(&part, link);
        }
        let forged = service.client.get(format!("{link}x")).send().await.unwrap();
        assert_eq!(forged.status(), 403, "{link}");
        assert_harmless(&forged, link);
    }
}

#[tokio::test]
async fn credentials_are_not_cached() {
    let service = Service::of_pictures().await;
    let session = format!("SESSION={}", service.credentials.session.expose_secret());
    let request = service.client.get(service.url("/api/v1/api_credentials"));
    let response = request.header("cookie", session).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["cache-control"]),
        (200, &"no-store".parse().unwrap())
    );
    assert_harmless(&response, "api_credentials");
}
