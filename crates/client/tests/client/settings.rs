//! Settings of a service, and what is said about wrong ones.

use std::time::Duration;

use tessera_client::{
    ApiPrefix, AuthMethod, BaseUrl, Client, Credentials, RequestRecorder, ServiceConfig,
    TextSearchPath,
};
use tessera_model::{Failure, RequestOutcome, RequestRecord, SafeText};

fn base_url(raw: &str) -> BaseUrl {
    BaseUrl::parse(raw).unwrap()
}

fn credentials(api_key: &str) -> Credentials {
    Credentials { api_key: api_key.into(), api_secret: "a secret of at least 32 bytes".into() }
}

#[test]
fn a_wrong_address_says_what_is_wrong_with_it() {
    for (raw, reason) in [
        ("vl.example", "is not a complete URL"),
        ("", "is not a complete URL"),
        ("ftp://vl.example", "must begin with http:// or https://"),
        ("mailto:me@vl.example", "must begin with http:// or https://"),
        ("https://me@vl.example", "must not contain a user name or password"),
        ("https://:pass@vl.example", "must not contain a user name or password"),
        ("https://vl.example?x", "must not contain a query or fragment"),
        ("https://vl.example#x", "must not contain a query or fragment"),
    ] {
        let expected = format!(
            "the base URL {reason}. Use the form https://example.com or http://127.0.0.1:8080"
        );
        assert_eq!(BaseUrl::parse(raw).unwrap_err().to_string(), expected, "{raw}");
    }
}

#[test]
fn an_address_is_shown_without_what_the_interface_adds() {
    for (raw, shown, loopback) in [
        ("https://VL.example:443/", "https://vl.example", false),
        ("https://vl.example/lab/api/v1", "https://vl.example/lab", false),
        ("https://vl.example/api/v10", "https://vl.example/api/v10", false),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", true),
        ("http://[::1]/", "http://[::1]", true),
        ("http://localhost", "http://localhost", true),
        ("http://my.localhost", "http://my.localhost", true),
        ("http://127.1", "http://127.0.0.1", true),
        ("http://0.0.0.0", "http://0.0.0.0", false),
    ] {
        let parsed = base_url(raw);
        assert_eq!((parsed.to_string().as_str(), parsed.is_loopback()), (shown, loopback));
    }
}

#[test]
fn a_prefix_and_a_search_path_are_plain_paths() {
    for raw in ["/api/v2", "api-2/v_1.0", "/", ""] {
        assert!(ApiPrefix::parse(raw).is_ok(), "{raw}");
    }
    for raw in [".", "a/./b", "a/../b", "a b", "a%2e", "a?b", "a\\b"] {
        assert_eq!(
            ApiPrefix::parse(raw).unwrap_err().to_string(),
            "api_prefix is not a path. Use the form /api/v1, or / for no prefix",
            "{raw}"
        );
    }
    for raw in ["{dataset_id}", "/a/{dataset_id}/b.c", " api/v1/x-y_z/{dataset_id} "] {
        assert!(TextSearchPath::parse(raw).is_ok(), "{raw}");
    }
    for raw in [
        "",
        "explore",
        "{dataset}",
        "a/../{dataset_id}",
        "{dataset_id}{dataset_id}",
        "é/{dataset_id}",
    ] {
        assert_eq!(
            TextSearchPath::parse(raw).unwrap_err().to_string(),
            "text_search_path is not a path that contains {dataset_id}. Use the form \
             explore/{dataset_id}",
            "{raw}"
        );
    }
}

#[test]
fn a_prefix_applies_to_the_service_and_its_pipeline() {
    let service =
        ServiceConfig::new(base_url("https://a.example"), AuthMethod::OnPremises).unwrap();
    assert_eq!(service.pipeline_url(), None);
    let service = service
        .with_pipeline(base_url("https://p.example"))
        .with_api_prefix(&ApiPrefix::parse("/media/v2").unwrap())
        .with_token_lifetime(Duration::from_secs(30));
    assert_eq!(service.base_url().custom_prefix(), Some("/media/v2"));
    assert_eq!(service.pipeline_url().unwrap().custom_prefix(), Some("/media/v2"));
    assert_eq!(service.pipeline_url().unwrap().to_string(), "https://p.example");
}

#[test]
fn credentials_are_refused_on_unencrypted_connections_with_the_ways_out() {
    let refused = ServiceConfig::new(base_url("http://vl.example"), AuthMethod::Token("t".into()));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "credentials are not sent to http://vl.example: the connection is not encrypted. Use an \
         https URL, use the kind onprem for a service without login, or allow it with --allow-http"
    );
    let allowed = ServiceConfig::new_allowing_http(
        base_url("http://vl.example"),
        AuthMethod::Token("t".into()),
    );
    assert!(!allowed.is_on_premises());
}

#[test]
fn only_a_service_with_a_login_takes_another_one() {
    let client = |auth| {
        Client::new(ServiceConfig::new(base_url("https://a.example"), auth).unwrap()).unwrap()
    };
    let message = |result: Result<(), Failure>| result.unwrap_err().to_string();
    let open = client(AuthMethod::OnPremises);
    let hosted = || AuthMethod::Hosted(credentials("k"));
    assert_eq!(message(open.with_login(hosted()).map(drop)), "this deployment needs no login");
    assert_eq!(
        message(open.replace_key_pair(credentials("l"))),
        "this deployment does not log in with a key pair"
    );
    let by_key = client(hosted());
    assert_eq!(by_key.replace_key_pair(credentials("l")), Ok(()));
    let other = by_key.with_login(AuthMethod::Token("t".into())).unwrap();
    assert!(matches!(other.service().auth(), AuthMethod::Token(_)));
    assert_eq!(other.service().base_url(), by_key.service().base_url());
}

#[test]
fn a_recorded_request_is_written_as_json() {
    let record = |outcome, retry_in| {
        let record = RequestRecord {
            purpose: "list the datasets",
            method: "GET",
            target: SafeText::name("/api/v1/datasets"),
            attempt: 2,
            duration: Duration::from_millis(15),
            bytes_sent: 7,
            outcome,
            retry_in,
        };
        RequestRecorder::exchange_json(&record).to_string()
    };
    let line = |outcome: &str, pause: &str| {
        format!(
            r#"{{"exchange":{{"method":"GET","target":"/api/v1/datasets","attempt":2,"sent":7,"outcome":{outcome},"again_in_us":{pause}}},"took_us":15000}}"#
        )
    };
    let succeeded = RequestOutcome::Succeeded { status: 200, bytes: 9 };
    assert_eq!(record(succeeded, None), line(r#"{"status":200,"bytes":9}"#, "null"));
    let message = Some(SafeText::name("busy"));
    let rejected = RequestOutcome::Rejected { status: 429, message };
    assert_eq!(
        record(rejected, Some(Duration::from_secs(1))),
        line(r#"{"status":429,"words":"busy"}"#, "1000000")
    );
    let lost = RequestOutcome::Failed(SafeText::name("reset"));
    assert_eq!(record(lost, None), line(r#"{"lost":"reset"}"#, "null"));
}
