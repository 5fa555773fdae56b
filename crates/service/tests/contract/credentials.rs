//! `GET api_credentials` (API: Authentication 1 and 2).

use std::{
    fs,
    time::{Duration, Instant},
};

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tessera_service::revoke_access;
use tokio::time::sleep;

use crate::{
    change::{plain, uploads},
    export::archive,
    support::{Place, Service, answer, now, pictures},
};

const PATH: &str = "/api/v1/api_credentials";

fn session(service: &Service) -> String {
    format!("SESSION={}", service.credentials.session.expose_secret())
}

async fn ask(service: &Service, cookie: &str) -> (u16, Value) {
    let request = service.client.get(service.url(PATH)).header("cookie", cookie);
    let (status, body) = answer(request).await;
    (status.as_u16(), body)
}

/// The status code of a read with a token for this key pair.
pub async fn opens(service: &Service, key: &str, secret: &str) -> u16 {
    let claims = json!({"sub": key, "iat": now(), "exp": now() + 600, "iss": "sdk"});
    let header = Header { kid: Some(key.to_owned()), ..Header::new(Algorithm::HS256) };
    let token = encode(&header, &claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap();
    let request = service.client.get(service.url("/api/v1/datasets")).bearer_auth(token);
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_session_gets_a_key_pair_and_its_secret_once() {
    let service = Service::of_pictures().await;
    let (status, first) = ask(&service, &session(&service)).await;
    assert_eq!(status, 200);
    let (key, secret) = (first["api_key"].as_str().unwrap(), first["api_secret"].as_str().unwrap());
    assert!(secret.len() >= 32, "HS256 wants 256 bits");
    assert!(first["message"].as_str().unwrap().contains("once"), "{first}");
    assert_eq!(opens(&service, key, secret).await, 200);
    assert_eq!(opens(&service, key, &secret[1..]).await, 401);
    let (status, second) = ask(&service, &format!("a=b; {}; c=d", session(&service))).await;
    assert_eq!((status, &second["api_key"]), (200, &first["api_key"]));
    assert_eq!(second["api_secret"], json!(null), "shown only once");
    assert!(second["message"].is_string());
    assert_eq!(opens(&service, key, secret).await, 200, "it stays good");
    assert_eq!(service.json("/api/v1/datasets").await.0, 200, "and so does the pair of the start");
}

/// Serves a folder with the login that its data folder keeps.
async fn with_kept_login(place: Place) -> Service {
    let deployment = place.open();
    let dataset = place.add(&deployment);
    Service::with_kept_login(place, deployment, dataset).await
}

#[tokio::test]
async fn an_issued_key_pair_survives_a_restart_and_is_not_shown_again() {
    let service = with_kept_login(Place::new(&pictures(1))).await;
    let cookie = session(&service);
    let (_, first) = ask(&service, &cookie).await;
    let (key, secret) = (first["api_key"].as_str().unwrap(), first["api_secret"].as_str().unwrap());
    let service = with_kept_login(service.stop().await).await;
    assert_eq!(opens(&service, key, secret).await, 200);
    assert_eq!(service.json("/api/v1/datasets").await.0, 200, "and so does the pair of the start");
    let (status, second) = ask(&service, &cookie).await;
    assert_eq!((status, &second["api_key"]), (200, &first["api_key"]));
    assert_eq!(second["api_secret"], json!(null), "shown only once");
}

/// Waits until a read with a token for this key pair gets this status.
async fn until_opens(service: &Service, key: &str, secret: &str, status: u16) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while opens(service, key, secret).await != status {
        assert!(Instant::now() < deadline, "the status is not {status}");
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_revoked_login_and_its_links_are_refused_by_a_running_service() {
    let service = with_kept_login(Place::new(&pictures(4))).await;
    service.deployment.wait_until_idle().await;
    let (_, issued) = ask(&service, &session(&service)).await;
    let body = service.good(&service.explore("threshold=0")).await;
    let link = body["clusters"][0]["previews"][0]["media_uri"].as_str().unwrap().to_owned();
    let exported = archive(&service, "file_name=a&export_format=json").await.0;
    let download = exported["download_uri"].as_str().unwrap().to_owned();
    let open = async |link: &str| service.client.get(link).send().await.unwrap().status().as_u16();
    assert_eq!((open(&link).await, open(&download).await), (200, 200));
    let id = tessera_store::Store::id;
    let known = id(&service.place.reopened());

    let address = service.place.store.address();
    let new = revoke_access(service.place.data.path(), address.as_ref()).unwrap();
    let secret = new.api_secret.expose_secret();
    let old = &service.credentials;
    until_opens(&service, &old.api_key, old.api_secret.expose_secret(), 401).await;
    let pair = ["api_key", "api_secret"].map(|name| issued[name].as_str().unwrap());
    assert_eq!(opens(&service, pair[0], pair[1]).await, 401, "nor the pair of the session");
    assert_eq!(ask(&service, &session(&service)).await.0, 401, "nor the session");
    assert_eq!(opens(&service, &new.api_key, secret).await, 200);
    let deadline = Instant::now() + Duration::from_secs(20);
    while open(&link).await != 403 {
        assert!(Instant::now() < deadline, "the link still opens");
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(open(&download).await, 403);
    assert_eq!(id(&service.place.reopened()), known, "pictures in a bucket are still found");

    let service = with_kept_login(service.stop().await).await;
    assert_eq!(opens(&service, &new.api_key, secret).await, 200, "also after a restart");
    assert_eq!(service.credentials.api_key, new.api_key);
}

#[tokio::test]
async fn a_process_that_does_not_know_of_a_revocation_cannot_undo_it() {
    let service = with_kept_login(Place::new(&pictures(1))).await;
    let cookie = session(&service);
    let address = service.place.store.address();
    let new = revoke_access(service.place.data.path(), address.as_ref()).unwrap();
    // The service may not have noticed yet, so it either refuses the session or fails to issue a key pair.
    let (status, body) = ask(&service, &cookie).await;
    assert!(status == 401 || status == 500, "{status}: {body}");
    let kept = service.deployment.kept_credentials().unwrap();
    assert_eq!(kept.api_key, new.api_key);
}

#[test]
fn a_damaged_login_file_is_named_and_can_be_removed() {
    let place = Place::new(&[]).with_store_file();
    let path = place.data.path().join("login.json");
    let deployment = place.open();
    deployment.kept_credentials().unwrap();
    let bytes = fs::read(&path).unwrap();
    for damaged in ["", "{}", "[", &String::from_utf8_lossy(&bytes[..bytes.len() / 2])] {
        fs::write(&path, damaged).unwrap();
        let error = deployment.kept_credentials().unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        assert!(error.contains("remove the file to create a new login"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged, "it is left as it is");
    }
    fs::remove_file(&path).unwrap();
    deployment.kept_credentials().unwrap();
    assert_ne!(fs::read(&path).unwrap(), bytes);
}

#[tokio::test]
async fn only_one_concurrent_request_receives_the_secret() {
    let service = Service::of_pictures().await;
    let cookie = session(&service);
    let all = futures_util::future::join_all((0..20).map(|_| ask(&service, &cookie))).await;
    assert!(all.iter().all(|(status, body)| *status == 200 && body["api_key"].is_string()));
    let shown = all.iter().filter(|(_, body)| body["api_secret"].is_string());
    assert_eq!(shown.count(), 1);
}

#[tokio::test]
async fn only_the_session_cookie_opens() {
    let service = Service::of_pictures().await;
    let good = session(&service);
    let refusal = json!({"detail": "Invalid or expired token"});
    let as_long = format!("SESSION={}", "0".repeat(good.len() - "SESSION=".len()));
    let secret = service.credentials.session.expose_secret();
    let reversed = format!("SESSION={}", secret.chars().rev().collect::<String>());
    for wrong in [
        "",
        "SESSION=",
        "SESSION=x",
        &as_long,
        &reversed,
        &good[..good.len() - 1],
        &good.to_lowercase(),
        &format!("X{good}"),
        &good[8..],
    ] {
        assert_eq!(ask(&service, wrong).await, (401, refusal.clone()), "{wrong}");
    }
    let (status, body) = service.json(PATH).await;
    assert_eq!((status.as_u16(), body), (401, refusal), "a token is no session");
    let head = service.client.head(service.url(PATH)).header("cookie", &good);
    assert_eq!(head.send().await.unwrap().status(), 405);
    let (_, body) = ask(&service, &good).await;
    assert!(body["api_secret"].is_string(), "none of them used up the one time");
}

#[tokio::test]
async fn the_session_cookie_also_adds_media_and_does_nothing_else() {
    let service = Service::of_pictures().await;
    let send = |method: Method, path: &str| {
        service.client.request(method, service.url(path)).header("cookie", session(&service))
    };
    for (method, path) in [
        (Method::GET, "/api/v1/datasets".to_owned()),
        (Method::GET, service.of_dataset("")),
        (Method::POST, service.of_dataset("/reindex")),
        (Method::GET, service.of_dataset("/add_media")),
        (Method::GET, service.of_dataset("/export_context_async?file_name=a&export_format=json")),
        (Method::GET, format!("/api/v1/process/add_media?dataset_id={}&path=/", service.dataset)),
    ] {
        assert_eq!(plain(send(method, &path)).await.0, 401, "{path}");
    }
    let add = send(Method::POST, &service.of_dataset("/add_media")).multipart(uploads(12..13));
    assert_eq!(plain(add).await, (202, String::new()));
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["n_images"], 13);
}

#[tokio::test]
async fn on_premises_there_are_no_credentials() {
    let service = Service::at(Place::new(&pictures(1)), false).await;
    let (status, body) = ask(&service, "SESSION=x").await;
    assert_eq!(status, 404);
    assert!(body["detail"].is_string());
}

#[tokio::test]
async fn a_foreign_page_cannot_take_the_key_pair_of_a_session() {
    let service = Service::of_pictures().await;
    let ask = |headers: &[(&'static str, &str)]| {
        let request = service.client.get(service.url(PATH)).header("cookie", session(&service));
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
    };
    let browser = ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)");
    let page = service.url("/");
    for headers in [
        // Browsers send no metadata to a name that is neither loopback nor encrypted.
        &[browser][..],
        &[browser, ("referer", "http://evil.example/page")],
        &[("referer", "http://evil.example/page")],
        &[browser, ("sec-fetch-site", "cross-site")],
        &[browser, ("sec-fetch-site", "same-site")],
        &[browser, ("origin", "http://evil.example")],
    ] {
        let (status, body) = answer(ask(headers)).await;
        assert_eq!(status, 403, "{headers:?}: {body}");
    }
    for headers in [
        &[browser, ("sec-fetch-site", "none")][..],
        &[browser, ("sec-fetch-site", "same-origin"), ("referer", page.as_str())],
        &[],
    ] {
        assert_eq!(answer(ask(headers)).await.0, 200, "{headers:?}");
    }
}
