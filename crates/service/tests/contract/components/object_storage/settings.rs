//! Settings from the standard AWS variables.

use secrecy::ExposeSecret as _;

use tessera_service::object_storage::StorageSettings;

fn of(vars: &[(&str, &str)]) -> Result<StorageSettings, String> {
    StorageSettings::from_env(|name| {
        vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn the_standard_variables_are_read() {
    let none = of(&[]).unwrap();
    assert!(none.key.is_none() && none.endpoint.is_none());
    assert_eq!(none.region, "us-east-1");
    let all = of(&[
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", " s3cr3t "),
        ("AWS_SESSION_TOKEN", "t0k3n"),
        ("AWS_REGION", ""),
        ("AWS_DEFAULT_REGION", "eu-central-1"),
        ("AWS_ENDPOINT_URL", "http://other:1"),
        ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000"),
    ])
    .unwrap();
    assert_eq!(all.region, "eu-central-1");
    assert_eq!(all.endpoint.clone().unwrap().as_str(), "http://127.0.0.1:9000/");
    let shown = format!("{all:?}");
    assert!(!shown.contains("s3cr3t") && !shown.contains("t0k3n"), "{shown}");
    let key = all.key.unwrap();
    assert_eq!((key.id.as_str(), key.secret.expose_secret()), ("id", "s3cr3t"));
    assert_eq!(key.token.unwrap().expose_secret(), "t0k3n");
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
    for (var, expected) in wrong {
        let message = of(&[var]).unwrap_err();
        assert!(message.contains(expected) && !message.contains("c4nary"), "{message}");
    }
}
