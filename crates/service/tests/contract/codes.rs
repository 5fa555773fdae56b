//! Every endpoint with every status code caused by dataset status, login or address.

use reqwest::{
    Method, RequestBuilder,
    multipart::{Form, Part},
};
use serde_json::{Value, json};
use tessera_service::InjectedFailure;

use crate::{
    change::{detail, plain, uploads},
    support::{Service, picture},
};

const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// An endpoint by its short name.
const ENDPOINTS: [&str; 12] = [
    "datasets", "record", "export", "status", "entities", "add", "reindex", "process", "similar",
    "browse", "anchored", "context",
];

/// A request that is valid except for its target; without a login.
fn request(service: &Service, endpoint: &str, id: &str) -> RequestBuilder {
    let dataset = |rest: &str| format!("/api/v1/dataset/{id}{rest}");
    let explore = |rest: &str| format!("/api/v1/explore/{id}?entity_type=IMAGES{rest}");
    let (method, path) = match endpoint {
        "datasets" => (Method::GET, "/api/v1/datasets".to_owned()),
        "record" => (Method::GET, dataset("")),
        "export" => (Method::GET, dataset("/export_context_async?file_name=a&export_format=json")),
        "status" => (Method::GET, dataset(&format!("/export_status?export_task_id={NOBODY}"))),
        "entities" => (Method::POST, dataset("/export_entities_async?export_format=json")),
        "add" => (Method::POST, dataset("/add_media")),
        "reindex" => (Method::POST, dataset("/reindex")),
        "process" => {
            (Method::GET, format!("/api/v1/process/add_media?dataset_id={id}&path=/nowhere"))
        }
        "similar" => (Method::POST, dataset("/search-image-similarity?entity_type=IMAGES")),
        "browse" => (Method::GET, explore("")),
        "anchored" => {
            (Method::GET, explore(&format!("&anchor_media_id={NOBODY}&anchor_type=MEDIA")))
        }
        "context" => (Method::GET, format!("/api/v1/enrichment/{id}/context")),
        other => panic!("{other}"),
    };
    let request = service.client.request(method, service.url(&path));
    match endpoint {
        "entities" => request.json(&json!({"media_selection": [
            {"type": "media", "payload": {"media_ids": [NOBODY]}}]})),
        "add" => request.multipart(uploads(12..13)),
        "similar" => {
            let file = Part::bytes(picture(1)).file_name("a.png");
            request.multipart(Form::new().part("file", file))
        }
        _ => request,
    }
}

/// The status code and message of a response with login.
async fn ask(service: &Service, endpoint: &str, id: &str) -> (u16, Value) {
    let (status, body) = plain(request(service, endpoint, id).bearer_auth(service.token())).await;
    (status, if body.is_empty() { json!(null) } else { detail(&body) })
}

#[tokio::test]
async fn every_endpoint_is_401_without_a_token_and_changes_nothing() {
    let service = Service::of_pictures().await;
    let id = service.dataset.to_string();
    for endpoint in ENDPOINTS {
        for id in [id.as_str(), NOBODY, "no-uuid"] {
            let response = request(&service, endpoint, id).send().await.unwrap();
            assert_eq!(response.status(), 401, "{endpoint} {id}");
            assert_eq!(response.headers()["www-authenticate"], "Bearer", "{endpoint}");
            let body = response.text().await.unwrap();
            assert_eq!(detail(&body), "Invalid or expired token", "{endpoint}");
        }
    }
    assert_eq!(service.place.count("indexing_task WHERE kind <> 'DATASET_CREATION'"), 0);
    assert_eq!(service.place.count("export") + service.place.count("anchor"), 0);
}

#[tokio::test]
async fn every_endpoint_is_404_for_unknown_datasets() {
    let service = Service::of_pictures().await;
    for endpoint in ENDPOINTS.into_iter().filter(|endpoint| *endpoint != "datasets") {
        let answer = ask(&service, endpoint, NOBODY).await;
        assert_eq!(answer, (404, json!("Dataset not found")), "{endpoint}");
    }
}

#[tokio::test]
async fn every_endpoint_accepts_only_uuids() {
    let service = Service::of_pictures().await;
    for endpoint in ENDPOINTS.into_iter().filter(|endpoint| *endpoint != "datasets") {
        let (status, words) = ask(&service, endpoint, "no-uuid").await;
        let place = if endpoint == "process" { "query" } else { "path" };
        assert_eq!(status, 422, "{endpoint}: {words}");
        assert_eq!(words[0]["loc"], json!([place, "dataset_id"]), "{endpoint}");
        assert_eq!(words[0]["input"], "no-uuid", "{endpoint}");
    }
}

#[tokio::test]
async fn every_endpoint_is_405_for_other_methods() {
    let service = Service::of_pictures().await;
    let id = service.dataset.to_string();
    for endpoint in ENDPOINTS {
        let right = request(&service, endpoint, &id).build().unwrap();
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            if method == *right.method() {
                continue;
            }
            let wrong = service.client.request(method.clone(), right.url().clone());
            let (status, body) = plain(wrong.bearer_auth(service.token())).await;
            assert_eq!(status, 405, "{method} {endpoint}");
            assert_eq!(detail(&body), "Method Not Allowed");
        }
    }
}

/// Rules 1 to 3 of the API: the response of each endpoint in each state. The trigger of this
/// service fails, so 500 means that all checks passed.
#[tokio::test]
async fn every_status_allows_the_documented_operations() {
    let service = Service::failing(InjectedFailure::Trigger).await;
    let id = service.dataset.to_string();
    let anchor = service.media("p002.png").await;
    for (status, codes) in [
        // record, browse, caption, context; export, entities, similar, anchored; add, process; reindex
        ("READY", [200, 200, 200, 200, 200, 404, 200, 200, 500, 403, 409]),
        ("PARTIAL INDEX", [200, 200, 200, 200, 409, 409, 409, 409, 500, 403, 500]),
        ("READ ONLY", [200, 200, 200, 200, 409, 409, 409, 409, 409, 409, 409]),
        ("INDEXING", [200, 200, 200, 200, 409, 409, 409, 409, 409, 409, 409]),
        ("ERROR", [200, 200, 200, 200, 409, 409, 409, 409, 409, 409, 409]),
    ] {
        service.set_status(status);
        let get = async |path: String| plain(service.get(&path)).await;
        let anchored = format!("anchor_media_id={anchor}&anchor_type=MEDIA");
        let mut answers = vec![
            get(service.of_dataset("")).await,
            get(service.explore("")).await,
            // These images have no captions, so an allowed search finds nothing.
            get(service.explore("caption=boat")).await,
            get(format!("/api/v1/enrichment/{id}/context")).await,
        ];
        for endpoint in ["export", "entities", "similar"] {
            answers
                .push(plain(request(&service, endpoint, &id).bearer_auth(service.token())).await);
        }
        answers.push(get(service.explore(&anchored)).await);
        for endpoint in ["add", "process", "reindex"] {
            answers
                .push(plain(request(&service, endpoint, &id).bearer_auth(service.token())).await);
        }
        let got: Vec<u16> = answers.iter().map(|(code, _)| *code).collect();
        assert_eq!(got, codes, "{status}: {answers:?}");
        for (_, body) in answers.iter().filter(|(code, _)| *code == 409) {
            let words = detail(body);
            let words = words.as_str().unwrap();
            assert!(words.starts_with("Operation '") && words.contains(status), "{words}");
        }
        let record = service.record().await;
        assert_eq!(record["status_new"], status, "a failed trigger changes nothing");
    }
    assert_eq!(service.place.count("indexing_task WHERE kind <> 'DATASET_CREATION'"), 0);
}
