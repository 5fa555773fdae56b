//! `GET enrichment/{id}/context`: the available searches and their models.

use serde_json::{Value, json};

use crate::{change::plain, described::served, support::Service};

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
