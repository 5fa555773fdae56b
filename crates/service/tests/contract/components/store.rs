//! Opening the store.

use std::path::Path;

use rusqlite::Connection;

use tessera_model::Status;
use tessera_service::store::{
    Store, dataset,
    operation::{self, OperationKind},
    source,
};

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

#[test]
fn an_older_store_is_migrated_and_its_datasets_are_indexed_again() {
    let data = tempfile::tempdir().unwrap();
    let older = Connection::open(data.path().join("tessera.db")).unwrap();
    older.execute_batch(include_str!("store_version_2.sql")).unwrap();
    drop(older);
    let store = Store::open(data.path()).unwrap();
    let (datasets, operations) =
        store.read(|c| Ok((dataset::all(c)?, operation::all_running(c)?))).unwrap();
    assert_eq!((&datasets[0].status, datasets[0].n_images), (&Status::Indexing, 0));
    assert_eq!(operations[0].kind, OperationKind::Creation);
    let sources = store.read(|c| source::all(c, datasets[0].id)).unwrap();
    assert_eq!(sources[0].folder, Path::new("/a"));
    drop(store);
    assert!(Store::open(data.path()).is_ok(), "once is enough");
}
