//! Opening the store.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, functions::FunctionFlags};

use tessera_media::network_file_system::network_file_system;
use tessera_model::{DatasetId, PatternLists, UserTags};
use tessera_search::text::language::Language;
use tessera_store::{
    Store, Transaction, captions,
    dataset::{self, DatasetRecord},
    params, query, setting,
    tagged_files::{self, TagSnapshot, TaggedFile},
    upload::UploadRecord,
};
use uuid::Uuid;

#[test]
fn a_store_is_open_several_times_and_one_of_them_runs_tasks() {
    let data = tempfile::tempdir().unwrap();
    let first = Store::open(data.path()).unwrap();
    assert!(first.has_folder_alone());
    first.share_folder().unwrap();
    let second = Store::open(data.path()).unwrap();
    assert!(!second.has_folder_alone());
    assert_eq!(second.link_key().unwrap(), first.link_key().unwrap());
    assert!(first.may_run_tasks().unwrap() && !second.may_run_tasks().unwrap());
    drop(first);
    assert!(second.may_run_tasks().unwrap() && second.runs_tasks());
    let closed = data.path().join("clean-shutdown");
    assert!(!closed.exists());
    drop(second);
    assert!(closed.exists());
}

#[test]
fn changes_of_another_connection_are_noticed() {
    let data = tempfile::tempdir().unwrap();
    let store = Store::open(data.path()).unwrap();
    let mut changes = store.changes().unwrap().unwrap();
    assert_eq!([(), ()].map(|()| changes.has_changed().unwrap()), [true, false]);
    store.write(|tx| setting::replace(tx, "name", b"value")).unwrap();
    assert_eq!([(), ()].map(|()| changes.has_changed().unwrap()), [true, false]);
}

#[test]
fn a_store_of_another_version_is_refused_until_it_is_set_aside() {
    let data = tempfile::tempdir().unwrap();
    drop(Store::open(data.path()).unwrap());
    let [database, former] = ["tessera.db", "former.db"].map(|name| data.path().join(name));
    for version in [2, 99] {
        let connection = Connection::open(&database).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
        drop(connection);
        let content = fs::read(&database).unwrap();
        let refusal = Store::open(data.path()).err().unwrap().to_string();
        assert!(refusal.contains(&format!("(schema {version}, this one uses 1)")), "{refusal}");
        assert!(refusal.contains(data.path().to_str().unwrap()), "{refusal}");
        assert!(refusal.contains("remove tessera.db there or set it aside"), "{refusal}");
        assert!(fs::read(&database).unwrap() == content, "it is unchanged");
    }
    fs::rename(&database, former).unwrap();
    assert!(Store::open(data.path()).is_ok());
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
fn a_damaged_store_keeps_what_users_have_chosen_and_given() {
    let data = tempfile::tempdir().unwrap();
    let store = Store::open(data.path()).unwrap();
    let id = DatasetId(Uuid::from_u128(7));
    let patterns = PatternLists { include: vec![], exclude: vec!["drafts/".into()] };
    let record = DatasetRecord::new(id, "demo", Path::new("s3://team/set"), 1);
    let record = DatasetRecord { patterns, ..record };
    let tags = TagSnapshot {
        definitions: vec![],
        files: vec![TaggedFile {
            path: "a.png".into(),
            seconds: None,
            region: None,
            content: [7; 32],
            given: UserTags { tags: vec!["night".into()], rating: 3 },
        }],
    };
    let write = |tx: &Transaction| {
        dataset::upsert(tx, &record)?;
        captions::choose_language(tx, id, Some(Language::Finnish))?;
        tagged_files::import(tx, id, &tags, false)
    };
    store.write(write).unwrap();
    let kept = |store: &Store| {
        store.read(|c| {
            let record = dataset::find(c, id)?.unwrap();
            let files = tagged_files::snapshot(c, id)?.files;
            Ok((record.patterns, record.language.chosen, files))
        })
    };
    let expected = kept(&store).unwrap();
    assert_eq!(expected.2, tags.files);
    drop(store);
    // The row of the dataset is intact, but a row that is derived from files is not.
    let database = Connection::open(data.path().join("tessera.db")).unwrap();
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    database.create_scalar_function("crc32", -1, flags, |_| Ok(0)).unwrap();
    let sql = "INSERT INTO skipped (source, path, reason) SELECT row, x'61', 'x' FROM source";
    database.execute(sql, []).unwrap();
    drop(database);
    let store = Store::open(data.path()).unwrap();
    assert!(store.recovery_notice().unwrap().contains("indexed again"));
    assert_eq!(kept(&store).unwrap(), expected);
}

#[test]
fn an_upload_whose_record_cannot_be_read_is_not_one_without_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let [unreadable, none] = ["a", "b"].map(|name| folder.path().join(name));
    fs::create_dir(unreadable.with_extension("json")).unwrap();
    assert!(UploadRecord::read(&unreadable).is_err());
    assert!(UploadRecord::read(&none).unwrap().is_none());
}

#[test]
fn a_missing_store_is_reported_if_there_was_one() {
    let data = tempfile::tempdir().unwrap();
    fs::create_dir(data.path().join("indexes")).unwrap();
    assert_eq!(Store::open(data.path()).unwrap().recovery_notice(), None);
    fs::write(data.path().join("indexes/members"), "x").unwrap();
    for file in [None, Some("")] {
        fs::remove_file(data.path().join("tessera.db")).unwrap();
        if let Some(content) = file {
            fs::write(data.path().join("tessera.db"), content).unwrap();
        }
        let store = Store::open(data.path()).unwrap();
        let notice = store.recovery_notice().unwrap();
        assert!(notice.contains("the store was missing"), "{notice}");
    }
}

#[test]
fn the_directory_is_private_and_the_link_key_persists() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("new");
    let key = Store::open(&data).unwrap().link_key().unwrap();
    assert_eq!(mode(&data), 0o700);
    assert_eq!(Store::open(&data).unwrap().link_key().unwrap(), key);
}

#[test]
fn an_open_data_directory_is_made_private() {
    let data = tempfile::tempdir().unwrap();
    drop(Store::open(data.path()).unwrap());
    let inside = |names: &[&str]| -> Vec<PathBuf> {
        names.iter().map(|name| data.path().join(name)).collect()
    };
    let directories = inside(&["", "exports", "uploads"]);
    let files = inside(&["tessera.db", "lock"]);
    for path in directories.iter().chain(&files) {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let store = Store::open(data.path()).unwrap();
    assert!(directories.iter().all(|path| mode(path) == 0o700), "{directories:?}");
    assert!(files.iter().all(|path| mode(path) == 0o600), "{files:?}");
    drop(store);
}

#[test]
fn a_directory_shared_by_all_users_is_refused() {
    let data = tempfile::tempdir().unwrap();
    fs::set_permissions(data.path(), Permissions::from_mode(0o1777)).unwrap();
    let refusal = Store::open(data.path()).err().unwrap().to_string();
    assert!(refusal.contains("shared by all users"), "{refusal}");
    assert!(refusal.contains("--data"), "{refusal}");
    assert_eq!(mode(data.path()), 0o777);
    assert!(fs::read_dir(data.path()).unwrap().next().is_none());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn every_column_is_in_the_checksum_of_its_row() {
    let data = tempfile::tempdir().unwrap();
    drop(Store::open(data.path()).unwrap());
    let connection = Connection::open(data.path().join("tessera.db")).unwrap();
    let sql =
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut query = connection.prepare(sql).unwrap();
    let tables = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let tables: Vec<(String, String)> = tables.map(Result::unwrap).collect();
    assert!(tables.len() > 10);
    for (table, definition) in tables {
        let mut query = connection.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
        let columns = query.query_map([&table], |row| row.get(0)).unwrap();
        let columns: Vec<String> = columns.map(Result::unwrap).collect();
        let checksum = format!("crc32({})", columns.join(", "));
        assert_eq!(definition.matches(&checksum).count(), 2, "{table}: {checksum}");
    }
}

#[test]
fn network_file_systems_are_recognized_by_their_numbers() {
    for (magic, name) in [
        (0x6969, "NFS"),
        (0xFF53_4D42, "SMB"),
        (0xFE53_4D42, "SMB"),
        (0x6573_5546, "FUSE"),
        (0x0102_1997, "9P"),
    ] {
        assert_eq!(network_file_system(magic), Some(name));
    }
    // ext4, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS.
    for magic in
        [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0x2FC1_2FC1, 0xF2F5_2010]
    {
        assert_eq!(network_file_system(magic), None);
    }
}

fn journal_mode(store: &Store) -> String {
    let sql = "PRAGMA journal_mode";
    store.read(|c| query::one(c, sql, params![], |row| row.get(0))).unwrap()
}

#[test]
fn a_store_on_a_network_file_system_has_no_log_and_keeps_its_content() {
    let data = tempfile::tempdir().unwrap();
    let key = Store::open(data.path()).unwrap().link_key().unwrap();
    let store = Store::open_on(data.path(), |_| Some("NFS")).unwrap();
    assert_eq!((store.link_key().unwrap(), store.network_file_system()), (key, Some("NFS")));
    assert_eq!(journal_mode(&store), "truncate");
    assert!(!data.path().join("tessera.db-wal").exists());
    drop(store);
    let store = Store::open(data.path()).unwrap();
    assert_eq!(store.recovery_notice(), None);
    assert_eq!(journal_mode(&store), "wal");
}
