use serde_json::json;

use tessera_wire::export::*;

#[test]
fn a_bare_id_is_a_running_export() {
    let task = read_task(&json!({"id": "cf8b3e78-0000-4954-a782-000000000001"}), None).unwrap();
    assert_eq!(task.state.as_str(), "PENDING");
    assert_eq!(task.download, None);
    assert!(read_task(&json!({"status": "COMPLETED"}), None).is_none());
}
