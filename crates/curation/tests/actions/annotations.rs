//! Follows actions in annotation files, and brings the old annotation files back.

use std::{fs, path::Path};

use tessera_curation::{FileAction, FileActionPreview, FoundOriginals, TargetLayout};

use super::Desk;

/// An annotation file before an action, after `c.jpg` has left the folder, and after `a.jpg` and `b.jpg` have moved.
struct Annotated {
    name: &'static str,
    before: &'static str,
    without: &'static str,
    moved: &'static str,
}

/// The folder has `a.jpg`, `sub/b.jpg` and `c.jpg`, and another `b.jpg` in `other`.
const ANNOTATED: [Annotated; 11] = [
    Annotated {
        name: "annotations/instances.json",
        before: r#"{"info": {"a.jpg": 1.10}, "images": [
 {"id": 1.0, "file_name": "a.jpg", "note": "caf\u00e9"},
 {"id": 2, "file_name": "b.jpg"},
 {"id":7, "file_name": "c.jpg"} ],
 "annotations": [{"id": 1, "image_id": 1.0, "bbox": [0.10, 1e3]}, {"id": 2, "image_id": 7},
 {"id": 3, "image_id": 7}]}"#,
        without: r#"{"info": {"a.jpg": 1.10}, "images": [
 {"id": 1.0, "file_name": "a.jpg", "note": "caf\u00e9"},
 {"id": 2, "file_name": "b.jpg"} ],
 "annotations": [{"id": 1, "image_id": 1.0, "bbox": [0.10, 1e3]}]}"#,
        moved: r#"{"info": {"a.jpg": 1.10}, "images": [
 {"id": 1.0, "file_name": "new/a.jpg", "note": "caf\u00e9"},
 {"id": 2, "file_name": "b.jpg"},
 {"id":7, "file_name": "c.jpg"} ],
 "annotations": [{"id": 1, "image_id": 1.0, "bbox": [0.10, 1e3]}, {"id": 2, "image_id": 7},
 {"id": 3, "image_id": 7}]}"#,
    },
    // An entry belongs only to the list that its number is of.
    Annotated {
        name: "annotations/videos.json",
        before: r#"{"images": [{"id": 2, "file_name": "a.jpg"}, {"id": 3, "file_name": "other/b.jpg"}],
 "videos": [{"id": 3, "file_name": "c.jpg"}],
 "annotations": [{"id": 2, "image_id": 3, "file_name": "c.jpg"}, {"id": 3, "image_id": 2}, {"id": 4, "image_id": 3},
 {"id": 5, "video_id": 3}, {"id": 6, "video_id": 2}]}"#,
        without: r#"{"images": [{"id": 2, "file_name": "a.jpg"}, {"id": 3, "file_name": "other/b.jpg"}],
 "videos": [],
 "annotations": [{"id": 3, "image_id": 2}, {"id": 4, "image_id": 3},
 {"id": 6, "video_id": 2}]}"#,
        moved: r#"{"images": [{"id": 2, "file_name": "new/a.jpg"}, {"id": 3, "file_name": "other/b.jpg"}],
 "videos": [{"id": 3, "file_name": "c.jpg"}],
 "annotations": [{"id": 2, "image_id": 3, "file_name": "c.jpg"}, {"id": 3, "image_id": 2}, {"id": 4, "image_id": 3},
 {"id": 5, "video_id": 3}, {"id": 6, "video_id": 2}]}"#,
    },
    Annotated {
        name: "list.json",
        before: "\u{feff}[\"c.jpg\", \"sub/b.jpg\"]\n",
        without: "\u{feff}[\"sub/b.jpg\"]\n",
        moved: "\u{feff}[\"c.jpg\", \"new/sub/b.jpg\"]\n",
    },
    Annotated {
        name: "one.json",
        before: "[ \"c.jpg\" ]",
        without: "[  ]",
        moved: "[ \"c.jpg\" ]",
    },
    Annotated {
        name: "metadata.jsonl",
        before: "{\"file_name\": \"sub/b.jpg\", \"x\": 0.1}\r\n\r\n{\"file_name\": \"c.jpg\"}\r\n",
        without: "{\"file_name\": \"sub/b.jpg\", \"x\": 0.1}\r\n\r\n",
        moved: "{\"file_name\": \"new/sub/b.jpg\", \"x\": 0.1}\r\n\r\n{\"file_name\": \"c.jpg\"}\r\n",
    },
    Annotated {
        name: "metadata.csv",
        before: "\u{feff}file_name;text\nc.jpg;\"of\nc.jpg\"\n./sub/b.jpg;\"x;y\"\nc.jpg;again\n\"a.jpg\";a",
        without: "\u{feff}file_name;text\n./sub/b.jpg;\"x;y\"\n\"a.jpg\";a",
        moved: "\u{feff}file_name;text\nc.jpg;\"of\nc.jpg\"\n./new/sub/b.jpg;\"x;y\"\nc.jpg;again\n\"new/a.jpg\";a",
    },
    Annotated {
        name: "windows.csv",
        before: "width,file\r\n5\" wide,c.jpg\r\n1,\"sub/b.jpg\"\r\n\"say \"\"c.jpg\"\"\",3\r\n",
        without: "width,file\r\n1,\"sub/b.jpg\"\r\n\"say \"\"c.jpg\"\"\",3\r\n",
        moved: "width,file\r\n5\" wide,c.jpg\r\n1,\"new/sub/b.jpg\"\r\n\"say \"\"c.jpg\"\"\",3\r\n",
    },
    Annotated {
        name: "pipes.csv",
        before: "file_name|note\nc.jpg|x\nsub/b.jpg|y, z\n",
        without: "file_name|note\nsub/b.jpg|y, z\n",
        moved: "file_name|note\nc.jpg|x\nnew/sub/b.jpg|y, z\n",
    },
    Annotated {
        name: "boxes.tsv",
        before: "1\tc.jpg\n2\tsub\\b.jpg\n",
        without: "2\tsub\\b.jpg\n",
        moved: "1\tc.jpg\n2\tnew/sub/b.jpg\n",
    },
    Annotated {
        name: "lists/train.txt",
        before: "../c.jpg 3\n../sub/b.jpg\n../other/b.jpg\n# c.jpg is bad\n",
        without: "../sub/b.jpg\n../other/b.jpg\n# c.jpg is bad\n",
        moved: "../c.jpg 3\n../new/sub/b.jpg\n../other/b.jpg\n# c.jpg is bad\n",
    },
    Annotated {
        name: "ambiguous.txt",
        before: "b.jpg\nc.jpg",
        without: "b.jpg\n",
        moved: "b.jpg\nc.jpg",
    },
];

impl Desk {
    /// Writes the annotation files, and returns what an action on some files changes.
    fn annotated(&self, action: FileAction, acted_on: &[&str]) -> FileActionPreview {
        let mut originals = self.originals();
        let namesake = self.pics().join("other/b.jpg");
        let write = |path: &Path, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(&namesake, "another");
        let mut annotations = vec![self.pics().join("tool.xml")];
        write(&annotations[0], "<image name=\"c.jpg\"/>");
        for annotated in ANNOTATED {
            annotations.push(self.pics().join(annotated.name));
            write(annotations.last().unwrap(), annotated.before);
        }
        originals.retain(|it| acted_on.contains(&it.path.file_name().unwrap().to_str().unwrap()));
        let namesakes = vec![namesake];
        let found =
            FoundOriginals { originals, annotations, namesakes, ..FoundOriginals::default() };
        let mut preview = FileActionPreview::new(action, found, false);
        preview.rewrite_annotations();
        preview
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.pics().join(name)).unwrap()
    }
}

#[test]
fn an_annotation_file_that_moves_with_its_pictures_is_not_rewritten() {
    let desk = Desk::new();
    let mut originals = vec![desk.original("c.jpg", "third")];
    let sidecar = desk.pics().join("c.json");
    fs::write(&sidecar, r#"["c.jpg"]"#).unwrap();
    originals[0].sidecars.push(sidecar.clone());
    let annotations = vec![sidecar];
    let found = FoundOriginals { originals, annotations, ..FoundOriginals::default() };
    let preview = FileActionPreview::new(FileAction::Move(desk.layout(false)), found, false);
    assert_eq!((preview.plan.steps.len(), preview.annotations.len()), (2, 0));
}

#[test]
fn files_that_describe_a_picture_and_stay_are_named() {
    let desk = Desk::new();
    let [table, classes] = ["metadata.csv", "data.yaml"].map(|name| desk.pics().join(name));
    let left_behind = |action| {
        let found = FoundOriginals {
            originals: desk.originals(),
            annotations: vec![table.clone()],
            class_names: vec![classes.clone()],
            ..FoundOriginals::default()
        };
        FileActionPreview::new(action, found, false)
    };
    let inside = TargetLayout { folder: desk.pics().join("best"), ..desk.layout(false) };
    for (action, expected) in [
        (FileAction::Copy(desk.layout(false)), vec![&classes, &table]),
        (FileAction::Move(desk.layout(false)), vec![&classes]),
        (FileAction::Copy(inside.clone()), vec![&table]),
        (FileAction::Move(inside), Vec::new()),
        (FileAction::Trash, Vec::new()),
    ] {
        let preview = left_behind(action);
        assert_eq!(preview.left_behind.iter().collect::<Vec<_>>(), expected);
        let warning = "with annotations or class names of these files stay";
        let is_named = preview.warnings().iter().any(|it| it.contains(warning));
        assert_eq!(is_named, !expected.is_empty());
    }
}

#[test]
fn annotation_files_follow_files_that_leave_and_come_back() {
    let desk = Desk::new();
    let preview = desk.annotated(FileAction::Move(desk.layout(false)), &["c.jpg"]);
    let before = desk.files();
    let [left_alone] = &*preview.plan.skipped else { panic!("{:?}", preview.plan.skipped) };
    assert!(left_alone.path.ends_with("tool.xml") && left_alone.reason.contains("only JSON"));
    assert!(
        preview.summary().ends_with("and rewrite 11 annotation files"),
        "{}",
        preview.summary()
    );
    assert_eq!(preview.plan.pictures(), 1);
    let outcome = desk.run(&preview.plan);
    assert_eq!((outcome.done, outcome.failed.len()), (12, 0), "{outcome:?}");
    for Annotated { name, before, without, .. } in ANNOTATED {
        assert_eq!(desk.text(name), without, "{name}");
        assert_eq!(desk.text(&format!("{name}.orig")), before, "{name}");
    }
    assert_eq!(desk.undo().failed, []);
    assert_eq!(desk.files(), before);
}

#[test]
fn annotation_files_follow_files_that_move_within_the_folder() {
    let desk = Desk::new();
    let layout = TargetLayout { folder: desk.pics().join("new"), keeps_folders: true };
    let preview = desk.annotated(FileAction::Move(layout), &["a.jpg", "b.jpg"]);
    let before = desk.files();
    desk.run(&preview.plan);
    for Annotated { name, before, moved, .. } in ANNOTATED {
        assert_eq!(desk.text(name), moved, "{name}");
        let is_kept = desk.pics().join(format!("{name}.orig")).exists();
        assert_eq!(is_kept, before != moved, "{name}");
    }
    assert_eq!(desk.undo().failed, []);
    assert_eq!(desk.files(), before);
}

#[test]
fn a_file_that_moves_out_of_the_folder_of_its_annotation_file_is_named_by_a_path_from_there() {
    let desk = Desk::new();
    let (a, b) = (desk.original("sub/a.jpg", "first"), desk.original("sub/b.jpg", "second"));
    let annotations = vec![
        desk.original("sub/metadata.jsonl", "{\"file_name\": \"a.jpg\"}\n").path,
        desk.original("list.txt", "b.jpg 1\n").path,
    ];
    let found = FoundOriginals { originals: vec![a, b], annotations, ..FoundOriginals::default() };
    let layout = TargetLayout { folder: desk.pics().join("new"), keeps_folders: false };
    let mut preview = FileActionPreview::new(FileAction::Move(layout), found, false);
    preview.rewrite_annotations();
    assert_eq!(desk.run(&preview.plan).failed, []);
    assert_eq!(desk.text("sub/metadata.jsonl"), "{\"file_name\": \"../new/a.jpg\"}\n");
    assert_eq!(desk.text("list.txt"), "new/b.jpg 1\n");
}

#[test]
fn entries_of_other_pictures_with_the_name_of_a_file_are_kept() {
    let desk = Desk::new();
    let write = |name: &str, text: &str| {
        let path = desk.pics().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    let namesakes = vec![write("train/1.jpg", "one")];
    write("val/1.jpg", "one");
    write("val/2.jpg", "one");
    let annotations = vec![
        write("notes/train.json", r#"{"images": [{"file_name": "1.jpg"}]}"#),
        write("notes/val.json", r#"{"images": [{"file_name": "1.jpg"}]}"#),
        write("metadata.csv", "file_name\ntrain/1.jpg\nval/1.jpg\nval/2.jpg\n2.jpg\n"),
    ];
    let before = desk.files();
    let originals = ["val/1.jpg", "val/2.jpg"].map(|name| desk.original(name, "one")).into();
    let found = FoundOriginals { originals, annotations, namesakes, ..FoundOriginals::default() };
    let action = FileAction::Move(desk.layout(false));
    let mut preview = FileActionPreview::new(action, found, false);
    preview.rewrite_annotations();
    desk.run(&preview.plan);
    assert_eq!(desk.text("notes/train.json"), r#"{"images": [{"file_name": "1.jpg"}]}"#);
    assert_eq!(desk.text("notes/val.json"), r#"{"images": []}"#);
    assert_eq!(desk.text("metadata.csv"), "file_name\ntrain/1.jpg\n2.jpg\n");
    assert_eq!(desk.undo().failed, []);
    assert!(before.iter().all(|(path, bytes)| desk.files().get(path) == Some(bytes)));
}

#[test]
fn entries_of_files_that_stay_are_kept() {
    let desk = Desk::new();
    let preview = desk.annotated(FileAction::Move(desk.layout(false)), &["a.jpg", "c.jpg"]);
    fs::write(desk.pics().join("a.jpg"), "changed meanwhile").unwrap();
    let outcome = desk.run(&preview.plan);
    assert_eq!(outcome.failed.len(), 2, "{outcome:?}");
    assert_eq!(desk.text("annotations/instances.json"), ANNOTATED[0].without);
    fs::write(desk.pics().join("list.json"), "[]").unwrap();
    let outcome = desk.undo();
    assert!(outcome.failed[0].reason.contains("list.json.orig"), "{outcome:?}");
    assert_eq!(desk.text("list.json"), "[]");
    assert_eq!(desk.text("annotations/instances.json"), ANNOTATED[0].before);
}

#[test]
fn annotation_files_follow_the_files_of_a_stopped_action() {
    let desk = Desk::new();
    let preview = desk.annotated(FileAction::Move(desk.layout(false)), &["c.jpg", "a.jpg"]);
    let before = desk.files();
    let pictures = preview.plan.steps.iter().map(|step| step.source.file_name().unwrap());
    assert_eq!(pictures.take(3).collect::<Vec<_>>(), ["a.jpg", "a.txt", "c.jpg"]);
    let stopped = tessera_curation::run(&desk.journals, &preview.plan, 1, &mut |done, _| done < 2);
    let stopped = stopped.unwrap();
    assert_eq!(stopped.failed, []);
    assert_eq!(desk.text("annotations/instances.json").matches("a.jpg").count(), 1, "only info");
    assert_eq!(desk.text("list.json"), ANNOTATED[2].before, "it names only the file that stays");
    assert!(stopped.not_tried.len() > 1 && desk.journals.interrupted().is_none(), "{stopped:?}");
    desk.undo();
    assert_eq!(desk.files(), before);
}

#[test]
fn an_annotation_file_that_changes_before_its_step_is_left_alone() {
    let desk = Desk::new();
    let preview = desk.annotated(FileAction::Move(desk.layout(false)), &["c.jpg"]);
    fs::write(desk.pics().join("list.json"), "[\"c.jpg\", \"d.jpg\"]").unwrap();
    let outcome = desk.run(&preview.plan);
    assert_eq!(outcome.failed.len(), 1, "{outcome:?}");
    assert_eq!(desk.text("list.json"), "[\"c.jpg\", \"d.jpg\"]");
    assert_eq!(desk.text("metadata.jsonl"), ANNOTATED[4].without);
}
