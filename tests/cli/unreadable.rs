//! Tests files and folders that cannot be read or written for a while: nothing is lost, and everything is read once it
//! can be.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{home, outcome, picture, run, tessera};

/// Wraps a command in another one, such as a shell.
pub(super) fn wrapped(command: &Command, by: &[&str]) -> Command {
    let mut wrapper = Command::new(by[0]);
    wrapper.args(&by[1..]).arg(command.get_program()).args(command.get_args());
    wrapper.stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapper.env(name, value),
            None => wrapper.env_remove(name),
        };
    }
    wrapper
}

/// Runs a command whose access the permissions of files restrict, even if root runs the tests.
fn run_restricted(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = tessera(home, arguments);
    if rustix::process::geteuid().is_root() {
        let no_override = "--bounding-set=-dac_override,-dac_read_search";
        command = wrapped(&command, &["setpriv", no_override]);
    }
    outcome(&mut command)
}

fn document(home: &Path, arguments: &[&str]) -> (Value, String) {
    let (code, out, err) = run_restricted(home, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{arguments:?}: {err}");
    (serde_json::from_str(&out).unwrap(), err)
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn counts(rescan: &Value) -> [&Value; 4] {
    ["added", "changed", "removed", "indexing"].map(|key| &rescan[key])
}

#[test]
fn a_file_that_could_not_be_read_is_read_once_it_can_be() {
    let (home, folder) = home();
    let [folder, media, sidecar] = ["", "b.png", "a.txt"].map(|name| folder.join(name));
    picture(&media);
    fs::write(&sidecar, "a red boat").unwrap();
    for file in [&media, &sidecar] {
        allow(file, 0o000);
    }
    let home = home.path();
    let at = ["--folder", folder.to_str().unwrap()];
    let show = [&["dataset", "show"][..], &at].concat();
    let rescan = [&["dataset", "rescan"][..], &at].concat();
    let (shown, err) = document(home, &show);
    assert_eq!(shown["n_images"], 1, "{err}");
    assert!(err.contains("b.png: cannot be read (Permission denied)"), "{err}");
    let nothing = [&json!(0), &json!(0), &json!(0), &json!(false)];
    assert_eq!(counts(&document(home, &rescan).0), nothing, "it still cannot be read");
    for file in [&media, &sidecar] {
        allow(file, 0o644);
    }
    let (found, err) = document(home, &rescan);
    assert_eq!(counts(&found), [&json!(0), &json!(2), &json!(0), &json!(true)], "{err}");
    assert_eq!(document(home, &show).0["n_images"], 2);
    let caption = [&["search", "caption", "boat", "--paths"][..], &at].concat();
    let (_, out, err) = run_restricted(home, &caption);
    assert!(out.contains("a.png"), "{out}{err}");
    assert_eq!(counts(&document(home, &rescan).0), nothing);
}

#[test]
fn the_files_of_a_folder_that_cannot_be_listed_are_kept() {
    let (home, folder) = home();
    let land = folder.join("land");
    fs::create_dir(&land).unwrap();
    picture(&land.join("c.png"));
    fs::write(land.join("c.txt"), "a green hill").unwrap();
    fs::write(folder.join("metadata.jsonl"), r#"{"file_name": "land/c.png", "label": "hill"}"#)
        .unwrap();
    let home = home.path();
    let at = ["--folder", folder.to_str().unwrap()];
    let show = [&["dataset", "show"][..], &at].concat();
    let rescan = [&["dataset", "rescan"][..], &at].concat();
    let caption = [&["search", "caption", "hill", "--paths"][..], &at].concat();
    assert_eq!(document(home, &show).0["n_images"], 2);
    // The files of a folder that may not be entered are listed, but nothing is known about them.
    for mode in [0o000, 0o444] {
        allow(&land, mode);
        let (found, err) = document(home, &rescan);
        assert_eq!(counts(&found), [&json!(0), &json!(0), &json!(0), &json!(true)], "{err}");
        assert!(err.contains("land: the folder cannot be listed"), "{err}");
        let (shown, _) = document(home, &show);
        assert_eq!(shown["n_images"], 2);
        assert!(shown.to_string().contains("the folder cannot be listed"), "{shown}");
        assert!(!shown.to_string().contains("metadata.jsonl"), "{shown}");
        let (_, out, err) = run_restricted(home, &caption);
        assert!(out.contains("c.png"), "{out}{err}");
        allow(&land, 0o755);
        let (_, err) = document(home, &rescan);
        assert!(!err.contains("cannot be listed"), "{err}");
    }
    fs::remove_dir_all(&land).unwrap();
    assert_eq!(document(home, &rescan).0["removed"], 2);
}

#[test]
fn a_folder_that_cannot_be_opened_for_want_of_descriptors_is_not_empty() {
    let (home, folder) = home();
    let arguments = ["search", "caption", "boat", "--folder", folder.to_str().unwrap()];
    assert_eq!(run(home.path(), &arguments).0, 0);
    for limit in 12..40 {
        let limited = format!("ulimit -n {limit}; exec \"$@\"");
        let command = tessera(home.path(), &arguments);
        let (_, _, err) = outcome(&mut wrapped(&command, &["sh", "-c", &limited, "sh"]));
        assert!(!err.contains("is empty"), "{limit}: {err}");
    }
    let (code, out, err) =
        run(home.path(), &["dataset", "show", "--json", "--folder", arguments[4]]);
    assert!(code == 0 && out.contains("\"n_images\": 1"), "{out}{err}");
}

#[test]
fn the_first_change_of_tags_in_a_read_only_folder_is_reported() {
    let (home, folder) = home();
    let at = ["--folder", folder.to_str().unwrap()];
    let tag =
        |name| run_restricted(home.path(), &[&["tag", "add", name, "--all"][..], &at].concat());
    assert_eq!(tag("one").0, 0);
    allow(&folder.join(".tessera"), 0o555);
    let (code, _, err) = tag("two");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("the tags are kept only in the index"), "{err}");
}

#[test]
fn an_edited_file_of_tags_in_a_read_only_folder_is_read() {
    let (home, folder) = home();
    let at = ["--folder", folder.to_str().unwrap()];
    let tag = |arguments: &[&str]| {
        let (code, out, err) = run_restricted(home.path(), &[&["tag"], arguments, &at].concat());
        assert_eq!(code, 0, "{arguments:?}: {err}");
        (out, err)
    };
    tag(&["add", "one", "two", "--all"]);
    let (tags, file) = (folder.join(".tessera"), folder.join(".tessera/tags.jsonl"));
    let text = fs::read_to_string(&file).unwrap();
    let kept = text.lines().filter(|line| !line.starts_with("{\"tag\":\"two\""));
    let edited: String = kept.map(|line| line.replace(",\"two\"", "") + "\n").collect();
    assert!(!edited.contains("two") && edited.contains("one"), "{text}");
    fs::write(&file, edited).unwrap();
    allow(&tags, 0o555);
    let (listed, err) = tag(&["list", "--csv"]);
    assert!(listed.contains("one") && !listed.contains("two"), "{listed}{err}");
    assert!(!err.contains("only in the index"), "{err}");
    assert_eq!(fs::read_dir(&tags).unwrap().count(), 1, "the former tags are not kept");
}
