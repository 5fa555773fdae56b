use secrecy::ExposeSecret as _;
use serde_json::json;

use tessera_wire::{credentials::*, fields::Fields};

#[test]
fn a_pair_is_read_with_and_without_its_secret() {
    let first = json!({ "api_key": "ak_1", "api_secret": "canary", "message": "keep it\u{1b}" });
    let first = read_issued_credentials(Fields::from(&first)).unwrap();
    assert_eq!(first.api_secret.as_ref().unwrap().expose_secret(), "canary");
    assert_eq!(first.message.as_ref().unwrap().as_str(), "keep it␛");
    assert!(!format!("{first:?}").contains("canary"));
    for again in [json!({ "api_key": "k" }), json!({ "api_key": "k", "api_secret": null })] {
        assert!(read_issued_credentials(Fields::from(&again)).unwrap().api_secret.is_none());
    }
    assert!(read_issued_credentials(Fields::from(&json!({ "api_secret": "canary" }))).is_none());
}

#[test]
fn the_session_is_read_with_and_without_its_name() {
    for typed in ["abc", " abc\n", "SESSION=abc", "SESSION=abc\n"] {
        assert_eq!(session_value(typed), Some("abc"), "{typed:?}");
    }
    for typed in ["", "SESSION=", "a=b; SESSION=abc", "two words", "\"abc\"", "SESSION=a;b"] {
        assert_eq!(session_value(typed), None, "{typed:?}");
    }
}

#[test]
fn a_secret_is_one_word() {
    assert_eq!(secret_value(" s3cret\n"), Some("s3cret"));
    for typed in ["", " ", "two words", "caf\u{e9}"] {
        assert_eq!(secret_value(typed), None, "{typed:?}");
    }
}
