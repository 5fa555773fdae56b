//! Tests the commands that act on the user's own files: `media move`, `copy`, `link`, `trash`, `undo` and `resume`, and
//! `duplicates`. Each test compares all files with their bytes, because no file may be lost or replaced.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{documents::assert_described, outcome, piped, run, serve, tessera};

struct OriginalsHome {
    home: TempDir,
    folder: PathBuf,
}

impl OriginalsHome {
    /// Creates a folder of six different pictures, a copy of the first one, and sidecars.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap().join("pics");
        fs::create_dir_all(folder.join("sub")).unwrap();
        for number in 0..6_u8 {
            paint(&folder.join(format!("p{number}.png")), number);
        }
        fs::copy(folder.join("p0.png"), folder.join("sub/longer-name.png")).unwrap();
        fs::write(folder.join("p1.txt"), "a caption of one").unwrap();
        fs::write(
            folder.join("metadata.jsonl"),
            "{\"file_name\": \"p2.png\", \"caption\": \"two\"}\n",
        )
        .unwrap();
        Self { home, folder }
    }

    fn ask(&self, arguments: &[&str]) -> (i32, Value, String) {
        let folder = ["--folder", self.folder.to_str().unwrap(), "--json"];
        let (code, out, err) = run(self.home.path(), &[arguments, &folder[..]].concat());
        assert_described(&out);
        (code, serde_json::from_str(&out).unwrap_or_default(), err)
    }

    fn media(&self, name: &str) -> String {
        let jq = format!(".previews[] | select(.file_name == \"{name}\") | .media_id");
        let folder = self.folder.to_str().unwrap();
        let search = ["search", "browse", "--flat", "--all", "--folder", folder, "--jq", &jq];
        run(self.home.path(), &search).1.trim().to_owned()
    }

    /// The names of the pictures that a search finds.
    fn indexed(&self) -> Vec<String> {
        let (code, found, err) = self.ask(&["search", "browse", "--flat", "--all"]);
        assert_eq!(code, 0, "{err}");
        let names = found["previews"].as_array().unwrap().iter();
        let mut names: Vec<String> =
            names.map(|it| it["file_name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for folder in ["pics", "target", "Trash/files"] {
            collect(&self.home.path().canonicalize().unwrap().join(folder), &mut files);
        }
        files
    }

    fn target(&self) -> String {
        self.home.path().canonicalize().unwrap().join("target").to_str().unwrap().to_owned()
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// Paints a picture of blocks whose places depend on the seed, so that no two of them are near-duplicates.
fn paint(path: &Path, seed: u8) {
    let mut state = 1 + u64::from(seed) * 7_919;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u32
    };
    let mut picture =
        image::RgbImage::from_pixel(160, 120, image::Rgb([seed * 30, 90, 200 - seed * 30]));
    for _ in 0..24 {
        let (left, top, width, height) =
            (next() % 140, next() % 100, 6 + next() % 30, 6 + next() % 30);
        let color =
            image::Rgb([next().to_le_bytes()[0], next().to_le_bytes()[0], next().to_le_bytes()[0]]);
        for (x, y) in (left..left + width).flat_map(|x| (top..top + height).map(move |y| (x, y))) {
            if x < 160 && y < 120 {
                picture.put_pixel(x, y, color);
            }
        }
    }
    picture.save(path).unwrap();
}

fn states(document: &Value) -> Vec<&str> {
    let rows = document["files"].as_array().unwrap().iter();
    rows.map(|row| row["state"].as_str().unwrap()).collect()
}

#[test]
fn files_move_after_a_preview_and_come_back() {
    let fixture = OriginalsHome::new();
    let before = fixture.files();
    let media = format!("{},{}", fixture.media("p1.png"), fixture.media("p2.png"));
    let to = fixture.target();
    let moved = ["media", "move", "--media", &media, "--to", &to];
    let (code, document, err) = fixture.ask(&[&moved[..], &["--dry-run"]].concat());
    assert_eq!((code, states(&document)), (0, vec!["planned"; 3]), "{err}");
    assert!(err.contains("would move 2 files with 1 sidecar"), "{err}");
    assert!(
        err.contains("1 annotation file names these files") && err.contains("metadata.jsonl"),
        "{err}"
    );
    let (code, _, err) = fixture.ask(&moved);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("Cannot prompt here; confirm with --yes"), "{err}");
    assert!(err.contains("pics/p2.png\n"), "the files are named before the question: {err}");
    assert_eq!(fixture.files(), before);

    let (code, document, err) = fixture.ask(&[&moved[..], &["--yes"]].concat());
    assert_eq!((code, states(&document)), (0, vec!["done"; 3]), "{err}");
    assert!(
        err.contains("`tessera media undo --folder ") && err.contains("` reverts this action"),
        "{err}"
    );
    let target = PathBuf::from(&to);
    assert_eq!(fs::read_to_string(target.join("p1.txt")).unwrap(), "a caption of one");
    assert!(target.join("p2.png").is_file() && !fixture.folder.join("p2.png").exists());
    assert_eq!(fixture.indexed(), ["longer-name.png", "p0.png", "p3.png", "p4.png", "p5.png"]);

    let moved = fixture.files();
    let (code, document, err) = fixture.ask(&["media", "undo", "--dry-run"]);
    assert_eq!((code, states(&document)), (0, vec!["planned"; 3]), "{err}");
    assert!(err.contains("would undo the action for 3 files; nothing was changed"), "{err}");
    let (code, _, err) = fixture.ask(&["media", "resume", "--dry-run"]);
    assert!(
        code == 1 && err.contains("no action on files was interrupted; `tessera media undo`"),
        "{code}: {err}"
    );
    for refused in [&["media", "undo"][..], &["media", "undo", "--no-input"]] {
        let (code, _, err) = fixture.ask(refused);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("undo the action for 3 files? Cannot prompt here"), "{err}");
    }
    assert_eq!(fixture.files(), moved);
    let (code, document, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!((code, states(&document)), (0, vec!["done"; 3]), "{err}");
    assert_eq!(fixture.files(), before);
    assert_eq!(fixture.indexed().len(), 7);
    let (code, _, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("no action on files to undo"), "{err}");
}

#[test]
fn annotation_files_follow_on_request() {
    let fixture = OriginalsHome::new();
    let coco = r#"{"images": [{"id": 1, "file_name": "p1.png"}, {"id": 2, "file_name": "p2.png"}],
"annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}, {"image_id": 9, "category_id": 1}],
"categories": [{"id": 1, "name": "dog"}]}"#;
    fs::write(fixture.folder.join("instances.json"), coco).unwrap();
    let before = fixture.files();
    let media = format!("{},{}", fixture.media("p1.png"), fixture.media("p2.png"));
    let to = fixture.folder.join("sub");
    let moved = ["media", "move", "--media", &media, "--to", to.to_str().unwrap(), "--yes"];
    let (code, _, err) = fixture.ask(&[&moved[..], &["--dry-run"]].concat());
    assert!(code == 0 && err.contains("--rewrite-annotations changes"), "{code}: {err}");
    let (code, document, err) = fixture.ask(&[&moved[..], &["--rewrite-annotations"]].concat());
    assert_eq!((code, states(&document)), (0, vec!["done"; 5]), "{err}");
    let text = |name: &str| fs::read_to_string(fixture.folder.join(name)).unwrap();
    assert_eq!(text("instances.json"), coco.replace("\"p", "\"sub/p"));
    assert_eq!(text("instances.json.orig"), coco);
    assert!(text("metadata.jsonl").contains("sub/p2.png"));
    // The index has read the new names, and takes the old files for what they are.
    let search = ["search", "browse", "--flat", "--all", "--jq", ".previews[].caption"];
    let captions = run(
        fixture.home.path(),
        &[&search[..], &["--folder", fixture.folder.to_str().unwrap()]].concat(),
    );
    assert!(captions.1.contains("two"), "{captions:?}");
    let other = fixture.home.path().to_str().unwrap().to_owned() + "/other";
    fs::create_dir(&other).unwrap();
    let (code, _, err) = run(fixture.home.path(), &["media", "undo", "--folder", &other]);
    assert!(code == 6 && err.contains("was not in") && err.contains("omit --folder"), "{err}");
    let (code, _, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!((code, fixture.files() == before), (0, true), "{err}");
}

#[test]
fn an_annotation_file_that_frames_share_is_named_like_any_other() {
    let fixture = OriginalsHome::new();
    for (name, frame) in [("p3.png", "scene.0001.png"), ("p4.png", "scene.0002.png")] {
        fs::rename(fixture.folder.join(name), fixture.folder.join(frame)).unwrap();
    }
    let coco = r#"{"images": [{"id": 1, "file_name": "scene.0001.png"}, {"id": 2, "file_name": "p1.png"}],
"annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}],
"categories": [{"id": 1, "name": "dog"}]}"#;
    for name in ["scene.json", "scene.annotations.json"] {
        fs::write(fixture.folder.join(name), coco).unwrap();
    }
    let media = fixture.media("scene.0001.png");
    let moved = ["media", "move", "--media", &media, "--to", &fixture.target(), "--dry-run"];
    let (code, _, err) = fixture.ask(&moved);
    assert!(code == 0 && err.contains("2 annotation files name these files"), "{code}: {err}");
}

#[test]
fn copies_links_and_the_trash_take_lists_of_files() {
    let fixture = OriginalsHome::new();
    let before = fixture.files();
    let list = fixture.home.path().join("list");
    let names = ["sub/longer-name.png", "p1.txt", "p1.png", "metadata.jsonl", "missing.png"];
    let paths = names.map(|name| fixture.folder.join(name).to_str().unwrap().to_owned());
    fs::write(&list, paths.join("\n")).unwrap();
    let from = ["--files-from", list.to_str().unwrap(), "--yes"];
    let to = ["--to", &fixture.target(), "--keep-folders"];
    for (name, kind) in [("copy", None), ("link", None), ("link", Some("symbolic"))] {
        let kind = kind.map(|kind| vec!["--as", kind]).unwrap_or_default();
        let act = [&["media", name][..], &from[..], &to[..], &kind[..]].concat();
        let (code, document, err) = fixture.ask(&act);
        assert_eq!(code, 9, "{name}: {err}");
        let expected = ["done", "done", "done", "left alone", "left alone"];
        assert_eq!(states(&document), expected, "{name}: {err}");
        assert!(err.contains("missing.png: it is not a picture or video of this dataset"), "{err}");
        let copy = Path::new(&to[1]).join("sub/longer-name.png");
        assert_eq!(fs::read(&copy).unwrap(), before[&fixture.folder.join("p0.png")]);
        let (code, _, err) = fixture.ask(&["media", "undo", "--yes"]);
        assert_eq!((code, fixture.files() == before), (0, true), "{name}: {err}");
    }
    let (code, document, err) = fixture.ask(&[&["media", "trash"][..], &from[..]].concat());
    assert_eq!((code, states(&document)[..3].to_vec()), (9, vec!["done"; 3]), "{err}");
    assert!(fixture.home.path().join("Trash/files/longer-name.png").is_file());
    assert_eq!(fixture.indexed().len(), 5);
    let (code, _, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!((code, fixture.files() == before), (0, true), "{err}");
}

#[test]
fn nothing_is_replaced_and_changed_files_stay() {
    let fixture = OriginalsHome::new();
    let media = format!("{},{}", fixture.media("p3.png"), fixture.media("p4.png"));
    let to = fixture.target();
    fs::create_dir(&to).unwrap();
    fs::write(Path::new(&to).join("p3.png"), "of somebody else").unwrap();
    let before = fixture.files();
    let (code, document, err) =
        fixture.ask(&["media", "move", "--media", &media, "--to", &to, "--yes"]);
    assert_eq!((code, states(&document)), (9, vec!["done", "left alone"]), "{err}");
    assert!(err.contains("is the name of an existing file"), "{err}");
    assert_eq!(fs::read(Path::new(&to).join("p3.png")).unwrap(), b"of somebody else");
    let list = fixture.home.path().join("list");
    paint(&fixture.folder.join("sub/p5.png"), 2);
    fs::write(&list, "p5.png\nsub/p5.png").unwrap();
    let act = ["media", "copy", "--files-from", list.to_str().unwrap(), "--yes", "--to", &to];
    let (code, document, err) = fixture.ask(&act);
    assert_eq!((code, states(&document)), (9, vec!["done", "left alone"]), "{err}");
    assert!(err.contains("`tessera media copy --keep-folders` keeps their folders"), "{err}");
    let (code, _, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!(code, 0, "{err}");
    fs::remove_file(fixture.folder.join("sub/p5.png")).unwrap();
    // Somebody takes the old name before the move is undone.
    fs::write(fixture.folder.join("p4.png"), "new").unwrap();
    let (code, document, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!((code, states(&document)), (9, vec!["failed"]), "{err}");
    assert!(err.contains("another file has its old name"), "{err}");
    fs::remove_file(fixture.folder.join("p4.png")).unwrap();
    let (code, _, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!((code, fixture.files() == before), (0, true), "{err}");
}

#[test]
fn new_members_and_missing_clusters_of_a_selection_are_named_before_its_files_are_acted_on() {
    let fixture = OriginalsHome::new();
    let (code, _, err) = fixture.ask(&["search", "browse", "--all", "--mark", "seen"]);
    assert_eq!(code, 0, "{err}");
    fs::copy(fixture.folder.join("p0.png"), fixture.folder.join("z.png")).unwrap();
    let trash = ["media", "trash", "--selection", "seen", "--dry-run"];
    let (code, _, err) = fixture.ask(&trash);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("1 cluster has members that were added after the selection"), "{err}");
    assert!(err.contains("p0.png has 7 media items and had 6"), "{err}");
    fs::remove_file(fixture.folder.join("p0.png")).unwrap();
    let (code, _, err) = fixture.ask(&trash);
    assert!(code == 9 && err.contains("omitted 1 entry that the dataset no longer has"), "{err}");
    fs::write(fixture.home.path().join("list"), "p1.png\nnowhere.png").unwrap();
    let list = fixture.home.path().join("list");
    let (code, _, err) =
        fixture.ask(&["media", "trash", "--dry-run", "--files-from", list.to_str().unwrap()]);
    assert_eq!(code, 9, "{err}");
    assert!(err.contains(fixture.folder.join("nowhere.png").to_str().unwrap()), "{err}");
}

#[test]
fn acting_needs_a_choice_a_local_folder_and_permission() {
    let fixture = OriginalsHome::new();
    let before = fixture.files();
    let (code, _, err) = fixture.ask(&["media", "trash", "--yes"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("name the files"), "{err}");
    let media = fixture.media("p3.png");
    let (code, _, err) =
        fixture.ask(&["media", "trash", "--media", &media, "--yes", "--read-only"]);
    assert_eq!(code, 6, "{err}");
    let file = fixture.folder.join("p1.txt");
    let inside = file.join("x");
    for (action, to) in [("move", &file), ("copy", &inside), ("link", &file)] {
        let act = ["media", action, "--media", &media, "--yes", "--to", to.to_str().unwrap()];
        let (code, _, err) = fixture.ask(&act);
        let reason = format!("{} is not a folder; give another one", file.display());
        assert!(code == 2 && err.contains(&reason), "{code} {err}");
    }
    let nobody = "cf8b3e78-0000-4954-a782-000000000001";
    let (code, _, err) = fixture.ask(&["media", "trash", "--media", nobody, "--yes"]);
    assert!(code == 5 && err.contains(nobody), "{code} {err}");
    let (code, _, err) = fixture.ask(&["media", "resume"]);
    assert_eq!(code, 1, "{err}");
    let serving = serve(fixture.home.path(), &[fixture.folder.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    for arguments in [&["media", "trash", "--media", &media, "--yes"][..], &["duplicates"][..]] {
        let (code, _, err) = outcome(&mut serving.asked(fixture.home.path(), arguments));
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("needs a local folder"), "{err}");
    }
    assert_eq!(fixture.files(), before);
}

#[test]
fn near_duplicates_that_are_not_files_of_the_folder_are_counted() {
    let fixture = OriginalsHome::new();
    let copies = fixture.home.path().join("copies");
    fs::create_dir(&copies).unwrap();
    fs::copy(fixture.folder.join("p1.png"), copies.join("uploaded.png")).unwrap();
    let add = ["media", "add", "--dir", copies.to_str().unwrap(), "--wait", "--reindex"];
    let (code, _, err) = fixture.ask(&add);
    assert_eq!(code, 0, "{err}");
    let (code, document, err) = fixture.ask(&["duplicates"]);
    let reason = "it was uploaded or unpacked, so its file belongs to the index";
    assert_eq!(document["left_out"], json!([{"reason": reason, "media": 1}]), "{code} {err}");
    assert!(err.contains(&format!("1 near-duplicate is omitted: {reason}")), "{err}");
}

#[test]
fn near_duplicates_are_gone_after_the_others_of_many_are_trashed() {
    let fixture = OriginalsHome::new();
    let picture = image::open(fixture.folder.join("p1.png")).unwrap();
    for width in 100..200 {
        let copy = picture.resize(width, width, image::imageops::FilterType::Triangle);
        copy.save(fixture.folder.join(format!("{width}.png"))).unwrap();
    }
    let trash = ["duplicates", "--keep", "largest", "--trash", "--yes"];
    let (code, _, err) = fixture.ask(&trash);
    assert_eq!(code, 0, "{err}");
    let (code, document, err) = fixture.ask(&["check", "--max-duplicates", "0"]);
    assert_eq!(code, 0, "{document} {err}");
    let (_, document, _) = fixture.ask(&["duplicates"]);
    assert_eq!(document["groups"], 0, "{document}");
}

#[test]
fn duplicates_are_listed_and_the_rule_decides() {
    let fixture = OriginalsHome::new();
    let before = fixture.files();
    let (code, document, err) = fixture.ask(&["duplicates"]);
    assert_eq!((code, &document["groups"]), (0, &1.into()), "{err} {document}");
    let decisions = |document: &Value| -> Vec<(String, String)> {
        let rows = document["images"].as_array().unwrap().iter();
        let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
        let name = |row: &Value| text(row, "file").rsplit('/').next().unwrap().to_owned();
        rows.map(|row| (text(row, "decision"), name(row))).collect()
    };
    let decided = |keep, remove| {
        [("keep", keep), ("remove", remove)]
            .map(|(a, b): (&str, &str)| (a.to_owned(), b.to_owned()))
    };
    for (rule, keep, remove) in [
        ("shortest-name", "p0.png", "longer-name.png"),
        ("in:sub", "longer-name.png", "p0.png"),
        ("path:*.png", "p0.png", "longer-name.png"),
    ] {
        let (code, document, err) = fixture.ask(&["duplicates", "--keep", rule]);
        assert_eq!(
            (code, decisions(&document)),
            (0, decided(keep, remove).to_vec()),
            "{rule} {err}"
        );
        assert!(err.contains("1 group with 1 copy to remove"), "{err}");
    }
    let (code, document, err) =
        fixture.ask(&["duplicates", "--keep", "in:elsewhere", "--trash", "--yes"]);
    assert_eq!((code, document), (9, Value::Null), "{err}");
    assert!(err.contains("1 group has no image that the rule keeps"), "{err}");
    for refused in
        [&["--trash"][..], &["--keep", "newest"], &["--keep", "oldest", "--link", "symbolic"]]
    {
        assert_eq!(fixture.ask(&[&["duplicates"][..], refused].concat()).0, 2, "{refused:?}");
    }
    assert_eq!(fixture.files(), before);

    let trash = ["duplicates", "--keep", "shortest-name", "--trash"];
    let (code, document, err) = fixture.ask(&[&trash[..], &["--dry-run"]].concat());
    assert_eq!((code, states(&document)), (0, vec!["planned"]), "{err}");
    assert_eq!(fixture.files(), before);
    let (code, document, err) = fixture.ask(&[&trash[..], &["--yes"]].concat());
    assert_eq!((code, states(&document)), (0, vec!["done"]), "{err}");
    assert!(!fixture.folder.join("sub/longer-name.png").exists());
    assert_eq!(fixture.ask(&["duplicates"]).1["groups"], 0);
    let (code, _, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!((code, fixture.files() == before), (0, true), "{err}");
}

#[test]
fn of_equal_copies_the_one_with_human_work_stays() {
    let fixture = OriginalsHome::new();
    // By their names alone, the first of each pair would stay.
    for (name, copy) in
        [("p2.png", "copy-two.png"), ("p3.png", "copy-three.png"), ("p4.png", "copy-four.png")]
    {
        fs::copy(fixture.folder.join(name), fixture.folder.join(copy)).unwrap();
    }
    fs::write(fixture.folder.join("copy-three.txt"), "the only caption").unwrap();
    let tag = |change: &[&str], name: &str| {
        let media = fixture.media(name);
        let (code, _, err) = fixture.ask(&[&["tag"][..], change, &["--media", &media]].concat());
        assert_eq!(code, 0, "{err}");
    };
    tag(&["add", "picked"], "copy-two.png");
    tag(&["rate", "5"], "longer-name.png");
    tag(&["add", "rejected"], "p4.png");
    let removed = |rule: &str| -> (Vec<String>, String) {
        let trash = ["duplicates", "--keep", rule, "--trash", "--dry-run"];
        let (code, document, err) = fixture.ask(&trash);
        assert_eq!(code, 0, "{err}");
        let rows = document["files"].as_array().unwrap().iter();
        let path =
            |row: &Value| row["source"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let mut names: Vec<String> = rows.map(path).collect();
        names.sort();
        (names, err)
    };
    let (files, err) = removed("largest");
    assert_eq!(files, ["p0.png", "p2.png", "p3.png", "p4.png"], "{err}");
    assert!(err.contains("1 file has marks or texts that no kept copy has"), "{err}");
    assert!(err.contains("p2.png (caption)"), "{err}");
    let (files, err) = removed("shortest-name");
    assert!(files.contains(&"copy-three.txt".to_owned()), "{files:?}");
    assert!(err.contains("3 files have marks or texts that no kept copy has"), "{err}");
    for marked in ["copy-two.png (✔)", "copy-three.png (caption)", "longer-name.png (★5)"] {
        assert!(err.contains(marked), "{marked}: {err}");
    }
    let (_, document, _) = fixture.ask(&["duplicates"]);
    let rows = document["images"].as_array().unwrap().iter();
    let marks: Vec<&str> =
        rows.filter_map(|row| row["marks"].as_str()).filter(|it| !it.is_empty()).collect();
    assert_eq!(marks, ["✖", "caption", "✔", "caption", "★5"], "{document}");
}

#[test]
fn of_equal_copies_the_one_with_objects_or_columns_stays() {
    let fixture = OriginalsHome::new();
    // By their names alone, the first of each pair would stay.
    for (name, copy) in [("p3.png", "copy-three.png"), ("p4.png", "copy-four.png")] {
        fs::copy(fixture.folder.join(name), fixture.folder.join(copy)).unwrap();
    }
    fs::write(fixture.folder.join("copy-three.txt"), "0 0.5 0.5 0.4 0.4\n").unwrap();
    let row = "{\"file_name\": \"copy-four.png\", \"weather\": \"rain\"}\n";
    fs::write(fixture.folder.join("metadata.jsonl"), row).unwrap();
    let trashed = |rule: &str| {
        let trash = ["duplicates", "--keep", rule, "--trash", "--dry-run"];
        let (code, document, err) = fixture.ask(&trash);
        assert_eq!(code, 0, "{err}");
        (document["files"].to_string(), err)
    };
    let (files, err) = trashed("largest");
    assert!(!files.contains("copy-") && !err.contains("no kept copy has"), "{files} {err}");
    let (_, err) = trashed("path:p?.png");
    assert!(err.contains("2 files have marks or texts that no kept copy has"), "{err}");
    for marked in ["copy-three.png (objects)", "copy-four.png (columns)"] {
        assert!(err.contains(marked), "{marked}: {err}");
    }
}

#[test]
fn identical_copies_become_links_and_are_separated_again() {
    let fixture = OriginalsHome::new();
    let before = fixture.files();
    let link = ["duplicates", "--identical", "--keep", "shortest-name", "--link", "hard", "--yes"];
    let (code, document, err) = fixture.ask(&link);
    assert_eq!((code, states(&document)), (0, vec!["done"]), "{err}");
    let inode = |name: &str| fs::metadata(fixture.folder.join(name)).unwrap().ino();
    assert_eq!(inode("p0.png"), inode("sub/longer-name.png"));
    assert_eq!(fixture.files(), before);
    let (code, _, err) = fixture.ask(&link);
    assert!(code == 0 && err.contains("0 groups with 0 copies to remove"), "{code} {err}");
    let (code, _, err) = fixture.ask(&["media", "undo", "--yes"]);
    assert_eq!((code, inode("p0.png") == inode("sub/longer-name.png")), (0, false), "{err}");
    assert_eq!(fixture.files(), before);
    // A move keeps the path below the folder.
    let to = fixture.target();
    let (code, _, err) =
        fixture.ask(&["duplicates", "--keep", "shortest-name", "--move", &to, "--yes"]);
    assert_eq!(code, 0, "{err}");
    assert!(Path::new(&to).join("sub/longer-name.png").is_file());
}

#[test]
fn relative_paths_of_a_list_lead_from_the_folder_of_the_dataset_too() {
    let fixture = OriginalsHome::new();
    let home = fixture.home.path();
    fs::write(home.join("list"), "sub/longer-name.png\np5.png\n").unwrap();
    let folder = fixture.folder.to_str().unwrap();
    let act = |name: &str| {
        let to = fixture.target();
        let act = ["media", name, "--to", &to, "--files-from", "list", "--folder", folder, "--yes"];
        outcome(tessera(home, &act).current_dir(home))
    };
    let (code, out, err) = act("copy");
    assert_eq!((code, out.matches("done").count()), (0, 2), "{out}{err}");
    // Files of these names beside the list are ambiguous.
    paint(&home.join("p5.png"), 4);
    let (code, _, err) = act("move");
    assert!(code == 2 && err.contains("p5.png is in the current folder and in"), "{code}: {err}");
    let tag = ["tag", "add", "x", "--files-from", "list", "--folder", folder];
    let (code, _, err) = outcome(tessera(home, &tag).current_dir(home));
    assert!(code == 2 && err.contains("write its whole path"), "{code}: {err}");
    let (code, _, err) = outcome(tessera(home, &tag[..]).current_dir(&fixture.folder));
    assert_eq!(code, 2, "the list is not there: {err}");
    fs::remove_file(home.join("p5.png")).unwrap();
    let (code, _, err) = outcome(tessera(home, &tag).current_dir(home));
    assert_eq!(code, 0, "{err}");
}

#[test]
fn lists_come_from_standard_input_too() {
    let fixture = OriginalsHome::new();
    let folder = fixture.folder.to_str().unwrap();
    let act = [
        "media",
        "copy",
        "--folder",
        folder,
        "--files-from",
        "-",
        "--to",
        &fixture.target(),
        "--yes",
    ];
    let (code, out, err) = piped(fixture.home.path(), &act, "\n");
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("--files-from -: no file is listed"), "{err}");
    let (code, out, err) = piped(fixture.home.path(), &act, &format!("{folder}/p5.png\n"));
    assert_eq!((code, out.lines().count()), (0, 1), "{err}");
    assert!(out.starts_with("done\t"), "{out}");
    assert!(Path::new(&fixture.target()).join("p5.png").is_file());
}
