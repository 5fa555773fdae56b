//! What a failure says: which request failed, why, and what to do. Documented messages of a service have codes.

use tessera_client::{AuthMethod, BaseUrl, Client, ServiceConfig};
use tessera_model::{Failure, FailureKind, Link, MediaAddition, MediaSource, SafeText};
use tessera_testing::{
    clients::{dataset, hosted, on_premises, task, without_pauses},
    scripted::{ReceivedRequest, Reply, ScriptedServer},
};

/// A service that responds to everything with this status.
async fn service(status: u16) -> ScriptedServer {
    ScriptedServer::start(move |_: &ReceivedRequest| {
        Reply::new(status, &[("location", "https://me:pass@cdn.example/x?sig=SECRET")], "")
    })
    .await
}

/// The failure as text, without the address of the service.
fn text(failure: &Failure, service: &ScriptedServer) -> String {
    failure.to_string().replace(&service.url(), "SERVICE")
}

#[tokio::test]
async fn each_status_has_a_kind_a_reason_and_a_way_out() {
    use FailureKind as Kind;
    for (status, kind, expected) in [
        (
            300,
            Kind::Unexpected,
            "SERVICE redirects to https://cdn.example/x (300). Requests are not redirected; correct the base URL",
        ),
        (400, Kind::Invalid, "the request was rejected (400)"),
        (
            401,
            Kind::Unauthorized,
            "the credentials were rejected (401). Check the API key and its secret",
        ),
        (402, Kind::Unexpected, "unexpected response (402)"),
        (
            403,
            Kind::Forbidden,
            "the service does not allow it (403). The login may lack permission",
        ),
        (404, Kind::NotFound, "dataset not found, or no access to it (404)"),
        (
            407,
            Kind::Unreachable,
            "the proxy requires a login (407). Put the user name and password into the variable of the proxy, before the host: USER:PASSWORD@HOST:PORT",
        ),
        (409, Kind::Conflict, "not possible in the current state of the dataset (409)"),
        (410, Kind::NotFound, "dataset not found, or no access to it (410)"),
        (413, Kind::Invalid, "the request was rejected (413)"),
        (415, Kind::Invalid, "the request was rejected (415)"),
        (422, Kind::Invalid, "the request was rejected (422)"),
        (429, Kind::RateLimited, "the service is limiting requests (429). Try again later"),
        (499, Kind::Unexpected, "unexpected response (499)"),
        (500, Kind::Server, "the service failed (500)"),
        (599, Kind::Server, "the service failed (599)"),
    ] {
        let server = service(status).await;
        let failure = hosted(&server.url(), without_pauses()).dataset(dataset()).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{status}");
        assert_eq!(text(&failure, &server), format!("cannot read the dataset: {expected}"));
        assert_eq!(failure.status, Some(status));
        let request = format!("GET /api/v1/dataset/{}", dataset());
        assert_eq!(failure.request.unwrap().as_str(), request);
    }
}

#[tokio::test]
async fn a_rejected_login_is_explained_by_the_kind_of_login() {
    let server = service(401).await;
    let session = ServiceConfig::new(
        BaseUrl::parse(&server.url()).unwrap(),
        AuthMethod::Session("a session".into()),
    );
    let session = Client::with_policy(session.unwrap(), without_pauses()).unwrap();
    let failure = session.create_credentials().await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "cannot create a key pair: the session was not accepted (401). Sign in again in the \
         browser, and copy the SESSION cookie again"
    );
    let address = BaseUrl::parse(&server.url()).unwrap();
    let by_token = ServiceConfig::new(address, AuthMethod::Token("a.b.c".into())).unwrap();
    let by_token = Client::with_policy(by_token, without_pauses()).unwrap();
    assert_eq!(
        by_token.list_datasets().await.unwrap_err().to_string(),
        "cannot list the datasets: the token was rejected (401). It may have expired: set \
         TESSERA_TOKEN to a new one, or use a key pair"
    );
    let failure = on_premises(&server.url(), without_pauses()).list_datasets().await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "cannot list the datasets: this service requires a login (401). A hosted deployment needs \
         an API key and its secret"
    );
    let read_only = service(403).await;
    let client = on_premises(&read_only.url(), without_pauses());
    assert_eq!(
        client.list_datasets().await.unwrap_err().to_string(),
        "cannot list the datasets: the service does not allow it (403)"
    );
    for status in [401, 403] {
        let cdn = service(status).await;
        let client = hosted(&cdn.url(), without_pauses());
        let failure = client.fetch_picture(&Link::new("/1.jpg"), 9).await.unwrap_err();
        let expected = format!(
            "cannot fetch the picture: the link was rejected ({status}). It may have expired"
        );
        assert_eq!((failure.kind, failure.to_string()), (FailureKind::Forbidden, expected));
    }
}

#[tokio::test]
async fn a_change_that_may_have_happened_is_not_sent_again_unseen() {
    let server = service(503).await;
    let client = hosted(&server.url(), without_pauses());
    assert_eq!(
        client.reindex(dataset()).await.unwrap_err().to_string(),
        "cannot start the reindex: the service failed (503). It may have started; check before \
         sending it again"
    );
    assert_eq!(
        client.export_status(dataset(), task()).await.unwrap_err().to_string(),
        "cannot read the status of the export: the service failed (503)"
    );
    let cut = ScriptedServer::start(|_: &ReceivedRequest| Reply::disconnect()).await;
    let client = hosted(&cut.url(), without_pauses());
    let lost = text(&client.reindex(dataset()).await.unwrap_err(), &cut);
    let begin = "it is unknown whether SERVICE received the request to start the reindex: ";
    let end = ". It may have started; sending it again would start another one";
    assert!(lost.starts_with(begin) && lost.ends_with(end), "{lost}");
    let unread = text(&client.dataset(dataset()).await.unwrap_err(), &cut);
    assert!(
        unread.starts_with("cannot read the dataset: no complete response came from SERVICE ("),
        "{unread}"
    );
}

#[tokio::test]
async fn what_was_not_found_is_named_by_the_request() {
    let server = service(404).await;
    let client = hosted(&server.url(), without_pauses());
    for (failure, expected) in [
        (
            client.list_datasets().await.unwrap_err(),
            "cannot list the datasets: no dataset service at this address (404)",
        ),
        (
            client.export_status(dataset(), task()).await.unwrap_err(),
            "cannot read the status of the export: no such export (404)",
        ),
        (
            client.enrichment(dataset()).await.unwrap_err(),
            "cannot read the enrichments: dataset not found, or no access to it (404)",
        ),
        (
            client.fetch_picture(&Link::new("/1.jpg"), 9).await.unwrap_err(),
            "cannot fetch the picture: picture not found (404)",
        ),
    ] {
        assert_eq!(failure.to_string(), expected);
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_is_named_with_its_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let failure = hosted(&url, without_pauses()).list_datasets().await.unwrap_err();
    let text = failure.to_string();
    let begin = format!("cannot list the datasets: no connection to {url} (");
    let end = "). Check that the service is running and that its address is correct";
    assert!(text.starts_with(&begin) && text.ends_with(end), "{text}");
    assert_eq!((failure.kind, failure.status), (FailureKind::Unreachable, None));
}

/// The failure of an addition that the service rejects.
async fn rejected(status: u16, message: &str) -> Failure {
    let body = serde_json::json!({ "detail": message }).to_string();
    let record = format!(r#"{{"id":"{}","status_new":"READY"}}"#, dataset());
    let server =
        ScriptedServer::start(move |request: &ReceivedRequest| match request.method.as_str() {
            "GET" => Reply::json(&record),
            _ => Reply::new(status, &[], &body),
        })
        .await;
    let addition = MediaAddition::new(MediaSource::Storage("s3://bucket/new/".to_owned()));
    let client = hosted(&server.url(), without_pauses());
    client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap_err()
}

#[tokio::test]
async fn documented_messages_have_a_code_and_a_remedy() {
    for (status, message, code) in [
        (404, "Dataset not found", "dataset_not_found"),
        (404, "Original file not found", "original_missing"),
        (404, "Anchor not found", "anchor_not_found"),
        (400, "Dataset 95233006 has no embedding_config set", "no_embedding_config"),
        (
            400,
            "Exactly one media source must be provided: files[], s3_uri, or archive",
            "media_source_count",
        ),
        (400, "Invalid S3 URI or no media files found at s3://b/x", "no_media_at_uri"),
        (
            409,
            "Operation 'add_media' is blocked while MEDIA_ADDITION task is running",
            "operation_running",
        ),
        (403, "Add media feature is not enabled", "add_media_disabled"),
        (403, "You do not have write access to dataset 95233006", "no_write_access"),
        (403, "This service does not serve this Host header", "host_not_allowed"),
        (500, "The pipeline could not be triggered", "trigger_failed"),
        (500, "Upload to storage failed", "upload_failed"),
        (500, "The upload to storage failed: the disk is full", "disk_full"),
        (503, "There is not enough free disk space for an export", "disk_full"),
        (400, "invalid s3 uri", "no_media_at_uri"),
        (400, "No media files found", "no_media_at_uri"),
        (409, "Dataset is not ready", "dataset_not_ready"),
    ] {
        let failure = rejected(status, message).await;
        assert_eq!(failure.code, Some(code), "{message}");
        assert!(failure.remedy.is_some(), "{message}");
        let may_have_started = failure.may_have_taken_effect();
        assert_eq!(may_have_started, status == 500 && code != "disk_full", "{message}");
    }
}

#[tokio::test]
async fn no_owner_is_asked_for_write_access_to_a_read_only_service() {
    let message = "You do not have write access to dataset 95233006: the service is read-only";
    let failure = rejected(403, message).await;
    let remedy = failure.remedy.as_ref().map(SafeText::as_str).unwrap_or_default();
    assert_eq!(failure.code, Some("no_write_access"));
    assert!(remedy.contains("without --read-only"), "{remedy}");
}

#[tokio::test]
async fn unknown_messages_get_no_code_and_a_bare_403_both_remedies() {
    let failure = rejected(400, "something else").await;
    assert_eq!((failure.code, failure.remedy), (None, None));
    let failure = rejected(403, "Forbidden").await;
    let remedy = failure.remedy.as_ref().map(SafeText::as_str).unwrap_or_default();
    assert!(remedy.contains("disabled") && remedy.contains("write"), "{remedy}");
    assert_eq!(rejected(404, "no embedding_config").await.code, None, "of another status");
}
