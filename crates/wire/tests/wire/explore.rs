use proptest::prelude::*;
use serde_json::{Value, json};

use tessera_model::*;
use tessera_wire::explore::*;

#[test]
fn repeated_and_unreadable_clusters_are_counted() {
    let id = "9a205a5e-0000-46be-83a3-000000000001";
    let page =
        read_page(&json!({"clusters": [{"cluster_id": id}, {"cluster_id": id}, {}]})).unwrap();
    assert_eq!((page.clusters.len(), page.skipped), (1, 2));
    assert!(read_page(&json!({"detail": "x"})).is_none());
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
        assert_eq!(read_page(&json!({"clusters": clusters})), None, "{clusters}");
    }
    for (clusters, count) in [
        (json!([]), 0),
        (json!([{"cluster_id": id, "previews": null}]), 1),
        (json!([{"cluster_id": id, "previews": []}, 5]), 1),
    ] {
        assert_eq!(read_page(&json!({"clusters": clusters})).unwrap().clusters.len(), count);
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
        let page = read_page(&json!({ "clusters": [cluster] })).unwrap();
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
