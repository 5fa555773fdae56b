use proptest::prelude::*;
use serde_json::{Value, json};

use tessera_model::*;
use tessera_wire::{explore::*, fields::Fields, preview::*, query_image::read_anchor};

#[test]
fn repeated_and_unreadable_clusters_are_counted_apart() {
    let id = "9a205a5e-0000-46be-83a3-000000000001";
    let cluster = json!({"cluster_id": id});
    for (clusters, kept, skipped, repeated) in [
        (json!([cluster, cluster, {}]), 1, 1, 1),
        (json!([cluster, cluster, cluster]), 1, 0, 2),
        (json!([{}, cluster, 5]), 1, 2, 0),
    ] {
        let page = read_page(Fields::from(&json!({"clusters": clusters}))).unwrap();
        let counts = (page.clusters.len(), page.skipped, page.repeated);
        assert_eq!(counts, (kept, skipped, repeated), "{clusters}");
    }
    assert!(read_page(Fields::from(&json!({"detail": "x"}))).is_none());
}

#[test]
fn a_page_of_the_nearest_media_says_so() {
    for (metadata, is_bounded) in [
        (json!({"used_duckdb": false, "bounded": true}), true),
        (json!({"used_duckdb": false, "bounded": false}), false),
        (json!({"used_duckdb": false}), false),
        (Value::Null, false),
    ] {
        let page = read_page(Fields::from(&json!({"clusters": [], "metadata": metadata}))).unwrap();
        assert_eq!(page.is_bounded, is_bounded, "{metadata}");
    }
}

#[test]
fn a_page_of_the_wrong_types_is_not_an_empty_page() {
    let id = "9a205a5e-0000-46be-83a3-000000000001";
    for clusters in [
        json!([1, 2]),
        json!("none"),
        json!([{"cluster_id": 7}]),
        json!([{"cluster_id": id, "previews": 5}]),
        json!([{"cluster_id": id, "previews": [5, {"media_id": {}}]}]),
    ] {
        assert_eq!(read_page(Fields::from(&json!({"clusters": clusters}))), None, "{clusters}");
    }
    for (clusters, count) in [
        (json!([]), 0),
        (json!([{"cluster_id": id, "previews": null}]), 1),
        (json!([{"cluster_id": id, "previews": []}, 5]), 1),
    ] {
        assert_eq!(
            read_page(Fields::from(&json!({"clusters": clusters}))).unwrap().clusters.len(),
            count
        );
    }
}

#[test]
fn a_box_is_written_with_six_decimals_inside_the_image() {
    let written = |x, y, w, h| write_region(Region::new(x, y, w, h).unwrap());
    assert_eq!(written(0.0, 0.25, 1.0, 0.5), r#"{"x":0,"y":0.25,"width":1,"height":0.5}"#);
    assert_eq!(
        written(1.0 / 3.0, 0.333_333_5, 2.0 / 3.0, 0.666_666_5),
        r#"{"x":0.333333,"y":0.333334,"width":0.666667,"height":0.666666}"#
    );
    assert_eq!(
        written(1.0 - 1e-9, 0.0, 1e-9, 1e-9),
        r#"{"x":0.999999,"y":0,"width":0.000001,"height":0.000001}"#
    );
}

proptest! {
    #[test]
    fn a_written_box_can_be_read(
        x in 0.0_f64..1.0, y in 0.0_f64..1.0, w in 0.0_f64..1.0, h in 0.0_f64..1.0,
    ) {
        if let Some(region) = Region::new(x, y, w * (1.0 - x), h * (1.0 - y)) {
            let text = write_region(region);
            let again = read_region(&text.clone().into());
            prop_assert!(again.is_some_and(|again| (again.x - region.x).abs() < 2e-6), "{text}");
            prop_assert!(!text.contains(['E', '-']), "{text}");
        }
    }
}

#[test]
fn tags_come_with_the_id_that_filters_name_them_by() {
    let id = "95233006-eddc-11ef-b303-76dbc3993eb2";
    let read = |tags: Value| {
        let cluster = json!({ "cluster_id": id, "user_tags": tags });
        let page = read_page(Fields::from(&json!({ "clusters": [cluster] }))).unwrap();
        page.clusters[0]
            .tags
            .iter()
            .map(|tag| (tag.id.is_some(), tag.name.to_string()))
            .collect::<Vec<_>>()
    };
    assert_eq!(read(json!([{"id": id, "name": "night"}])), [(true, "night".to_owned())]);
    assert_eq!(read(json!({id: "night"})), [(true, "night".to_owned())]);
    assert_eq!(read(json!(["night"])), [(false, "night".to_owned())]);
    assert_eq!(read(json!([{"name": "night"}])), [(false, "night".to_owned())]);
    assert_eq!(read(json!(null)), []);
}

#[test]
fn boxes_of_every_shape() {
    let expected = Region::new(0.1, 0.2, 0.3, 0.4);
    for raw in [
        json!({"x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}),
        json!([0.1, 0.2, 0.3, 0.4]),
        json!("[0.1, 0.2, 0.3, 0.4]"),
    ] {
        assert_eq!(read_region(&raw), expected);
    }
    for raw in [json!(null), json!([1, 2]), json!("x"), json!({"x": 2}), json!("\"[]\"")] {
        assert_eq!(read_region(&raw), None);
    }
}

/// A cluster with every field, as a service writes it.
fn whole_cluster() -> Value {
    let id = "9a205a5e-0000-46be-83a3-000000000001";
    json!({
        "cluster_id": id, "type": "OBJECTS", "n_images": 3, "n_objects": 5, "n_videos": 1,
        "n_frames": 2, "similarity_threshold": "0.8", "relevance_score": 0.25,
        "relevance_score_type": "cosine_distance", "labels": ["van", "bus"],
        "user_tags": [{"id": "95233006-eddc-11ef-b303-76dbc3993eb2", "name": "night"}],
        "captions": ["a van"],
        "previews": [{
            "media_id": "31ae21e5-0000-46f6-85a3-000000000001", "type": "OBJECT",
            "file_name": "van.jpg", "original_uri": "a/van.jpg", "video_uri": null,
            "frame_timestamp": null, "media_uri": "https://cdn.example/1.jpg?sig=1",
            "media_thumb_uri": "https://cdn.example/1t.jpg?sig=1", "caption": "a van",
            "bounding_box": {"x": 0.25, "y": 0.5, "width": 0.5, "height": 0.25},
            "relevance_score": 0.5, "relevance_score_type": "dot", "width": 640, "height": 480,
        }],
    })
}

#[test]
fn a_cluster_is_written_as_it_was_read() {
    let page = read_page(Fields::from(&json!({"clusters": [whole_cluster()]}))).unwrap();
    let cluster = &page.clusters[0];
    let preview = &cluster.previews[0];
    assert_eq!(cluster.relevance.as_ref().unwrap().kind, ScoreKind::CosineDistance);
    assert_eq!(preview.relevance.as_ref().unwrap().kind, ScoreKind::Other(SafeText::name("dot")));
    assert_eq!(
        (preview.dimensions, preview.region),
        (Some((640, 480)), Region::new(0.25, 0.5, 0.5, 0.25))
    );
    // A box is written as integers where it can be; as numbers they are equal.
    assert_eq!(json!(ClusterBody::new(cluster, LinkForm::Signed)), whole_cluster());
    let shown = json!(PreviewBody::new(preview, LinkForm::Unsigned));
    assert_eq!(shown["media_uri"], "https://cdn.example/1.jpg");
    assert_eq!(shown["media_thumb_uri"], "https://cdn.example/1t.jpg");
}

#[test]
fn the_text_of_a_column_is_written_as_it_was_received() {
    let columns = json!({"a\u{200c}b": "line 1\nline 2\t\u{200c}", "n": 1.5});
    let id = "9a205a5e-0000-46be-83a3-000000000001";
    let previews = json!([{"media_id": id, "columns": columns}]);
    let page =
        read_page(Fields::from(&json!({"clusters": [{"cluster_id": id, "previews": previews}]})))
            .unwrap();
    let written = json!(PreviewBody::new(&page.clusters[0].previews[0], LinkForm::Unsigned));
    assert_eq!(written["columns"], columns);
}

#[test]
fn what_a_service_did_not_send_is_written_as_null() {
    let id = "9a205a5e-0000-46be-83a3-000000000001";
    let page = read_page(Fields::from(&json!({"clusters": [
        {"cluster_id": id, "previews": [{"media_id": id}], "labels": [], "n_images": -1}]})))
    .unwrap();
    let written = json!(ClusterBody::new(&page.clusters[0], LinkForm::Unsigned));
    for field in [
        "n_images",
        "n_objects",
        "similarity_threshold",
        "relevance_score",
        "relevance_score_type",
        "labels",
        "user_tags",
        "captions",
    ] {
        assert_eq!(written.get(field), Some(&Value::Null), "{field}");
    }
    for field in ["media_uri", "caption", "bounding_box", "relevance_score", "width", "height"] {
        assert_eq!(written["previews"][0].get(field), Some(&Value::Null), "{field}");
    }
    assert_eq!(written["type"], "IMAGES", "the kind that is browsed without another");
}

#[test]
fn only_a_cosine_distance_is_interpreted() {
    let cosine = ScoreKind::CosineDistance;
    let other = |kind: &str| ScoreKind::Other(SafeText::name(kind));
    for (fields, relevance) in [
        (
            json!({"relevance_score": 0.5, "relevance_score_type": "cosine_distance"}),
            Some((0.5, cosine.clone())),
        ),
        (
            json!({"relevance_score": "0.5", "relevance_score_type": "COSINE_DISTANCE"}),
            Some((0.5, cosine)),
        ),
        (json!({"relevance_score": -2, "relevance_score_type": "dot"}), Some((-2.0, other("dot")))),
        (json!({"relevance_score": 0}), Some((0.0, other("")))),
        (json!({"relevance_score": null, "relevance_score_type": "dot"}), None),
        (json!({"relevance_score": "near", "relevance_score_type": "dot"}), None),
    ] {
        let mut cluster = whole_cluster();
        let object = cluster.as_object_mut().unwrap();
        object.remove("relevance_score");
        object.remove("relevance_score_type");
        object.extend(fields.as_object().unwrap().clone());
        let page = read_page(Fields::from(&json!({"clusters": [cluster]}))).unwrap();
        let expected = relevance.map(|(score, kind)| Relevance::new(score, kind));
        assert_eq!(page.clusters[0].relevance, expected, "{fields}");
    }
}

#[test]
fn an_older_name_of_a_field_is_read_where_the_documented_one_is_missing() {
    let id = "31ae21e5-0000-46f6-85a3-000000000001";
    let preview = |preview: Value| {
        let page = json!({"clusters": [{"cluster_id": id, "previews": [preview]}]});
        read_page(Fields::from(&page)).unwrap().clusters.remove(0).previews.remove(0)
    };
    let shown = |link: &Option<Link>| link.as_ref().map(|link| link.expose().to_owned());
    let older = preview(json!({"image_id": id, "image_uri": "/1.jpg", "width": 9}));
    assert_eq!(older.media.to_string(), id);
    assert_eq!(shown(&older.original).as_deref(), Some("/1.jpg"));
    assert_eq!(shown(&older.thumbnail).as_deref(), Some("/1.jpg"), "the picture itself");
    assert_eq!(older.dimensions, None, "a width alone is not a size");
    let both = preview(json!({"media_id": id, "media_uri": "/2.jpg", "image_uri": "/1.jpg",
        "media_thumb_uri": "/t.jpg", "width": 4_294_967_296_u64, "height": 1}));
    assert_eq!(shown(&both.original).as_deref(), Some("/2.jpg"));
    assert_eq!(shown(&both.thumbnail).as_deref(), Some("/t.jpg"));
    assert_eq!(both.dimensions, None, "no picture is that wide");
}

#[test]
fn documents_about_local_files_name_the_files_instead_of_links() {
    let id = "31ae21e5-0000-46f6-85a3-000000000001";
    let written = |fields: Value, links: LinkForm| {
        let mut preview =
            json!({"media_id": id, "media_uri": "/1.jpg", "media_thumb_uri": "/t.jpg"});
        preview.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let page = json!({"clusters": [{"cluster_id": id, "previews": [preview]}]});
        let preview = read_page(Fields::from(&page)).unwrap().clusters.remove(0).previews.remove(0);
        let written = json!(PreviewBody::new(&preview, links));
        ["original_path", "media_uri", "media_thumb_uri", "video_uri"].map(|key| {
            written.get(key).and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
        })
    };
    let picture = json!({"file_name": "é 1#.jpg", "original_path": "/p/a b/é 1#.jpg"});
    let uri = "file:///p/a%20b/%C3%A9%201%23.jpg";
    assert_eq!(written(picture.clone(), LinkForm::Files), ["/p/a b/é 1#.jpg", uri, "", ""]);
    assert_eq!(written(picture.clone(), LinkForm::Signed), ["", "/1.jpg", "/t.jpg", ""]);
    let frame = json!({"file_name": "clip_000001.jpg", "frame_timestamp": 0.5,
        "original_path": "/p/clip.mp4", "video_uri": "/v"});
    assert_eq!(written(frame, LinkForm::Files), ["/p/clip.mp4", "", "", "file:///p/clip.mp4"]);
    let row = json!({"file_name": "000001.png", "original_path": "/p/rows.parquet"});
    assert_eq!(written(row, LinkForm::Files), ["/p/rows.parquet", "", "", ""]);
    let relative = json!({"file_name": "a.jpg", "original_path": "p/a.jpg"});
    assert_eq!(written(relative, LinkForm::Files), ["", "", "", ""], "not a path of this machine");
}

#[test]
fn tags_in_a_shape_without_ids_are_names() {
    let id = "95233006-eddc-11ef-b303-76dbc3993eb2";
    let read = |tags: Value| {
        let page = json!({"clusters": [{"cluster_id": id, "user_tags": tags}]});
        let tags = read_page(Fields::from(&page)).unwrap().clusters.remove(0).tags;
        tags.into_iter().map(|tag| (tag.id.is_some(), tag.name.to_string())).collect::<Vec<_>>()
    };
    let named = |name: &str| vec![(false, name.to_owned())];
    assert_eq!(read(json!({"night": 3})), named("night"));
    assert_eq!(read(json!("night")), named("night"));
    assert_eq!(read(json!({"night": {"count": 3}})), named("night"));
    assert_eq!(read(json!([{"id": id}])), [(true, id.to_owned())]);
    assert_eq!(read(json!([{"id": "x", "name": "night"}])), named("night"));
    assert_eq!(
        read(json!([{"id": id, "name": "a"}, "b"])),
        [(false, "a".to_owned()), (false, "b".to_owned())]
    );
    assert_eq!(read(json!([])), []);
}

#[test]
fn an_anchor_is_an_upload_unless_the_service_says_otherwise() {
    let id = "31ae21e5-0000-46f6-85a3-000000000001";
    for (fields, kind) in [
        (json!({"anchor_media_id": id}), Some(AnchorKind::Upload)),
        (json!({"anchor_media_id": id, "anchor_type": "UPLOAD"}), Some(AnchorKind::Upload)),
        (json!({"anchor_media_id": id, "anchor_type": "media"}), Some(AnchorKind::Media)),
        (json!({"anchor_media_id": id, "anchor_type": "planet"}), Some(AnchorKind::Upload)),
        (json!({"anchor_media_id": "x"}), None),
        (json!({"anchor_type": "MEDIA"}), None),
    ] {
        let anchor = read_anchor(Fields::from(&fields));
        assert_eq!(anchor.map(|anchor| anchor.kind), kind, "{fields}");
        assert!(anchor.is_none_or(|anchor| anchor.media.to_string() == id));
    }
}

#[test]
fn a_box_needs_four_numbers_inside_the_image() {
    for raw in [
        json!({"x": 0.1, "y": 0.2, "width": 0.3}),
        json!([0.1, 0.2, 0.3]),
        json!([0.1, 0.2, 0.3, 0.4, 0.5]),
        json!([0.1, 0.2, 0.3, "0.4"]),
        json!([0.1, 0.2, 0.95, 0.4]),
        json!(0.5),
        json!(true),
    ] {
        assert_eq!(read_region(&raw), None, "{raw}");
        assert_eq!(read_region(&json!(raw.to_string())), None, "{raw} as text");
    }
    let expected = Region::new(0.1, 0.2, 0.3, 0.4);
    assert_eq!(
        read_region(&json!({"x": "0.1", "y": 0.2, "width": 0.3, "height": "0.4"})),
        expected
    );
    assert_eq!(
        read_region(&json!(r#"{"x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}"#)),
        expected
    );
}
