//! Tests that the login is replaced only by one that the service accepts, and that an issued secret is never lost.

use std::path::PathBuf;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use tessera_config::{DeploymentConfig, Profile, edit};
use tessera_interface::message::TypedSecret;
use tessera_testing::{
    clients::{hosted, without_pauses},
    scripted::{ReceivedRequest, Reply, ScriptedServer},
};

use super::*;
use crate::credentials::locations_with_keyring;

const KEYRING: &str = "the keyring of this system";

/// Creates the login requests of a profile whose key pairs are stored in `folder`. With `refuses`,
/// the storage refuses them.
fn login_of(server: &ScriptedServer, folder: &std::path::Path, refuses: bool) -> LoginRequests {
    let client = hosted(&server.url(), without_pauses());
    let origin = client.service().base_url().to_string();
    let deployment =
        DeploymentConfig::Hosted { base_url: origin.clone(), api_key: "ak_1".to_owned() };
    let (profile, file) = (Profile::new("prod", deployment), folder.join("config.toml"));
    edit::add_profile(&file, &profile, || Ok(())).unwrap();
    let secrets = if refuses {
        Err("the keyring is locked".to_owned())
    } else {
        Ok(locations_with_keyring(folder))
    };
    let owner = KeyPairOwner::new(profile, origin, Some(file), secrets);
    LoginRequests { client, owner: Some(Arc::new(owner)) }
}

/// Starts a service that accepts the key `ak_2`, issues it for a session, and lists no datasets. A login page in front of
/// the service responds to the key `ak_4`. The file `damaged` is damaged while the service issues a key pair.
async fn login_service(issues_secret: bool, damaged: Option<PathBuf>) -> ScriptedServer {
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.path().ends_with("api_credentials") {
            if let Some(file) = &damaged {
                std::fs::write(file, "damaged").unwrap();
            }
            let secret = if issues_secret { r#","api_secret":"canary-secret""# } else { "" };
            return Reply::json(format!(r#"{{"api_key":"ak_2","message":"Keep it"{secret}}}"#));
        }
        let token = seen.header("authorization").unwrap().trim_start_matches("Bearer ");
        let head = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
        let head = String::from_utf8(head).unwrap();
        if head.contains("ak_2") {
            return Reply::json("[]");
        }
        if head.contains("ak_4") {
            return Reply::new(302, &[("location", "https://login.example")], "");
        }
        Reply::new(401, &[], r#"{"detail":"expired"}"#)
    })
    .await
}

fn key_pair(api_key: &str, store: bool) -> LoginImport {
    let api_secret = TypedSecret("canary-secret".into());
    LoginImport::KeyPair { api_key: api_key.to_owned(), api_secret, store }
}

fn session() -> LoginImport {
    LoginImport::Session(TypedSecret("canary-session".into()))
}

#[tokio::test]
async fn a_login_is_replaced_only_by_one_that_the_service_accepts() {
    for (import, issues_secret, refuses, is_kept, expected) in [
        (key_pair("ak_3", true), true, false, false, Err("the credentials were rejected")),
        (key_pair("ak_4", true), true, false, false, Err("redirects to")),
        (key_pair("ak_2", false), true, false, false, Ok(None)),
        (key_pair("ak_2", true), true, false, true, Ok(Some(KEYRING))),
        (key_pair("ak_2", true), true, true, false, Err("the keyring is locked")),
        (session(), true, false, true, Ok(Some(KEYRING))),
        (session(), false, false, false, Err("without its secret")),
        (session(), true, true, false, Err("the keyring is locked")),
    ] {
        let server = login_service(issues_secret, None).await;
        let folder = tempfile::tempdir().unwrap();
        let login = login_of(&server, folder.path(), refuses);
        let result = login.import(import).await;
        match (result.map(|login| login.stored_in), expected) {
            (Ok(place), Ok(expected)) => assert_eq!(place.as_ref().map(SafeText::as_str), expected),
            (Err(failure), Err(words)) => {
                let text = failure.to_string();
                assert!(text.contains(words) && !text.contains("canary"), "{text}");
            }
            (result, expected) => panic!("{result:?} instead of {expected:?}"),
        }
        let settings = std::fs::read_to_string(folder.path().join("config.toml")).unwrap();
        assert_eq!(settings.contains("ak_2"), is_kept, "{settings}");
        let accepted = login.check(None).await.is_ok();
        assert_eq!(accepted, expected.is_ok(), "the former login stays if the import failed");
        let requests = server.requests();
        let asked = requests.iter().any(|seen| seen.path().ends_with("api_credentials"));
        assert!(!(asked && refuses), "nothing is requested that cannot be stored");
        let both = |seen: &&ReceivedRequest| {
            seen.header("cookie").is_some() && seen.header("authorization").is_some()
        };
        assert_eq!(requests.iter().find(both).map(ReceivedRequest::path), None);
    }
}

/// The service shows an issued secret only once, so the secret is used even if it cannot be stored.
#[tokio::test]
async fn an_issued_key_pair_that_cannot_be_stored_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let server = login_service(true, Some(folder.path().join("secrets.toml"))).await;
    let login = login_of(&server, folder.path(), false);
    let text = login.import(session()).await.unwrap_err().to_string();
    assert!(text.contains("not stored") && text.contains("secrets.toml"), "{text}");
    assert_eq!(login.check(None).await, Ok(()));
}
