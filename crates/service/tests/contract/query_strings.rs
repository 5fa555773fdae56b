//! Query strings written byte by byte.

use serde_json::{Value, json};

use crate::{forms::reported, support::Service};

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
