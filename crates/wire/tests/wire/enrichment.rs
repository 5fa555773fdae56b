use serde_json::json;

use tessera_wire::enrichment::*;

#[test]
fn names_are_found_in_any_shape_and_absence_is_unknown() {
    use tessera_model::enrichment::ModelStatus::{Applied, NotApplied, Unknown};
    for (body, expected) in [
        (json!({"models": ["CAPTION_IMAGES"]}), [Applied, NotApplied, NotApplied, NotApplied]),
        (
            json!([{"type": "image_tagging"}, {"deep": [["CAPTION_IMAGES"]]}]),
            [Applied, Applied, NotApplied, NotApplied],
        ),
        (json!({"CAPTION_IMAGES": null}), [NotApplied, Unknown, Unknown, Unknown]),
        (
            json!({"x": {"OBJECT_DETECTION": {"id": "y"}}}),
            [NotApplied, NotApplied, NotApplied, Applied],
        ),
        (json!({"status": "NEW"}), [Unknown; 4]),
        (json!("captions"), [Unknown; 4]),
        (
            json!({"status": "NEW", "dataset_enrichment_models": {"enrichment_models": {}}}),
            [NotApplied; 4],
        ),
        (
            json!({"status": "NEW", "dataset_enrichment_models": {"enrichment_models": []}}),
            [NotApplied; 4],
        ),
        (
            json!({"status": "NEW", "dataset_enrichment_models": {"enrichment_models": ["OTHER"]}}),
            [Unknown; 4],
        ),
    ] {
        assert_eq!(read_enrichment(&body).statuses, expected, "{body}");
    }
}
