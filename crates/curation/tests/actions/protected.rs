//! Acts on files that this user cannot remove from their folders. Such a file stays, and nothing else of it stays.

use std::{
    fs::{self, Permissions},
    io::ErrorKind,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use tessera_curation::{FileAction, NameRule, Plan, TargetLayout, resume};
use tessera_files::parent_dir;

use super::{Desk, names, other_disk, planned};

/// A file that nobody can remove, until the end of the test.
struct Protected(PathBuf);

impl Protected {
    /// Returns `None` with a message if this user can remove every file.
    fn new(file: PathBuf) -> Option<Self> {
        fs::set_permissions(parent_dir(&file), Permissions::from_mode(0o500)).unwrap();
        let _ = Command::new("chattr").arg("+i").arg(&file).output();
        let protected = Self(file);
        let refused = fs::rename(&protected.0, protected.0.with_extension("moved"));
        if refused.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
            return Some(protected);
        }
        fs::rename(protected.0.with_extension("moved"), &protected.0).unwrap();
        eprintln!("not tested: this user can remove every file");
        None
    }
}

impl Drop for Protected {
    fn drop(&mut self) {
        let _ = Command::new("chattr").arg("-i").arg(&self.0).output();
        let _ = fs::set_permissions(parent_dir(&self.0), Permissions::from_mode(0o700));
    }
}

/// Returns an action to another disk that keeps folders.
fn move_to(disk: &Path) -> FileAction {
    FileAction::Move(TargetLayout { folder: disk.join("moved"), keeps_folders: true })
}

#[test]
fn a_file_that_cannot_be_removed_leaves_no_copy_on_another_disk() {
    let desk = Desk::new();
    let Some(memory) = other_disk(&desk) else { return };
    let originals = desk.originals();
    let before = desk.files();
    let plan = planned(move_to(memory.path()), &originals);
    let copy = memory.path().join("moved/sub/b.jpg");

    let Some(protected) = Protected::new(desk.pics().join("sub/b.jpg")) else { return };
    let outcome = desk.run(&plan);
    assert_eq!((outcome.done, outcome.failed.len()), (3, 1), "{outcome:?}");
    assert_eq!(outcome.failed[0].path, protected.0);
    assert!(!copy.exists());
    assert_eq!(desk.undo().done, 3);

    drop(desk.journals.begin(&plan, 2).unwrap());
    fs::create_dir_all(parent_dir(&copy)).unwrap();
    fs::copy(&protected.0, &copy).unwrap();
    let resumed = resume(&desk.journals, &mut |_, _| true).unwrap();
    assert_eq!((resumed.done, resumed.failed.len()), (3, 1), "{resumed:?}");
    assert!(!copy.exists());
    assert_eq!(desk.undo().done, 3);
    drop(protected);
    assert_eq!(desk.files(), before);

    assert_eq!(desk.run(&plan).done, 4);
    let Some(protected) = Protected::new(copy) else { return };
    let undone = desk.undo();
    assert_eq!((undone.done, undone.failed.len()), (3, 1), "{undone:?}");
    assert_eq!(names(&desk.files()), ["pics/a.jpg", "pics/a.txt", "pics/c.jpg"]);
    drop(protected);
    assert_eq!(desk.undo().done, 1);
    assert_eq!(desk.files(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn the_plan_names_a_picture_or_sidecar_that_cannot_be_removed() {
    let desk = Desk::new();
    let mut originals = [desk.original("a.jpg", "first")];
    let sidecar = desk.pics().join("sub/a.txt");
    fs::write(&sidecar, "a caption").unwrap();
    originals[0].sidecars.push(sidecar.clone());
    let skipped = |action: FileAction| {
        let mut plan = Plan::new(action, &originals, false, NameRule::Exact, |_| false);
        plan.skipped.pop().map_or_else(String::new, |skipped| skipped.reason)
    };
    for (path, name) in
        [(&originals[0].path, String::new()), (&sidecar, format!("{}: ", sidecar.display()))]
    {
        let Some(_protected) = Protected::new(path.clone()) else { return };
        for action in [FileAction::Move(desk.layout(false)), FileAction::Trash] {
            let reason = skipped(action);
            assert!(reason.starts_with(&format!("{name}this user cannot ")), "{reason}");
        }
        assert_eq!(skipped(FileAction::Copy(desk.layout(false))), "");
    }
}
