//! Keywords as people type them.

use tessera_model::{AnchorKind, EntityType, ExportFormat, Granularity};

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
        ("csv", Err("expected json or parquet")),
        ("", Err("expected json or parquet")),
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
