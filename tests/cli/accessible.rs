//! Tests the accessible mode of the real binary in a pipe: typed lines go in, announced lines come
//! out.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs `tessera demo` with these typed lines. Returns the exit code and the printed lines.
fn converse(answers: &str, options: &[&str]) -> (Option<i32>, Vec<String>) {
    converse_with("", answers, options)
}

/// Does the same as `converse`, with this settings file.
fn converse_with(settings: &str, answers: &str, options: &[&str]) -> (Option<i32>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tessera")).unwrap();
    fs::write(folder.path().join("tessera/config.toml"), settings).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(options).args(["demo", "--images", "12", "--data"]).arg(folder.path());
    for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        command.env(variable, folder.path());
    }
    command.current_dir(folder.path());
    command.env_remove("ACCESSIBLE").env_remove("TESSERA_ACCESSIBLE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let reported = String::from_utf8(ended.stdout).unwrap();
    assert!(!reported.contains('\x1b'), "no escape sequence may be in it: {reported:?}");
    (ended.status.code(), reported.lines().map(str::to_owned).collect())
}

#[test]
fn an_accessible_session_browses_searches_selects_and_exports() {
    let answers = "wait\nsimilar 1\ncaption\na balloon\n\nselect 1\nexport-basket\n\nwait\njobs\ndownload\nwait\nquit\n";
    let (code, lines) = converse(answers, &["--accessible"]);
    let reported = lines.join("\n");
    assert_eq!(code, Some(0), "{reported}");
    assert!(
        lines[0].starts_with("status: accessible mode is on, because --accessible"),
        "{reported}"
    );
    for line in &lines {
        let word = line.split(':').next().unwrap();
        assert!(["status", "item", "question", "error"].contains(&word), "{line}");
    }
    let has = |words: &str| assert!(reported.contains(words), "`{words}` is missing:\n{reported}");
    has(". Cluster c01, ");
    has(", first file ");
    has("item: similar to ");
    has("score 0.00 same");
    has("item: captions matching a balloon: page 1");
    has("Cluster c01, selected, ");
    has("1 entry verified");
    has("status: no task is running");
    has("status: left");
    assert!(!reported.contains("error:"), "{reported}");
}

#[test]
fn a_dataset_opens_as_the_settings_say() {
    let settings = "[ui]\naccessible = true\n[search]\ngranularity = 4\nentity = 'OBJECTS'\n";
    let (code, lines) = converse_with(settings, "quit\n", &[]);
    let reported = lines.join("\n");
    assert_eq!(code, Some(0), "{reported}");
    assert!(reported.contains("because ui.accessible is set"), "{reported}");
    assert!(reported.contains("page 1, granularity 4, objects, "), "{reported}");
}

#[test]
fn a_profile_opens_its_own_folder_after_another_one_was_open() {
    let (home, pictures) = super::home();
    let home = home.path();
    let dogs = super::picture_folder(home, "dogs", &["dog.png"]);
    let [pictures, dogs] = [&pictures, &dogs].map(|folder| folder.to_str().unwrap());
    super::add_local_profile(home, "mine", dogs);
    for (options, file) in [(["--folder", pictures], "a.png"), (["--profile", "mine"], "dog.png")] {
        let arguments = [&["--accessible"], &options[..]].concat();
        let (code, out, err) = super::piped(home, &arguments, "wait\nquit\n");
        assert_eq!(code, 0, "{err}");
        assert!(out.contains(&format!("first file {file}")), "{out}");
    }
}

#[test]
fn answers_that_end_or_make_no_sense_are_survived() {
    let (code, lines) = converse("99x\nprevious-page\nexport-basket\n", &["--accessible=true"]);
    let reported = lines.join("\n");
    assert_eq!(code, Some(0), "{reported}");
    for words in [
        "error: 99x is not an action, a key or a number",
        "status: this is the first page",
        "status: left; exports continue at the service, or when the local folder is opened again",
    ] {
        assert!(reported.contains(words), "`{words}` is missing:\n{reported}");
    }
}

/// A home with the local profiles `cats` and `dogs`, in which sessions are accessible.
fn home_with_profiles() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("tessera");
    fs::create_dir(&config).unwrap();
    let profiles = ["cats", "dogs"].map(|name| {
        let folder = home.path().join("pictures").join(name);
        fs::create_dir_all(&folder).unwrap();
        super::picture(&folder.join("one.jpg"));
        let folder = folder.display();
        format!("[profiles.{name}]\nkind = 'local'\nfolder = '{folder}'\n")
    });
    let settings = format!("[ui]\naccessible = true\n{}", profiles.concat());
    fs::write(config.join("config.toml"), settings).unwrap();
    home
}

/// Opens a session and ends it. Returns the exit code and what was printed.
fn visit(home: &Path, options: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(options).current_dir(home).env("HOME", home);
    for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env(variable, home);
    }
    command.env_remove("ACCESSIBLE").env_remove("TESSERA_ACCESSIBLE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A session that cannot be opened reads nothing.
    let _ = child.stdin.take().unwrap().write_all(b"wait\nquit\n");
    let ended = child.wait_with_output().unwrap();
    let text = [ended.stdout, ended.stderr].concat();
    (ended.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn without_a_target_the_profile_that_was_used_last_is_opened() {
    let home = home_with_profiles();
    let run = |options: &[&str]| visit(home.path(), options);
    let (code, reported) = run(&[]);
    assert!(code == Some(2) && reported.contains("nothing to open"), "{reported}");
    for name in ["dogs", "cats"] {
        let (code, reported) = run(&["--profile", name]);
        assert_eq!(code, Some(0), "{reported}");
        let (code, reported) = run(&[]);
        assert!(code == Some(0) && reported.contains(name), "{reported}");
        let other = if name == "cats" { "dogs" } else { "cats" };
        assert!(!reported.contains(&format!("{other}·")), "{reported}");
    }
    let (code, reported) = run(&["--fresh"]);
    assert!(code == Some(2) && reported.contains("nothing to open"), "{reported}");
}

#[test]
fn what_was_opened_is_remembered_with_its_number_of_media() {
    let home = home_with_profiles();
    let run = |options: &[&str]| visit(home.path(), options);
    let recent = || -> Vec<Value> {
        let file = fs::read(home.path().join("tessera/recent.json")).unwrap();
        serde_json::from_slice::<Value>(&file).unwrap()["places"].as_array().unwrap().clone()
    };
    let (code, reported) = run(&["--profile", "cats"]);
    assert_eq!(code, Some(0), "{reported}");
    let (code, reported) = run(&["open", "pictures/none"]);
    assert_ne!(code, Some(0), "{reported}");
    let places: Vec<Value> = recent().iter().map(|it| it["place"].clone()).collect();
    assert_eq!(places, [json!({"profile": "cats"})], "not a folder that cannot be opened");
    let (code, reported) = run(&["open", "pictures/dogs"]);
    assert_eq!(code, Some(0), "{reported}");
    let folder = fs::canonicalize(home.path()).unwrap().join("pictures/dogs");
    let first = recent().swap_remove(0);
    assert_eq!((&first["place"]["folder"], &first["media"]), (&json!(folder), &json!(1)));
    let (code, reported) = run(&[]);
    assert!(code == Some(2) && reported.contains("nothing to open"), "a screen asks: {reported}");
}
