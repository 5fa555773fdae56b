use serde_json::json;

use tessera_model::{Coverage, ModelFile, SafeText};
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
        (
            json!({"dataset_enrichment_models": {"enrichment_models": {"OTHER": "a"}}}),
            [NotApplied; 4],
        ),
    ] {
        assert_eq!(read_enrichment(&body).statuses, expected, "{body}");
    }
}

#[test]
fn the_model_of_a_type_is_its_name_or_an_object_with_what_was_applied_when() {
    let metadata = json!({"description": "in Turkish", "name": "cats", "applied_at": "2026-11-25T08:00:00",
        "covered_media": 4, "all_media": 2000,
        "files": [{"path": "onnx/model.onnx", "sha256": "ab"}, {"path": 1}, 2]});
    let models =
        json!({"CAPTION_IMAGES": "blip", "OTHER": {"id": "own", "metadata": metadata}, "X": 3});
    let body = json!({"dataset_enrichment_models": {"enrichment_models": models}});
    let text = |text: &Option<SafeText>| text.as_ref().map(ToString::to_string);
    let read: Vec<_> = read_enrichment(&body).models.into_iter().collect();
    let [blip, cats, unnamed] = &read[..] else { panic!("{read:?}") };
    assert_eq!((blip.kind.as_str(), text(&blip.id).as_deref()), ("CAPTION_IMAGES", Some("blip")));
    assert_eq!(
        (text(&cats.id).as_deref(), text(&cats.name).as_deref()),
        (Some("own"), Some("cats"))
    );
    assert_eq!(text(&cats.description).as_deref(), Some("in Turkish"));
    assert_eq!(text(&cats.applied_at).as_deref(), Some("2026-11-25T08:00:00"));
    let file = ModelFile { path: SafeText::name("onnx/model.onnx"), sha256: SafeText::name("ab") };
    assert_eq!(cats.files, [file]);
    assert_eq!(cats.coverage, Some(Coverage { covered: 4, all: 2_000 }));
    assert_eq!(unnamed.coverage, None);
    assert_eq!((&unnamed.id, &unnamed.files), (&None, &Vec::new()));
}
