//! A web page in a local browser cannot use the service.

use tessera_service::{AccessMode, LocalError};
use tokio::net::TcpListener;

use crate::support::{Place, Service, pictures};

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
            let answer = service
                .raw(
                    format!("GET {target} HTTP/{version}\r\n{host}Connection: close\r\n\r\n")
                        .as_bytes(),
                )
                .await;
            assert!(answer.starts_with(&format!("HTTP/{version} 403")), "{host}: {answer}");
        }
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
    }
    assert_eq!(service.place.count("export"), 0);
    let request = service.client.head(service.url(&start));
    assert_eq!(request.send().await.unwrap().status(), 405, "a HEAD starts nothing either");
    assert_eq!(service.place.count("export"), 0);
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
