use proptest::prelude::*;

use tessera_model::{export::*, *};

#[test]
fn unknown_states_count_as_running() {
    assert_eq!(
        ExportState::parse("in_progress"),
        ExportState::Running(SafeText::name("in_progress"))
    );
    assert_eq!(ExportState::parse("").as_str(), "PENDING");
    assert_eq!(ExportState::parse("completed"), ExportState::Completed);
    assert!(matches!(ExportState::parse("REJECTED"), ExportState::Failed(_)));
}

#[test]
fn archive_names_are_single_safe_components() {
    for (raw, safe) in [
        ("photos", "photos.zip"),
        ("a/b/../c.ZIP", "c.zip"),
        ("..", "export.zip"),
        ("-rf", "rf.zip"),
        ("con.zip", "export.zip"),
        ("x\u{1b}[2J\r\n.zip", "x_[2J__.zip"),
    ] {
        assert_eq!(ArchiveName::new(raw).as_str(), safe);
    }
}

proptest! {
    #[test]
    fn any_input_gives_one_component(raw in "\\PC*") {
        let name = ArchiveName::new(&raw);
        prop_assert!(name.as_str().len() <= 200 && !name.as_str().contains(['/', '\\', '\0']));
        prop_assert!(name.as_str().rsplit('.').next() == Some("zip") && !name.as_str().starts_with(['.', '-']));
    }
}
