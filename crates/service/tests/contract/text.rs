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
async fn without_captions_a_text_finds_nothing_and_is_not_refused() {
    let service = Service::of_pictures().await;
    let body = service.good(&service.explore("caption=xylophone")).await;
    assert_eq!(body["clusters"], json!([]));
}

fn named_pictures() -> Vec<(&'static str, Vec<u8>)> {
    let names = [
        "n02099601_golden_retriever.png",
        "blackPoodle.png",
        "Holidays-rome-IMG_0042.png",
        "holidayParisEiffelTower2.png",
        "plain.png",
    ];
    names.into_iter().zip(0..).map(|(name, number)| (name, picture(number))).collect()
}

/// Returns the names and scores of the results of a caption search, each of which must be found by its name.
async fn by_name(service: &Service, caption: &str) -> Vec<(String, f64)> {
    let query = format!("threshold=0&caption={caption}");
    let body = service.good(&service.explore(&query)).await;
    let previews = body["clusters"].as_array().unwrap().iter().map(|cluster| {
        assert_eq!(cluster["matched_by"], "name", "{cluster}");
        cluster["previews"][0].clone()
    });
    let named = previews.map(|preview| {
        assert_eq!(preview["matched_by"], "name", "{preview}");
        let name = preview["original_uri"].as_str().unwrap().to_owned();
        (name, preview["relevance_score"].as_f64().unwrap())
    });
    named.collect()
}

#[tokio::test]
async fn words_of_names_and_folders_are_found() {
    let service = Service::of(&named_pictures()).await;
    for (caption, expected) in [
        ("retrievers", &["n02099601_golden_retriever.png"][..]),
        ("poodle", &["blackPoodle.png"]),
        ("n02099601", &["n02099601_golden_retriever.png"]),
        (
            "a%20holiday%20in%20Rome",
            &["Holidays-rome-IMG_0042.png", "holidayParisEiffelTower2.png"],
        ),
        ("eiffel%20tower%202", &["holidayParisEiffelTower2.png"]),
        ("png", &[]),
    ] {
        let found = by_name(&service, caption).await;
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expected, "{caption}");
        assert!(found.is_sorted_by(|(_, one), (_, other)| one <= other), "{found:?}");
    }
    let strict = "caption=poodle&textual_similarity_threshold=0.3";
    assert!(found(&service, strict).await.is_empty(), "a name is not nearer than that");
    let documented = "caption=poodle&textual_similarity_threshold=0.4";
    assert_eq!(found(&service, documented).await.len(), 1);
    let body = service.good(&service.explore("threshold=0&caption=poodle")).await;
    let score = &body["clusters"][0]["previews"][0]["relevance_score"];
    assert_eq!(score.to_string(), "0.39", "the shortest decimal of the score");
}

#[tokio::test]
async fn captions_that_match_come_before_names_and_names_before_other_captions() {
    let mut files = named_pictures();
    let captions = ["A poodle sleeps on a sofa.", "A bowl of red fruit."];
    files.push(("x1.png", picture(8)));
    files.push(("x1.txt", captions[0].as_bytes().to_vec()));
    files.push(("x2.png", picture(9)));
    files.push(("x2.txt", captions[1].as_bytes().to_vec()));
    let service = Service::of(&files).await;
    let body = service.good(&service.explore("threshold=0&caption=a%20poodle")).await;
    let clusters = body["clusters"].as_array().unwrap();
    let name = |at: usize| clusters[at]["previews"][0]["file_name"].as_str().unwrap();
    let by_name: Vec<bool> =
        clusters.iter().map(|cluster| cluster["matched_by"] == "name").collect();
    assert_eq!((name(0), name(1)), ("x1.png", "blackPoodle.png"), "{body}");
    assert_eq!(by_name[..2], [false, true], "{body}");
}

#[tokio::test]
async fn the_exact_name_of_a_file_comes_before_captions_that_match() {
    let captions = ["A poodle sleeps on a sofa.", "Poodle", "A bowl of red fruit."];
    let mut files = vec![("poodle.png", picture(0))];
    for (names, (number, caption)) in
        [("x1.png", "x1.txt"), ("x2.png", "x2.txt"), ("x3.png", "x3.txt")]
            .iter()
            .zip((1..).zip(captions))
    {
        files.push((names.0, picture(number)));
        files.push((names.1, caption.as_bytes().to_vec()));
    }
    let service = Service::of(&files).await;
    for caption in ["poodle.png", "POODLE.PNG"] {
        let body = service.good(&service.explore(&format!("threshold=0&caption={caption}"))).await;
        let first = &body["clusters"][0];
        assert_eq!(first["previews"][0]["file_name"], "poodle.png", "{body}");
        assert_eq!(first["matched_by"], "name", "{body}");
    }
}

#[tokio::test]
async fn a_long_caption_with_the_exact_words_is_the_first_result() {
    let others = ["A hot dog with mustard.", "The dog sits.", "A prairie dog.", "A cat."];
    let mut files = Vec::new();
    let names: Vec<(String, String)> =
        (0..5).map(|number| (format!("{number}.png"), format!("{number}.txt"))).collect();
    let long = "A dog. Ein Hund. Un perro. Un chien. Um cachorro. En hund. Pies. Kutya. Koira. Un cane. \
                Hunds. Pas. Chuo. Kucing. Anjing. Mbwa. Aja. Inu. Gae. Gou.";
    for ((picture_name, text_name), (number, caption)) in
        names.iter().zip((0..).zip(others.into_iter().chain([long])))
    {
        files.push((picture_name.as_str(), picture(number)));
        files.push((text_name.as_str(), caption.as_bytes().to_vec()));
    }
    let service = Service::of(&files).await;
    let body = service.good(&service.explore("threshold=0&caption=A%20dog.")).await;
    assert_eq!(body["clusters"][0]["previews"][0]["file_name"], "4.png", "{body}");
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
