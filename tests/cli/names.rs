//! Tests names and the beginnings of IDs: what shells complete, and what commands accept.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use super::{Serving, outcome, picture, run, serve, tessera};

fn serve_folder() -> (TempDir, Serving) {
    let home = tempfile::tempdir().unwrap();
    for name in ["street-cams", "two words"] {
        let folder = home.path().join(name);
        fs::create_dir(&folder).unwrap();
        picture(&folder.join("a.png"));
    }
    let folders = ["street-cams", "two words"].map(|name| home.path().join(name));
    let [one, other] = folders.each_ref().map(|folder| folder.to_str().unwrap());
    let serving = serve(home.path(), &[one, other, "--no-auth"]);
    (home, serving)
}

/// Returns what a shell shows after these words in an empty folder. The last word is still being typed.
fn completed(serving: Option<&Serving>, home: &Path, words: &[&str]) -> Vec<String> {
    completed_in(tempfile::tempdir().unwrap().path(), serving, home, words)
}

fn completed_in(
    folder: &Path,
    serving: Option<&Serving>,
    home: &Path,
    words: &[&str],
) -> Vec<String> {
    let words = [&["--", "tessera"], words].concat();
    let mut command = match serving {
        Some(serving) => serving.asked(home, &words),
        None => tessera(home, &words),
    };
    command.env("TESSERA_COMPLETE", "bash").current_dir(folder);
    command.env("_CLAP_COMPLETE_INDEX", (words.len() - 2).to_string());
    let (code, out, err) = outcome(&mut command);
    assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
    // The script for bash expects this character after each candidate.
    out.split_terminator('\u{b}').map(str::to_owned).collect()
}

#[test]
fn shells_complete_commands_and_names() {
    let (home, serving) = serve_folder();
    let home = home.path();
    assert_eq!(completed(None, home, &["sea"]), ["search"]);
    let datasets = completed(Some(&serving), home, &["dataset", "show", ""]);
    assert!(datasets.contains(&"street-cams".to_owned()), "{datasets:?}");
    assert_eq!(completed(Some(&serving), home, &["dataset", "show", "two"]), [r"two\ words"]);
    assert_eq!(completed(Some(&serving), home, &["search", "--dataset", "str"]), ["street-cams"]);

    let search =
        ["search", "browse", "--dataset", "street-cams", "--mark", "vans", "--save", "all"];
    let (code, _, err) = outcome(&mut serving.asked(home, &search));
    assert_eq!(code, 0, "{err}");
    let of_service = |words: &[&str]| completed(Some(&serving), home, words);
    assert_eq!(of_service(&["export", "start", "--selection", "v"]), ["vans"]);
    assert_eq!(of_service(&["query", "run", "a"]), ["all"]);

    let url = serving.1["base_url"].as_str().unwrap();
    let add = ["profile", "add", "lab", "--kind", "onprem", "--base-url", url];
    let (code, _, err) = run(home, &add);
    assert_eq!(code, 0, "{err}");
    assert_eq!(completed(None, home, &["profile", "use", "l"]), ["lab"]);
    // The options of the line that is being typed choose the deployment.
    assert_eq!(
        completed(None, home, &["--profile", "lab", "dataset", "show", "s"]),
        ["street-cams"]
    );
}

#[test]
fn shells_complete_folders_wherever_a_command_takes_one_and_values() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    fs::create_dir_all(home.join("photos/2024")).unwrap();
    fs::write(home.join("phone.txt"), "a file").unwrap();
    let completed = |words: &[&str]| completed_in(home, None, home, words);
    for words in [
        &["pho"][..],
        &["other", "pho"],
        &["check", "pho"],
        &["report", "pho"],
        &["duplicates", "pho"],
        &["dataset", "diverse", "10", "pho"],
        &["dataset", "show", "pho"],
        &["export", "start", "pho"],
    ] {
        assert_eq!(completed(words), ["photos/"], "{words:?}");
    }
    assert_eq!(completed(&["check", "~/photos/2"]), ["~/photos/2024/"]);
    assert_eq!(completed(&["export", "start", "--format", "co"]), ["coco"]);
    assert_eq!(completed(&["duplicates", "--keep", "b"]), ["best-quality"]);
    assert_eq!(completed(&["duplicates", "--keep=pa"]), ["--keep=path:"]);
}

#[test]
fn bash_completes_the_part_after_an_equals_sign_or_a_colon() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for name in ["day:one", "day:two three"] {
        fs::create_dir_all(home.join(name)).unwrap();
    }
    let url = "http://127.0.0.1:1";
    let (code, _, err) =
        run(home, &["profile", "add", "lab", "--kind", "onprem", "--base-url", url]);
    assert_eq!(code, 0, "{err}");
    // Bash divides the line at blanks, `=` and `:`, and replaces the word after the last one.
    let complete = |line: &str, words: &str, current: &str| {
        let script = format!(
            r#"tessera() {{ "$TESSERA" "$@"; }}; source <(tessera completion bash); COMP_LINE="{line}"
            COMP_POINT=${{#COMP_LINE}} COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _tessera tessera "{current}"; printf '%s|' "${{COMPREPLY[@]}}""#
        );
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", &script]).env("TESSERA", env!("CARGO_BIN_EXE_tessera"));
        outcome(bash.env("XDG_CONFIG_HOME", home).env("HOME", home).current_dir(home)).1
    };
    for (line, words, current, expected) in [
        ("tessera --profile=l", "tessera --profile = l", "l", "lab|"),
        ("tessera --profile=", "tessera --profile =", "", "lab|"),
        ("tessera --profile l", "tessera --profile l", "l", "lab|"),
        ("tessera check  day:o", "tessera check day : o", "o", "one/|"),
        ("tessera check day:t", "tessera check day : t", "t", r"two\ three/|"),
        ("tessera check --folder=day:o", "tessera check --folder = day : o", "o", "one/|"),
    ] {
        assert_eq!(complete(line, words, current), expected, "{line}");
    }
}

#[test]
fn without_a_service_names_are_missing_and_nothing_is_said() {
    let home = tempfile::tempdir().unwrap();
    let nowhere = ["--base-url", "http://127.0.0.1:1", "--kind", "onprem", "dataset", "show", "x"];
    assert_eq!(completed(None, home.path(), &nowhere), [] as [&str; 0]);
    fs::create_dir(home.path().join("tessera")).unwrap();
    fs::write(home.path().join("tessera/config.toml"), "not a setting").unwrap();
    assert_eq!(completed(None, home.path(), &["profile", "use", "x"]), [] as [&str; 0]);
}

#[test]
fn the_beginning_of_an_id_names_a_dataset() {
    let (home, serving) = serve_folder();
    let home = home.path();
    let id = serving.1["datasets"][0]["id"].as_str().unwrap();
    let ask = |name: &str| {
        let (code, out, err) =
            outcome(&mut serving.asked(home, &["dataset", "show", name, "--json"]));
        (code, serde_json::from_str::<Value>(&out).unwrap_or_default()["id"].clone(), err)
    };
    let (code, found, err) = ask(&id[..8]);
    assert_eq!((code, found.as_str()), (0, Some(id)), "{err}");
    let (code, _, err) = ask(&id[..7]);
    assert_eq!(code, 5, "{err}");
    assert!(err.contains("available: street-cams, two words"), "{err}");
}
