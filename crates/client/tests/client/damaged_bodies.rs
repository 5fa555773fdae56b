//! Every field of every body of the catalog is removed, set to null and replaced by other types: the
//! client never reports a success without its evidence, and names the endpoint and the field.

use serde_json::{Value, json};
use tessera_model::{Failure, FailureKind};
use tokio::task::JoinSet;

use crate::recorded::{ExpectedReading, RecordedCase, RecordedService, catalog};

/// No reader takes this for a value.
fn unreadable() -> Value {
    json!([[1]])
}

/// The body with one field changed, in each way.
fn damaged(body: &Value, pointer: &str) -> Vec<Value> {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let mut removed = body.clone();
    match removed.pointer_mut(parent).unwrap() {
        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
        object => drop(object.as_object_mut().unwrap().remove(key)),
    }
    let others = [Value::Null, unreadable(), json!({"?": [1]}), json!(true), json!(7)];
    let replaced = others.into_iter().map(|other| {
        let mut replaced = body.clone();
        *replaced.pointer_mut(pointer).unwrap() = other;
        replaced
    });
    std::iter::once(removed).chain(replaced).collect()
}

/// JSON pointers of all fields and elements below a value.
fn pointers(value: &Value, prefix: &str, all: &mut Vec<String>) {
    let mut add = |key: &str, value: &Value| {
        let pointer = format!("{prefix}/{key}");
        all.push(pointer.clone());
        pointers(value, &pointer, all);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| add(key, value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| add(&index.to_string(), value));
        }
        _ => {}
    }
}

/// Whether a body contains what the API document names as the evidence of success, judged without the
/// readers of the client.
fn has_evidence(endpoint: &str, http_status: u16, body: &Value) -> bool {
    let is_id = |key: &str| body[key].as_str().is_some_and(|id| uuid::Uuid::try_parse(id).is_ok());
    match endpoint {
        "add_media" | "reindex" => http_status == 202,
        "process_add_media" => {
            body["status"].as_str().is_some_and(|it| it.to_lowercase() == "success")
        }
        "export_context_async" | "export_entities_async" => is_id("id"),
        "search_image_similarity" => is_id("anchor_media_id"),
        "local_dataset" => {
            body["folder_missing"].is_boolean()
                && body["uploads"] != Value::Null
                && body["patterns"].is_object()
        }
        "export_preview" => {
            let is_text = |it: &Value| it.is_string() || it.is_number() || it.is_boolean();
            let is_row = |it: &Value| it["count"].is_u64() && is_text(&it["text"]);
            let is_list = |list: &Value| list.as_array().is_some_and(|it| it.iter().all(is_row));
            body["media_count"] != Value::Null && is_list(&body["omissions"])
        }
        "remove_dataset" => body["uploads"] != Value::Null,
        "rescan" => body["indexing"].is_boolean(),
        "tags" => body["tags"].is_array(),
        "change_tags" | "define_tag" | "undo_tags" => {
            body["changed"] != Value::Null && body["kept"] != Value::Null
        }
        "api_credentials" => {
            matches!(&body["api_key"], Value::String(_) | Value::Number(_) | Value::Bool(_))
        }
        "dataset" | "rename_dataset" | "cancel_indexing" => is_id("id") || is_id("dataset_id"),
        "explore" => body["clusters"].is_array(),
        "datasets" => {
            body.is_array() || body.as_object().is_some_and(|it| it.values().any(Value::is_array))
        }
        _ => true,
    }
}

/// The names of the fields that lead to the damaged one.
fn field_names(endpoint: &str, pointer: &str) -> Vec<String> {
    let is_name = |part: &&str| !part.is_empty() && part.parse::<usize>().is_err();
    let mut names: Vec<String> = pointer.split('/').filter(is_name).map(str::to_owned).collect();
    // Other names of the same field, in place of which the one of the document is named.
    for (other, name) in [("dataset_id", "id"), ("image_id", "media_id")] {
        if names.iter().any(|it| it == other) {
            names.push(name.to_owned());
        }
    }
    if endpoint == "datasets" {
        names.push("datasets".to_owned());
    }
    names
}

struct DamagedField<'a> {
    endpoint: &'a str,
    pointer: &'a str,
    /// How the undamaged body is read.
    undamaged: &'a (ExpectedReading, Option<Failure>),
}

impl DamagedField<'_> {
    fn check(&self, case: &RecordedCase, (reading, failure): &(ExpectedReading, Option<Failure>)) {
        let case_name = format!("{}: {} {}: {}", self.endpoint, case.name, self.pointer, case.body);
        let names = field_names(self.endpoint, self.pointer);
        let is_named = |text: &str| names.iter().any(|name| text.contains(name.as_str()));
        match failure {
            None => {
                assert!(has_evidence(self.endpoint, case.status, &case.body), "{case_name}");
                let top = names.first().map(String::as_str).unwrap_or_default();
                let was_error = self.undamaged.1.as_ref().map(|it| it.kind);
                let says_error = ["error", "detail", "status", "success"].contains(&top);
                assert!(was_error != Some(FailureKind::Rejected) || says_error, "{case_name}");
                let changed = reading.reads != self.undamaged.0.reads && was_error.is_none();
                let is_unreadable = case.body.pointer(self.pointer) == Some(&unreadable());
                if changed && is_unreadable && self.endpoint != "enrichment_context" {
                    let warns = &reading.warns;
                    assert!(
                        warns.iter().any(|it| is_named(it)),
                        "{case_name}: {warns:?} {names:?}"
                    );
                }
                self.check_end(&case.body, reading, &case_name);
            }
            Some(failure) => {
                assert!(failure.request.is_some(), "{case_name}: {failure}");
                if self.undamaged.1.is_none() && failure.kind != FailureKind::Rejected {
                    assert!(is_named(failure.message.as_str()), "{case_name}: {failure}");
                    let request = failure.request.as_ref().unwrap();
                    assert!(failure.message.as_str().contains(request.as_str()), "{failure}");
                }
            }
        }
    }

    /// An export is reported as ready only if it is complete and has a link.
    fn check_end(&self, body: &Value, reading: &ExpectedReading, case_name: &str) {
        let lines = reading.reads.iter().flatten();
        if self.endpoint.starts_with("export_") && lines.clone().any(|it| it.contains("(ready)")) {
            assert_eq!(body["status"], "COMPLETED", "{case_name}");
            assert!(!matches!(body["download_uri"], Value::Null | Value::Array(_)), "{case_name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_fields_are_named_and_never_become_a_success() {
    let mut endpoints = JoinSet::new();
    for (name, endpoint) in catalog() {
        endpoints.spawn(async move {
            let service = RecordedService::start(&name, &endpoint).await;
            let cases = endpoint.cases.iter().filter(|case| case.text.is_none());
            for case in cases.filter(|case| case.status < 300) {
                let undamaged = &service.read(case).await;
                let mut all = Vec::new();
                pointers(&case.body, "", &mut all);
                for pointer in &all {
                    let field = DamagedField { endpoint: &name, pointer, undamaged };
                    for body in damaged(&case.body, pointer) {
                        let case = RecordedCase { body, ..case.clone() };
                        field.check(&case, &service.read(&case).await);
                    }
                }
            }
        });
    }
    endpoints.join_all().await;
}
