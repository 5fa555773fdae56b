//! Carries out, interrupts and reverts actions on real files. Every test compares all files with their bytes before and
//! after, so that no file is lost, replaced, or doubled.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that fails here fails rightly, and who runs the tests should know what was not tested"
)]

mod annotations;
mod copies;
mod protected;

use std::{
    collections::BTreeMap,
    fs::{self, File, Permissions},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::fs::{XattrFlags, getxattr, setxattr};
use tessera_curation::{
    Error, FileAction, FileActionPreview, FileContent, FoundOriginals, JournalFolder, LastAction,
    LinkKind, NameRule, Original, Outcome, Plan, Replacement, SharedSidecar, TargetLayout,
    check_target_folder, check_trash,
    duplicates::{DuplicateGroup, DuplicateImage, OtherImage},
    name_rule, resume, run, undo,
};
use tessera_model::{UserTags, vql::ExtraColumns};

struct Desk {
    _folder: tempfile::TempDir,
    root: PathBuf,
    journals: JournalFolder,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let journals = JournalFolder::new(root.join("journals"));
        fs::create_dir_all(root.join("pics/sub")).unwrap();
        Self { _folder: folder, root, journals }
    }

    fn pics(&self) -> PathBuf {
        self.root.join("pics")
    }

    fn original(&self, name: &str, bytes: &str) -> Original {
        let path = self.pics().join(name);
        fs::write(&path, bytes).unwrap();
        let content = FileContent::of(&path).unwrap();
        let hash = Some(blake3::hash(bytes.as_bytes()).into());
        Original {
            path,
            folder: self.pics(),
            content: FileContent { hash, ..content },
            sidecars: Vec::new(),
            shared_sidecars: Vec::new(),
            pair: Vec::new(),
        }
    }

    fn originals(&self) -> Vec<Original> {
        let mut first = self.original("a.jpg", "first");
        let sidecar = self.pics().join("a.txt");
        fs::write(&sidecar, "a caption").unwrap();
        first.sidecars.push(sidecar);
        vec![first, self.original("sub/b.jpg", "second"), self.original("c.jpg", "third")]
    }

    fn layout(&self, keeps_folders: bool) -> TargetLayout {
        TargetLayout { folder: self.root.join("target/deep"), keeps_folders }
    }

    fn run(&self, plan: &Plan) -> Outcome {
        run(&self.journals, plan, 1, &mut |_, _| true).unwrap()
    }

    fn undo(&self) -> Outcome {
        self.try_undo().unwrap()
    }

    fn try_undo(&self) -> Result<Outcome, Error> {
        let last = self.journals.last()?.header.id;
        undo(&self.journals, last, &mut |_, _| true)
    }

    /// Every file below the desk except the journals, with its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for folder in ["pics", "target"] {
            collect(&self.root.join(folder), &self.root, &mut files);
        }
        files
    }
}

fn planned(action: FileAction, originals: &[Original]) -> Plan {
    let exists = |path: &Path| fs::symlink_metadata(path).is_ok();
    let plan = Plan::new(action, originals, false, NameRule::Exact, exists);
    let is_trash = plan.action == FileAction::Trash;
    assert!(is_trash || plan.skipped.is_empty(), "{:?}", plan.skipped);
    plan
}

fn collect(folder: &Path, root: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, root, files);
        } else {
            files.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
}

fn names(files: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    files.keys().map(|path| path.display().to_string()).collect()
}

#[test]
fn files_move_with_their_sidecars_and_come_back() {
    let desk = Desk::new();
    let originals = desk.originals();
    let before = desk.files();
    let times: Vec<i64> = originals.iter().map(|it| it.content.modified).collect();
    for keeps_folders in [false, true] {
        let plan = planned(FileAction::Move(desk.layout(keeps_folders)), &originals);
        let outcome = desk.run(&plan);
        assert_eq!((outcome.done, outcome.failed.len()), (4, 0), "{outcome:?}");
        let b = if keeps_folders { "target/deep/sub/b.jpg" } else { "target/deep/b.jpg" };
        let moved = names(&desk.files());
        for name in ["target/deep/a.jpg", "target/deep/a.txt", b, "target/deep/c.jpg"] {
            assert!(moved.iter().any(|found| found == name), "{name} {moved:?}");
        }
        assert_eq!(moved.len(), 4);
        let undone = desk.undo();
        assert_eq!((undone.done, undone.failed.len()), (4, 0), "{undone:?}");
        assert_eq!(desk.files(), before);
        assert!(!desk.root.join("target").exists(), "a folder of the action was left");
    }
    let after: Vec<i64> =
        originals.iter().map(|it| FileContent::of(&it.path).unwrap().modified).collect();
    assert_eq!(after, times);
    assert!(matches!(desk.try_undo(), Err(Error::Nothing)));
}

#[test]
fn copies_and_links_leave_the_originals_and_can_be_removed_again() {
    let desk = Desk::new();
    let originals = desk.originals();
    let before = desk.files();
    for action in [
        FileAction::Copy(desk.layout(true)),
        FileAction::Link(LinkKind::Hard, desk.layout(true)),
        FileAction::Link(LinkKind::Symbolic, desk.layout(true)),
    ] {
        let plan = planned(action.clone(), &originals);
        assert_eq!(desk.run(&plan).done, 4, "{action:?}");
        let files = desk.files();
        assert_eq!(files.len(), 8, "{action:?}");
        assert_eq!(files[Path::new("target/deep/sub/b.jpg")], b"second");
        let link = fs::symlink_metadata(desk.root.join("target/deep/a.jpg")).unwrap();
        assert_eq!(link.is_symlink(), matches!(action, FileAction::Link(LinkKind::Symbolic, _)));
        assert_eq!(desk.undo().done, 4, "{action:?}");
        assert_eq!(desk.files(), before, "{action:?}");
    }
}

#[test]
fn copies_are_removed_again_from_a_disk_that_keeps_no_times() {
    let desk = Desk::new();
    let originals = desk.originals();
    let before = desk.files();
    desk.run(&planned(FileAction::Copy(desk.layout(true)), &originals));
    for name in ["a.jpg", "a.txt", "sub/b.jpg"] {
        let copy = File::open(desk.root.join("target/deep").join(name)).unwrap();
        copy.set_modified(SystemTime::now() + Duration::from_hours(1)).unwrap();
    }
    let undone = desk.undo();
    assert_eq!((undone.done, undone.failed.len()), (4, 0), "{undone:?}");
    assert_eq!(desk.files(), before);
}

#[test]
fn a_copy_keeps_extended_attributes() {
    let desk = Desk::new();
    let originals = desk.originals();
    let set = setxattr(&originals[0].path, "user.note", b"keep", XattrFlags::empty());
    if let Err(cause) = set {
        return eprintln!(
            "not tested, because the file system has no extended attributes: {cause}"
        );
    }
    desk.run(&planned(FileAction::Copy(desk.layout(true)), &originals));
    let mut value = [0; 8];
    let copy = desk.root.join("target/deep/a.jpg");
    assert_eq!(getxattr(&copy, "user.note", &mut value), Ok(4));
    assert!(value.starts_with(b"keep"));
}

#[test]
fn a_copy_stays_when_its_original_is_gone() {
    let desk = Desk::new();
    let originals = desk.originals();
    let plan = planned(FileAction::Copy(desk.layout(false)), &originals);
    desk.run(&plan);
    fs::remove_file(&originals[0].path).unwrap();
    let undone = desk.undo();
    assert_eq!(undone.failed.len(), 2, "{undone:?}");
    assert_eq!(fs::read(desk.root.join("target/deep/a.jpg")).unwrap(), b"first");
    assert!(desk.root.join("target/deep/a.txt").exists(), "the sidecar of the copy stays with it");
}

#[test]
fn nothing_is_replaced_even_if_a_name_is_taken_after_the_plan() {
    let desk = Desk::new();
    let originals = desk.originals();
    for action in [
        FileAction::Move(desk.layout(false)),
        FileAction::Copy(desk.layout(false)),
        FileAction::Link(LinkKind::Hard, desk.layout(false)),
    ] {
        let plan = planned(action.clone(), &originals);
        let taken = desk.root.join("target/deep/a.jpg");
        fs::create_dir_all(taken.parent().unwrap()).unwrap();
        fs::write(&taken, "of somebody else").unwrap();
        let outcome = desk.run(&plan);
        assert_eq!(fs::read(&taken).unwrap(), b"of somebody else");
        assert_eq!(fs::read(&originals[0].path).unwrap(), b"first");
        // The sidecar stays with its picture.
        assert_eq!((outcome.done, outcome.failed.len()), (2, 2), "{action:?} {outcome:?}");
        assert!(outcome.failed[0].reason.ends_with("exists"), "{outcome:?}");
        desk.undo();
        assert_eq!(fs::read(&taken).unwrap(), b"of somebody else");
        fs::remove_dir_all(desk.root.join("target")).unwrap();
    }
}

#[test]
fn a_missing_or_impossible_folder_is_not_mistaken_for_the_file() {
    let desk = Desk::new();
    let originals = [desk.original("a.jpg", "first")];
    let target = desk.root.join("target");
    let actions = |folder: &Path| {
        let layout = TargetLayout { folder: folder.to_owned(), keeps_folders: false };
        [
            FileAction::Move(layout.clone()),
            FileAction::Copy(layout.clone()),
            FileAction::Link(LinkKind::Hard, layout),
        ]
    };
    let not_a_folder = format!("{} is not a folder; give another one", target.display());
    for action in actions(&target.join("deep")) {
        let plan = planned(action.clone(), &originals);
        fs::write(&target, "a file").unwrap();
        assert_eq!(desk.run(&plan).failed[0].reason, not_a_folder);
        let checked = check_target_folder(&action.layout().unwrap().folder);
        assert_eq!(checked.as_ref(), Err(&not_a_folder));
        fs::remove_file(&target).unwrap();
    }
    if cfg!(target_os = "linux") {
        let plan = planned(actions(Path::new("/proc/nope"))[0].clone(), &originals);
        let reason = &desk.run(&plan).failed[0].reason;
        assert!(reason.starts_with("the folder /proc/nope cannot be created: "), "{reason}");
        let layout = TargetLayout { folder: "/proc".into(), keeps_folders: false };
        let plan = planned(FileAction::Link(LinkKind::Symbolic, layout), &originals);
        let reason = &desk.run(&plan).failed[0].reason;
        assert_eq!(reason, r#"the target disk cannot hold the name "a.jpg""#);
    }
    let kept = desk.original("kept.jpg", "first");
    let replacement = Replacement { copy: originals[0].clone(), kept: kept.path.clone() };
    let plan = Plan::replacing(LinkKind::Hard, vec![replacement]);
    fs::remove_file(&kept.path).unwrap();
    let reason = format!("the kept file {} is gone", kept.path.display());
    assert_eq!(desk.run(&plan).failed[0].reason, reason);
}

#[test]
fn the_plan_names_conflicts_in_advance() {
    let desk = Desk::new();
    let mut originals = desk.originals();
    originals.push(desk.original("sub/A.jpg", "fourth"));
    originals.push(desk.original("sub/c.jpg", "fifth"));
    let action = FileAction::Move(desk.layout(false));
    let plan = |rule| Plan::new(action.clone(), &originals, false, rule, |_| false);
    let skipped = |plan: &Plan| -> Vec<String> {
        plan.skipped
            .iter()
            .map(|it| it.path.strip_prefix(desk.pics()).unwrap().display().to_string())
            .collect()
    };
    assert_eq!(skipped(&plan(NameRule::Exact)), ["sub/c.jpg"]);
    assert_eq!(skipped(&plan(NameRule::IgnoresCase)), ["sub/A.jpg", "sub/c.jpg"]);
    let of_one_folder = [originals[0].clone(), desk.original("A.JPG", "of one folder")];
    for (originals, has_remedy) in [(&originals[..], true), (&of_one_folder, false)] {
        let plan = Plan::new(action.clone(), originals, false, NameRule::IgnoresCase, |_| false);
        let reason = &plan.skipped[0].reason;
        assert_eq!(reason.contains("--keep-folders"), has_remedy, "{reason}");
    }
    let all_taken = Plan::new(action.clone(), &originals, false, NameRule::Exact, |_| true);
    assert_eq!((all_taken.steps.len(), all_taken.skipped.len()), (0, 5));
    fs::write(&originals[1].path, "changed").unwrap();
    fs::remove_file(&originals[2].path).unwrap();
    let changed = plan(NameRule::Exact);
    assert_eq!(changed.skipped[0].reason, "it has changed since it was indexed");
    assert_eq!(skipped(&changed), ["sub/b.jpg", "c.jpg"]);
    assert_eq!(changed.pictures(), 3);
}

#[test]
fn a_shared_sidecar_stays_with_the_file_that_stays() {
    let desk = Desk::new();
    let (mut jpeg, mut raw) = (desk.original("p.jpg", "jpeg"), desk.original("p.nef", "raw"));
    let sidecar = desk.pics().join("p.xmp");
    fs::write(&sidecar, "xmp").unwrap();
    let pictures = [jpeg.path.clone(), raw.path.clone()];
    for (one, other) in [(&mut jpeg, "p.nef"), (&mut raw, "p.jpg")] {
        let (path, pictures) = (sidecar.clone(), pictures.clone().into());
        one.shared_sidecars.push(SharedSidecar { path, pictures });
        one.pair.push(desk.pics().join(other));
    }
    let action = FileAction::Move(desk.layout(false));
    let plan = |originals: &[Original], with_pairs| {
        Plan::new(action.clone(), originals, with_pairs, NameRule::Exact, |_| false)
    };
    let alone = plan(std::slice::from_ref(&jpeg), false);
    assert_eq!((alone.steps.len(), alone.kept_sidecars.len()), (1, 1));
    assert_eq!(plan(std::slice::from_ref(&jpeg), true).steps.len(), 3);
    let both = [jpeg, raw];
    let planned = plan(&both, false);
    assert_eq!((planned.steps.len(), planned.kept_sidecars.len()), (3, 0));
    let is_taken = |path: &Path| path.ends_with("p.nef");
    let one = Plan::new(action.clone(), &both, false, NameRule::Exact, is_taken);
    assert_eq!((one.skipped.len(), &one.kept_sidecars), (1, &vec![sidecar]));
    assert_eq!(one.steps.iter().map(|step| &step.source).collect::<Vec<_>>(), [&both[0].path]);
    fs::write(&both[0].path, "changed").unwrap();
    let raw_first = [both[1].clone(), both[0].clone()];
    for originals in [&both, &raw_first] {
        let plan = Plan::new(action.clone(), originals, true, NameRule::Exact, |_| false);
        assert_eq!((plan.steps.len(), plan.skipped.len()), (0, 2), "a changed pair stays");
        assert!(plan.skipped.iter().all(|it| it.reason.ends_with("changed since it was indexed")));
    }
}

#[test]
fn a_sidecar_of_a_parallel_folder_stays_parallel_or_goes_beside_its_picture() {
    let desk = Desk::new();
    // The folder of the dataset is in a folder of the same name.
    let dataset = desk.pics().join("images/set");
    for folder in ["images/set/images/train", "images/set/labels/train", "other/labels"] {
        fs::create_dir_all(desk.pics().join(folder)).unwrap();
    }
    let sidecar = dataset.join("labels/train/a.txt");
    fs::write(&sidecar, "0 0.5 0.5 0.4 0.4").unwrap();
    let picture = desk.original("images/set/images/train/a.jpg", "first");
    let picture = Original { folder: dataset.clone(), sidecars: vec![sidecar], ..picture };
    let outside = |below: &str| desk.root.join(below).display().to_string();
    let [with_labels, parallel] =
        ["images/out", "labels/out/a.txt"].map(|below| outside(&format!("pics/other/{below}")));
    let [without, beside] = ["target/images/out", "target/images/out/a.txt"].map(outside);
    for (to, keeps_folders, expected, warning) in [
        ("images/val", false, "labels/val/a.txt", "1 sidecar goes to "),
        ("images", false, "labels/a.txt", "1 sidecar goes to "),
        ("new/images/deep", false, "new/labels/deep/a.txt", "1 sidecar goes to "),
        ("other", false, "other/a.txt", "1 sidecar goes beside its picture"),
        ("other", true, "other/labels/train/a.txt", ""),
        (&with_labels, false, &parallel, "1 sidecar goes to "),
        (&without, false, &beside, "1 sidecar goes beside its picture"),
    ] {
        let layout = TargetLayout { folder: dataset.join(to), keeps_folders };
        let originals = vec![picture.clone()];
        let found = FoundOriginals { originals, ..FoundOriginals::default() };
        let preview = FileActionPreview::new(FileAction::Copy(layout), found, false);
        assert_eq!(preview.plan.steps[1].target, dataset.join(expected), "{to}");
        let warnings = preview.warnings().join(" ");
        assert!(warnings.starts_with(warning), "{warnings}");
        assert_eq!(warnings.is_empty(), warning.is_empty(), "{warnings}");
    }
}

#[test]
fn a_refused_picture_that_shares_its_sidecar_with_none_of_the_others_is_planned_once() {
    let desk = Desk::new();
    let [mut refused, other] = ["a.jpg", "b.jpg"].map(|name| desk.original(name, "old"));
    let pictures = [refused.path.clone(), desk.pics().join("a.nef")].into();
    refused.shared_sidecars.push(SharedSidecar { path: desk.pics().join("a.xmp"), pictures });
    fs::write(&refused.path, "changed").unwrap();
    let asked = std::cell::Cell::new(0);
    let exists = |_: &Path| {
        asked.set(asked.get() + 1);
        false
    };
    let action = FileAction::Move(desk.layout(false));
    let plan = Plan::new(action, &[refused, other], false, NameRule::Exact, exists);
    assert_eq!((plan.steps.len(), plan.skipped.len(), asked.get()), (1, 1, 1));
}

#[test]
fn a_file_that_changed_after_the_plan_or_the_action_stays_where_it_is() {
    let desk = Desk::new();
    let originals = desk.originals();
    let plan = planned(FileAction::Move(desk.layout(false)), &originals);
    fs::write(&originals[1].path, "another second").unwrap();
    let outcome = desk.run(&plan);
    assert_eq!((outcome.done, outcome.failed.len()), (3, 1), "{outcome:?}");
    fs::write(desk.root.join("target/deep/c.jpg"), "edited").unwrap();
    let undone = desk.undo();
    assert_eq!((undone.done, undone.failed.len()), (2, 1), "{undone:?}");
    assert_eq!(undone.failed[0].reason, "it has changed since the action");
    assert_eq!(fs::read(desk.root.join("target/deep/c.jpg")).unwrap(), b"edited");
    // The rest is tried again when the cause is gone, and given up when it is not.
    fs::write(desk.root.join("target/deep/c.jpg"), "third").unwrap();
    assert_eq!(desk.undo().done, 1);
    assert_eq!(fs::read(&originals[2].path).unwrap(), b"third");
    assert!(matches!(desk.try_undo(), Err(Error::Nothing)));
}

#[test]
fn an_undo_that_fails_twice_makes_way_for_the_action_before() {
    let desk = Desk::new();
    let originals = desk.originals();
    let layout = TargetLayout { folder: desk.root.join("target/first"), keeps_folders: false };
    desk.run(&planned(FileAction::Copy(layout), &originals[1..2]));
    desk.run(&planned(FileAction::Move(desk.layout(false)), &originals));
    fs::write(desk.root.join("target/deep/c.jpg"), "edited").unwrap();
    let counts = [(3, 1), (0, 1), (1, 0)];
    assert_eq!(counts.map(|_| desk.undo()).map(|it| (it.done, it.failed.len())), counts);
    assert_eq!(names(&desk.files()).len(), 4);
}

#[test]
fn an_action_of_which_nothing_can_be_put_back_makes_way_after_a_second_attempt() {
    let desk = Desk::new();
    let originals = [desk.original("a.jpg", "first"), desk.original("b.jpg", "second")];
    let layout = TargetLayout { folder: desk.root.join("target/first"), keeps_folders: false };
    desk.run(&planned(FileAction::Copy(layout), &originals[1..]));
    desk.run(&planned(FileAction::Move(desk.layout(false)), &originals[..1]));
    fs::write(desk.root.join("target/deep/a.jpg"), "edited").unwrap();
    let counts = [(0, 1), (0, 1), (1, 0)];
    assert_eq!(counts.map(|_| desk.undo()).map(|it| (it.done, it.failed.len())), counts);
    assert_eq!(names(&desk.files()), ["pics/b.jpg", "target/deep/a.jpg"]);
}

#[test]
fn an_undo_reverts_only_the_action_that_was_shown() {
    let desk = Desk::new();
    let [one, other] = [desk.original("a.jpg", "first"), desk.original("b.jpg", "second")];
    desk.run(&planned(FileAction::Move(desk.layout(false)), &[one]));
    let shown = LastAction::of(&desk.journals.last().unwrap());
    let first = desk.pics().join("a.jpg");
    let text = format!("move of 1 file, the first of which was {}", first.display());
    assert_eq!((shown.text.as_str(), shown.files_to_undo), (&*text, 1));
    // Another process acts before the user confirms.
    desk.run(&planned(FileAction::Copy(desk.layout(false)), &[other]));
    let files = desk.files();
    let undone = undo(&desk.journals, shown.id, &mut |_, _| true);
    assert!(matches!(undone, Err(Error::NotLast)), "{undone:?}");
    assert_eq!(desk.files(), files);
    desk.undo();
    assert_eq!(undo(&desk.journals, shown.id, &mut |_, _| true).unwrap().done, 1);
}

#[test]
fn an_action_that_did_nothing_takes_the_place_of_no_other() {
    let desk = Desk::new();
    let originals = desk.originals();
    let before = desk.files();
    desk.run(&planned(FileAction::Move(desk.layout(false)), &originals[..1]));
    let plan = planned(FileAction::Trash, &originals[2..]);
    fs::write(&originals[2].path, "edited").unwrap();
    for _ in 0..25 {
        assert_eq!(desk.run(&plan).done, 0);
    }
    fs::write(&originals[2].path, "third").unwrap();
    assert!(desk.undo().done > 0);
    assert_eq!(desk.files(), before);
}

#[test]
fn a_damaged_last_record_is_skipped_and_a_journal_of_another_version_is_refused() {
    let desk = Desk::new();
    desk.run(&planned(FileAction::Move(desk.layout(false)), &desk.originals()));
    let journals = fs::read_dir(desk.root.join("journals")).unwrap();
    let mut paths = journals.map(|entry| entry.unwrap().path());
    let journal = paths.find(|it| it.extension().is_some_and(|it| it == "jsonl")).unwrap();
    let mut bytes = fs::read(&journal).unwrap();
    bytes.extend(b"\xff\xfe");
    fs::write(&journal, &bytes).unwrap();
    assert!(desk.journals.last().unwrap().is_finished());
    let other = String::from_utf8_lossy(&bytes).replacen("\"version\":1", "\"version\":2", 1);
    fs::write(&journal, other).unwrap();
    let refused = desk.journals.last().unwrap_err().to_string();
    assert!(refused.contains(" has another version; use the program that wrote it"), "{refused}");
}

#[test]
fn a_copy_is_replaced_by_a_link_and_separated_again() {
    let desk = Desk::new();
    let kept = desk.original("kept.jpg", "same");
    let copy = desk.original("sub/copy.jpg", "same");
    let other = desk.original("other.jpg", "else");
    let before = desk.files();
    let replacement = |copy: &Original| Replacement { copy: copy.clone(), kept: kept.path.clone() };
    let wrong =
        Original { content: FileContent { hash: copy.content.hash, ..other.content }, ..other };
    let plan = Plan::replacing(LinkKind::Hard, vec![replacement(&copy), replacement(&wrong)]);
    let outcome = desk.run(&plan);
    assert_eq!((outcome.done, outcome.failed.len()), (1, 1), "{outcome:?}");
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(&kept.path), inode(&copy.path));
    assert_eq!(desk.files(), before);
    assert_eq!(desk.undo().done, 1);
    assert_ne!(inode(&kept.path), inode(&copy.path));
    assert_eq!(desk.files(), before);
    assert_eq!(FileContent::of(&copy.path).unwrap().modified, copy.content.modified);
    fs::set_permissions(&copy.path, Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(&kept.path, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(desk.run(&Plan::replacing(LinkKind::Hard, vec![replacement(&copy)])).done, 1);
    desk.undo();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&copy.path), mode(&kept.path)), (0o600, 0o644), "it stays private");
}

/// The time, permissions, owner and notes of a file.
fn attributes(path: &Path) -> (i64, u32, u32, [bool; 2]) {
    let metadata = fs::metadata(path).unwrap();
    let has = |name: &str| getxattr(path, name, &mut [0; 8]).is_ok();
    let notes = [has("user.copy"), has("user.kept")];
    (FileContent::of(path).unwrap().modified, metadata.mode() & 0o777, metadata.uid(), notes)
}

#[test]
fn a_replaced_copy_gets_its_attributes_back_or_keeps_them() {
    for kind in [LinkKind::Hard, LinkKind::Reflink] {
        let desk = Desk::new();
        let [kept, copy] = ["kept.jpg", "copy.jpg"].map(|name| desk.original(name, "same"));
        fs::set_permissions(&copy.path, Permissions::from_mode(0o600)).unwrap();
        for (path, name) in [(&kept.path, "user.kept"), (&copy.path, "user.copy")] {
            let _ = setxattr(path, name, b"note", XattrFlags::empty());
        }
        // Only the superuser gives files away.
        let _ = chown(&copy.path, Some(4711), None);
        let before = [&kept, &copy].map(|original| attributes(&original.path));
        let replacement = Replacement { copy: copy.clone(), kept: kept.path.clone() };
        let outcome = desk.run(&Plan::replacing(kind, vec![replacement]));
        if let [failed] = &*outcome.failed {
            assert!(failed.reason.contains("cannot share blocks"), "{failed:?}");
            eprintln!("not tested: {}", failed.reason);
            continue;
        }
        if kind == LinkKind::Reflink {
            assert_eq!(attributes(&copy.path), before[1]);
        }
        assert_eq!(desk.undo().done, 1);
        assert_eq!([&kept, &copy].map(|original| attributes(&original.path)), before);
    }
}

#[test]
fn a_sidecar_stays_with_a_picture_that_was_edited_after_the_action() {
    let desk = Desk::new();
    desk.run(&planned(FileAction::Move(desk.layout(false)), &desk.originals()));
    fs::write(desk.root.join("target/deep/a.jpg"), "edited").unwrap();
    let undone = desk.undo();
    assert_eq!((undone.done, undone.failed.len()), (2, 2), "{undone:?}");
    assert!(undone.failed[1].reason.contains("its picture was left alone"), "{undone:?}");
    let expected = ["pics/c.jpg", "pics/sub/b.jpg", "target/deep/a.jpg", "target/deep/a.txt"];
    assert_eq!(names(&desk.files()), expected);
}

#[test]
fn a_near_duplicate_stays_if_the_image_to_keep_is_gone_by_then() {
    let desk = Desk::new();
    let [kept, copy] = [desk.original("kept.jpg", "same"), desk.original("copy.jpg", "same")];
    let image = |original: &Original| DuplicateImage {
        media: String::new(),
        original: original.clone(),
        size: (4, 4),
        pixels: 16,
        blur_percent: 0,
        given: UserTags::default(),
        caption: Some(original.path.display().to_string()),
        labels: Vec::new(),
        objects: Vec::new(),
        extra_columns: ExtraColumns::new(),
    };
    let other = OtherImage {
        image: image(&copy),
        kept: kept.path.clone(),
        similarity: 1.0,
        is_identical: true,
    };
    let group = DuplicateGroup { kept: vec![image(&kept)], others: vec![other] };
    let action = FileAction::Move(desk.layout(false));
    let preview = FileActionPreview::of_duplicates(action, vec![group]);
    assert!(preview.warnings()[0].contains("(caption)"), "their captions are different");
    fs::remove_file(&kept.path).unwrap();
    let outcome = desk.run(&preview.plan);
    assert_eq!(outcome.done, 0, "{outcome:?}");
    assert!(outcome.failed[0].reason.contains("is gone or has changed"), "{outcome:?}");
    assert_eq!(names(&desk.files()), ["pics/copy.jpg"]);
}

#[test]
fn an_empty_folder_compares_names_like_the_disk_that_it_is_on() {
    let desk = Desk::new();
    let empty = desk.pics().join("sub");
    assert_eq!(name_rule(&empty), name_rule(&desk.root));
    assert_eq!(name_rule(&empty.join("new")), name_rule(&desk.root));
}

#[test]
fn a_folder_without_permission_keeps_its_files() {
    let desk = Desk::new();
    let originals = desk.originals();
    let before = desk.files();
    let target = desk.root.join("target");
    fs::create_dir(&target).unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o500)).unwrap();
    if File::create(target.join("probe")).is_ok() {
        fs::remove_file(target.join("probe")).unwrap();
        eprintln!("not tested: this user may write to every folder");
        return;
    }
    let outcome = desk.run(&planned(FileAction::Move(desk.layout(false)), &originals));
    assert_eq!((outcome.done, outcome.failed.len()), (0, 4), "{outcome:?}");
    assert_eq!(desk.files(), before);
}

#[test]
fn a_stopped_undo_names_the_files_that_it_has_not_tried() {
    let desk = Desk::new();
    let originals = desk.originals();
    let before = desk.files();
    desk.run(&planned(FileAction::Move(desk.layout(false)), &originals));
    let last = desk.journals.last().unwrap().header.id;
    // What was reverted by the first attempt is not left any more.
    for (limit, done, left) in [(2, 2, &["a.jpg", "a.txt"][..]), (3, 1, &["a.txt"])] {
        let stopped = undo(&desk.journals, last, &mut |tried, _| tried < limit).unwrap();
        let left: Vec<_> = left.iter().map(|name| desk.pics().join(name)).collect();
        assert_eq!((stopped.done, stopped.failed.len(), stopped.not_tried), (done, 0, left));
    }
    assert_eq!(desk.undo().done, 1);
    assert_eq!(desk.files(), before);
}

#[test]
fn a_stopped_action_can_be_undone_and_an_interrupted_one_blocks_the_next() {
    let desk = Desk::new();
    let originals = desk.originals();
    let before = desk.files();
    let plan = planned(FileAction::Move(desk.layout(false)), &originals);
    let stopped = run(&desk.journals, &plan, 1, &mut |done, _| done < 2).unwrap();
    assert_eq!((stopped.done, stopped.not_tried.len()), (2, 2));
    assert!(desk.journals.interrupted().is_none());
    let stopped = LastAction::of(&desk.journals.last().unwrap());
    assert!(stopped.text.as_str().starts_with("move of 2 of 4 files"), "{}", stopped.text);
    let journal = desk.journals.begin(&plan, 2).unwrap();
    assert!(matches!(desk.journals.begin(&plan, 3), Err(Error::Busy)));
    drop(journal);
    let shown = LastAction::of(&desk.journals.last().unwrap());
    assert_eq!(shown.files_to_undo, 1, "the other steps were certainly not begun");
    let refused = desk.journals.begin(&plan, 3).unwrap_err();
    assert!(matches!(refused, Error::Interrupted { done: 0, all: 4 }), "{refused}");
    assert!(desk.journals.interrupted().is_some());
    assert_eq!(resume(&desk.journals, &mut |_, _| true).unwrap().done, 4);
    assert!(matches!(resume(&desk.journals, &mut |_, _| true), Err(Error::NotInterrupted)));
    desk.undo();
    assert_eq!(desk.undo().done, 0, "the first action was reverted with the second one");
    assert_eq!(desk.files(), before);
}

/// The folder of another disk, or `None` with a message if there is none.
fn other_disk(desk: &Desk) -> Option<tempfile::TempDir> {
    let memory = tempfile::tempdir_in("/dev/shm").ok()?;
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    if device(memory.path()) == device(&desk.root) {
        eprintln!("not tested: /dev/shm is not another disk");
        return None;
    }
    Some(memory)
}

#[test]
fn files_move_to_another_disk_and_back() {
    let desk = Desk::new();
    let Some(memory) = other_disk(&desk) else { return };
    let originals = desk.originals();
    let before = desk.files();
    let layout = TargetLayout { folder: memory.path().join("moved"), keeps_folders: true };
    let plan = planned(FileAction::Move(layout.clone()), &originals);
    assert_eq!(desk.run(&plan).done, 4);
    assert!(desk.files().is_empty());
    assert_eq!(fs::read(memory.path().join("moved/sub/b.jpg")).unwrap(), b"second");
    assert_eq!(desk.undo().done, 4);
    assert_eq!(desk.files(), before);
    assert_eq!(fs::read_dir(memory.path()).unwrap().count(), 0);
    let links = planned(FileAction::Link(LinkKind::Hard, layout), &originals);
    let refused = desk.run(&links);
    assert_eq!((refused.done, refused.failed.len()), (0, 4));
    assert!(refused.failed[0].reason.contains("--as symbolic"), "{refused:?}");
}

#[test]
fn files_come_back_from_a_disk_that_shortens_their_times_and_has_no_permissions() {
    let desk = Desk::new();
    let Some(memory) = other_disk(&desk) else { return };
    let originals = desk.originals();
    fs::set_permissions(&originals[0].path, Permissions::from_mode(0o640)).unwrap();
    let before = (desk.files(), attributes(&originals[0].path));
    let layout = TargetLayout { folder: memory.path().join("moved"), keeps_folders: true };
    for action in [FileAction::Copy(layout.clone()), FileAction::Move(layout)] {
        desk.run(&planned(action, &originals));
        for name in ["a.jpg", "a.txt", "sub/b.jpg"] {
            let file = File::open(memory.path().join("moved").join(name)).unwrap();
            let second = file.metadata().unwrap().mtime().unsigned_abs();
            let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            file.set_modified(modified).unwrap();
            file.set_permissions(Permissions::from_mode(0o777)).unwrap();
        }
        let undone = desk.undo();
        assert_eq!((undone.done, undone.failed.len()), (4, 0), "{undone:?}");
        assert_eq!((desk.files(), attributes(&originals[0].path)), before);
        assert_eq!(fs::read_dir(memory.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_disk_without_a_trash_is_named() {
    let desk = Desk::new();
    let Some(memory) = other_disk(&desk) else { return };
    let path = memory.path().join("a.jpg");
    fs::write(&path, "first").unwrap();
    // The root of the other disk may be writable, in which case a trash can be created there.
    match check_trash(&path) {
        Ok(()) => assert!(File::create("/dev/shm/.tessera-probe").is_ok()),
        Err(reason) => assert!(reason.contains("media move"), "{reason}"),
    }
    let _ = fs::remove_file("/dev/shm/.tessera-probe");
    let missing = check_trash(&memory.path().join("missing/a.jpg")).unwrap_err();
    assert_eq!(missing, "its folder is missing");
}

#[test]
#[cfg(target_os = "linux")]
fn the_plan_names_a_file_whose_name_is_too_long_for_the_trash() {
    let desk = Desk::new();
    let originals = [245, 246].map(|length| desk.original(&"n".repeat(length), "bytes"));
    let plan = planned(FileAction::Trash, &originals);
    let skipped = plan.skipped.last().unwrap();
    assert_eq!(skipped.path, originals[1].path);
    assert!(skipped.reason.starts_with("its name is too long for the trash"), "{skipped:?}");
    let other_reason = plan.skipped.iter().find(|it| it.path == originals[0].path);
    assert!(other_reason.is_none_or(|it| !it.reason.contains("name")), "{other_reason:?}");
}
