//! Settings from the variables of the clouds, and names of cloud roles.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use axum::{
    Json, Router,
    body::Bytes,
    http::{StatusCode, Uri},
    response::IntoResponse as _,
};
use serde_json::json;
use tessera_media::object_storage::{
    ObjectStorage, ObjectUri, RoleArn, StorageError, StorageSettings,
};
use tessera_testing::{
    certificates::self_signed,
    tls_service::{TlsService, passes_where_system_trusts, port_of_environment, respond_not_found},
};
use tokio::net::TcpListener;

use super::fake_s3::{FakeFailure, FakeS3, KEY_ID, SECRET, TOKEN, storage};

fn of(variables: &[(&str, &str)]) -> Result<StorageSettings, String> {
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    StorageSettings::from_env(variables)
}

#[test]
fn the_standard_variables_are_read() {
    let none = of(&[]).unwrap();
    assert_eq!((none.region(), none.endpoint()), ("us-east-1", None));
    let all = of(&[
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", " s3cr3t "),
        ("AWS_SESSION_TOKEN", "t0k3n"),
        ("AWS_REGION", ""),
        ("AWS_DEFAULT_REGION", "eu-central-1"),
        ("AWS_ENDPOINT_URL", "http://other:1"),
        ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "az-s3cr3t"),
        ("HOME", "elsewhere"),
    ])
    .unwrap();
    assert_eq!(all.region(), "eu-central-1");
    assert_eq!(all.endpoint().unwrap().as_str(), "http://127.0.0.1:9000/");
    let shown = format!("{all:?}");
    for hidden in ["s3cr3t", "t0k3n", "HOME"] {
        assert!(!shown.contains(hidden), "{shown}");
    }
}

#[test]
fn invalid_variables_are_reported_without_their_value() {
    let wrong = [
        (("AWS_ACCESS_KEY_ID", "c4nary"), "set both"),
        (("AWS_SECRET_ACCESS_KEY", "c4nary"), "set both"),
        (("AWS_REGION", "c4nary.evil.example"), "AWS_REGION"),
        (("AWS_ENDPOINT_URL", "c4nary"), "AWS_ENDPOINT_URL"),
        (("AWS_ENDPOINT_URL_S3", "file:///c4nary"), "AWS_ENDPOINT_URL_S3"),
    ];
    for (variable, expected) in wrong {
        let message = of(&[variable]).unwrap_err();
        assert!(message.contains(expected) && !message.contains("c4nary"), "{message}");
    }
}

#[tokio::test]
async fn the_role_of_the_machine_is_requested_again_once_after_a_denial() {
    let server = FakeS3::with_objects(&[("photos/1.jpg", b"-")]).await;
    let responds = Arc::new(AtomicBool::new(false));
    let requests = Arc::new(AtomicUsize::new(0));
    let role = {
        let (responds, requests) = (Arc::clone(&responds), Arc::clone(&requests));
        move |uri: Uri| async move {
            match uri.path().rsplit('/').next() {
                _ if !responds.load(Ordering::SeqCst) => {
                    requests.fetch_add(1, Ordering::SeqCst);
                    StatusCode::SERVICE_UNAVAILABLE.into_response()
                }
                Some("token") => "token".into_response(),
                Some("") => "reader".into_response(),
                _ => Json(json!({"AccessKeyId": KEY_ID, "SecretAccessKey": SECRET, "Token": TOKEN,
                                 "Expiration": "2099-01-01T00:00:00Z"}))
                .into_response(),
            }
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(role)).await });
    let keyless =
        [("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", ""), ("AWS_SESSION_TOKEN", "")];
    let variables = [&keyless[..], &[("AWS_METADATA_ENDPOINT", &address)]].concat();
    let [storage, other] = [(); 2].map(|()| storage(server.settings_with(&variables)));
    let denied = async |storage: &ObjectStorage| {
        server.fail_next([FakeFailure::S3Error(403, "AccessDenied")]);
        let denied = storage.list("s3://photos", None, 9).await.unwrap_err().to_string();
        assert!(denied.contains("access is denied"), "{denied}");
        requests.load(Ordering::SeqCst)
    };
    let first = denied(&other).await;
    assert!(denied(&other).await > first);
    let second = requests.load(Ordering::SeqCst);
    assert_eq!((denied(&other).await, denied(&other).await), (second, second));
    denied(&storage).await;
    responds.store(true, Ordering::SeqCst);
    assert_eq!(storage.list("s3://photos", None, 9).await.unwrap().entries.len(), 1);
}

#[test]
fn role_arns_are_validated() {
    let right = [
        "arn:aws:iam::123456789012:role/reader",
        "arn:aws-us-gov:iam::123456789012:role/team/a+b=c,d.e@f-g",
    ];
    for arn in right {
        assert_eq!(RoleArn::parse(arn).map(|role| role.to_string()).as_deref(), Some(arn));
    }
    let wrong = [
        "",
        "reader",
        "arn:aws:iam::12345678901:role/short",
        "arn:aws:iam::12345678901x:role/a",
        "arn:azure:iam::123456789012:role/a",
        "arn:aws:s3::123456789012:role/a",
        "arn:aws:iam:eu:123456789012:role/a",
        "arn:aws:iam::123456789012:user/a",
        "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:role/a b",
        "arn:aws:iam::123456789012:role/a\u{1b}",
        "arn:aws:iam::123456789012:role/a:b",
    ];
    for arn in wrong {
        assert_eq!(RoleArn::parse(arn), None, "{arn:?}");
    }
    let long = format!("arn:aws:iam::123456789012:role/{}", "x".repeat(600));
    assert_eq!(RoleArn::parse(&long), None);
}

/// Reads from the service at the port that the environment names, if it names one.
#[tokio::test]
async fn the_object_of_the_environment_is_missing() {
    let Some(port) = port_of_environment() else { return };
    let read = read_object(port).await;
    assert!(matches!(read, Err(StorageError::Missing)), "{read:?}");
}

async fn read_object(port: u16) -> Result<Bytes, StorageError> {
    let endpoint = format!("https://localhost:{port}");
    let settings = of(&[("AWS_ENDPOINT_URL", &endpoint), ("AWS_SKIP_SIGNATURE", "true")]);
    let object = ObjectUri::parse("s3://photos/a.jpg").unwrap();
    storage(settings.unwrap()).read_range(&object, 0..1).await
}

#[tokio::test]
async fn a_certificate_of_the_system_is_accepted_for_its_storage() {
    let ((config, file), (_, other)) = (self_signed("localhost"), self_signed("localhost"));
    let port = TlsService::start_tls(config, respond_not_found).await.port;
    for (file, is_accepted) in [(&file, true), (&other, false)] {
        let test = "components::object_storage::settings::the_object_of_the_environment_is_missing";
        let passes = passes_where_system_trusts(file.path(), test, port).await;
        assert_eq!(passes, is_accepted);
    }
    let refused = read_object(port).await.unwrap_err().to_string();
    assert!(
        refused.contains("the certificate of the server; if you trust the server, add"),
        "{refused}"
    );
}
