//! Both engines of the store give the same results. Without `TESSERA_TEST_STORE`, both are files.

use serde_json::json;

use crate::{
    damage::responses,
    described::{self, scored, vql},
    support::{Place, Service},
    test_store::TestStore,
};

const TEXT_QUERIES: [&str; 8] = [
    "boat",
    "red OR green",
    "\"a small boat\"",
    "sea -night",
    "(hill OR wall) -fog",
    "doors AND (\"old wall\" OR boat)",
    "the boat on the sea at night",
    "nothing like it",
];

fn full_text(text: &str) -> String {
    vql(&json!([{"text": {"op": "fts", "value": text}}]))
}

#[tokio::test]
async fn both_engines_respond_alike() {
    let first = Service::at(described::place().with_store_file(), true).await;
    let expected = responses(&first).await;
    let mut scores = Vec::new();
    for text in TEXT_QUERIES {
        scores.push(scored(&first, &full_text(text)).await);
    }
    assert!(scores.iter().filter(|found| !found.is_empty()).count() > 5, "{scores:?}");
    let pictures = first.stop().await.pictures;
    let place = Place { pictures, data: tempfile::tempdir().unwrap(), store: TestStore::new() };
    let second = Service::at(place, true).await;
    let found = responses(&second).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    // Scores of texts after another indexing differ in their last digits.
    for (request, response) in found.iter().filter(|(request, _)| !request.contains("caption")) {
        let (body, expected) = (String::from_utf8_lossy(&response.1), &expected[request]);
        assert!(
            response == expected,
            "{request}: {body}, {}",
            String::from_utf8_lossy(&expected.1)
        );
    }
    for (text, expected) in TEXT_QUERIES.iter().zip(scores) {
        assert_eq!(scored(&second, &full_text(text)).await, expected, "{text}");
    }
}
