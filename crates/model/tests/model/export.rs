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

#[test]
fn a_status_is_shown_as_the_service_sent_it_and_as_pending_before_it_sent_one() {
    for (sent, shown) in [
        ("", "PENDING"),
        ("  ", "PENDING"),
        ("in_progress", "in_progress"),
        (" INIT ", "INIT"),
        ("completed", "COMPLETED"),
        ("Rejected", "Rejected"),
    ] {
        assert_eq!(ExportState::parse(sent).as_str(), shown, "{sent:?}");
    }
}

#[test]
fn every_word_for_a_failure_ends_an_export() {
    let words =
        ["FAILED", "FAILURE", "ERROR", "REJECTED", "CANCELED", "CANCELLED", "ABORTED", "aborted "];
    for word in words {
        let state = ExportState::parse(word);
        assert_eq!(state, ExportState::Failed(SafeText::name(word.trim())), "{word}");
    }
    for word in ["FAILING", "DONE", "SUCCESS", "COMPLETE"] {
        assert!(matches!(ExportState::parse(word), ExportState::Running(_)), "{word}");
    }
}

/// A task in this state, with or without a link to its archive.
pub fn task(status: &str, has_link: bool, message: Option<&str>) -> ExportTask {
    ExportTask {
        id: ExportTaskId(uuid::Uuid::from_u128(7)),
        state: ExportState::parse(status),
        progress: None,
        download: has_link.then(|| Link::new("https://cdn.example/a.zip")),
        message: message.map(SafeText::detail),
    }
}

#[test]
fn an_export_has_ended_when_it_failed_or_its_archive_can_be_downloaded() {
    for (status, has_link, ended) in [
        ("COMPLETED", true, true),
        ("COMPLETED", false, false),
        ("FAILED", false, true),
        ("CANCELLED", true, true),
        ("RUNNING", false, false),
        ("RUNNING", true, false),
        ("", false, false),
    ] {
        assert_eq!(task(status, has_link, None).has_ended(), ended, "{status} {has_link}");
    }
}

#[test]
fn a_failed_export_says_how_it_ended_and_why() {
    let failure = |status, message| task(status, true, message).failure();
    let rejected = failure("REJECTED", Some("too many media")).unwrap();
    assert_eq!(rejected.kind, FailureKind::Rejected);
    assert_eq!(rejected.to_string(), "the export ended with REJECTED (service: too many media)");
    assert_eq!(failure("ABORTED", None).unwrap().to_string(), "the export ended with ABORTED");
    for status in ["COMPLETED", "RUNNING", ""] {
        assert_eq!(failure(status, Some("almost")), None, "{status} is not a failure");
    }
}

#[test]
fn archive_names_leave_room_for_the_suffix_and_are_cut_at_characters() {
    for (raw, safe) in [
        ("n".repeat(190), format!("{}.zip", "n".repeat(190))),
        ("n".repeat(191), format!("{}.zip", "n".repeat(190))),
        // Two bytes each.
        (format!("n{}", "é".repeat(95)), format!("n{}.zip", "é".repeat(94))),
    ] {
        assert_eq!(ArchiveName::new(&raw).as_str(), safe);
    }
    for (raw, safe) in [
        (r#"a<b>c:d"e|f?g*h"#, "a_b_c_d_e_f_g_h.zip"),
        (r"C:\exports\day 1.zip", "day 1.zip"),
        ("..-. report .", "report.zip"),
        ("NUL", "export.zip"),
        ("nul.txt", "export.zip"),
        ("com1", "export.zip"),
        ("contour", "contour.zip"),
        ("zip", "zip.zip"),
        (".zip", "export.zip"),
        ("", "export.zip"),
        ("a/", "export.zip"),
        ("a\u{202e}b", "ab.zip"),
    ] {
        assert_eq!(ArchiveName::new(raw).as_str(), safe, "{raw:?}");
    }
}

#[test]
fn all_names_are_counted_and_the_first_200_kept() {
    let mut sample = NameSample::default();
    for number in 1..=Inspection::MAX_NAMED + 1 {
        sample.add(&format!("images/{number}.png"));
        let kept = number.min(200);
        assert_eq!((sample.count, sample.first.len()), (number as u64, kept));
    }
    assert_eq!(sample.first[0].as_str(), "images/1.png");
    assert_eq!(sample.first[199].as_str(), "images/200.png");
}

#[test]
fn names_of_an_archive_are_printable() {
    let mut sample = NameSample::default();
    sample.add("../\u{1b}[2J.png");
    assert_eq!(sample.first[0].as_str(), "../␛[2J.png");
}
