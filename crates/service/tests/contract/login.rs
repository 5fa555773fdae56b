//! Authentication (API: Authentication 1-5).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::support::{Place, Service, answer, now, pictures};

const REFUSAL: &str = "Invalid or expired token";

async fn code(service: &Service, authorization: Option<&str>) -> u16 {
    let mut request = service.client.get(service.url(&service.of_dataset("")));
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    let (status, body) = answer(request).await;
    if status == 401 {
        assert_eq!(body, json!({ "detail": REFUSAL }), "every refusal reads the same");
    }
    status.as_u16()
}

#[tokio::test]
async fn a_token_built_as_documented_is_accepted() {
    let service = Service::of_pictures().await;
    assert_eq!(code(&service, Some(&format!("Bearer {}", service.token()))).await, 200);
    assert_eq!(code(&service, Some(&format!("bearer {}", service.token()))).await, 200);
}

#[tokio::test]
async fn every_other_token_is_refused() {
    let service = Service::of_pictures().await;
    let key = service.credentials.api_key.clone();
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let good = service.token();
    let claims = good.split('.').nth(1).unwrap();
    let none = part(&json!({"alg": "none", "typ": "JWT", "kid": key}));
    let rs256 = part(&json!({"alg": "RS256", "typ": "JWT", "kid": key}));
    let signature = good.rsplit('.').next().unwrap();
    let signed = |header: Value| {
        let text = format!("{}.{claims}", part(&header));
        let key = hmac::Key::new(
            hmac::HMAC_SHA256,
            service.credentials.api_secret.expose_secret().as_bytes(),
        );
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, text.as_bytes())))
    };
    let known = signed(json!({"alg": "HS256", "typ": "JWT", "kid": key}));
    assert_eq!(code(&service, Some(&format!("Bearer {known}"))).await, 200);
    let hs512 = format!("{}.{claims}", part(&json!({"alg": "HS512", "typ": "JWT", "kid": key})));
    let secret = service.credentials.api_secret.expose_secret().as_bytes();
    let hs512_signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA512, secret), hs512.as_bytes());
    let with_kid = |kid| service.token_with(&json!({}), kid);
    let huge = service.token_with(&json!({"pad": "x".repeat(4096)}), Some(&key));
    for token in [
        String::new(),
        "x".to_owned(),
        "a.b.c".to_owned(),
        format!("{none}.{claims}."),
        format!("{none}.{claims}.{signature}"),
        format!("{rs256}.{claims}.{signature}"),
        format!("{hs512}.{}", URL_SAFE_NO_PAD.encode(hs512_signature)),
        signed(json!({"alg": "HS256", "kid": key, "crit": ["b64"], "b64": false})),
        signed(json!({"alg": "HS256", "kid": key, "crit": []})),
        with_kid(None),
        with_kid(Some("other")),
        with_kid(Some("")),
        with_kid(Some("../../key")),
        with_kid(Some("' OR 1=1 --")),
        with_kid(Some(&key.to_uppercase())),
        with_kid(Some(&format!("{key} "))),
        good[..good.len() - 2].to_owned(),
        format!("{good}.x"),
        huge,
    ] {
        assert_eq!(code(&service, Some(&format!("Bearer {token}"))).await, 401, "{token}");
    }
    assert_eq!(code(&service, None).await, 401);
    assert_eq!(code(&service, Some(&good)).await, 401, "no scheme");
    assert_eq!(code(&service, Some(&format!("Basic {good}"))).await, 401);
}

#[tokio::test]
async fn the_claims_are_bounded() {
    let service = Service::of_pictures().await;
    let key = service.credentials.api_key.clone();
    let now = now();
    for (claims, expected) in [
        (json!({}), 200),
        (json!({"iat": now + 50}), 200),
        (json!({"iat": now + 90}), 401),
        (json!({"iat": f64::from(u32::try_from(now).unwrap()) + 0.5}), 200),
        (json!({"iat": -0.5}), 401),
        (json!({"exp": now - 20, "iat": now - 100}), 200),
        (json!({"exp": now - 40, "iat": now - 100}), 401),
        (json!({"exp": null}), 401),
        (json!({"exp": "soon"}), 401),
        (json!({"exp": now + 60, "iat": "now"}), 401),
        (json!({"iat": null}), 401),
        (json!({"exp": 253_402_300_799_u64}), 401),
        (json!({"exp": now + 24 * 3600, "iat": now}), 200),
        (json!({"exp": now + 24 * 3600 + 1, "iat": now}), 401),
        (json!({"exp": now + 10, "iat": now + 50}), 401),
        (json!({"iss": "other"}), 401),
        (json!({"iss": null}), 401),
        (json!({"iss": ["sdk"]}), 401),
        (json!({"iss": ["sdk", "other"]}), 401),
        (json!({"nbf": now}), 200),
        (json!({"nbf": now + 50}), 200),
        (json!({"nbf": now + 90}), 401),
        (json!({"nbf": "soon"}), 401),
        (json!({"sub": "other"}), 401),
        (json!({"sub": null}), 401),
        (json!({"exp": -1}), 401),
    ] {
        let token = service.token_with(&claims, Some(&key));
        let got = code(&service, Some(&format!("Bearer {token}"))).await;
        assert_eq!(got, expected, "{claims}");
    }
}

#[tokio::test]
async fn status_401_comes_before_404_and_says_bearer() {
    let service = Service::of_pictures().await;
    for path in [
        "/api/v1/datasets",
        "/api/v1/dataset/00000000-0000-0000-0000-000000000000",
        "/api/v1/dataset/no-uuid",
        "/api/v1/nothing",
    ] {
        let response = service.client.get(service.url(path)).send().await.unwrap();
        assert_eq!(response.status(), 401, "{path}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
    }
}

#[tokio::test]
async fn on_premises_needs_no_login() {
    let service = Service::at(Place::new(&pictures(4)), false).await;
    assert_eq!(code(&service, None).await, 200);
    assert_eq!(code(&service, Some("Bearer whatever")).await, 200);
}
