//! Compares copies, and acts while two paths lead to one file. Such a file has no copy, so nothing removes it.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use tessera_curation::{
    FileAction, FileActionPreview, LinkKind, Original, TargetLayout,
    duplicates::{DuplicateImage, KeepRule, ObjectInImage, SimilarImages, decide, freed_bytes},
};
use tessera_model::{
    Region, UserTags,
    vql::{ColumnValue, ExtraColumns},
};

use super::{Desk, names, planned};

#[test]
fn an_undo_keeps_a_file_to_which_its_old_name_leads() {
    for action in
        [FileAction::Move, FileAction::Copy, |layout| FileAction::Link(LinkKind::Hard, layout)]
    {
        for (is_folder, has_another_name) in [(true, false), (true, true), (false, false)] {
            let desk = Desk::new();
            let originals = [desk.original("a.jpg", "first")];
            desk.run(&planned(action(desk.layout(false)), &originals));
            let file = desk.root.join("target/deep/a.jpg");
            if is_folder {
                fs::remove_dir_all(desk.pics()).unwrap();
                symlink(file.parent().unwrap(), desk.pics()).unwrap();
            } else {
                let _ = fs::remove_file(&originals[0].path);
                symlink(&file, &originals[0].path).unwrap();
            }
            if has_another_name {
                fs::hard_link(&file, desk.root.join("another")).unwrap();
            }
            let undone = desk.undo();
            assert_eq!((undone.done, undone.failed.len()), (0, 1), "{undone:?}");
            assert_eq!(fs::read(&file).unwrap(), b"first");
        }
    }
}

/// A folder that is also at another path, until the end of the test.
struct Mounted(PathBuf);

impl Mounted {
    /// Returns `None` with a message if this user may not mount.
    fn new(folder: &Path, at: PathBuf) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let status = Command::new("mount").arg("--bind").args([folder, &at]).status();
        if status.is_ok_and(|status| status.success()) {
            return Some(Self(at));
        }
        eprintln!("not tested: this user may not mount folders");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn image(original: Original) -> DuplicateImage {
    DuplicateImage {
        media: String::new(),
        original,
        size: (4, 4),
        pixels: 16,
        blur_percent: 0,
        given: UserTags::default(),
        caption: None,
        labels: Vec::new(),
        objects: Vec::new(),
        extra_columns: ExtraColumns::new(),
    }
}

#[test]
fn a_file_in_a_folder_that_is_mounted_twice_is_no_duplicate_of_itself() {
    let desk = Desk::new();
    let [a, b] = ["sub/a.jpg", "sub/b.jpg"].map(|name| desk.original(name, "same"));
    let Some(mounted) = Mounted::new(&desk.pics().join("sub"), desk.pics().join("twice")) else {
        return;
    };
    let again = |original: &Original| Original {
        path: mounted.0.join(original.path.file_name().unwrap()),
        ..original.clone()
    };
    let images = [&again(&a), &a, &b, &again(&b)].map(|original| image(original.clone()));
    let sets = [SimilarImages { images: images.into(), ..SimilarImages::default() }];
    let rule = KeepRule::InFolder("sub".into());
    assert_eq!(decide(&sets, &rule, true), [], "both files are in the folder to keep");
    let mut groups = decide(&sets, &KeepRule::Largest, true);
    assert_eq!(groups[0].others.len(), 1);

    // The interface remembers groups, so the folder may have been mounted since.
    groups[0].others[0].image.original = again(&groups[0].kept[0].original);
    let layout = TargetLayout { folder: desk.root.join("target"), keeps_folders: true };
    let preview = FileActionPreview::of_duplicates(FileAction::Move(layout), groups);
    assert_eq!(preview.plan.steps, []);
    assert_eq!(preview.plan.skipped[0].reason, "it is the file of the image to keep");
    drop(mounted);
    assert_eq!(names(&desk.files()), ["pics/sub/a.jpg", "pics/sub/b.jpg"]);
}

#[test]
fn only_outlines_of_another_kind_and_columns_without_a_value_are_missing_in_a_kept_copy() {
    let desk = Desk::new();
    let [polygons, keypoints] = [[true, false, false], [false, false, true]];
    let marks = |kept: [bool; 3], leaving: [bool; 3], columns: [&str; 2]| {
        let images = [("a.jpg", kept, columns[0]), ("b.jpg", leaving, columns[1])];
        let images = images.map(|(name, outlines, column)| {
            let region = Region::new(0.1, 0.1, 0.5, 0.5).unwrap();
            let object = ObjectInImage { label: "dog".to_owned(), region, outlines };
            let value = ColumnValue::Text(name.to_owned());
            DuplicateImage {
                objects: vec![object],
                extra_columns: ExtraColumns::from([(column.to_owned(), value)]),
                ..image(desk.original(name, "same"))
            }
        });
        let sets = [SimilarImages { images: images.into(), ..SimilarImages::default() }];
        let groups = decide(&sets, &KeepRule::Path("a.jpg".parse().unwrap()), true);
        let layout = TargetLayout { folder: desk.root.join("target"), keeps_folders: true };
        let preview = FileActionPreview::of_duplicates(FileAction::Move(layout), groups);
        preview.marked.concat().rsplit('/').next().unwrap_or_default().to_owned()
    };
    assert_eq!(marks(polygons, polygons, ["id", "id"]), "", "ids differ in every copy");
    assert_eq!(marks([true; 3], keypoints, ["id", "id"]), "");
    assert_eq!(marks(polygons, keypoints, ["id", "id"]), "b.jpg (objects)");
    assert_eq!(marks(polygons, polygons, ["id", "url"]), "b.jpg (columns)");
}

#[test]
fn a_link_to_a_file_that_leaves_is_named_and_shared_bytes_become_free_once() {
    let desk = Desk::new();
    let [kept, copy] = ["kept.jpg", "copy.jpg"].map(|name| desk.original(name, "same"));
    let [hard, link] = ["hard.jpg", "link.jpg"]
        .map(|name| Original { path: desk.pics().join(name), ..copy.clone() });
    fs::hard_link(&copy.path, &hard.path).unwrap();
    symlink(&copy.path, &link.path).unwrap();
    let images = [kept, copy, hard, link].map(image).into();
    let sets = [SimilarImages { images, ..SimilarImages::default() }];
    let groups = decide(&sets, &KeepRule::Path("kept.jpg".parse().unwrap()), true);
    assert_eq!((groups[0].others.len(), freed_bytes(&groups)), (3, 4));
    let preview = FileActionPreview::of_duplicates(FileAction::Move(desk.layout(true)), groups);
    assert_eq!(preview.plan.pictures(), 2);
    let warnings = preview.warnings().concat();
    assert!(warnings.contains("1 symbolic link leads to files that leave"), "{warnings}");
    assert!(warnings.ends_with("link.jpg"), "{warnings}");
}
