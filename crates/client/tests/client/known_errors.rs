//! Documented error messages of a service, with their codes and remedies.

use tessera_model::{Failure, MediaAddition, MediaSource, SafeText};
use tessera_testing::clients::{dataset, hosted, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

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
        (500, "The pipeline could not be triggered", "trigger_failed"),
        (500, "Upload to storage failed", "upload_failed"),
        (400, "invalid s3 uri", "no_media_at_uri"),
        (400, "No media files found", "no_media_at_uri"),
        (409, "Dataset is not ready", "dataset_not_ready"),
    ] {
        let failure = rejected(status, message).await;
        assert_eq!(failure.code, Some(code), "{message}");
        assert!(failure.remedy.is_some(), "{message}");
    }
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
