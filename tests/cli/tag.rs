//! Tests the commands that tag and rate media, over a profile of a local folder and over a running service.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{add_local_profile, home, outcome, picture, run, serve};

fn with_profile() -> (tempfile::TempDir, std::path::PathBuf) {
    let (home, folder) = home();
    for name in ["b.png", "c.png"] {
        picture(&folder.join(name));
    }
    let path = folder.to_str().unwrap();
    add_local_profile(home.path(), "here", path);
    (home, folder)
}

/// Runs a command over the profile, and returns its document.
fn tag(home: &Path, arguments: &[&str]) -> Value {
    let (code, out, err) = run(home, &[arguments, &["--profile", "here", "--json"]].concat());
    assert_eq!(code, 0, "{arguments:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

/// Returns the names of the tags with their counts.
fn listed(home: &Path) -> Vec<String> {
    let list = tag(home, &["tag", "list"]);
    let tags = list["tags"].as_array().unwrap().iter();
    tags.map(|tag| format!("{} {}", tag["name"].as_str().unwrap(), tag["count"])).collect()
}

#[test]
fn media_are_tagged_by_files_searches_and_selections() {
    let (home, folder) = with_profile();
    let home = home.path();
    let files = home.join("files");
    fs::write(&files, format!("a.png\n{}\n", folder.join("b.png").display())).unwrap();
    let files = files.to_str().unwrap();
    let added = tag(home, &["tag", "add", "night", "wet", "--files-from", files]);
    assert_eq!(added["changed"], 2, "{added}");
    // A request cannot name a file whose name is not UTF-8. The others are tagged.
    let (list, odd) = (home.join("odd"), b"b.png\nb\xe9.png\n");
    for (names, expected, changed) in [(&odd[..], 9, "1"), (&odd[6..], 2, "")] {
        fs::write(&list, names).unwrap();
        let list = list.to_str().unwrap();
        let add =
            ["tag", "add", "odd", "--files-from", list, "--profile", "here", "--jq", ".changed"];
        let (code, out, err) = run(home, &add);
        assert_eq!((code, out.trim()), (expected, changed), "{err}");
        assert!(err.contains("not UTF-8"), "{err}");
    }
    tag(home, &["tag", "delete", "odd"]);
    assert_eq!(tag(home, &["tag", "rate", "4", "--all"])["changed"], 3);
    let id = tag(home, &["tag", "list"])["tags"][0]["id"].as_str().unwrap().to_owned();
    let picked = tag(home, &["tag", "add", "picked", "--tag", &id]);
    assert_eq!(picked["changed"], 2, "a search by a tag");
    let named = tag(home, &["query", "add", "tags", "is", "night", "--vql", "[]"]);
    assert_eq!(named[0]["tags"]["value"], json!([id]));
    let (code, _, err) = run(home, &["query", "add", "tags", "is", "none", "--vql", "[]"]);
    assert!(code == 5 && err.contains("the dataset has no tag `none`"), "{code}: {err}");
    let rejected = tag(home, &["tag", "add", "rejected", "--all"]);
    assert_eq!(rejected["changed"], 3);
    assert_eq!(listed(home), ["night 2", "wet 2", "picked 0", "rejected 3"]);
    let found = tag(home, &["search", "browse", "--tag", &id, "--mark", "dark"]);
    assert!(found["clusters"][0]["previews"][0]["rating"] == 4, "{found}");
    let (code, _, err) = run(home, &["tag", "remove", "nope", "--all"]);
    assert!(code == 5 && err.contains("the dataset has no tag `nope`"), "{code}: {err}");
    let removed = tag(home, &["tag", "remove", "wet", "--selection", "dark"]);
    assert_eq!(removed["changed"], 2);
    assert_eq!(tag(home, &["tag", "undo"])["changed"], 2);
    assert_eq!(tag(home, &["tag", "rename", "wet", "rain"])["changed"], 2);
    tag(home, &["tag", "create", "later", "cyan"]);
    assert_eq!(tag(home, &["tag", "delete", "night"])["changed"], 2);
    assert_eq!(listed(home), ["rain 2", "picked 0", "rejected 3", "later 0"]);
    let lines = fs::read_to_string(folder.join(".tessera/tags.jsonl")).unwrap();
    assert!(lines.contains(r#"{"tag":"later","color":"cyan"}"#), "{lines}");
    assert_eq!(lines.lines().filter(|line| line.contains(r#""rating":4"#)).count(), 3, "{lines}");
}

#[test]
fn a_name_with_an_invisible_character_is_printed_and_found_as_it_is() {
    let (home, _) = with_profile();
    let home = home.path();
    let name = "می\u{200c}خواهم";
    tag(home, &["tag", "add", name, "--all"]);
    assert_eq!(listed(home), [format!("{name} 3")]);
    let found = tag(home, &["search", "browse", "--tag", name, "--flat", "--all"]);
    assert_eq!(found["previews"].as_array().unwrap().len(), 3, "{found}");
    let (_, out, err) = run(home, &["tag", "undo", "--profile", "here"]);
    assert!(err.contains("undone: add می<U+200C>خواهم (3 media items)"), "{out}{err}");
}

#[test]
fn what_is_picked_and_what_is_not_rejected_is_exported() {
    let (home, folder) = with_profile();
    let home = home.path();
    let list = home.join("list");
    for (name, file) in [("picked", "a.png"), ("rejected", "b.png")] {
        fs::write(&list, file).unwrap();
        tag(home, &["tag", "add", name, "--files-from", list.to_str().unwrap()]);
    }
    // All pictures are equal, so they are members of one cluster.
    let flat = ["--flat", "--all", "--mark", "rejected"];
    let found = tag(home, &[&["search", "browse", "--tag", "rejected"][..], &flat].concat());
    assert_eq!(found["previews"].as_array().unwrap().len(), 1, "{found}");
    for (content, expected) in [
        (&["--tag", "picked"][..], &["a.png"][..]),
        (&["--selection", "rejected", "--rest"], &["a.png", "c.png"]),
    ] {
        let rows = home.join("rows");
        let start = ["export", "start", "--list", rows.to_str().unwrap(), "--force"];
        tag(home, &[&start[..], content].concat());
        let rows = fs::read_to_string(rows).unwrap();
        let path = |row: &str| serde_json::from_str::<Value>(row).unwrap()["file_path"].clone();
        let mut files: Vec<_> = rows.lines().map(path).collect();
        files.sort_by_key(ToString::to_string);
        assert_eq!(files, expected, "{content:?}");
    }
    let folder = folder.to_str().unwrap();
    let (code, out, err) = run(home, &["search", "browse", "--tag", "none", "--folder", folder]);
    assert!(code == 5 && out.is_empty() && err.contains("no tag `none`"), "{code}: {err}");
    assert_eq!(run(home, &["profile", "remove", "here", "--yes"]).0, 0);
    let (code, _, err) = run(home, &["query", "add", "tags", "is", "picked", "--vql", "[]"]);
    assert!(code == 2 && err.contains("`tessera tag list` prints"), "{code}: {err}");
}

#[test]
fn the_file_restores_the_tags_of_a_lost_index_and_a_bad_line_is_reported() {
    let (home, folder) = with_profile();
    tag(home.path(), &["tag", "add", "night", "--all"]);
    let file = folder.join(".tessera/tags.jsonl");
    let lines = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{lines}{{\"path\": 7}}\n")).unwrap();
    let other = tempfile::tempdir().unwrap();
    let path = folder.to_str().unwrap();
    add_local_profile(other.path(), "here", path);
    let (code, out, err) = run(other.path(), &["tag", "list", "--profile", "here", "--csv"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("night") && out.contains('3'), "{out}");
    assert!(err.contains("line 6: it is not an entry in JSON"), "{err}");
}

#[test]
fn wrong_uses_are_explained_and_change_nothing() {
    let (home, folder) = with_profile();
    let row = json!({"file_name": "a.png", "tags": ["given"]}).to_string();
    fs::write(folder.join("metadata.jsonl"), row).unwrap();
    for (arguments, expected) in [
        (&["tag", "delete", "given"][..], "a sidecar gives the tag `given`"),
        (&["tag", "add", "night"], "name the media"),
        (&["tag", "add", "picked", "rejected", "--all"], "cannot be picked and rejected"),
        (&["tag", "rate", "6", "--all"], "6 is not in 0..=5"),
        (&["tag", "create", "x", "mauve"], "unknown color"),
        (&["tag", "undo"], "There is no change to undo"),
        (&["tag", "rename", "a", "b"], "Tag not found"),
    ] {
        let (code, _, err) = run(home.path(), &[arguments, &["--profile", "here"]].concat());
        assert!(code != 0 && err.contains(expected), "{arguments:?}: {code} {err}");
    }
    let list = home.path().join("list");
    fs::write(&list, "nowhere.png").unwrap();
    let add = ["tag", "add", "x", "--files-from", list.to_str().unwrap(), "--profile", "here"];
    for arguments in [&add[..], &[&add[..], &["--dry-run"]].concat()] {
        let (code, _, err) = run(home.path(), arguments);
        assert!(code == 5 && err.contains("nowhere.png"), "{arguments:?}: {code} {err}");
    }
    let rehearsal = ["tag", "add", "x", "--all", "--profile", "here", "--dry-run"];
    let (code, _, err) = run(home.path(), &rehearsal);
    assert!(code == 0 && err.contains("of 3 media items"), "{code} {err}");
    assert_eq!(listed(home.path()), ["given 1"]);
}

#[test]
fn an_expression_that_cannot_be_read_is_refused_before_the_change() {
    let (home, _) = with_profile();
    let add = ["tag", "add", "x", "--all", "-p", "here"];
    let refused = run(home.path(), &[&add[..], &["--jq", ".["]].concat());
    assert_eq!((refused.0, listed(home.path()).len()), (2, 0), "{}", refused.2);
    let changed = run(home.path(), &[&add[..], &["--jq", ".schema.x"]].concat());
    assert_eq!((changed.0, listed(home.path())), (1, vec!["x 3".to_owned()]), "{}", changed.2);
    assert_eq!(tag(home.path(), &["tag", "remove", "x", "--all"])["changed"], 3);
}

#[test]
fn no_command_ignores_one_of_two_choices_of_media() {
    let (home, _) = with_profile();
    fs::write(home.path().join("list"), "a.png").unwrap();
    let list = format!("--files-from {}", home.path().join("list").display());
    let media = "--media 9a205a5e-0000-46be-83a3-000000000001";
    for (command, target, choices) in [
        ("tag add x", "--all", &["--label cat", "--tag wet", "--caption van", "--search vans"][..]),
        ("tag add x", "--all", &["--vql []", "--max-score 0.5", "--selection x", media]),
        ("tag add x", &list, &["--caption van", "--selection-file x"]),
        ("tag remove picked", "--all", &["--label cat", media]),
        ("tag remove picked", &list, &["--label cat"]),
        ("tag rate 3", "--all", &["--label cat"]),
        ("tag rate 3", &list, &["--label cat", media]),
        ("media move --to x --yes", &list, &["--label cat", media]),
        ("media copy --to x --yes", &list, &["--label cat"]),
        ("media link --to x --yes", &list, &["--label cat"]),
        ("media trash --yes", &list, &["--label cat", "--selection x"]),
        ("export start", media, &["--label cat", "--caption van"]),
        ("dataset diverse 2", media, &["--label cat"]),
    ] {
        for choice in choices {
            let line = format!("{command} {target} {choice} --profile here");
            let (code, _, err) = run(home.path(), &line.split(' ').collect::<Vec<_>>());
            assert!(code == 2 && err.contains("not both"), "{line}: {code} {err}");
        }
    }
    assert_eq!(listed(home.path()), [""; 0]);
}

#[test]
fn a_running_service_sees_the_change_at_once() {
    let (home, folder) = home();
    let home = home.path();
    let serving = serve(home, &["--no-auth", folder.to_str().unwrap()]);
    let asked = |arguments: &[&str]| outcome(&mut serving.asked(home, arguments));
    let (code, _, err) = asked(&["tag", "add", "night", "--all"]);
    assert_eq!(code, 0, "{err}");
    let (_, out, err) = asked(&["search", "browse", "--jsonl"]);
    assert!(out.contains("night"), "{out}{err}");
    let (code, out, _) = asked(&["tag", "rate", "3", "--all", "--print", "curl"]);
    assert!(code == 0 && out.contains("/tags/change"), "{out}");
}
