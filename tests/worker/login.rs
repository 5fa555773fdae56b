//! The worker replaces the login.

use std::sync::{Arc, Mutex};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use tessera::{
    message::{Lane, LoginImport, LoginPlaces, Payload, Request, TypedSecret},
    state::StateStore,
    worker::{LoginStorage, WorkerOptions, spawn},
};
use tessera_client::Credentials;
use tessera_model::{Failure, SafeText};
use tessera_testing::{
    clients::{hosted, without_pauses},
    scripted::{ReceivedRequest, Reply, ScriptedServer},
};

use super::{response, ticket};

/// Keeps what it is given, or refuses it.
#[derive(Debug, Default)]
struct TestStorage {
    kept: Mutex<Vec<String>>,
    refuses: bool,
}

impl LoginStorage for TestStorage {
    fn places(&self) -> LoginPlaces {
        let place = SafeText::name("here");
        LoginPlaces { current: place.clone(), new: place, needs_consent: false }
    }

    fn save(&self, credentials: &Credentials) -> Result<SafeText, Failure> {
        if self.refuses {
            return Err(Failure::local("the keyring is locked"));
        }
        self.kept.lock().unwrap().push(credentials.api_key.clone());
        Ok(SafeText::name("here"))
    }
}

fn with_storage(storage: Arc<dyn LoginStorage>) -> WorkerOptions {
    WorkerOptions { login_storage: Some(storage), ..WorkerOptions::default() }
}

/// A service that accepts the key `ak_2`, issues it for a session, and lists no datasets.
async fn login_service(issues_secret: bool) -> ScriptedServer {
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.path().ends_with("api_credentials") {
            let secret = if issues_secret { r#","api_secret":"canary-secret""# } else { "" };
            return Reply::json(format!(r#"{{"api_key":"ak_2","message":"Keep it"{secret}}}"#));
        }
        let token = seen.header("authorization").unwrap().trim_start_matches("Bearer ");
        let head = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
        if String::from_utf8(head).unwrap().contains("ak_2") {
            return Reply::json("[]");
        }
        Reply::new(401, &[], r#"{"detail":"expired"}"#)
    })
    .await
}

fn key_pair(api_key: &str, store: bool) -> LoginImport {
    let api_secret = TypedSecret("canary-secret".into());
    LoginImport::KeyPair { api_key: api_key.to_owned(), api_secret, store }
}

#[tokio::test]
async fn a_login_is_replaced_only_by_one_that_the_service_accepts() {
    let session = || LoginImport::Session(TypedSecret("canary-session".into()));
    for (import, issues_secret, refuses, kept, expected) in [
        (key_pair("ak_3", true), true, false, 0, Err("the credentials were rejected")),
        (key_pair("ak_2", false), true, false, 0, Ok(None)),
        (key_pair("ak_2", true), true, false, 1, Ok(Some("here"))),
        (key_pair("ak_2", true), true, true, 0, Err("the keyring is locked")),
        (session(), true, false, 1, Ok(Some("here"))),
        (session(), false, false, 0, Err("without its secret")),
    ] {
        let server = login_service(issues_secret).await;
        let storage = Arc::new(TestStorage { refuses, ..TestStorage::default() });
        let client = hosted(&server.url(), without_pauses());
        let (worker, mut replies) =
            spawn(client, StateStore::default(), with_storage(Arc::clone(&storage) as _));
        worker.send(ticket(Lane::LoginImport, 1), Request::ImportLogin(import));
        let result = response(&mut replies).await.result;
        let place = |payload| match payload {
            Payload::LoginImported(login) => login.stored_in,
            other => panic!("{other:?}"),
        };
        match (result.map(place), expected) {
            (Ok(place), Ok(expected)) => assert_eq!(place.as_ref().map(SafeText::as_str), expected),
            (Err(failure), Err(words)) => {
                let text = failure.to_string();
                assert!(text.contains(words) && !text.contains("canary"), "{text}");
            }
            (result, expected) => panic!("{result:?} instead of {expected:?}"),
        }
        assert_eq!(storage.kept.lock().unwrap().len(), kept);
        worker.send(ticket(Lane::LoginCheck, 2), Request::CheckLogin(None));
        let accepted = response(&mut replies).await.result.is_ok();
        assert_eq!(accepted, expected.is_ok(), "the former login stays if the import failed");
        let requests = server.requests();
        let both = |seen: &&ReceivedRequest| {
            seen.header("cookie").is_some() && seen.header("authorization").is_some()
        };
        assert_eq!(requests.iter().find(both).map(ReceivedRequest::path), None);
    }
}

/// The service shows an issued secret only once, so it is used even if it cannot be stored.
#[tokio::test]
async fn an_issued_key_pair_that_cannot_be_stored_is_used() {
    let server = login_service(true).await;
    let storage = Arc::new(TestStorage { refuses: true, ..TestStorage::default() });
    let client = hosted(&server.url(), without_pauses());
    let (worker, mut replies) = spawn(client, StateStore::default(), with_storage(storage as _));
    let session = LoginImport::Session(TypedSecret("canary-session".into()));
    worker.send(ticket(Lane::LoginImport, 1), Request::ImportLogin(session));
    let text = response(&mut replies).await.result.unwrap_err().to_string();
    assert!(text.contains("not stored") && text.contains("the keyring is locked"), "{text}");
    worker.send(ticket(Lane::LoginCheck, 2), Request::CheckLogin(None));
    assert_eq!(response(&mut replies).await.result, Ok(Payload::LoginAccepted));
}
