//! Tests of `tessera::config`: file.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tessera::user_files::write_atomically;

#[test]
fn a_symlink_is_kept_and_its_target_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("dotfiles.toml"), folder.path().join("config.toml"));
    write_atomically(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).unwrap();
    symlink(&real, &link).unwrap();
    write_atomically(&link, "new").unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn new_folders_and_files_are_private_and_existing_folders_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
    let path = shared.join("a/b/config.toml");
    write_atomically(&path, "new").unwrap();
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!((mode(&shared.join("a")), mode(&shared)), (0o700, 0o755));
}
