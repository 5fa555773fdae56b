//! Addresses: which are accepted, where requests go, and where credentials may be sent.

use tessera_client::{
    ApiPrefix, AuthMethod, BaseUrl, Client, Credentials, DryRun, Endpoint, RawBody, RawRequest,
    ServiceConfig, TextSearchPath,
};
use tessera_model::{FailureKind, Link, Query, QueryText, Search};
use tessera_testing::clients::{dataset, on_premises, without_pauses};

fn client(base_url: &str) -> Client {
    on_premises(base_url, without_pauses())
}

fn search(caption: &str) -> Search {
    let query = Query::Caption { text: QueryText::new(caption).unwrap(), max_score: None };
    Search { query, ..Search::browse(dataset()) }
}

#[test]
fn pasted_base_urls_are_normalized() {
    for (raw, base_url) in [
        ("https://vl.example", "https://vl.example"),
        ("https://vl.example/", "https://vl.example"),
        (" https://vl.example/api/v1/ ", "https://vl.example"),
        ("http://127.0.0.1:80/lab", "http://127.0.0.1/lab"),
    ] {
        let command = client(raw).curl_dataset(dataset());
        assert_eq!(command.as_str(), format!("curl -sS {base_url}/api/v1/dataset/{}", dataset()));
    }
    for bad in [
        "vl.example",
        "ftp://vl.example",
        "https://me@vl.example",
        "https://me:pass@vl.example",
        "https://vl.example?x=1",
        "https://vl.example/#top",
        "",
    ] {
        let failure = BaseUrl::parse(bad).unwrap_err();
        assert!(!failure.to_string().contains("pass@"), "{failure}");
    }
}

#[tokio::test]
async fn every_path_begins_with_the_prefix_of_the_service() {
    for (base, typed_prefix, expected) in [
        ("https://vl.example", "/media/v2/", "https://vl.example/media/v2"),
        ("https://vl.example/lab/", "media/v2", "https://vl.example/lab/media/v2"),
        ("https://vl.example/media/v2", "/media/v2", "https://vl.example/media/v2"),
        ("https://vl.example/api/v1", "/", "https://vl.example"),
    ] {
        let prefix = ApiPrefix::parse(typed_prefix).unwrap();
        let base_url = BaseUrl::parse(base).unwrap();
        assert_eq!(base_url.custom_prefix(), None);
        let service = ServiceConfig::new(base_url, AuthMethod::OnPremises).unwrap();
        let service = service.with_api_prefix(&prefix);
        let prefix = if typed_prefix == "/" { "/" } else { "/media/v2" };
        assert_eq!(service.base_url().custom_prefix(), Some(prefix));
        let run = DryRun::new(&[Endpoint::Raw]);
        let client = Client::new(service).unwrap().with_dry_run(run.clone());
        let command = client.curl_explore(&Search::browse(dataset())).to_string();
        assert!(command.contains(&format!("{expected}/explore/{}?", dataset())), "{command}");
        for typed in [
            "datasets",
            "/api/v1/datasets",
            &format!("{}/datasets", typed_prefix.trim_end_matches('/')),
        ] {
            let request =
                RawRequest { path: typed.to_owned(), parameters: Vec::new(), body: RawBody::Get };
            client.send_raw(request).await.unwrap_err();
            let sent = run.take_request().unwrap().url;
            assert_eq!(sent, format!("{expected}/datasets"), "{typed}");
        }
    }
    for bad in ["../v1", "a b", "/v1?x=1", "https://vl.example/v1"] {
        assert!(ApiPrefix::parse(bad).is_err(), "{bad}");
    }
}

#[tokio::test]
async fn typed_paths_stay_below_the_api_prefix() {
    let url = async |path: &str| {
        let run = DryRun::new(&[Endpoint::Raw]);
        let client = client("https://vl.example/lab").with_dry_run(run.clone());
        let request =
            RawRequest { path: path.to_owned(), parameters: Vec::new(), body: RawBody::Get };
        client.send_raw(request).await.unwrap_err();
        run.request().map(|request| request.url)
    };
    for (raw, expected) in [
        ("datasets", "https://vl.example/lab/api/v1/datasets"),
        ("/api/v1/datasets", "https://vl.example/lab/api/v1/datasets"),
        ("/dataset/x y#z?q=1&r=a b", "https://vl.example/lab/api/v1/dataset/x%20y%23z?q=1&r=a%20b"),
        ("//evil.example/x", "https://vl.example/lab/api/v1/evil.example/x"),
        ("api/v1/a/../datasets", "https://vl.example/lab/api/v1/datasets"),
    ] {
        assert_eq!(url(raw).await.as_deref(), Some(expected));
    }
    for bad in ["../admin", "a/%2e%2e/%2e%2e/x", "https://evil.example/", "..\\x", "/api/v1/../x"] {
        assert_eq!(url(bad).await, None, "{bad}");
    }
}

#[test]
fn parameters_are_percent_encoded() {
    let command = client("https://vl.example").curl_explore(&search("../x?y=1#z&é")).to_string();
    assert!(command.contains("?caption=..%2Fx%3Fy%3D1%23z%26%C3%A9&"), "{command}");
}

#[tokio::test]
async fn links_lead_neither_to_closer_networks_nor_out_of_the_encryption() {
    let (remote, local, same_link) =
        ("https://vl.example", "http://127.0.0.1:8080", "http://[fe80::1]");
    for (service, link, allowed) in [
        (remote, "https://169.254.169.254/", false),
        (remote, "https://[fe80::1]/", false),
        (remote, "https://[fd00:ec2::254]/", false),
        (local, "http://100.100.100.200/latest/meta-data", false),
        (remote, "https://[fd00::1]/", true),
        (remote, "https://0.0.0.0/", false),
        (remote, "https://[::ffff:127.0.0.1]/", false),
        (remote, "https://10.0.0.1/", true),
        (remote, "https://cdn.example/", true),
        (remote, "http://cdn.example/", false),
        (remote, "http://vl.example/", false),
        (remote, "//cdn.example/", true),
        (local, "http://localhost:81/", true),
        (local, "http://0.0.0.0:81/", true),
        (local, "http://cdn.example/", true),
        (local, "http://169.254.169.254/latest/meta-data", false),
        (local, "http://[::ffff:169.254.169.254]/", false),
        (local, "http://[fe80::1]/", false),
        (same_link, "http://[fe80::2]/", true),
        (same_link, "http://127.0.0.1/", false),
    ] {
        let run = DryRun::new(&[Endpoint::Picture]);
        let client = client(service).with_dry_run(run.clone());
        let failure = client.fetch_picture(&Link::new(link), 100).await.unwrap_err();
        assert_eq!(run.request().is_some(), allowed, "{link}");
        assert_eq!(failure.kind == FailureKind::Unexpected, !allowed, "{link}");
    }
}

#[test]
fn text_search_uses_the_configured_path() {
    let command = |client: Client| client.curl_explore(&search("van")).to_string();
    let default = command(client("https://vl.example"));
    assert!(default.contains(&format!("/api/v1/explore/{}?", dataset())), "{default}");
    for raw in ["vector/{dataset_id}/search", "/api/v1/vector/{dataset_id}/search/"] {
        let path = TextSearchPath::parse(raw).unwrap();
        let custom = command(client("https://vl.example").with_text_search(path));
        assert!(custom.contains(&format!("/api/v1/vector/{}/search?", dataset())), "{custom}");
    }
    for bad in ["explore", "explore/{dataset_id}?x=1", "../{dataset_id}", "a b/{dataset_id}"] {
        assert!(TextSearchPath::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn credentials_only_over_https_or_on_this_machine() {
    let opens = |raw: &str, auth: AuthMethod| {
        ServiceConfig::new(BaseUrl::parse(raw).unwrap(), auth).is_ok()
    };
    let hosted =
        || AuthMethod::Hosted(Credentials { api_key: "key".into(), api_secret: "secret".into() });
    for (raw, with_credentials) in [
        ("https://vl.example", true),
        ("http://127.0.0.1:8080", true),
        ("http://[::1]:8080", true),
        ("http://localhost", true),
        ("http://vl.example", false),
        ("http://192.168.0.7", false),
        ("http://localhost.example", false),
    ] {
        assert_eq!(opens(raw, hosted()), with_credentials, "{raw}");
        assert!(opens(raw, AuthMethod::OnPremises), "{raw}");
    }
    assert!(!format!("{:?}", hosted()).contains("\"secret\""));
}
