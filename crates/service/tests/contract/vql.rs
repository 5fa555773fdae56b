//! The query language (API: Query-language filters): every key, combinations, and errors.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    described::{ALL, escaped, found, refused, score_type, scored, served, set, vql},
    support::{Place, Service},
};

async fn by(service: &Service, filters: Value) -> BTreeSet<String> {
    found(service, &vql(&filters)).await
}

fn fts(value: &str) -> Value {
    json!({"text": {"op": "fts", "value": value}})
}

#[tokio::test]
async fn full_text_with_stems_and_operators() {
    let service = served().await;
    for (text, names) in [
        ("wall", &["doors.png", "wall.png"][..]),
        ("walls", &["doors.png", "wall.png"]),
        ("WALL", &["doors.png", "wall.png"]),
        ("hill", &["hills.png", "shore.png"]),
        ("red wall", &["doors.png", "wall.png"]),
        ("red AND sea", &["wall.png"]),
        ("floor OR fog", &["floor.png", "hills.png"]),
        ("boat -hill", &["night.png"]),
        ("\"old wall\"", &["doors.png"]),
        ("\"wall old\"", &[]),
        ("(boat OR wall) -red", &["night.png", "shore.png"]),
        ("xylophone", &[]),
    ] {
        let query = vql(&json!([fts(text)]));
        assert_eq!(found(&service, &query).await, set(names), "{text}");
        if !names.is_empty() {
            assert_eq!(score_type(&service, &query).await, "bm25");
            let clusters = service.clusters(&query).await;
            let order: Vec<f64> =
                clusters.iter().map(|c| c["relevance_score"].as_f64().unwrap()).collect();
            assert!(order.is_sorted(), "lower is better: {order:?}");
        }
    }
}

#[tokio::test]
async fn semantic_filters_with_a_minimum_similarity() {
    let service = served().await;
    let semantic = |threshold: Value| {
        vql(&json!([{"text": {"op": "semantic", "value": "boats at sea", "threshold": threshold}}]))
    };
    let all = scored(&service, &semantic(json!(null))).await;
    assert_eq!(all[0].0, "night.png", "{all:?}");
    assert_eq!(score_type(&service, &semantic(json!(null))).await, "cosine_distance");
    for least in [0.0, 0.3, 0.6, 1.0] {
        let expected: Vec<_> =
            all.iter().filter(|(_, score)| 1.0 - score >= least).cloned().collect();
        assert_eq!(scored(&service, &semantic(json!(least))).await, expected, "{least}");
    }
    let plain = Service::of_pictures().await;
    assert!(
        scored(&plain, &semantic(json!(0.5))).await.is_empty(),
        "no captions, and no such names"
    );
}

#[tokio::test]
async fn labels_by_rule_and_as_a_parameter() {
    let service = served().await;
    let labels = |op: &str, value: Value| json!([{"labels": {"op": op, "value": value}}]);
    let boats = set(&["night.png", "shore.png"]);
    assert_eq!(by(&service, labels("one_of", json!(["boat"]))).await, boats);
    assert_eq!(found(&service, "labels=[%22boat%22]").await, boats);
    let either = by(&service, labels("one_of", json!(["floor", "hill", "nothing"]))).await;
    assert_eq!(either, set(&["floor.png", "hills.png", "shore.png"]));
    assert_eq!(by(&service, labels("is", json!(["boat", "sea"]))).await, set(&["night.png"]));
    assert_eq!(by(&service, labels("one_of", json!(["Boat"]))).await, set(&[]), "exact");
    let rest = |gone: &BTreeSet<String>| -> BTreeSet<String> {
        set(&ALL).difference(gone).cloned().collect()
    };
    assert_eq!(by(&service, labels("not_one_of", json!(["boat"]))).await, rest(&boats));
    let both = set(&["night.png"]);
    assert_eq!(by(&service, labels("is_not", json!(["boat", "sea"]))).await, rest(&both));
    let clusters = service.clusters(&vql(&labels("one_of", json!(["boat"])))).await;
    let count: u64 = clusters.iter().map(|c| c["n_images"].as_u64().unwrap()).sum();
    assert_eq!(count, 2, "the counts are of what is kept");
    assert_eq!(clusters[0]["relevance_score"], json!(null), "nothing ranks");
}

#[tokio::test]
async fn user_tags_by_the_identifiers_in_clusters() {
    let service = served().await;
    let mut tags = std::collections::BTreeMap::new();
    for cluster in service.clusters("threshold=0").await {
        for tag in cluster["user_tags"].as_array().into_iter().flatten() {
            let word = |key: &str| tag[key].as_str().unwrap().to_owned();
            tags.insert(word("name"), word("id"));
        }
    }
    let (keep, front) = (&tags["keep"], &tags["front"]);
    let kept = set(&["doors.png", "shore.png", "wall.png"]);
    let is = |ids: Value| json!([{"tags": {"op": "is", "value": ids}}]);
    assert_eq!(by(&service, is(json!([keep]))).await, kept);
    assert_eq!(found(&service, &format!("tags=[%22{keep}%22]")).await, kept);
    assert_eq!(by(&service, is(json!([keep, front]))).await, set(&["doors.png"]), "all of them");
    let unknown = "00000000-0000-4000-8000-000000000000";
    let words = format!(
        "filter 1, tags.value: the dataset has no tag with the ID {unknown}; `tag list` shows"
    );
    for filter in [is(json!([unknown])), json!([{"not": is(json!([keep, unknown]))[0]}])] {
        let filters = json!([is(json!([keep]))[0], filter[0]]).to_string();
        assert_refused(&service, &filters, &words).await;
    }
    let objects = format!("entity_type=OBJECTS&threshold=4&tags=[%22{keep}%22]");
    let found = service.good(&service.explore(&objects)).await;
    assert_eq!(found["clusters"], json!([]), "only images have the tag");
}

#[tokio::test]
async fn issues_in_and_out_and_within_confidence() {
    let service = served().await;
    let issue = |value: &str, more: Value| {
        let mut object = json!({"op": "issue", "value": value, "mode": "in"});
        object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([{ "issues": object }])
    };
    let none = || json!({});
    let dark = by(&service, issue("dark", none())).await;
    assert_eq!(dark, set(&["dark.png"]));
    assert_eq!(by(&service, issue("bright", none())).await, set(&["bright.png"]));
    for value in [
        "blur",
        "dark",
        "bright",
        "duplicates",
        "outliers",
        "odd_aspect",
        "odd_size",
        "mislabels",
        "label_outlier",
        "normal",
    ] {
        let with = by(&service, issue(value, none())).await;
        let without = by(&service, issue(value, json!({"mode": "out"}))).await;
        assert!(with.is_disjoint(&without), "{value}");
        assert_eq!(&with | &without, set(&ALL), "{value}");
        let all = issue(value, json!({"confidence_min": 0.0, "confidence_max": 1.0}));
        assert_eq!(by(&service, all).await, set(&ALL), "{value}");
        let missing = by(&service, json!([{"issues": {"op": "issue", "value": value}}])).await;
        assert_eq!(missing, with, "mode is in by default");
    }
    let duplicates = by(&service, issue("duplicates", none())).await;
    assert!(set(&["twin.png", "twin2.png"]).is_subset(&duplicates), "{duplicates:?}");
    let sure = by(&service, issue("dark", json!({"confidence_min": 0.9}))).await;
    assert_eq!(sure, dark);
    let unsure = by(&service, issue("dark", json!({"confidence_max": 0.1}))).await;
    assert!(!unsure.contains("dark.png") && !unsure.is_empty(), "{unsure:?}");
}

#[tokio::test]
async fn duplicates_and_uniqueness() {
    let service = served().await;
    let duplicates = async |value: f64| {
        by(&service, json!([{"duplicates": {"op": "duplicates", "value": value}}])).await
    };
    let twins = set(&["twin.png", "twin2.png"]);
    for value in [0.5, 0.9, 0.99] {
        let found = duplicates(value).await;
        assert!(twins.is_subset(&found), "{value}: {found:?}");
        assert!(duplicates(0.0).await.is_superset(&found), "a higher bound finds less");
    }
    let uniqueness = async |value: f64| {
        by(&service, json!([{"uniqueness": {"op": "uniqueness", "value": value}}])).await
    };
    let mut last = set(&ALL);
    for value in [0.0, 0.1, 0.3, 0.6, 0.9] {
        let found = uniqueness(value).await;
        assert!(found.is_subset(&last) && found.is_disjoint(&twins), "{value}: {found:?}");
        last = found;
    }
    assert_eq!(uniqueness(1.0).await, set(&[]), "above, not from");
    assert!(uniqueness(0.2).await.is_disjoint(&duplicates(0.84).await), "a copy is not unique");
}

#[tokio::test]
async fn similarity_as_a_filter() {
    let service = served().await;
    let id = service.media("twin.png").await;
    let similar = |threshold: Value| json!([{"similarity": {"op": "media", "value": id, "threshold": threshold}}]);
    let twins = by(&service, similar(json!(0.01))).await;
    assert_eq!(twins, set(&["twin.png", "twin2.png"]));
    assert_eq!(by(&service, similar(json!(null))).await, set(&ALL), "it ranks all");
    let (code, body) = service
        .json(&service.explore(&vql(&json!([
            {"similarity": {"op": "media", "value": "00000000-0000-4000-8000-000000000000"}}]))))
        .await;
    assert_eq!((code.as_u16(), &body["detail"]), (404, &json!("Anchor not found")));
}

#[tokio::test]
async fn filters_combine_with_and_and_with_everything_else() {
    let service = served().await;
    let labels = |names: &[&str]| json!({"labels": {"op": "one_of", "value": names}});
    let both = json!([fts("boat"), labels(&["sea"])]);
    assert_eq!(by(&service, both).await, set(&["night.png"]));
    let three = json!([labels(&["sea", "hill"]), fts("green OR red"), labels(&["wall", "boat"])]);
    assert_eq!(by(&service, three).await, set(&["shore.png", "wall.png"]));
    let none = json!([labels(&["floor"]), labels(&["sea"])]);
    assert_eq!(by(&service, none).await, set(&[]));
    let query = format!("{}&labels=[%22sea%22]", vql(&json!([fts("red OR boat")])));
    assert_eq!(found(&service, &query).await, set(&["night.png", "wall.png"]));

    let id = service.media("night.png").await;
    let anchored = format!("anchor_media_id={id}&anchor_type=MEDIA&");
    let query = anchored.clone() + &vql(&json!([fts("green OR night")]));
    let ranked = scored(&service, &query).await;
    assert_eq!(ranked[0].0, "night.png", "{ranked:?}");
    assert!(ranked[0].1 < 0.001, "the anchor ranks, the filter narrows: {ranked:?}");
    assert_eq!(score_type(&service, &query).await, "cosine_distance");
    assert_eq!(found(&service, &query).await, set(&["hills.png", "night.png", "shore.png"]));
    service.set_status("PARTIAL INDEX");
    assert_eq!(service.json(&service.explore(&query)).await.0, 409, "an anchor needs READY");
}

/// Sends a `vql` text that must be rejected with a message that contains `words`.
async fn assert_refused(service: &Service, text: &str, words: &str) {
    let (name, message) = refused(service, &format!("vql={}", escaped(text))).await;
    assert_eq!(name, "vql");
    assert!(message.contains(words), "{text}: {message}");
    assert!(message.len() < 400, "bounded: {message}");
}

#[tokio::test]
async fn invalid_filters_are_422() {
    let service = served().await;
    let good = json!({"uniqueness": {"op": "uniqueness", "value": 0}});
    for text in ["x", "{}", "NaN", "null", "[NaN]", "[", "[]]", &"[".repeat(3_000)] {
        assert_refused(&service, text, "must be a JSON array of filters").await;
    }
    for (filters, words) in [
        (json!(vec![good.clone(); 17]), "at most 16 filters"),
        (json!([1]), "filter 0: must be an object"),
        (json!([good, {}]), "filter 1: must have exactly one key"),
        (json!([{"tags": {}, "labels": {}}]), "filter 0: must have exactly one key"),
        (json!([good, {"colour": {}}]), "filter 1: \"colour\" is not a filter"),
        (json!([{"text": []}]), "filter 0, text: must be an object"),
    ] {
        assert_refused(&service, &filters.to_string(), words).await;
    }
}

#[tokio::test]
async fn errors_are_422_with_filter_and_field() {
    let service = served().await;
    let long = "x".repeat(1_001);
    for (field, filter) in [
        ("text.op: must be one of", json!({"text": {"value": "x"}})),
        ("text.value: must be a text", json!({"text": {"op": "fts"}})),
        ("text.value", json!({"text": {"op": "fts", "value": long}})),
        ("text.threshold", json!({"text": {"op": "fts", "value": "x", "threshold": 1}})),
        ("text.threshold", json!({"text": {"op": "semantic", "value": "x", "threshold": 2}})),
        ("labels.op", json!({"labels": {"op": "is_like", "value": ["x"]}})),
        ("labels.value", json!({"labels": {"op": "one_of", "value": []}})),
        ("labels.value", json!({"labels": {"op": "one_of", "value": "x"}})),
        ("labels: has no", json!({"labels": {"op": "one_of", "value": ["x"], "more": 1}})),
        ("tags.op", json!({"tags": {"op": "one_of", "value": []}})),
        ("tags.value", json!({"tags": {"op": "is", "value": ["keep"]}})),
        ("issues.value", json!({"issues": {"op": "issue", "value": "ugly"}})),
        ("issues.mode", json!({"issues": {"op": "issue", "value": "blur", "mode": "near"}})),
        (
            "issues.confidence_min",
            json!({"issues": {"op": "issue", "value": "blur", "confidence_min": -1}}),
        ),
        ("duplicates.value", json!({"duplicates": {"op": "duplicates", "value": "0.9"}})),
        ("duplicates.value", json!({"duplicates": {"op": "duplicates"}})),
        ("uniqueness.op", json!({"uniqueness": {"op": "above", "value": 0.5}})),
        ("uniqueness.value", json!({"uniqueness": {"op": "uniqueness", "value": 1.5}})),
        ("similarity.value", json!({"similarity": {"op": "media", "value": "x"}})),
    ] {
        let good = json!({"uniqueness": {"op": "uniqueness", "value": 0}});
        let filters = json!([good, filter]).to_string();
        assert_refused(&service, &filters, &format!("filter 1, {field}")).await;
    }
}

#[tokio::test]
async fn user_input_never_reaches_the_database_as_syntax() {
    let service = served().await;
    for text in ["\"open", "(", ")", "AND", "a AND", "a OR OR b", "-", "()", "\"\"", "- -a"] {
        let (name, message) = refused(&service, &vql(&json!([fts(text)]))).await;
        assert_eq!(name, "vql", "{text}");
        assert!(message.contains("text.value"), "{text}: {message}");
        assert!(!message.to_lowercase().contains("sql") && !message.contains("fts5"), "{message}");
    }
    for text in [
        "wall*",
        "caption:wall",
        "^wall",
        "NEAR(red wall)",
        "wall NOT red",
        "a\"b",
        "wall' OR 1=1 --",
        "'; DROP TABLE media; --",
        "{wall red}",
        "wall + red",
        "%00",
        "\u{0}",
        "\u{1f600}",
        "*",
    ] {
        let (status, body) = service.json(&service.explore(&vql(&json!([fts(text)])))).await;
        assert!([200, 422].contains(&status.as_u16()), "{text}: {body}");
    }
    assert_eq!(service.place.count("media WHERE parent IS NULL"), 10);
    let huge = vql(&json!([fts(&"x".repeat(70_000))]));
    let response = service.get(&service.explore(&huge)).send().await;
    // The server may also close the connection on a line of this length.
    assert!(response.is_err() || response.unwrap().status().is_client_error());
}

/// An image of colored squares unlike any other.
fn noise(seed: u32) -> Vec<u8> {
    let image = image::RgbImage::from_fn(48, 48, |x, y| {
        let mut bits = seed.wrapping_mul(2_654_435_761) ^ (x / 8 * 6 + y / 8).wrapping_mul(40_503);
        bits ^= bits >> 13;
        bits = bits.wrapping_mul(1_274_126_177);
        let [red, green, blue, _] = (bits ^ (bits >> 16)).to_be_bytes();
        image::Rgb([red, green, blue])
    });
    crate::support::encoded(&image, image::ImageFormat::Png)
}

#[tokio::test]
async fn a_filtered_result_has_a_hundred_clusters_per_page() {
    let files: Vec<(String, Vec<u8>)> =
        (0..112).map(|n| (format!("{n:03}.png"), noise(n))).collect();
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let service = Service::at(Place::new(&files), true).await;
    let filter = vql(&json!([{"uniqueness": {"op": "uniqueness", "value": 0.0}}]));
    let mut pages = Vec::new();
    let mut seen = BTreeSet::new();
    for page in 0..3 {
        let clusters = service.clusters(&format!("threshold=0&page_number={page}&{filter}")).await;
        pages.push(clusters.len());
        seen.extend(clusters.iter().map(|c| c["cluster_id"].as_str().unwrap().to_owned()));
    }
    assert_eq!((pages[0], pages[2]), (100, 0), "{pages:?}");
    assert!(pages[1] > 0 && pages[1] < 100, "{pages:?}");
    assert_eq!(seen.len(), pages.iter().sum::<usize>(), "none comes twice");
    let far = format!("page_number=1000000000000&{filter}");
    assert_eq!(service.clusters(&far).await, Vec::<Value>::new());
}
