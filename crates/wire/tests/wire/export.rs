use serde_json::json;

use tessera_wire::{export::*, fields::Fields};

#[test]
fn a_bare_id_is_a_running_export() {
    let task =
        read_started(Fields::from(&json!({"id": "cf8b3e78-0000-4954-a782-000000000001"}))).unwrap();
    assert_eq!(task.state.as_str(), "PENDING");
    assert_eq!(task.download, None);
    assert!(read_started(Fields::from(&json!({"status": "COMPLETED"}))).is_none());
    let other = "cf8b3e78-0000-4954-a782-000000000002".parse().unwrap();
    let status = json!({"id": task.id, "status": "COMPLETED", "download_uri": "/x.zip"});
    assert!(read_status(Fields::from(&status), task.id).unwrap().has_ended());
    assert_eq!(read_status(Fields::from(&status), other), None, "the status of another export");
}

#[test]
fn progress_is_a_fraction_that_becomes_a_percentage() {
    let id = "cf8b3e78-0000-4954-a782-000000000001";
    for (progress, percent) in [
        (json!(0), Some(0)),
        (json!(0.5), Some(50)),
        (json!(0.999), Some(99)),
        (json!(1), Some(100)),
        (json!("0.25"), Some(25)),
        (json!(7), Some(100)),
        (json!(-1), Some(0)),
        (json!(null), None),
        (json!("soon"), None),
    ] {
        let task = read_started(Fields::from(&json!({"id": id, "progress": progress}))).unwrap();
        assert_eq!(task.progress, percent, "{progress}");
    }
}

#[test]
fn the_message_of_a_task_is_its_result_or_its_error() {
    let id = "cf8b3e78-0000-4954-a782-000000000001".parse().unwrap();
    for (body, message) in [
        (json!({"status": "FAILED", "result_message": "too many", "error": "x"}), Some("too many")),
        (json!({"status": "FAILED", "result_message": "", "error": "full"}), Some("full")),
        (json!({"status": "FAILED", "message": "late\u{7}"}), Some("late␇")),
        (json!({"status": "FAILED"}), None),
    ] {
        let task = read_status(Fields::from(&body), id).unwrap();
        assert_eq!(task.message.as_ref().map(tessera_model::SafeText::as_str), message, "{body}");
        assert_eq!((task.id, task.state.as_str()), (id, "FAILED"));
    }
    assert_eq!(
        read_status(Fields::from(&json!(["COMPLETED"])), id),
        None,
        "a list is not a status"
    );
    let ready =
        read_status(Fields::from(&json!({"status": "COMPLETED", "download_uri": "/a.zip?s"})), id);
    assert_eq!(ready.unwrap().download.unwrap().expose(), "/a.zip?s");
}
