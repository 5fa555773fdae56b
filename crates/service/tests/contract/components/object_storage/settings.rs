//! Settings from the variables of the clouds.

use tessera_media::object_storage::StorageSettings;

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
