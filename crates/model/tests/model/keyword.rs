//! Keywords and identifiers as people type them.

use tessera_model::{AnchorKind, EntityType, ExportFormat, Granularity, ids::*};

#[test]
fn members_are_named_in_any_case_and_in_the_singular() {
    for (typed, entity) in [
        ("IMAGES", Ok(EntityType::Images)),
        ("images", Ok(EntityType::Images)),
        (" Image ", Ok(EntityType::Images)),
        ("OBJECTS", Ok(EntityType::Objects)),
        ("object", Ok(EntityType::Objects)),
        ("", Err("expected images or objects")),
        ("video", Err("expected images or objects")),
        ("imagess", Err("expected images or objects")),
    ] {
        assert_eq!(typed.parse(), entity, "{typed:?}");
    }
}

#[test]
fn toggling_the_members_twice_changes_nothing() {
    assert_eq!(EntityType::default(), EntityType::Images);
    assert_eq!(EntityType::Images.toggled(), EntityType::Objects);
    assert_eq!(EntityType::Objects.toggled(), EntityType::Images);
}

const FORMATS: &str = "expected json, parquet, coco, yolo, yolo-segment, yolo-pose, voc, csv, imagefolder, webdataset or hf-parquet";

#[test]
fn anchors_and_formats_are_named_in_any_case() {
    for (typed, kind) in [
        ("UPLOAD", Ok(AnchorKind::Upload)),
        (" media\n", Ok(AnchorKind::Media)),
        ("Media", Ok(AnchorKind::Media)),
        ("image", Err("expected UPLOAD or MEDIA")),
    ] {
        assert_eq!(typed.parse(), kind, "{typed:?}");
    }
    for (typed, format) in [
        ("json", Ok(ExportFormat::Json)),
        (" JSON ", Ok(ExportFormat::Json)),
        ("Parquet", Ok(ExportFormat::Parquet)),
        ("yolo-Pose", Ok(ExportFormat::YoloPose)),
        ("tsv", Err(FORMATS)),
        ("", Err(FORMATS)),
    ] {
        assert_eq!(typed.parse(), format, "{typed:?}");
    }
}

#[test]
fn a_granularity_is_a_number_from_0_to_4() {
    for (typed, level) in [("0", Some(0)), ("4", Some(4)), (" 3 ", Some(3))] {
        assert_eq!(typed.parse().ok().map(Granularity::level), level, "{typed:?}");
    }
    for typed in ["5", "-1", "", "fine", "2.0", "256"] {
        assert_eq!(
            typed.parse::<Granularity>(),
            Err("expected 0 (finest) to 4 (coarsest)"),
            "{typed:?}"
        );
    }
}

#[test]
fn a_keyword_of_the_interface_is_exact() {
    assert_eq!(EntityType::from_keyword("IMAGES"), Some(EntityType::Images));
    assert_eq!(EntityType::from_keyword("images"), None);
    for entity in EntityType::ALL {
        assert_eq!(EntityType::from_keyword(entity.as_str()), Some(entity));
    }
}

#[test]
fn only_a_uuid_becomes_an_id() {
    assert!("95233006-eddc-11ef-b303-76dbc3993eb2".parse::<DatasetId>().is_ok());
    for bad in ["", "../x", "95233006-eddc-11ef-b303-76dbc3993eb2?y=1", "a/b", "95233006"] {
        assert!(bad.parse::<DatasetId>().is_err(), "{bad}");
    }
}

#[test]
fn an_id_is_written_with_hyphens_and_shortened_to_its_first_eight_digits() {
    let text = "95233006-eddc-11ef-b303-76dbc3993eb2";
    for typed in [text, " 95233006-eddc-11ef-b303-76dbc3993eb2\n", &text.to_uppercase()] {
        let id: MediaId = typed.parse().unwrap();
        assert_eq!((id.to_string().as_str(), id.short().as_str()), (text, "95233006"));
    }
}
