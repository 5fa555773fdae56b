//! Tokens: their format, and what follows when a service rejects them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::UNIX_EPOCH,
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use tessera_client::{
    AuthMethod, BaseUrl, Client, Credentials, SecretReloader, ServiceConfig, TOKEN_LIFETIME,
};
use tessera_testing::clients::without_pauses;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

/// The payload of a token that was signed with a secret; `None` if it was signed with another one.
fn payload(token: &str, secret: &str) -> Option<Value> {
    let parts: Vec<&str> = token.split('.').collect();
    let read = |part: &str| -> Value {
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    let key = jsonwebtoken::DecodingKey::from_secret(secret.as_bytes());
    let signed = [parts[0], parts[1]].join(".");
    let algorithm = jsonwebtoken::Algorithm::HS256;
    jsonwebtoken::crypto::verify(parts[2], signed.as_bytes(), &key, algorithm).unwrap().then(|| {
        assert_eq!(read(parts[0]), json!({ "alg": "HS256", "typ": "JWT", "kid": "ak_1" }));
        read(parts[1])
    })
}

fn credentials(secret: &str) -> Credentials {
    Credentials { api_key: "ak_1".into(), api_secret: secret.into() }
}

#[test]
fn tokens_match_the_api_document() {
    let now = || UNIX_EPOCH.elapsed().unwrap().as_secs();
    let earliest = now();
    let token = credentials("secret").sign_token(TOKEN_LIFETIME).unwrap();
    let claims = payload(token.expose_secret(), "secret").unwrap();
    let issued = claims["iat"].as_u64().unwrap();
    assert!((earliest..=now()).contains(&issued), "{claims}");
    let expected = json!({ "sub": "ak_1", "iat": issued, "exp": issued + 600, "iss": "sdk" });
    assert_eq!(claims, expected);
}

#[tokio::test]
async fn a_rejected_token_reloads_the_secret_once() {
    let server = ScriptedServer::start(|request: &ReceivedRequest| {
        let token = request.header("authorization").unwrap().trim_start_matches("Bearer ");
        match payload(token, "rotated") {
            Some(_) => Reply::json("[]"),
            None => Reply::new(401, &[], "{}"),
        }
    })
    .await;
    let reads = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&reads);
    let reloader = SecretReloader::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Some(SecretString::from("rotated"))
    });
    let url = BaseUrl::parse(&server.url()).unwrap();
    let service = ServiceConfig::new(url, AuthMethod::Hosted(credentials("secret"))).unwrap();
    let service = service.with_secret_reloader(reloader);
    let client = Client::with_policy(service, without_pauses()).unwrap();
    let all = join_all((0..64).map(|_| client.list_datasets())).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    assert!(client.has_replaced_secret());
}

#[tokio::test]
async fn the_expiry_of_a_login_is_known_if_its_token_contains_it() {
    let client = |auth| {
        let url = BaseUrl::parse("https://a.example").unwrap();
        Client::new(ServiceConfig::new(url, auth).unwrap()).unwrap()
    };
    let token = credentials("secret").sign_token(TOKEN_LIFETIME).unwrap();
    let expires = payload(token.expose_secret(), "secret").unwrap()["exp"].as_u64();
    for (auth, known) in [
        (AuthMethod::OnPremises, None),
        (AuthMethod::Session("a session".into()), None),
        (AuthMethod::Token("not a token".into()), None),
        (AuthMethod::Token(token), expires),
        // Nothing was signed yet.
        (AuthMethod::Hosted(credentials("secret")), None),
    ] {
        let client = client(auth);
        assert_eq!(client.token_expires_at().map(|at| at.as_secs()), known);
        assert_eq!((client.clock_skew(), client.has_replaced_secret()), (0, false));
    }
}
