//! `GET datasets`, `GET dataset/{id}`, and `GET enrichment/{id}/context`: the available searches and their models.

use serde_json::{Value, json};

use crate::{
    change::plain,
    described::served,
    support::{Service, assert_no_path},
};

#[tokio::test]
async fn the_list_is_a_bare_array_of_records() {
    let service = Service::of_pictures().await;
    let list = service.good("/api/v1/datasets").await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!(list, json!([record]));
}

#[tokio::test]
async fn a_record_has_the_documented_fields() {
    let service = Service::of_pictures().await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!(record["id"], service.dataset.to_string());
    assert_eq!(record["display_name"], "demo");
    assert_eq!((&record["status"], &record["status_new"]), (&json!("READY"), &json!("READY")));
    assert_eq!(record["progress"], 100);
    assert_eq!((&record["n_images"], &record["n_videos"]), (&json!(12), &json!(0)));
    assert_eq!(record["fatal_error_msg"], json!(null));
    assert!(record["owned_by"].is_string());
    let created = record["created_at"].as_str().unwrap();
    assert_eq!((created.len(), &created[19..20]), (26, "."), "{created}");
    assert_no_path(&record, &service.place);
}

#[tokio::test]
async fn the_legacy_status_follows() {
    let service = Service::of_pictures().await;
    for (status, legacy) in
        [("READ ONLY", "UPDATING"), ("PARTIAL INDEX", "READY"), ("INDEXING", "INDEXING")]
    {
        service.set_status(status);
        let record = service.good(&service.of_dataset("")).await;
        assert_eq!((&record["status_new"], &record["status"]), (&json!(status), &json!(legacy)));
    }
}

#[tokio::test]
async fn unknown_datasets_paths_and_methods() {
    let service = Service::of_pictures().await;
    let unknown = "00000000-0000-0000-0000-000000000000";
    for path in [
        format!("/api/v1/dataset/{unknown}"),
        format!("/api/v1/explore/{unknown}?entity_type=IMAGES"),
        format!(
            "/api/v1/explore/{unknown}?anchor_media_id={unknown}&anchor_type=MEDIA&entity_type=IMAGES"
        ),
        format!("/api/v1/dataset/{unknown}/export_context_async?file_name=a&export_format=json"),
        format!("/api/v1/dataset/{unknown}/export_status?export_task_id={unknown}"),
    ] {
        let (status, body) = service.json(&path).await;
        assert_eq!(
            (status.as_u16(), body),
            (404, json!({"detail": "Dataset not found"})),
            "{path}"
        );
    }
    let (status, body) = service.json("/api/v1/nothing").await;
    assert_eq!((status.as_u16(), body), (404, json!({"detail": "Not Found"})));
    let response = service.post("/api/v1/datasets").send().await.unwrap();
    assert_eq!(response.status(), 405);
}

#[tokio::test]
async fn dataset_identifiers_are_uuids() {
    let service = Service::of_pictures().await;
    for id in ["x", "..%2f..%2fetc%2fpasswd", "%00", "a%5cb", "%252e%252e", "' OR 1=1"] {
        let (status, body) = service.json(&format!("/api/v1/dataset/{id}")).await;
        assert_eq!(status, 422, "{id}");
        assert_eq!(body["detail"][0]["loc"], json!(["path", "dataset_id"]));
    }
}

#[tokio::test]
async fn no_response_can_be_rendered_as_a_page() {
    let service = Service::of_pictures().await;
    for path in ["/api/v1/datasets", "/nothing"] {
        let response = service.get(path).send().await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap();
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("content-security-policy"), "default-src 'none'");
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header("cache-control"), "no-store");
    }
}

async fn context(service: &Service) -> Value {
    service.good(&format!("/api/v1/enrichment/{}/context", service.dataset)).await
}

fn models(context: &Value) -> Vec<&str> {
    let models = context["dataset_enrichment_models"]["enrichment_models"].as_object().unwrap();
    models.keys().map(String::as_str).collect()
}

#[tokio::test]
async fn only_available_enrichments_are_listed() {
    let service = Service::of_pictures().await;
    let none = context(&service).await;
    assert_eq!((models(&none), &none["status"]), (vec![], &json!("NEW")));
    assert!(none["enrichment_context_id"].is_string());
}

#[tokio::test]
async fn captions_are_listed_as_enrichments() {
    let service = served().await;
    let all = context(&service).await;
    assert_eq!(models(&all), ["CAPTION_IMAGES", "IMAGE_TAGGING", "OBJECT_DETECTION"]);
    assert_eq!(all["status"], "COMPLETED");
    let captions = &all["dataset_enrichment_models"]["enrichment_models"]["CAPTION_IMAGES"];
    let counts = &captions["metadata"];
    assert_eq!((&counts["covered_media"], &counts["all_media"]), (&json!(6), &json!(10)));
    for (name, model) in all["dataset_enrichment_models"]["enrichment_models"].as_object().unwrap()
    {
        let words = model["metadata"]["description"].as_str().unwrap();
        assert!(words.contains("beside the images"), "no model is claimed: {name}: {words}");
    }
    assert_eq!(context(&service).await, all, "the same every time");
}

#[tokio::test]
async fn the_bytes_of_a_context() {
    let service = Service::of_pictures().await;
    let path = format!("/api/v1/enrichment/{}/context", service.dataset);
    let (status, body) = plain(service.get(&path)).await;
    let id = context(&service).await["enrichment_context_id"].as_str().unwrap().to_owned();
    let expected = format!(
        r#"{{"enrichment_context_id":"{id}","status":"NEW","dataset_enrichment_models":{{"enrichment_models":{{}}}}}}"#
    );
    // The order of the keys is not specified.
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!((status, parse(&body), body.len()), (200, parse(&expected), expected.len()));
}
