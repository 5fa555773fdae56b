//! Caption search (API: Caption search parameters).

use serde_json::json;

use crate::{
    change::{archived, zip},
    described::{escaped, found, refused, score_type, scored, served, set, vql},
    support::{Service, picture},
};

#[tokio::test]
async fn a_maximum_score_needs_something_that_ranks_by_similarity() {
    let service = served().await;
    let name = "textual_similarity_threshold";
    for query in ["", "labels=[%22boat%22]&"] {
        assert_eq!(refused(&service, &format!("{query}{name}=0.5")).await.0, name);
    }
    let fts = vql(&json!([{"text": {"op": "fts", "value": "boat"}}]));
    assert_eq!(refused(&service, &format!("{fts}&{name}=0.5")).await.0, name);
    let semantic = vql(&json!([{"text": {"op": "semantic", "value": "checkered floor"}}]));
    let all = found(&service, &semantic).await;
    let some = found(&service, &format!("{semantic}&{name}=0.3")).await;
    assert!(some.contains("floor.png") && some.len() < all.len(), "{some:?} of {all:?}");
}

#[tokio::test]
async fn a_caption_ranks_the_captions_lower_is_stronger() {
    let service = served().await;
    for (caption, best) in [
        ("a checkered floor", "floor.png"),
        ("red doors", "doors.png"),
        ("boats at night", "night.png"),
        ("fog", "hills.png"),
    ] {
        let query = format!("caption={}", escaped(caption));
        let scored = scored(&service, &query).await;
        assert_eq!(scored[0].0, best, "{caption}: {scored:?}");
        let firsts: Vec<f64> = scored.iter().map(|(_, score)| *score).collect();
        assert!(firsts.iter().all(|score| (-0.001..=2.0).contains(score)), "{firsts:?}");
        let described =
            set(&["doors.png", "floor.png", "hills.png", "night.png", "shore.png", "wall.png"]);
        let found = found(&service, &query).await;
        assert!(found.is_subset(&described), "only what has a caption: {found:?}");
        assert_eq!(score_type(&service, &query).await, "cosine_distance");
        let clusters = service.clusters(&query).await;
        let order: Vec<f64> =
            clusters.iter().map(|c| c["relevance_score"].as_f64().unwrap()).collect();
        assert!(order.is_sorted(), "{order:?}");
        assert_eq!(clusters[0]["captions"][0], clusters[0]["previews"][0]["caption"]);
    }
}

#[tokio::test]
async fn another_index_of_the_same_data_gives_the_same_scores() {
    let (one, other) = (served().await, served().await);
    for caption in ["a checkered floor", "boats at night", "red"] {
        let query = format!("caption={}", escaped(caption));
        let scores = scored(&one, &query).await;
        assert!(!scores.is_empty());
        assert_eq!(scored(&other, &query).await, scores, "{caption}");
    }
}

#[tokio::test]
async fn the_deprecated_name_is_the_same_and_both_are_422() {
    let service = served().await;
    let new = service.good(&service.explore("caption=red+wall")).await;
    assert_eq!(service.good(&service.explore("image_caption=red%20wall")).await, new);
    let (name, words) = refused(&service, "caption=red&image_caption=red").await;
    assert_eq!(name, "image_caption");
    assert!(words.contains("caption") && words.contains("deprecated"), "{words}");
}

#[tokio::test]
async fn the_threshold_keeps_what_is_below_it() {
    let service = served().await;
    let all = scored(&service, "caption=boat+sea").await;
    for threshold in ["0", "0.0", "0.25", "0.5", "0.75", "1", "1.0"] {
        let query = format!("caption=boat+sea&textual_similarity_threshold={threshold}");
        let bound: f64 = threshold.parse().unwrap();
        let expected: Vec<_> = all.iter().filter(|(_, score)| *score < bound).cloned().collect();
        assert_eq!(scored(&service, &query).await, expected, "{threshold}");
    }
    assert!(all.iter().any(|(_, score)| *score < 0.5), "{all:?}");
    assert!(all.iter().any(|(_, score)| *score >= 0.5), "{all:?}");
}

#[tokio::test]
async fn text_search_parameters_out_of_range_are_422_with_their_name() {
    let service = served().await;
    for threshold in ["-0.1", "1.1", "x", "NaN", "inf", "0,5"] {
        let query = format!("caption=red&textual_similarity_threshold={threshold}");
        assert_eq!(refused(&service, &query).await.0, "textual_similarity_threshold");
    }
    let long = "x".repeat(1_001);
    for (query, name) in [
        (format!("caption={long}"), "caption"),
        ("caption=%20%09".to_owned(), "caption"),
        (format!("image_caption={long}"), "image_caption"),
        ("caption=red&threshold=5".to_owned(), "threshold"),
        ("caption=red&page_number=-1".to_owned(), "page_number"),
        ("caption=red&entity_type=VIDEOS".to_owned(), "entity_type"),
        ("caption=red&labels=red".to_owned(), "labels"),
        ("caption=red&labels=[1]".to_owned(), "labels"),
        ("caption=red&labels=[]".to_owned(), "labels"),
        ("caption=red&labels={}".to_owned(), "labels"),
        ("caption=red&tags=[%22keep%22]".to_owned(), "tags"),
        ("caption=red&tags=keep".to_owned(), "tags"),
    ] {
        assert_eq!(refused(&service, &query).await.0, name, "{query}");
    }
    service.good(&service.explore(&format!("caption={}", "x".repeat(1_000)))).await;
}

#[tokio::test]
async fn without_captions_the_missing_enrichment_is_reported() {
    let service = Service::of_pictures().await;
    let (name, words) = refused(&service, "caption=red").await;
    assert_eq!(name, "caption");
    assert!(words.contains("CAPTION_IMAGES"), "{words}");
}

#[tokio::test]
async fn unknown_words_find_nothing() {
    let service = served().await;
    let body = service.good(&service.explore("caption=xylophone")).await;
    assert_eq!(body, json!({"clusters": [], "metadata": {"used_duckdb": false}}));
    let far = service.good(&service.explore("caption=red&page_number=1")).await;
    assert_eq!(far["clusters"], json!([]));
}

#[tokio::test]
async fn captions_combine_with_labels_tags_and_anchors() {
    let service = served().await;
    let boats = "caption=boat&labels=[%22sea%22]";
    assert_eq!(service.names(boats).await[0], "night.png");
    assert!(found(&service, boats).await.is_subset(&set(&["night.png", "wall.png"])));
    let id = service.media("shore.png").await;
    let query = format!(
        "anchor_media_id={id}&anchor_type=MEDIA&caption=boat&textual_similarity_threshold=0.9"
    );
    let both = scored(&service, &query).await;
    assert_eq!(both[0].0, "shore.png", "the anchor ranks: {both:?}");
    assert!(both[0].1 < 0.001, "{both:?}");
    let bound = found(&service, "caption=boat&textual_similarity_threshold=0.9").await;
    assert_eq!(found(&service, &query).await, bound, "the caption bounds");
}

#[tokio::test]
async fn text_search_works_in_every_status_and_finds_new_media() {
    let service = served().await;
    let row = json!({"file_name": "new.png", "caption": "A red boat at the wall."});
    let files = [
        ("new.png".to_owned(), picture(9)),
        ("metadata.jsonl".to_owned(), row.to_string().into_bytes()),
    ];
    service.added(archived("set.zip", zip(&files))).await;
    assert_eq!(service.record().await["status_new"], "PARTIAL INDEX");
    assert!(found(&service, "caption=boat").await.contains("new.png"));
    let fts = crate::described::vql(&json!([{"text": {"op": "fts", "value": "boat AND wall"}}]));
    assert_eq!(found(&service, &fts).await, set(&["new.png"]));
    for status in ["READ ONLY", "INDEXING", "ERROR"] {
        service.set_status(status);
        assert_eq!(found(&service, &fts).await, set(&["new.png"]), "{status}");
        assert!(found(&service, "caption=boat").await.contains("new.png"), "{status}");
    }
}
