//! Tests that suggested commands work when they are copied, and that a folder is accepted wherever a dataset is.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::{analysis::photographs, outcome, picture, picture_folder, run, tessera};

/// Runs a suggested command in a shell, in another folder than that of the first command.
fn copied(home: &Path, command: &str) -> (i32, String, String) {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    for (name, value) in tessera(home, &[]).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let program = Path::new(env!("CARGO_BIN_EXE_tessera")).parent().unwrap();
    shell.env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap()));
    outcome(shell.args(["-c", command]).current_dir(elsewhere.path()))
}

/// Returns the command that follows these words, up to the end of the line or a backtick.
fn suggestion<'a>(err: &'a str, words: &str) -> &'a str {
    let (_, rest) = err.split_once(words).unwrap_or_else(|| panic!("{words} is missing: {err}"));
    let command = rest.split(['\n', '`']).next().unwrap();
    assert!(command.starts_with("tessera "), "{command}");
    command
}

#[test]
fn suggested_commands_reach_the_folder_of_the_first_command() {
    let home = photographs();
    let home = home.path();
    fs::rename(home.join("photos"), home.join("my photos")).unwrap();
    fs::write(home.join("my photos/val/broken.png"), "no picture").unwrap();
    // The folder is relative, and the suggestions are copied elsewhere.
    let ask = |arguments: &[&str]| {
        let mut command = tessera(home, &[arguments, &["--folder", "my photos"]].concat());
        outcome(command.current_dir(home))
    };
    let (code, _, err) = ask(&["dataset", "split", "80/20"]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = copied(home, suggestion(&err, "each set is a selection: "));
    assert!(code == 0 && out.contains("train"), "{out}{err}");

    let (_, _, err) = ask(&["dataset", "show"]);
    let (code, out, err) = copied(home, suggestion(&err, "; `"));
    assert!(code == 0 && out.contains("broken.png"), "{out}{err}");

    for (arguments, found) in [
        (&["export", "start", "--selection", "none"][..], "train"),
        (&["dataset", "leaks", "selection:none", "val"], "train"),
        (&["tag", "remove", "none", "--all"], ""),
        (&["dataset", "split", "50/50", "--names", "a,b", "--without", "none"], ""),
        (&["selection", "remove", "--media", "ad48d250-0000-11f1-bfca-000000000001"], ""),
    ] {
        let (code, _, err) = ask(arguments);
        assert_eq!(code, 5, "{arguments:?}: {err}");
        let (code, out, err) = copied(home, suggestion(&err, "try: "));
        assert!(code == 0 && out.contains(found), "{arguments:?}: {out}{err}");
    }
    let (code, _, err) = ask(&["export", "start", "--format", "json"]);
    assert_eq!(code, 0, "{err}");
    let (_, id, err) = ask(&["jobs", "list", "--jq", ".jobs[0].id"]);
    let id = id.trim();
    assert!(!id.is_empty(), "{err}");
    let (_, job, err) = ask(&["jobs", "show", id, "--jq", ".command"]);
    let (code, _, err_of_copy) = copied(home, job.trim());
    assert_eq!(code, 0, "{job}{err}{err_of_copy}");
    let (_, job, err) = run(home, &["jobs", "show", id, "--jq", ".command"]);
    assert_eq!(job, "null\n", "nothing says where the folder is: {err}");
}

/// Creates a home with two folders of pictures, in the second of which an equal name is once more.
fn two_folders() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    for folder in ["photos", "other/photos"] {
        fs::create_dir_all(home.path().join(folder)).unwrap();
        picture(&home.path().join(folder).join("a.png"));
    }
    picture(&home.path().join("other/photos/b.png"));
    let path = home.path().canonicalize().unwrap();
    (home, path)
}

#[test]
fn a_folder_is_accepted_wherever_a_dataset_is() {
    let (_home, home) = two_folders();
    let ask = |arguments: &[&str]| {
        let mut command = tessera(&home, arguments);
        outcome(command.current_dir(&home).env("TESSERA_DATASET", "from-the-environment"))
    };
    for arguments in [
        &["dataset", "show"][..],
        &["duplicates"],
        &["enrichment", "show"],
        &["export", "start"],
        &["tag", "list"],
        &["check", "--min-media", "2"],
        &["report"],
        &["search", "browse", "-d"],
    ] {
        for folder in ["./other/photos", "other/photos/"] {
            let (code, out, err) = ask(&[arguments, &[folder, "--json"]].concat());
            assert_eq!(code, 0, "{arguments:?} {folder}: {err}");
            assert!(serde_json::from_str::<Value>(&out).is_ok(), "{out}");
        }
    }
    let images = |arguments: &[&str]| {
        let (code, out, err) =
            ask(&[&["dataset", "show", "--jq", ".n_images"], arguments].concat());
        (code, out.trim().to_owned(), err)
    };
    assert_eq!(images(&["photos"]).1, "1", "a plain name, if no deployment is selected");
    assert_eq!(images(&["--", "other/photos"]).1, "2");
    assert_eq!(images(&["--dataset=other/photos"]).1, "2");
    let (code, _, err) = ask(&["dataset", "rename", "other/photos", "trips"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(images(&["--folder", "photos", "trips"]).1, "2", "a dataset of the same index");
    // The word that is the dataset is found, even if an option has the same value.
    let same = ["media", "copy", "--to", "./photos", "./photos", "--label", "none"];
    let (code, _, err) = ask(&same);
    assert!(code == 5 && err.contains("nothing was found"), "{code}: {err}");

    let (code, _, err) = images(&["./nowhere"]);
    assert!(code == 2 && err.contains("the folder ./nowhere does not exist"), "{code}: {err}");
    let add = ["profile", "add", "here", "--kind", "local", "--folder", "photos"];
    assert_eq!(ask(&add).0, 0);
    let (code, _, err) = images(&["other"]);
    assert_eq!(code, 5, "a plain name may be that of a dataset: {err}");
    assert_eq!(images(&["./other/photos"]).1, "2", "a folder takes the place of the profile");
    let (code, _, err) = images(&["./nowhere"]);
    assert!(code == 5 && err.contains("a dataset or a folder `./nowhere`"), "{code}: {err}");
    let (code, _, err) = images(&["./other/photos", "--profile", "here"]);
    let reason = "the folder ./other/photos takes the place of --profile";
    assert!(code == 2 && err.contains(reason), "{code}: {err}");
}

#[test]
fn a_second_folder_is_refused_and_the_same_one_is_not() {
    let (_home, home) = two_folders();
    let absolute = home.join("photos");
    for same in ["./photos", "photos/", absolute.to_str().unwrap(), "--dataset=./photos"] {
        for folder in ["photos", "other/../photos"] {
            let show = ["dataset", "show", same, "--folder", folder, "--jq", ".n_images"];
            let (code, out, err) = outcome(tessera(&home, &show).current_dir(&home));
            assert_eq!((code, out.as_str()), (0, "1\n"), "{same} {folder}: {err}");
        }
    }
    for second in ["./other/photos", "--dataset=./other/photos"] {
        let show = ["dataset", "show", "--folder", "photos", second];
        let (code, _, err) = outcome(tessera(&home, &show).current_dir(&home));
        let reason = "photos and ./other/photos are two folders";
        assert!(code == 2 && err.contains(reason), "{code}: {err}");
    }
}

#[test]
fn datasets_of_the_same_name_are_listed_with_their_folders() {
    let (_home, home) = two_folders();
    let list = ["dataset", "list", "--folder"];
    let (_, out, err) = run(&home, &[&list[..], &[home.join("photos").to_str().unwrap()]].concat());
    assert!(!out.contains(home.to_str().unwrap()), "{out}{err}");
    let other = home.join("other/photos");
    let (_, out, err) = run(&home, &[&list[..], &[other.to_str().unwrap()]].concat());
    assert!(out.lines().any(|line| line.ends_with(other.to_str().unwrap())), "{out}{err}");
    let csv = [&list[..], &[other.to_str().unwrap(), "--csv"]].concat();
    assert!(!run(&home, &csv).1.contains("FOLDER"), "the columns for programs stay");
}

#[test]
fn a_word_that_is_neither_a_command_nor_a_folder_is_explained() {
    let (_home, home) = two_folders();
    let ask = |arguments: &[&str]| outcome(tessera(&home, arguments).current_dir(&home));
    for (word, remedy) in [
        ("phots", "tessera photos"),
        ("duplicats", "tessera duplicates"),
        ("serach", "tessera search"),
        ("find", "tessera --help"),
        ("xyzzy", "tessera --help"),
    ] {
        let (code, out, err) = ask(&[word]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        let message = format!("there is no command `{word}`, and no folder of this name\n");
        assert!(err.contains(&message) && err.contains(&format!("try: {remedy}\n")), "{err}");
    }
    for (word, command) in [
        ("split", "dataset split"),
        ("remove", "dataset remove"),
        ("wait", "dataset wait"),
        ("rate", "tag rate"),
    ] {
        let (code, _, err) = ask(&[word]);
        assert!(code == 2 && err.contains(&format!("there is `{command}`")), "{err}");
    }
    let (code, _, err) = ask(&["report", "phots"]);
    for words in ["there is no folder or dataset `phots`", "did you mean photos?", "--folder DIR"] {
        assert!(code == 2 && err.contains(words), "{err}");
    }
    let (_, _, err) = ask(&["phots", "--json"]);
    let error: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(error["remedy"], json!("tessera photos"));
    let (code, _, err) = ask(&["dataset", "phots"]);
    assert!(code == 2 && err.contains("unrecognized subcommand"), "{err}");
    let missing = home.join("phots");
    let (code, _, err) = ask(&["dataset", "list", "--folder", missing.to_str().unwrap()]);
    let similar = format!("did you mean {}?", home.join("photos").display());
    assert!(code == 2 && err.contains(&similar), "{err}");
}

#[test]
fn an_error_names_the_folder_that_was_typed_and_never_an_inserted_command() {
    let (_home, home) = two_folders();
    let ask = |arguments: &[&str]| outcome(tessera(&home, arguments).current_dir(&home));
    for (arguments, word) in [
        (&["store", "revoke", "photos"][..], "'photos'"),
        (&["store", "photos"], "'photos'"),
        (&["photos", "--nosuch"], "'--nosuch'"),
    ] {
        let (code, out, err) = ask(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(word) && !err.contains("'open'"), "{err}");
    }
}

#[test]
fn wrong_words_are_answered_with_the_right_ones() {
    let (_home, home) = two_folders();
    let ask = |line: &str| {
        outcome(tessera(&home, &line.split(' ').collect::<Vec<_>>()).current_dir(&home))
    };
    for (line, expected) in [
        ("dataset wait --until DONE", "values: READY, PARTIAL_INDEX, READ_ONLY, INDEXING, ERROR]"),
        ("dataset watch --until READY,REDY", "a similar value exists: 'READY'"),
        ("dataset list --status DONE", "'DONE' for '--status <STATUS>'"),
        ("search media nope", "expected a whole ID, for example ad48d250-"),
        ("selection add --media ad48d250", "tip: `--full` and `--json` print whole IDs"),
        (
            "search vql nonsense",
            "`nonsense` is neither a JSON array of filters, which begins with [,",
        ),
        ("search vql nonsense", "try: tessera query new"),
        ("serve --listen :8123 photos", "for example 127.0.0.1:8123, or a port alone"),
        ("serve --port 8123 photos", "tip: `--listen` takes the port"),
        ("search image a.png --region 0,0,1,1", "tip: `--box` takes a region"),
        ("search image a.png --box 5,5,5,5", "for example 0.25,0.1,0.5,0.8"),
        ("dataset diverse 2 --paths", "tip: `--jq '.media[].path'` prints only the paths"),
        ("missing/folder", "the folder missing/folder does not exist; check the path"),
        ("open other/photo", "does not exist; did you mean other/photos?"),
        ("--folder missing", "the folder missing does not exist"),
        ("photos", "the interface needs a terminal"),
    ] {
        let (code, out, err) = ask(line);
        assert!(code == 2 && out.is_empty() && err.contains(expected), "{line}: {code}: {err}");
        assert!(!err.contains("similar argument"), "{line}: {err}");
    }
}

#[test]
fn remedies_work_where_they_are_printed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    picture_folder(home, "pictures", &["a.png", "b.png"]);
    let ask = |arguments: &[&str]| outcome(tessera(home, arguments).current_dir(home));
    let (code, _, err) = ask(&["search", "vql", "[{\"text\":{}}]", "-d", "./pictures"]);
    assert_eq!(code, 8, "{err}");
    let (code, _, err) = copied(home, suggestion(&err, "try: "));
    assert!(code == 8 && err.contains("the service would reject it"), "{code}: {err}");
    for existing in [
        &["report", "./pictures", "-o", "old.html"][..],
        &["export", "start", "./pictures", "--list", "old.html"],
    ] {
        fs::write(home.join("old.html"), "old").unwrap();
        let (code, _, err) = ask(existing);
        assert!(code == 1 && err.contains("with --force"), "{code}: {err}");
        let (code, _, err) = ask(&[existing, &["--force"]].concat());
        assert_eq!(code, 0, "{err}");
    }
    let limited = ["search", "browse", "-d", "./pictures", "--granularity", "0", "--flat"];
    let (_, _, err) = ask(&[&limited[..], &["--limit", "1", "--all"]].concat());
    assert!(err.contains("raise --limit") && !err.contains("use --all"), "{err}");
    let (_, jobs, _) = ask(&["jobs", "list", "--all", "--jq", ".jobs[] | .id, .command"]);
    let jobs: Vec<&str> = jobs.lines().collect();
    assert_eq!(jobs[1..], ["null"], "no command knows the folder");
    let known = ["jobs", "show", jobs[0], "--folder", "pictures", "--jq", ".command"];
    let (_, command, err) = ask(&known);
    assert!(command.contains("--folder") && !command.contains("DIR"), "{command}{err}");
    let (_, _, err) = ask(&["media", "resume"]);
    assert!(err.contains("no action on files to undo or resume"), "{err}");
}
