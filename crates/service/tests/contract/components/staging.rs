//! Staging directories.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use tessera_media::ingest::staging::{UniqueFiles, create_staging_dir, remove_abandoned};

#[test]
fn a_staging_directory_is_removed_unless_kept() {
    let base = tempfile::tempdir().unwrap();
    let dropped = create_staging_dir(base.path()).unwrap();
    fs::write(dropped.path().join("a"), "x").unwrap();
    let mode = fs::metadata(dropped.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let gone = dropped.path().to_owned();
    drop(dropped);
    assert!(!gone.exists());
    let kept = create_staging_dir(base.path()).unwrap().keep();
    assert!(kept.is_dir());
}

#[test]
fn abandoned_staging_directories_are_removed() {
    let base = tempfile::tempdir().unwrap();
    let needed = create_staging_dir(base.path()).unwrap();
    let (needed, left) = (needed.keep(), create_staging_dir(base.path()).unwrap().keep());
    fs::write(left.join("half"), "x").unwrap();
    fs::write(base.path().join("note"), "not ours").unwrap();
    remove_abandoned(base.path(), |found| found == needed).unwrap();
    assert!(needed.exists() && !left.exists() && base.path().join("note").exists());
    remove_abandoned(&base.path().join("nowhere"), |_| false).unwrap();
}

#[test]
fn staged_file_names_are_unique() {
    let base = tempfile::tempdir().unwrap();
    let mut files = UniqueFiles::new(base.path());
    let mut create =
        |wanted: &str| files.create(Path::new(wanted)).unwrap().0.to_str().unwrap().to_owned();
    assert_eq!(create("a.jpg"), "a.jpg");
    assert_eq!(create("sub/a.jpg"), "sub/a.jpg");
    assert_eq!(create("a.jpg"), "a_2.jpg");
    assert_eq!(create("a.jpg"), "a_3.jpg");
    assert_eq!(create("a_2.jpg"), "a_2_2.jpg");
    assert_eq!(create("sub"), "sub_2", "a directory is in the way");
    assert_eq!(create("a.jpg/b.jpg"), "a.jpg_b.jpg", "a file is in the way");
}
