//! Fuzzes the bodies of a service, as the client reads them, and the bodies of a client, as the service reads them.

use proptest::prelude::*;
use serde_json::{Value, json};
use tessera_model::{Dataset, QueryText};
use tessera_search::text::{full_text_query, language::Language};
use tessera_wire::{
    add_media, credentials,
    dataset::{self, DatasetBody},
    enrichment,
    error_body::{self, StatusField},
    explore::{self, ClusterBody},
    export,
    fields::Fields,
    preview, query_image, selection, tolerant_json, vql,
};

use super::{documents::edited, fuzz, mutation::mutated};

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";

fn bodies() -> Vec<Value> {
    let dataset = json!({
        "id": ID, "display_name": "Street cameras", "description": "", "status": "READY",
        "status_new": "READY", "n_images": 1_200, "n_videos": 3, "n_objects": -1, "n_clusters": 85,
        "progress": 97.5, "fatal_error_msg": null, "source_dataset_id": null, "created_by": ID,
        "created_at": "2026-03-01T10:00:00.123456", "updated_at": null, "preview_uri": "",
        "permissions": ["READ", "MANAGE"], "source_type": "BUCKET", "filename": null,
    });
    let preview = json!({
        "type": "IMAGE", "media_id": ID, "media_uri": "https://cdn.example/a.jpg?Signature=x",
        "media_thumb_uri": "/thumbs/a.webp", "file_name": "a.jpg", "caption": "A van in the rain.",
        "relevance_score": 0.25, "relevance_score_type": "cosine_distance",
        "bounding_box": {"x": 0.1, "y": 0.2, "width": 0.5, "height": 0.25},
        "frame_timestamp": "00:00:02.5", "original_uri": "clip.mp4", "labels": ["van", null],
    });
    let cluster = json!({
        "cluster_id": ID, "type": "IMAGES", "n_images": 12, "n_objects": "3", "n_videos": 0,
        "labels": [{"name": "van", "count": 4}], "user_tags": [{"id": ID, "name": "night"}],
        "relevance_score": "0.5", "previews": [preview.clone(), preview], "similarity_threshold": 1,
    });
    let items = json!([{"cluster_id": ID, "exclude_media_ids": [ID]}, {"media_id": ID}]);
    vec![
        dataset.clone(),
        json!([dataset.clone(), dataset.clone()]),
        json!({"datasets": [dataset], "total": 1}),
        json!({"clusters": [cluster.clone(), cluster], "page_number": 0, "last_page": false,
            "total_clusters": 2, "exploration_metadata": {"discovery": [ID]}}),
        json!({"anchor_media_id": ID, "anchor_type": "UPLOAD", "threshold": 0.5}),
        json!({"id": ID, "dataset_id": ID, "status": "COMPLETED", "progress": 1.0,
            "download_uri": "https://cdn.example/e.zip?Signature=x", "entities_count": 12,
            "result_message": null, "created_at": "2026-03-01T10:00:00Z"}),
        json!({"status": "error", "message": "Path /data/bad does not exist"}),
        json!({"detail": [{"loc": ["query", "threshold"], "msg": "Field required"}]}),
        json!({"api_key": "key", "api_secret": "secret", "expires_at": null}),
        json!({"enrichment_models": [{"name": "captioner", "enabled": true, "status": "DONE"}]}),
        items.clone(),
        json!({"media_selection": items, "cluster_selection": [ID]}),
        json!([{"id": "labels", "labels": {"op": "one_of", "value": ["van", "bus"]}},
            {"id": "text", "caption": {"op": "fts", "value": "red van"}},
            {"id": "d", "duplicates": {"op": "issue", "value": [0.8, 1.0]}}]),
    ]
}

/// Reads every document with every reader, because the request chooses the reader of a response,
/// not the content of the response.
fn read_with_everything(document: &Value) {
    dataset::read_dataset(Fields::from(document)).iter().for_each(written_dataset_is_read_back);
    dataset::read_datasets(Fields::from(document));
    dataset::read_fields(Fields::from(document));
    if let Some(page) = explore::read_page(Fields::from(document)) {
        for cluster in &page.clusters {
            drop(json!(ClusterBody::new(cluster, preview::LinkForm::Signed)));
        }
    }
    preview::read_region(document);
    query_image::read_anchor(Fields::from(document));
    export::read_started(Fields::from(document));
    export::read_status(Fields::from(document), ID.parse().expect("an identifier"));
    add_media::read_processing(Fields::from(document));
    for meaning in [StatusField::Outcome, StatusField::State] {
        error_body::read_reported_error(document, meaning);
    }
    enrichment::read_enrichment(document);
    credentials::read_issued_credentials(Fields::from(document));
    body_is_read_or_refused(document.to_string().as_bytes());
}

fn written_dataset_is_read_back(dataset: &Dataset) {
    let again = dataset::read_dataset(Fields::from(&json!(DatasetBody::new(dataset))))
        .expect("our own record");
    assert_eq!((again.id, again.name.as_str()), (dataset.id, dataset.name.as_str()));
}

/// Reads a body with everything that parses bytes directly.
fn body_is_read_or_refused(body: &[u8]) {
    if let Ok(items) = selection::read(body) {
        let written = selection::write(&items).to_string();
        assert_eq!(selection::read(written.as_bytes()).as_ref(), Ok(&items));
    }
    let _ = tolerant_json::parse_strict(body, 1 << 16);
    if let Some(message) = error_body::read_error_message(body, None) {
        assert!(!message.as_str().chars().any(char::is_control), "{message:?}");
    }
}

#[test]
fn documents_with_wrong_fields_are_read_or_refused() {
    fuzz(3_000, &edited(bodies()), |document| read_with_everything(&document));
}

#[test]
fn damaged_bodies_are_read_or_refused() {
    let corpus = bodies().iter().map(|body| body.to_string().into_bytes()).collect();
    let tokens = &["null", "1e999", "-1", "\\ud800", "[[[[", "{\"", "NaN", "\u{9b}", "\u{202e}"];
    fuzz(3_000, &mutated(corpus, tokens), |input| {
        body_is_read_or_refused(&input.0);
        if let Ok(document) = serde_json::from_slice(&input.0) {
            read_with_everything(&document);
        }
    });
}

#[test]
fn filters_are_read_or_refused_and_written_filters_are_read_back() {
    let tokens = &["\"op\"", "not_in", "one_of", "\"value\"", "null", "[", "]", "{", "}", "1e400"];
    let corpus = bodies().iter().map(|body| body.to_string().into_bytes()).collect();
    fuzz(3_000, &mutated(corpus, tokens), |input| {
        let text = String::from_utf8_lossy(&input.0);
        let _ = vql::read_each(&text);
        for filters in [vql::read(&text), vql::read_lenient(&text)].into_iter().flatten() {
            assert_eq!(vql::read_lenient(&vql::write(&filters)).as_ref(), Ok(&filters));
        }
    });
}

#[test]
fn full_text_queries_are_parsed_or_refused() {
    let words = prop_oneof![
        Just("\""),
        Just("("),
        Just(")"),
        Just("AND"),
        Just("OR"),
        Just("NOT"),
        Just("NEAR"),
        Just("*"),
        Just("-"),
        Just("red"),
        Just("van's"),
        Just("\u{0}"),
        Just("日本"),
        Just(":"),
    ];
    let text = proptest::collection::vec(words, 0..40).prop_map(|words| words.join(" "));
    fuzz(3_000, &text, |text| {
        let _ = full_text_query::parse(&text, Language::default());
        let _ = QueryText::new(&text);
    });
}
