use serde_json::json;

use tessera_wire::export::*;

#[test]
fn a_bare_id_is_a_running_export() {
    let task = read_started(&json!({"id": "cf8b3e78-0000-4954-a782-000000000001"})).unwrap();
    assert_eq!(task.state.as_str(), "PENDING");
    assert_eq!(task.download, None);
    assert!(read_started(&json!({"status": "COMPLETED"})).is_none());
    let other = "cf8b3e78-0000-4954-a782-000000000002".parse().unwrap();
    let status = json!({"id": task.id, "status": "COMPLETED", "download_uri": "/x.zip"});
    assert!(read_status(&status, task.id).unwrap().has_ended());
    assert_eq!(read_status(&status, other), None, "the status of another export");
}
