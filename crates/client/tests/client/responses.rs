//! Responses that do not show what they should: what is said, and that nothing is taken for a
//! success.

use tessera_client::QueryImageUpload;
use tessera_model::{
    EntityType, Failure, FailureKind, Filter, Granularity, Link, Region, SafeText, Search,
};
use tessera_testing::clients::{dataset, hosted, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

/// A service that responds to everything with this JSON.
async fn service(status: u16, body: &str) -> ScriptedServer {
    let body = body.to_owned();
    let json = [("content-type", "application/json")];
    ScriptedServer::start(move |_: &ReceivedRequest| Reply::new(status, &json, &body)).await
}

#[tokio::test]
async fn a_response_that_is_not_of_the_interface_is_described() {
    let path = format!("/api/v1/dataset/{}", dataset());
    let remedy = "Check that the base URL leads to a dataset service";
    for (body, problem, excerpt) in [
        ("", "is not JSON", ""),
        ("[", "is not JSON", " (service: [)"),
        ("3", "does not match the API: id is missing", " (service: 3)"),
        (
            r#"{"name": "x"}"#,
            "does not match the API: id is missing",
            r#" (service: {"name": "x"})"#,
        ),
        (
            r#"{"id": 7}"#,
            "does not match the API: id is an unexpected number",
            r#" (service: {"id": 7})"#,
        ),
    ] {
        let server = service(200, body).await;
        let client = hosted(&server.url(), without_pauses());
        let failure = client.dataset(dataset()).await.unwrap_err();
        let expected = format!(
            "cannot read the dataset: the response of GET {path} (200, application/json) \
             {problem}{excerpt}. {remedy}"
        );
        assert_eq!((failure.kind, failure.to_string()), (FailureKind::Unexpected, expected));
        assert_eq!((failure.status, server.count()), (Some(200), 1));
    }
}

#[tokio::test]
async fn only_the_documented_status_accepts_a_change() {
    let reindex = async |status, body| -> Result<(), Failure> {
        let server = service(status, body).await;
        hosted(&server.url(), without_pauses()).reindex(dataset()).await.map(drop)
    };
    for body in ["", "{}", "null", "not JSON", r#"{"status": "READY"}"#] {
        assert_eq!(reindex(202, body).await, Ok(()), "{body}");
    }
    for status in [200, 201, 206] {
        let failure = reindex(status, "{}").await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unconfirmed, "{status}");
        let expected = format!(
            "it is unknown whether the service could start the reindex: the response of POST \
             /api/v1/dataset/{}/reindex ({status}, application/json) is not the 202 of acceptance \
             (service: {{}}). It may have started; check before sending it again",
            dataset()
        );
        assert_eq!(failure.to_string(), expected);
    }
    let failure = reindex(202, r#"{"error": "busy"}"#).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Rejected);
    assert_eq!(
        failure.to_string(),
        "cannot start the reindex: the service reported an error (service: busy)"
    );
}

#[tokio::test]
async fn a_long_response_is_quoted_up_to_200_characters() {
    let server = service(200, &format!("<p>{}</p>", "x".repeat(300))).await;
    let client = hosted(&server.url(), without_pauses());
    let failure = client.dataset(dataset()).await.unwrap_err();
    let excerpt = failure.detail.unwrap();
    assert_eq!(excerpt.as_str(), format!("{}…", "x".repeat(200)));
}

#[tokio::test]
async fn a_picture_is_as_long_as_allowed_or_refused() {
    let server = service(200, "12345").await;
    let client = hosted(&server.url(), without_pauses());
    for (limit, fits) in [(6, true), (5, true), (4, false), (0, false)] {
        let picture = client.fetch_picture(&Link::new("/1.jpg"), limit).await;
        assert_eq!(picture.is_ok(), fits, "{limit}");
    }
}

#[tokio::test]
async fn a_query_image_without_an_anchor_or_a_size_is_not_searched() {
    let picture = async || {
        let jpeg = &b"\xff\xd8\xff\xe0 not decodable"[..];
        QueryImageUpload::new(jpeg.into(), "a.jpg").await.unwrap()
    };
    let register = async |server: &ScriptedServer, region| {
        let client = hosted(&server.url(), without_pauses());
        let (entity, granularity) = (EntityType::Images, Granularity::DEFAULT);
        let anchor =
            client.register_anchor(dataset(), picture().await, entity, granularity, region);
        anchor.await.unwrap_err().to_string()
    };
    let pending = service(202, "").await;
    assert_eq!(
        register(&pending, None).await,
        "the query image was accepted, but no anchor was returned. Send it again"
    );
    let never = service(200, "{}").await;
    assert_eq!(
        register(&never, Some(Region::INNER_HALF)).await,
        "cannot search by a region: this program cannot decode the picture. Search by the whole \
         picture"
    );
    assert_eq!(never.count(), 0);
    for (status, body) in [(200, ""), (202, "{}"), (201, "")] {
        let server = service(status, body).await;
        let text = register(&server, None).await;
        assert!(
            text.starts_with("cannot register the query image: the response of POST"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_text_search_that_is_not_found_names_the_setting_of_its_path() {
    let server = service(404, r#"{"detail": "Not Found"}"#).await;
    let client = hosted(&server.url(), without_pauses());
    let browse = Search::browse(dataset());
    let filtered = Search { filters: vec![Filter::uniqueness(0.5).unwrap()], ..browse.clone() };
    for (search, names_setting) in [(filtered, true), (browse, false)] {
        let failure = client.explore(&search).await.unwrap_err();
        let remedy = failure.remedy.as_ref().map(SafeText::as_str).unwrap_or_default();
        assert_eq!(remedy.contains("text_search_path"), names_setting, "{remedy}");
    }
}
