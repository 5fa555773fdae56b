//! Opening the store.

use std::{fs, path::Path};

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
fn a_newer_store_is_rejected() {
    let data = tempfile::tempdir().unwrap();
    drop(Store::open(data.path()).unwrap());
    let connection = Connection::open(data.path().join("tessera.db")).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let refusal = Store::open(data.path()).err().unwrap().to_string();
    assert!(refusal.contains("schema 99"), "{refusal}");
}

#[test]
fn a_damaged_store_is_set_aside_with_the_uploads_that_nothing_describes() {
    let data = tempfile::tempdir().unwrap();
    assert_eq!(Store::open(data.path()).unwrap().recovery_notice(), None);
    assert_eq!(Store::open(data.path()).unwrap().recovery_notice(), None);
    let damaged = "not a database at all, but long enough to be read as one".repeat(99);
    fs::write(data.path().join("tessera.db"), &damaged).unwrap();
    let upload = "7d1f4bd6-8fd9-4a0c-8f0e-0f8f5a3b8f11";
    fs::create_dir(data.path().join("uploads").join(upload)).unwrap();
    let store = Store::open(data.path()).unwrap();
    let notice = store.recovery_notice().unwrap();
    let (_, set_aside) = notice.rsplit_once(' ').unwrap();
    assert_eq!(fs::read_to_string(Path::new(set_aside).join("tessera.db")).unwrap(), damaged);
    assert!(Path::new(set_aside).join(upload).is_dir(), "{notice}");
    let uploads = data.path().join("uploads");
    assert!(notice.contains(uploads.to_str().unwrap()), "{notice}");
    drop(store);
    assert_eq!(Store::open(data.path()).unwrap().recovery_notice(), None);
}

#[test]
fn the_directory_is_private_and_the_link_key_persists() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("new");
    let key = *Store::open(&data).unwrap().link_key();
    let mode = fs::metadata(&data).unwrap().permissions().mode();
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
