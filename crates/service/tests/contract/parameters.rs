//! Query parameters: no endpoint ignores one that it does not know. Query strings are also written byte by byte.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    compat::served,
    described::{escaped, found, place, set},
    forms::reported,
    support::{Place, Service, answer, pictures},
};

/// Every endpoint of the description, with an identifier in its path.
async fn endpoints(service: &Service) -> Vec<(Method, String)> {
    let request = service.client.get(service.url(tessera_service::OPENAPI_PATH));
    let description = answer(request).await.1;
    let id = service.dataset.to_string();
    let mut endpoints = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        let parts =
            path.split('/').map(|part| if part.starts_with('{') { id.as_str() } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        for method in item.as_object().unwrap().keys() {
            endpoints.push((method.to_uppercase().parse().unwrap(), path.clone()));
        }
    }
    assert!(endpoints.len() > 12, "{endpoints:?}");
    endpoints
}

async fn ask(service: &Service, method: &Method, path: &str) -> (u16, Value) {
    let request = service.client.request(method.clone(), service.url(path));
    let (status, body) = answer(request.bearer_auth(service.token())).await;
    (status.as_u16(), body)
}

#[tokio::test]
async fn every_operation_refuses_unknown_parameters_by_name() {
    for compat in [false, true] {
        let service = served(Place::new(&pictures(4)), compat).await;
        for (method, path) in endpoints(&service).await {
            let (status, body) = ask(&service, &method, &format!("{path}?limit=5")).await;
            assert_eq!(status, 422, "{method} {path}: {body}");
            let detail = &body["detail"][0];
            assert_eq!(detail["loc"], json!(["query", "limit"]), "{method} {path}");
            assert_eq!(
                (&detail["type"], &detail["input"]),
                (&json!("extra_forbidden"), &json!("5"))
            );
        }
    }
}

#[tokio::test]
async fn harmless_parameters_are_accepted_only_by_a_lenient_service() {
    let query = "verbose=true&allow_deleted=False&include_hidden=true&dataset_id=x";
    for (compat, expected) in [(false, 422), (true, 200)] {
        let service = served(Place::new(&pictures(4)), compat).await;
        let (status, body) = service.json(&service.explore(query)).await;
        assert_eq!(status, expected, "{body}");
    }
}

#[tokio::test]
async fn a_parameter_given_twice_is_refused() {
    let service = Service::of_pictures().await;
    let (status, body) = service.json(&service.explore("threshold=0&threshold=1")).await;
    assert_eq!((status.as_u16(), &body["detail"][0]["loc"][1]), (422, &json!("threshold")));
}

#[tokio::test]
async fn login_is_checked_before_parameters() {
    let service = Service::of_pictures().await;
    let request = service.client.get(service.url("/api/v1/datasets?unknown=1"));
    assert_eq!(answer(request).await.0, 401);
}

#[tokio::test]
async fn the_caption_filter_of_older_clients_filters() {
    let boats = set(&["night.png", "shore.png"]);
    let service = served(place(), true).await;
    assert_eq!(found(&service, "caption_only_filter=boat").await, boats);
    let clusters = service.clusters("caption_only_filter=boat&threshold=4").await;
    let id = clusters[0]["cluster_id"].as_str().unwrap();
    let path = format!("/api/v1/explore/{}/similarity_cluster/{id}", service.dataset);
    let page = service.good(&format!("{path}?verbose=true&caption_only_filter=boat")).await;
    assert_eq!(page["previews"].as_array().unwrap().len(), clusters[0]["n_images"]);
    let export = "/export_context_async?export_format=json&caption_only_filter=boat";
    assert_eq!(service.good(&service.of_dataset(export)).await["entities_count"], 2);
    let (status, body) = service.json(&service.explore("caption_only_filter=%22")).await;
    assert_eq!(status, 422, "{body}");

    let strict = served(place(), false).await;
    let (status, body) = strict.json(&strict.explore("caption_only_filter=boat")).await;
    assert_eq!(
        (status.as_u16(), &body["detail"][0]["loc"][1]),
        (422, &json!("caption_only_filter"))
    );
}

#[tokio::test]
async fn a_caption_or_an_anchor_limits_the_members_of_a_cluster() {
    let service = served(place(), true).await;
    let clusters = service.clusters("threshold=4").await;
    let cluster = clusters.iter().max_by_key(|one| one["n_images"].as_u64()).unwrap();
    let path = format!(
        "/api/v1/explore/{}/similarity_cluster/{}",
        service.dataset,
        cluster["cluster_id"].as_str().unwrap()
    );
    let all = service.good(&path).await["previews"].as_array().unwrap().clone();
    let caption = format!("caption={}", escaped("a boat on the sea"));
    let page = service.good(&format!("{path}?{caption}")).await;
    let some = page["previews"].as_array().unwrap();
    assert!(some.len() < all.len(), "only members with a caption");
    let scores: Vec<f64> =
        some.iter().map(|preview| preview["relevance_score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted(), "{scores:?}");
    let other = format!("{path}?threshold=0");
    assert_eq!(service.json(&other).await.0, 404, "it is a cluster of another granularity");
}

#[tokio::test]
async fn an_unknown_filter_of_a_selected_cluster_is_refused() {
    let service = Service::of_pictures().await;
    let clusters = service.clusters("").await;
    let item = json!({"type": "cluster", "payload": {
        "cluster_id": clusters[0]["cluster_id"],
        "cluster_filters": {"entity_type": "IMAGES", "caption": "grass"}}});
    let path = service.of_dataset("/export_entities_async?export_format=json");
    let request = service.post(&path).json(&json!({"media_selection": [item]}));
    let (status, body) = answer(request).await;
    assert_eq!(status, 422, "{body}");
    assert!(body["detail"][0]["msg"].as_str().unwrap().contains("caption"), "{body}");
}

/// The status line and the body of the response to `explore` with exactly this query string.
async fn explored(service: &Service, query: &str) -> (String, String) {
    let (id, host, token) = (service.dataset, service.address, service.token());
    let bytes = format!(
        "GET /api/v1/explore/{id}?{query} HTTP/1.1\r\nHost: {host}\r\n\
         Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    reported(&service.raw(bytes.as_bytes()).await)
}

#[tokio::test]
async fn query_strings_with_the_same_parameters_have_the_same_response() {
    let service = Service::of_pictures().await;
    let get = async |query: &str| explored(&service, query).await;
    let all = get("entity_type=IMAGES").await.1;
    assert!(all.starts_with(r#"{"clusters":[{"cluster_id":""#), "{all}");
    assert!(all.ends_with(r#""metadata":{"used_duckdb":false}}"#), "{all}");
    for same in [
        "entity_type=IMAGES&",
        "&&entity_type=IMAGES",
        "entity%5Ftype=%49%4D%41GES",
        "entity_type=IMAGES&vql=%5B%5D",
        "entity_type=IMAGES&threshold=2&page_number=0",
        // Escaped as little as a request line allows.
        "entity_type=IMAGES&vql=[{%22uniqueness%22:{%22op%22:%22uniqueness%22,%22value%22:0}}]",
    ] {
        let (line, body) = get(same).await;
        assert_eq!(line, "HTTP/1.1 200 OK", "{same}: {body}");
        if !same.contains("uniqueness") {
            assert_eq!(body, all, "{same}");
        }
    }
}

#[tokio::test]
async fn query_strings_without_a_valid_value_for_each_parameter_are_refused() {
    let service = Service::of_pictures().await;
    let get = async |query: &str| explored(&service, query).await;
    let missing = json!({"detail": [{"type": "missing", "loc": ["query", "entity_type"],
                                     "msg": "Field required", "input": null}]});
    for bare in ["", "entity_type", "entity_type="] {
        let (line, body) = get(bare).await;
        assert_eq!(line, "HTTP/1.1 422 Unprocessable Entity", "{bare}");
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), missing, "{bare}");
    }
    for (other, name) in [
        ("Entity_Type=IMAGES", "Entity_Type"),
        ("entity_type%3DIMAGES", "entity_type=IMAGES"),
        ("entity_type=OBJECTS&entity_type=IMAGES", "entity_type"),
    ] {
        let (line, body) = get(other).await;
        assert_eq!(line, "HTTP/1.1 422 Unprocessable Entity", "{other}");
        let body: Value = serde_json::from_str(&body).unwrap();
        let detail = &body["detail"][0];
        assert_eq!(detail["loc"], json!(["query", name]), "{body}");
        assert_eq!(detail["type"], "extra_forbidden", "{body}");
    }
    for name in ["threshold", "page_number", "vql", "labels", "tags", "caption"] {
        let (line, body) = get(&format!("entity_type=IMAGES&{name}=")).await;
        assert_eq!(line, "HTTP/1.1 422 Unprocessable Entity", "an empty {name} is none");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert!(body["detail"][0]["loc"][1].as_str().unwrap().ends_with(name), "{body}");
    }
    for odd in ["entity_type=%FF", "%=%", "entity_type=IMAGES%00", "entity_type=IMAGES;threshold=1"]
    {
        let (line, body) = get(odd).await;
        assert_eq!(line, "HTTP/1.1 422 Unprocessable Entity", "{odd}: {body}");
    }
}
