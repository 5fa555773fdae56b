//! A web page in a local browser cannot use the service, and the security headers of every response are set against
//! sniffing and caching.

use reqwest::{RequestBuilder, Response};
use secrecy::ExposeSecret as _;
use tessera_service::{AccessMode, AllowedHost, LocalError, ServerOptions};
use tokio::net::TcpListener;

use crate::support::{Place, Service, answer, pictures};

/// The status of a GET of `target` with these headers.
async fn status(service: &Service, target: &str, version: &str, headers: &str) -> u16 {
    let head = format!("GET {target} HTTP/{version}\r\n{headers}Connection: close\r\n\r\n");
    let answer = service.raw(head.as_bytes()).await;
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("{headers}: {answer}")).parse().unwrap()
}

fn foreign_hosts(port: u16) -> Vec<String> {
    let other_port = if port == 4001 { 4002 } else { 4001 };
    vec![
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        format!("127.0.0.1:{other_port}"),
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("evil.localhost:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("user@127.0.0.1:{port}"),
        format!("0.0.0.0:{port}"),
        format!("192.168.0.1:{port}"),
        format!("[::]:{port}"),
        format!("[::2]:{port}"),
        format!("2130706433:{port}"),
        format!("0x7f.1:{port}"),
        format!("127.1:{port}"),
        format!("localhost.:{port}"),
        String::new(),
        " ".to_owned(),
        format!(":{port}"),
        format!("127.0.0.1:{port}:{port}"),
        "127.0.0.1:99999".to_owned(),
        format!("http://127.0.0.1:{port}"),
        format!("a b:{port}"),
    ]
}

#[tokio::test]
async fn only_our_own_host_passes() {
    let service = Service::of_pictures().await;
    let port = service.address.port();
    let open = "/api/v1/openapi.json";
    let hosts = ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"];
    let hosts = hosts.map(|host| (format!("{host}:{port}"), 200)).into_iter();
    for (host, expected) in hosts.chain(foreign_hosts(port).into_iter().map(|host| (host, 403))) {
        let header = format!("Host: {host}\r\n");
        for version in ["1.0", "1.1"] {
            assert_eq!(
                status(&service, open, version, &header).await,
                expected,
                "{host} {version}"
            );
        }
    }
    let ours = format!("Host: 127.0.0.1:{port}\r\n");
    let twice = format!("{ours}Host: evil.example:{port}\r\n");
    let target = |host: &str| format!("http://{host}:{port}{open}");
    let (our_target, foreign_target) = (target("127.0.0.1"), target("evil.example"));
    for version in ["1.0", "1.1"] {
        for (target, headers, expected) in [
            (open, twice.as_str(), 403),
            (open, "", 403),
            (our_target.as_str(), &ours, 200),
            (our_target.as_str(), "", 403),
            (foreign_target.as_str(), &ours, 403),
        ] {
            let status = status(&service, target, version, headers).await;
            assert_eq!(status, expected, "{target} {headers} {version}");
        }
    }
}

#[tokio::test]
async fn an_allowed_host_passes_at_the_port_that_was_given_or_at_any() {
    let names = ["media.example", "proxied.example:8443"];
    let service = Service::serving(Place::new(&pictures(4)), |access| {
        let allowed_hosts = names.map(|name| name.parse().unwrap()).to_vec();
        ServerOptions { allowed_hosts, ..ServerOptions::from(access) }
    })
    .await;
    let port = service.address.port();
    for (host, expected) in [
        (format!("media.example:{port}"), 200),
        (format!("MEDIA.example:{port}"), 200),
        ("proxied.example:8443".to_owned(), 200),
        (format!("127.0.0.1:{port}"), 200),
        ("media.example".to_owned(), 200),
        ("proxied.example".to_owned(), 403),
        (format!("proxied.example:{port}"), 403),
        (format!("user@media.example:{port}"), 403),
        (format!("www.media.example:{port}"), 403),
    ] {
        let header = format!("Host: {host}\r\n");
        assert_eq!(
            status(&service, "/api/v1/openapi.json", "1.1", &header).await,
            expected,
            "{host}"
        );
    }
    assert!("user@media.example".parse::<AllowedHost>().is_err());
}

/// A proxy with TLS passes the name on; what else it says about its client could come from anybody.
#[tokio::test]
async fn behind_a_proxy_links_and_origins_have_the_configured_scheme_and_name() {
    let service = Service::serving(Place::new(&pictures(4)), |access| {
        let allowed_hosts = vec!["https://media.example".parse().unwrap()];
        ServerOptions { allowed_hosts, ..ServerOptions::from(access) }
    })
    .await;
    let proxied = |path: &str| {
        let request = service.get(path).header("host", "media.example");
        request.header("x-forwarded-proto", "ftp").header("x-forwarded-host", "evil.example")
    };
    let (status, page) = answer(proxied(&service.explore(""))).await;
    assert_eq!(status, 200, "{page}");
    let link = page["clusters"][0]["previews"][0]["media_uri"].as_str().unwrap();
    assert!(link.starts_with("https://media.example/media/"), "{link}");
    let start = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let (_, task) = answer(proxied(&start)).await;
    service.deployment.wait_until_idle().await;
    let task = task["id"].as_str().unwrap();
    let (_, task) =
        answer(proxied(&service.of_dataset(&format!("/export_status?export_task_id={task}"))))
            .await;
    let link = task["download_uri"].as_str().unwrap();
    let path = link.strip_prefix("https://media.example").unwrap();
    assert_eq!(proxied(path).send().await.unwrap().status(), 200);
    for (origin, expected) in [
        ("https://media.example", 200),
        ("http://media.example", 403),
        ("https://evil.example", 403),
    ] {
        let request = proxied("/api/v1/datasets").header("origin", origin);
        assert_eq!(request.send().await.unwrap().status(), expected, "{origin}");
    }
}

#[tokio::test]
async fn a_foreign_host_is_refused_before_routing() {
    let service = Service::of_pictures().await;
    let port = service.address.port();
    for (version, host) in [
        ("1.1", format!("Host: evil.example:{port}\r\n")),
        ("1.1", "Host: 127.0.0.1\r\n".to_owned()),
        ("1.0", String::new()),
    ] {
        for target in ["/", "/api/v1/datasets", &format!("http://evil.example:{port}/")] {
            assert_eq!(status(&service, target, version, &host).await, 403, "{target} {host}");
        }
    }
}

#[tokio::test]
async fn requests_of_other_sites_are_refused() {
    let service = Service::of_pictures().await;
    let port = service.address.port();
    let with = async |name: &str, value: &str| {
        let headers = format!("Host: 127.0.0.1:{port}\r\n{name}: {value}\r\n");
        status(&service, "/api/v1/openapi.json", "1.1", &headers).await
    };
    assert_eq!(with("origin", &format!("http://127.0.0.1:{port}")).await, 200);
    assert_eq!(with("sec-fetch-site", "none").await, 200);
    assert_eq!(with("sec-fetch-site", "same-origin").await, 200);
    for (name, value) in [
        ("origin", "http://evil.example".to_owned()),
        ("origin", "null".to_owned()),
        ("origin", format!("http://localhost:{port}")),
        ("origin", format!("https://127.0.0.1:{port}")),
        ("origin", "http://127.0.0.1:1".to_owned()),
        ("sec-fetch-site", "cross-site".to_owned()),
        ("sec-fetch-site", "same-site".to_owned()),
        ("sec-fetch-site", String::new()),
    ] {
        assert_eq!(with(name, &value).await, 403, "{name}: {value}");
    }
}

#[tokio::test]
async fn pages_of_other_sites_cannot_start_exports() {
    let service = Service::at(Place::new(&pictures(4)), false).await;
    let start = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
    ] {
        let request = service.client.get(service.url(&start)).header(name, value);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 403, "{name}: {value}");
        assert!(!response.headers().contains_key("access-control-allow-origin"));
        let reason = response.text().await.unwrap().to_lowercase();
        assert!(reason.contains(name) && !reason.contains("host header"), "{reason}");
    }
    assert_eq!(service.place.count("export"), 0);
    let refused = service.client.head(service.url(&start)).send().await.unwrap();
    assert_eq!(refused.status(), 405, "a HEAD starts nothing either");
    assert_eq!(refused.headers()["allow"], "GET");
    assert_eq!(service.place.count("export"), 0);
}

const OLD_BROWSER: &str =
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_14) AppleWebKit/605.1.15 Safari";

/// The API document lists no header for these requests, so that its own scripts work. An old browser sends an image tag
/// of another site without fetch metadata.
#[tokio::test]
async fn without_login_a_get_that_changes_something_is_refused_only_from_browsers() {
    for compat in [false, true] {
        let service = Service::compatible(Place::new(&pictures(4)), compat, false).await;
        let folder = service.place.pictures.path().display().to_string();
        for path in [
            service.of_dataset("/export_context_async?file_name=a&export_format=json"),
            format!("/api/v1/process/add_media?dataset_id={}&path={folder}", service.dataset),
        ] {
            let service_page = format!("{}/", service.url(""));
            for (headers, expected) in [
                (vec![], 200),
                (vec![("user-agent", "curl/8.5.0"), ("accept", "*/*")], 200),
                (vec![("user-agent", "python-requests/2.32.3")], 200),
                (vec![("referer", service_page.as_str())], 200),
                (vec![("user-agent", OLD_BROWSER), ("sec-fetch-site", "none")], 200),
                (vec![("user-agent", OLD_BROWSER), ("sec-fetch-site", "same-origin")], 200),
                (vec![("user-agent", OLD_BROWSER), ("sec-fetch-site", "cross-site")], 403),
                (vec![("sec-fetch-site", "same-site")], 403),
                (vec![("user-agent", OLD_BROWSER)], 403),
                (vec![("user-agent", OLD_BROWSER), ("referer", service_page.as_str())], 403),
                (vec![("user-agent", "curl/8.5.0"), ("user-agent", OLD_BROWSER)], 403),
                (vec![("referer", "http://evil.example/")], 403),
                (vec![("referer", "http://127.0.0.1/")], 403),
                (vec![("origin", "http://evil.example")], 403),
            ] {
                service.set_status("READY");
                let request = service.client.get(service.url(&path));
                let add = |request: RequestBuilder, (name, value)| request.header(name, value);
                let request = headers.iter().copied().fold(request, add);
                let status = request.send().await.unwrap().status();
                assert_eq!(status, expected, "{path} {headers:?}");
                service.deployment.wait_until_idle().await;
            }
        }
        // An old browser may read, because its page does not see the response.
        let read = service.client.get(service.url("/api/v1/datasets"));
        assert_eq!(read.header("user-agent", OLD_BROWSER).send().await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn with_a_token_a_get_that_changes_something_is_accepted_from_a_browser() {
    let service = Service::of_pictures().await;
    let start = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let (status, task) = answer(service.get(&start).header("user-agent", OLD_BROWSER)).await;
    assert_eq!(status, 200, "{task}");
}

#[tokio::test]
async fn without_login_only_loopback_is_served() {
    let place = Place::new(&pictures(1));
    let deployment = place.open();
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let refusal = deployment.serve(listener, AccessMode::Open, std::future::pending()).await;
    let refusal = refusal.unwrap_err();
    assert!(matches!(refusal, LocalError::OpenOnNetwork(_)));
    assert!(refusal.to_string().contains("127.0.0.1"), "{refusal}");
}

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
