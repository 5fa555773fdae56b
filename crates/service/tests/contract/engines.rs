//! Both engines of the store give the same results. Without `TESSERA_TEST_STORE`, both are files.

use serde_json::json;
use tessera_store::{Store, dataset, postgres};

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

#[test]
fn a_server_with_tables_of_another_version_is_refused() {
    let store = TestStore::new();
    let Some(address) = store.address() else { return };
    let data = tempfile::tempdir().unwrap();
    let change = "UPDATE schema_version SET version = 14";
    store.connect(data.path()).execute_batch(change).unwrap();
    let opened = Store::open_on_server(data.path(), &address).map(drop);
    for refused in [opened, postgres::init(&address).map(drop)] {
        let refusal = refused.unwrap_err().to_string();
        assert!(refusal.contains("(schema 14, this one uses 1)"), "{refusal}");
        assert!(refusal.contains("remove its schema or rename it"), "{refusal}");
    }
}

#[test]
fn a_table_that_somebody_has_locked_fails_a_request_instead_of_stopping_it() {
    let store = TestStore::new();
    let Some(address) = store.address_text() else { return };
    let address = format!("{address}%20-clock_timeout%3D200ms").parse().unwrap();
    let data = tempfile::tempdir().unwrap();
    let opened = Store::open_on_server(data.path(), &address).unwrap();
    let read = || opened.read(dataset::all);
    let administrator = store.connect(data.path());
    administrator.execute_batch("BEGIN; LOCK TABLE dataset").unwrap();
    let error = read().map(drop).unwrap_err();
    assert!(error.is_temporary() && !error.is_unresponsive(), "{error}");
    administrator.execute_batch("COMMIT").unwrap();
    assert_eq!(read().unwrap().len(), 0);
}

#[tokio::test]
async fn kept_word_counts_are_those_of_the_captions() {
    let place = described::place();
    if place.store.address().is_none() {
        return;
    }
    let service = Service::at(place, true).await;
    let place = &service.place;
    let counted = "SELECT word, count(DISTINCT media) FROM words,
                   unnest(string_to_array(words, ' ')) AS word GROUP BY word";
    let kept = "SELECT word, sum(captions) FROM word_count GROUP BY word HAVING sum(captions) <> 0";
    let check = |change: &str| {
        place.change(change);
        let differences =
            [format!("({kept}) EXCEPT ({counted})"), format!("({counted}) EXCEPT ({kept})")];
        for difference in differences {
            assert_eq!(place.count(&format!("({difference}) AS difference")), 0, "{change}");
        }
        let totals = "(SELECT sum(captions), sum(words) FROM caption_total) EXCEPT
                      (SELECT count(*), coalesce(sum(count), 0) FROM words)";
        assert_eq!(place.count(&format!("({totals}) AS difference")), 0, "{change}");
    };
    assert!(place.count("word_count") > 5);
    check("SELECT 1");
    check("DELETE FROM media WHERE row = (SELECT min(media) FROM words)");
    let last = "media = (SELECT max(media) FROM words)";
    check(&format!("UPDATE words SET words = 'sea sea boat', count = 3 WHERE {last}"));
    check("UPDATE words SET words = '', count = 0");
    check("DELETE FROM words");
}
