use serde_json::{Value, json};

use tessera_wire::error_body::*;

#[test]
fn error_bodies_of_every_shape() {
    let read =
        |body: &str| read_error_message(body.as_bytes(), None).map(|words| words.to_string());
    assert_eq!(read(r#"{"detail":"Dataset not found"}"#).as_deref(), Some("Dataset not found"));
    assert_eq!(
        read(r#"{"detail":[{"loc":["query","x"],"msg":"Field required"}]}"#).as_deref(),
        Some("query.x: Field required")
    );
    assert_eq!(read(r#"{"status":"error","message":"no"}"#).as_deref(), Some("no"));
    assert_eq!(
        read("<html><h1>502 Bad Gateway</h1>\n<p>nginx</p></html>").as_deref(),
        Some("502 Bad Gateway nginx")
    );
    assert_eq!(read(""), None);
    assert_eq!(read("\u{1b}]0;x\u{7}").as_deref(), Some("␛]0;x␇"));
}

#[test]
fn bodies_that_report_an_error_under_any_status_code() {
    let id = "cf8b3e78-0000-4954-a782-000000000001";
    let both = [
        (json!({"status": "error", "message": "no such path"}), "no such path"),
        (json!({"error": "Export rejected: too many"}), "Export rejected: too many"),
        (json!({"id": id, "status": "INIT", "error": "too many"}), "too many"),
        (json!({"error": {"code": 7}}), r#"{"error":{"code":7}}"#),
        (json!({"detail": "Dataset not found"}), "Dataset not found"),
        (json!({"clusters": [], "detail": [{"msg": "late"}]}), "late"),
        (json!({"success": false, "message": "busy"}), "busy"),
        (json!({"status": "ERROR"}), r#"{"status":"ERROR"}"#),
    ];
    for (body, message) in both {
        for meaning in [StatusField::Outcome, StatusField::State] {
            let reported = read_reported_error(&body, meaning);
            assert_eq!(reported.unwrap().as_str(), message, "{body}");
        }
    }
    let of_the_resource = [
        json!({"id": id, "status": "ERROR", "status_new": "ERROR"}),
        json!({"id": id, "status": "FATAL_ERROR"}),
        json!({"status": "FAILED", "error": "disk full"}),
        json!({"id": id, "status": "REJECTED", "result_message": "too many"}),
    ];
    for body in of_the_resource {
        assert_eq!(read_reported_error(&body, StatusField::State), None, "{body}");
        assert!(read_reported_error(&body, StatusField::Outcome).is_some(), "{body}");
    }
    let fine = [
        json!({"id": id, "status": "READY", "error": null, "detail": ""}),
        json!({"status": "success", "message": "error", "error": false, "success": true}),
        json!([{"error": "in a list"}]),
        Value::Null,
    ];
    for body in fine {
        for meaning in [StatusField::Outcome, StatusField::State] {
            assert_eq!(read_reported_error(&body, meaning), None, "{body}");
        }
    }
}

#[test]
fn what_a_body_says_is_the_message_and_markup_is_not() {
    for (body, message) in [
        (r#"{"detail": {"code": 7}}"#, Some(r#"{"code":7}"#)),
        (r#"{"detail": {"code": 7}, "message": "late"}"#, Some(r#"{"code":7}"#)),
        (r#"{"detail": 7, "message": "late"}"#, Some("7")),
        (r#"{"detail": "", "message": "late"}"#, Some("late")),
        (r#"{"detail": null, "error": "late"}"#, Some("late")),
        (r#"{"message": "first", "error": "second"}"#, Some("first")),
        (
            r#"{"detail": [{"msg": "late"}, {"loc": ["query"]}]}"#,
            Some(r#"late; {"loc":["query"]}"#),
        ),
        (
            r#"{"detail": [{"loc": ["body", 0, "id"], "msg": "not a UUID"}]}"#,
            Some("body.0.id: not a UUID"),
        ),
        (r#" {"code": 7} "#, Some(r#"{"code": 7}"#)),
        ("3 > 2 and 1 < 2", Some("3 > 2 and 1")),
        ("<p>502</p>5 > 4", Some("502 5 > 4")),
        ("<br><br/>", None),
        ("  \n", None),
    ] {
        let read = read_error_message(body.as_bytes(), None).map(|message| message.to_string());
        assert_eq!(read.as_deref(), message, "{body}");
    }
    for (body, charset, message) in [
        (&b"bad \xff"[..], None, "bad \u{fffd}"),
        (b"{\"detail\":\"caf\xe9\"}", Some("iso-8859-1"), "caf\u{e9}"),
        (b"<p>caf\xe9</p>", Some("iso-8859-1"), "caf\u{e9}"),
        (b"\xff\xfen\0o\0", None, "no"),
    ] {
        assert_eq!(read_error_message(body, charset).unwrap().as_str(), message);
    }
}

#[test]
fn an_error_field_counts_when_something_is_in_it() {
    for (error, reported) in [
        (json!(null), false),
        (json!(false), false),
        (json!(true), true),
        (json!(0), false),
        (json!(0.0), false),
        (json!(7), true),
        (json!(-1), true),
        (json!(" "), false),
        (json!("late"), true),
        (json!([]), false),
        (json!(["late"]), true),
        (json!({}), false),
        (json!({"code": 0}), true),
    ] {
        for key in ["error", "detail"] {
            let body = json!({"id": 1, key: error});
            let found = read_reported_error(&body, StatusField::State).is_some();
            assert_eq!(found, reported, "{body}");
        }
    }
    for (body, reported) in [
        (json!({"success": true}), false),
        (json!({"success": "false"}), false),
        (json!({"success": false}), true),
    ] {
        assert_eq!(read_reported_error(&body, StatusField::Outcome).is_some(), reported, "{body}");
    }
}
