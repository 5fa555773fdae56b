//! Opening the store.

use rusqlite::Connection;
use tessera_service::store::Store;

#[test]
fn a_store_in_use_reports_the_process() {
    let data = tempfile::tempdir().unwrap();
    let first = Store::open(data.path()).unwrap();
    let refusal = Store::open(data.path()).err().unwrap().to_string();
    assert!(refusal.contains("in use by another process"), "{refusal}");
    assert!(refusal.contains(&std::process::id().to_string()), "{refusal}");
    assert!(refusal.contains("--data"), "{refusal}");
    drop(first);
    assert!(Store::open(data.path()).is_ok());
}

#[test]
fn newer_and_damaged_stores_are_rejected() {
    let data = tempfile::tempdir().unwrap();
    drop(Store::open(data.path()).unwrap());
    let file = data.path().join("tessera.db");
    let connection = Connection::open(&file).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let refusal = Store::open(data.path()).err().unwrap().to_string();
    assert!(refusal.contains("schema 99"), "{refusal}");
    std::fs::write(&file, "not a database at all, but long enough to be read as one".repeat(99))
        .unwrap();
    let refusal = Store::open(data.path()).err().unwrap().to_string();
    assert!(refusal.contains("damaged"), "{refusal}");
}

#[test]
fn the_directory_is_private_and_the_link_key_persists() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("new");
    let key = *Store::open(&data).unwrap().link_key();
    let mode = std::fs::metadata(&data).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(*Store::open(&data).unwrap().link_key(), key);
}
