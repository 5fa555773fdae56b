//! Tests the program as scripts see it: exit codes, streams, colors, unusual environments, and what it reports about
//! itself.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    os::unix::ffi::OsStrExt as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{outcome, picture, picture_folder, run, serve, tessera};
use tessera_testing::{
    scripted::{ReceivedRequest, Reply, ScriptedServer},
    scripts::write_script,
};

/// Responds to requests for a dataset. The end of the dataset's id selects the response: 0 is a valid record, 1 is not
/// JSON, and 2 gets no response. Exports end with FAILED or keep running.
fn answer(seen: &ReceivedRequest) -> Reply {
    let path = seen.path();
    if path.ends_with("/export_status") {
        let failed = seen.target.contains("000000000007");
        let status = if failed { "FAILED" } else { "IN_PROGRESS" };
        return Reply::json(json!({ "status": status }).to_string());
    }
    if path.ends_with("/datasets") {
        return Reply::json("[]");
    }
    let id = path.rsplit('/').next().unwrap_or_default();
    match id[id.len() - 3..].parse().unwrap() {
        0 => {
            Reply::json(json!({ "id": id, "display_name": "a", "status_new": "READY" }).to_string())
        }
        1 => Reply::json("words"),
        2 => Reply::hold(Vec::new()),
        status => Reply::new(status, &[], r#"{"detail":"scripted"}"#),
    }
}

fn asking(url: &str, home: &Path, arguments: &[&str]) -> Command {
    let mut command = tessera(home, arguments);
    command.args(["--base-url", url, "--kind", "onprem", "--retries", "0"]);
    command
}

fn id(ending: u16) -> String {
    format!("ad48d250-0000-11f1-bfca-000000000{ending:03}")
}

const TASK: &str = "cf8b3e78-0000-4954-a782-000000000007";
const OTHER_TASK: &str = "cf8b3e78-0000-4954-a782-000000000008";

#[tokio::test(flavor = "multi_thread")]
async fn each_way_to_end_has_its_code() {
    let server = ScriptedServer::start(answer).await;
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let (url, ready) = (server.url(), id(0));
    let shown = |ending| (vec!["dataset".to_owned(), "show".to_owned(), id(ending)], ending);
    for (status, code) in [
        (0, 0),
        (1, 1),
        (400, 8),
        (401, 4),
        (403, 4),
        (404, 5),
        (409, 6),
        (413, 8),
        (422, 8),
        (429, 3),
        (500, 3),
        (503, 3),
    ] {
        let (arguments, _) = shown(status);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (ended, out, err) = outcome(&mut asking(&url, home, &arguments));
        assert_eq!(ended, code, "{status}: {err}");
        assert_eq!(out.is_empty(), code != 0, "{status}: nothing but an answer: {out}");
        let (ended, _, err) =
            outcome(&mut asking(&url, home, &[&arguments[..], &["--json"]].concat()));
        assert_eq!(ended, code);
        if code != 0 {
            let reported: Value = serde_json::from_str(&err).unwrap();
            assert_eq!(
                (&reported["schema"], &reported["exit_code"]),
                (&json!("tessera.error/1"), &json!(code))
            );
            assert_eq!(reported["retryable"], code == 3, "{reported}");
        }
    }
    let cases: [(&[&str], i32); 4] = [
        (&["dataset", "list"], 0),
        (&["dataset", "show", "nobody"], 5),
        (&["export", "watch", &ready, TASK], 7),
        (&["export", "watch", &ready, OTHER_TASK, "--timeout", "50ms"], 124),
    ];
    for (arguments, code) in cases {
        let (ended, _, err) = outcome(&mut asking(&url, home, arguments));
        assert_eq!(ended, code, "{arguments:?}: {err}");
    }
    let nobody = "http://127.0.0.1:9";
    assert_eq!(outcome(&mut asking(nobody, home, &["dataset", "list"])).0, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_writes_its_exchanges_into_a_new_file() {
    let server = ScriptedServer::start(answer).await;
    let home = tempfile::tempdir().unwrap();
    let mut command = asking(&server.url(), home.path(), &["dataset", "show", &id(404)]);
    let (code, _, _) = outcome(&mut command);
    let mut files = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|kind| kind == "trace")).unwrap();
    let trace = std::fs::read_to_string(&file).unwrap();
    let line: Value = serde_json::from_str(trace.trim()).unwrap();
    let exchange = &line["exchange"];
    assert_eq!(code, 5);
    assert_eq!(exchange["target"], format!("/api/v1/dataset/{}", id(404)), "{line}");
    assert_eq!((&exchange["outcome"]["status"], &exchange["attempt"]), (&404.into(), &1.into()));
    assert!(line["at_us"].as_u64() >= line["took_us"].as_u64(), "{line}");
    // The second run finds an existing file.
    let (code, _, err) = outcome(&mut command);
    assert_eq!(code, 1);
    assert!(err.contains(file.to_str().unwrap()) && err.contains("exists"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_command_ends_with_130() {
    let server = ScriptedServer::start(answer).await;
    let home = tempfile::tempdir().unwrap();
    let mut command = asking(&server.url(), home.path(), &["dataset", "show", &id(2)]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.wait_for_requests(1).await;
    let number = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &number]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("interrupted"));
}

#[test]
fn incorrect_usage_exits_with_2_and_runs_nothing() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&["dem"][..], "demo"),
        (&["data", "list"], "try: tessera dataset"),
        (&["dataset", "lst"], "list"),
        (&["dataset", "list", "--jsno"], "--json"),
        (&["dataset", "list", "--json", "--csv"], "mutually exclusive"),
        (&["dataset", "list", "--jq", ".a["], "character"),
        (&["dataset", "list"], "tessera open FOLDER"),
        (&["check", "./nope", "--max-blur", "0"], "the folder ./nope does not exist"),
        (&["dataset", "show", "../nope/x"], "the folder ../nope/x does not exist"),
        (&["tag", "list", "-d", "./nope"], "the folder ./nope does not exist"),
        (&["image", "show", "x", "--box", "0.5,0.5,0.6,0.6"], "y + height at most 1"),
    ] {
        let (code, out, err) = run(home.path(), arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
    let (code, _, err) = run(home.path(), &["dataset", "lst", "--json"]);
    let reported: Value = serde_json::from_str(&err).unwrap();
    assert_eq!((code, &reported["code"]), (2, &json!("usage")));
}

#[tokio::test(flavor = "multi_thread")]
async fn output_has_the_requested_format() {
    let server = ScriptedServer::start(answer).await;
    let home = tempfile::tempdir().unwrap();
    let show = |options: &[&str]| {
        let mut command = asking(&server.url(), home.path(), &["dataset", "show", &id(0)]);
        outcome(command.args(options)).1
    };
    assert!(show(&[]).lines().any(|line| line == "status\tREADY"));
    assert!(show(&["--csv"]).starts_with("id,"));
    let whole: Value = serde_json::from_str(&show(&["--json"])).unwrap();
    assert_eq!(whole["schema"], "tessera.dataset/1");
    assert!(whole.as_object().unwrap().contains_key("n_images") && whole["n_images"].is_null());
    let chosen: Value = serde_json::from_str(&show(&["--json=status_new,id"])).unwrap();
    assert_eq!(chosen, json!({ "status_new": "READY", "id": id(0) }));
    // The scripted service lists no dataset, and sends no number of images.
    let list =
        |field: &str| outcome(&mut asking(&server.url(), home.path(), &["dataset", "list", field]));
    assert_eq!(list("--json=n_images").1, "[]\n");
    let (code, out, err) = list("--json=status_new,nimages");
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("unknown field `nimages`") && err.contains("n_images"), "{err}");
    assert_eq!(show(&["--jsonl"]).lines().count(), 1);
    assert_eq!(show(&["--jq", ".status_new"]), "READY\n");
    assert_eq!(show(&["--jq", "._allowed | [.export, .reindex]"]), "[true,false]\n");
}

/// Runs a command whose output nobody reads. Returns its exit code and standard error.
fn unread(home: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = tessera(home, arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let home = tempfile::tempdir().unwrap();
    picture(&home.path().join("a.png"));
    let file = home.path().join("a.png");
    let file = file.to_str().unwrap();
    for arguments in [
        &["spec"][..],
        &["spec", "--jsonl"],
        &["man"],
        &["completion", "bash"],
        &["version"],
        &["version", "--json"],
        &["doctor", "--offline"],
        &["--help"],
        &["serve", "--explain"],
        &["image", "show", "--graphics", "half", file],
    ] {
        let (code, err) = unread(home.path(), arguments);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    }
    let (_, err) = unread(home.path(), &["demo", "--images", "12"]);
    assert!(!err.contains("panicked") && !err.to_lowercase().contains("broken pipe"), "{err}");
    // Nobody reads the error message, so the exit code is the only result.
    let mut child =
        tessera(home.path(), &["dataset", "list"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let mut child = tessera(home.path(), &["spec"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    drop(out);
    assert_eq!((first.as_str(), child.wait().unwrap().code()), ("{\n", Some(0)));
}

#[test]
fn odd_surroundings_change_nothing_in_a_pipe() {
    let home = tempfile::tempdir().unwrap();
    let plain = run(home.path(), &["version"]);
    assert_eq!(plain.0, 0);
    for (name, value) in [
        ("TERM", "dumb"),
        ("TERM", "xterm-256color"),
        ("COLUMNS", "0"),
        ("COLUMNS", "wide"),
        ("LC_ALL", "C"),
        ("LC_ALL", "POSIX"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("LC_ALL", "nonsense"),
        ("NO_COLOR", "1"),
        ("FORCE_COLOR", "1"),
        ("CLICOLOR_FORCE", "1"),
    ] {
        let found = outcome(tessera(home.path(), &["version"]).env(name, value));
        assert_eq!(found, plain, "{name}={value}");
    }
    for word in [&b"\xff\xfe"[..], b"--profile=\xc3\x28", b"--jq=\xff"] {
        let mut command = tessera(home.path(), &["version"]);
        let (code, out, err) = outcome(command.arg(OsStr::from_bytes(word)));
        assert_eq!((code, out.as_str()), (2, ""), "{word:?}");
        assert!(!err.contains("panicked") && !err.is_empty(), "{err}");
    }
}

#[test]
fn completions_manual_and_spec_contain_every_command_and_exit_code() {
    let home = tempfile::tempdir().unwrap();
    let (code, spec, err) = run(home.path(), &["spec"]);
    assert_eq!(code, 0, "{err}");
    let spec: Value = serde_json::from_str(&spec).unwrap();
    let commands: Vec<&str> = spec["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["command"].as_str().unwrap())
        .collect();
    assert!(commands.contains(&"tessera dataset show") && commands.contains(&"tessera spec"));
    let codes: Vec<i64> = spec["exit_codes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["exit_code"].as_i64().unwrap())
        .collect();
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 124, 130]);
    let meanings = spec["exit_codes"].as_array().unwrap();
    let help = run(home.path(), &["--help"]).1;
    let manual = run(home.path(), &["man"]).1;
    let unescaped = manual.replace('\\', "");
    for each in meanings {
        let meaning = each["meaning"].as_str().unwrap();
        assert!(help.contains(meaning) && unescaped.contains(meaning), "{meaning}");
    }
    assert!(manual.contains("EXIT STATUS") && manual.contains("ENVIRONMENT"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script, _) = run(home.path(), &["completion", shell]);
        assert!(code == 0 && script.contains("TESSERA_COMPLETE"), "{shell}");
    }
    let pages = home.path().join("man1");
    let (code, written, _) = run(home.path(), &["man", "--dir", pages.to_str().unwrap()]);
    assert_eq!((code, written.lines().count()), (0, fs::read_dir(&pages).unwrap().count()));
    let page = pages.join("tessera-dataset-show.1");
    fs::write(&page, "mine").unwrap();
    let again = ["man", "--dir", pages.to_str().unwrap()];
    assert_eq!((run(home.path(), &again).0, fs::read(&page).unwrap()), (1, b"mine".to_vec()));
    assert_eq!(run(home.path(), &[&again[..], &["--force"]].concat()).0, 0);
    assert!(fs::metadata(&page).unwrap().len() > 100);
    for page in fs::read_dir(&pages).unwrap() {
        let page = fs::read_to_string(page.unwrap().path()).unwrap();
        let entries = page.split(".TP\n").skip(1);
        let texts = entries.map(|entry| entry.lines().nth(1).unwrap_or_default());
        assert!(texts.into_iter().all(|text| !text.is_empty() && !text.starts_with('.')), "{page}");
    }
}

/// Returns what a shell inserts for a line that ends with this word, without duplicates. A shell that is not installed
/// gives nothing.
fn completed(home: &Path, shell: &str, word: &str) -> Option<String> {
    let program = match shell {
        "bash" => {
            "source <(tessera completion bash); COMP_WORDS=(tessera export inspect \"$1\"); COMP_CWORD=3; \
             COMP_LINE=\"tessera export inspect $1\"; COMP_POINT=${#COMP_LINE}; \
             _tessera tessera \"${1#[\\\"\\']}\" inspect; printf '%s\n' \"${COMPREPLY[@]}\""
        }
        _ => "tessera completion fish | source; complete -C \"tessera export inspect $argv[1]\"",
    };
    let mut command = tessera(home, &[]);
    let mut run = Command::new(shell);
    let words =
        if shell == "bash" { vec!["-c", program, "sh", word] } else { vec!["-c", program, word] };
    for (name, value) in command.stdin(Stdio::null()).get_envs() {
        match value {
            Some(value) => run.env(name, value),
            None => run.env_remove(name),
        };
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_tessera")).parent().unwrap();
    run.env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()));
    let output = run.args(words).current_dir(home.join("work")).output().ok()?;
    Some(String::from_utf8(output.stdout).unwrap().trim_end().to_owned())
}

#[test]
fn paths_with_spaces_and_the_home_folder_are_completed() {
    let home = tempfile::tempdir().unwrap();
    for folder in ["work/my dir", "pics"] {
        fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    for file in ["work/it's.zip", "work/a$b.zip", "work/my\nd.zip", "pics/b c.zip"] {
        fs::write(home.path().join(file), "").unwrap();
    }
    for (word, in_bash, in_fish) in [
        ("my", r"my\ dir/", "my dir/"),
        (r"my\ d", r"my\ dir/", "my dir/"),
        ("\"my d", "my dir/", ""),
        ("'it", r"it'\''s.zip", ""),
        ("it", r"it\'s.zip", "it's.zip"),
        ("a", r"a\$b.zip", "a$b.zip"),
        ("~/pi", "~/pics/", "~/pics/"),
        ("~/pics/b", r"~/pics/b\ c.zip", "~/pics/b c.zip"),
        // The shell itself completes a word with a variable.
        ("$HOME/pi", "", ""),
    ] {
        if let Some(found) = completed(home.path(), "bash", word) {
            assert_eq!(found, in_bash, "{word}");
        }
        if let Some(found) = completed(home.path(), "fish", word).filter(|_| !in_fish.is_empty()) {
            assert_eq!(found, in_fish, "{word}");
        }
    }
}

#[test]
fn the_documentation_lists_every_command_and_every_option_of_serve() {
    let home = tempfile::tempdir().unwrap();
    let (_, spec, _) = run(home.path(), &["spec"]);
    let spec: Value = serde_json::from_str(&spec).unwrap();
    let scripting = include_str!("../../docs/scripting.md");
    let names = scripting.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let names: BTreeSet<&str> = names.collect();
    for command in spec["commands"].as_array().unwrap() {
        let Some(noun) = command["command"].as_str().unwrap().split(' ').nth(1) else { continue };
        assert!(names.contains(noun), "docs/scripting.md does not name {noun}");
    }
    let commands = spec["commands"].as_array().unwrap();
    let serve = commands.iter().find(|command| command["command"] == "tessera serve").unwrap();
    let page = include_str!("../../docs/serve.md");
    for option in serve["arguments"].as_array().unwrap() {
        let Some(long) = option["long"].as_str() else { continue };
        let is_named = |code: &&str| code.split(' ').next() == Some(long);
        let row = page
            .lines()
            .find(|line| line.starts_with("| `--") && line.split('`').any(|code| is_named(&code)));
        let row = row.unwrap_or_else(|| panic!("docs/serve.md does not list {long}"));
        if let Some(default) = option["default"].as_str().filter(|_| option["type"] != "flag") {
            let row = row.replace('`', "");
            assert!(row.contains(&format!("[default: {default}]")), "{long}: {row}");
        }
    }
}

#[test]
fn every_variable_and_every_error_code_is_in_the_description() {
    let home = tempfile::tempdir().unwrap();
    let listed = |expression: &str| -> BTreeSet<String> {
        let (_, out, err) = run(home.path(), &["spec", "--jq", expression]);
        assert!(!out.is_empty(), "{err}");
        out.lines().flat_map(|line| line.split(", ")).map(ToOwned::to_owned).collect()
    };
    let variables = listed(".environment[].name, (.options, .commands[].arguments)[].environment");
    let codes = listed(".error_codes[].code");
    let mut source = String::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    gather(&root.join("src"), &mut source);
    gather(&root.join("crates/config/src"), &mut source);
    let read: BTreeSet<&str> = source
        .split('"')
        .filter(|word| {
            word.starts_with("TESSERA_") && !word.contains(|c: char| c.is_ascii_lowercase())
        })
        // The program sets these variables for others, or reads them in tests or while it is compiled.
        .filter(|word| {
            !["COMMIT", "DATASET_NAME", "EVENT", "FROM", "TO", "PROGRESS", "WEED"]
                .contains(&&word[8..])
        })
        .filter(|word| {
            !["_TEST_", "_FUZZ_", "_BUILD_", "COMPLETE_"].iter().any(|part| word.contains(part))
        })
        .collect();
    let missing: Vec<_> = read.iter().filter(|name| !variables.contains(**name)).collect();
    assert!(read.len() > 10 && missing.is_empty(), "{missing:?}");
    let known = include_str!("../../crates/client/src/known_errors.txt");
    let of_services = known.lines().filter_map(|line| line.split(" | ").nth(2));
    let of_commands =
        source.split("with_code(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let used: BTreeSet<&str> =
        of_services.chain(of_commands).chain([tessera_model::NO_SECRET]).collect();
    assert_eq!(used, codes.iter().map(String::as_str).collect());
}

#[test]
fn every_document_is_in_the_description() {
    let home = tempfile::tempdir().unwrap();
    let described =
        run(home.path(), &["spec", "--jq", ".documents[].json_schema.properties.schema.const"]).1;
    let described: BTreeSet<&str> = described.lines().collect();
    let mut source = String::new();
    gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli"), &mut source);
    let named: BTreeSet<&str> = source
        .split('"')
        .filter(|word| word.starts_with("tessera.") && word.contains('/') && !word.contains("test"))
        .collect();
    assert!(named.len() > 5, "{named:?}");
    assert_eq!(described, named);
}

fn gather(folder: &Path, source: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, source);
        } else {
            fs::File::open(&path).unwrap().read_to_string(source).unwrap();
        }
    }
}

#[test]
fn pictures_are_drawn_to_a_pipe_only_on_request_and_partial_results_exit_with_9() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    picture(&root.join("a.png"));
    fs::write(root.join("b.png"), "no picture").unwrap();
    let (a, b) = (root.join("a.png"), root.join("b.png"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let show = |pictures: &[&str]| {
        let arguments = [&["image", "show", "--graphics", "half", "--width", "20"][..], pictures];
        run(root, &arguments.concat())
    };
    let (code, out, err) = run(root, &["image", "show", a]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("--graphics half"), "{err}");
    let (code, out, err) = show(&[a]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains('▀') || out.contains('▄'), "{out}");
    assert_eq!(out.lines().last(), Some("a.png"));
    let (code, out, err) = show(&[a, b, "nowhere.png"]);
    assert_eq!(code, 9, "{err}");
    assert!(out.contains('▄') && err.contains("b.png") && err.contains("nowhere.png"), "{err}");
    assert_eq!(show(&[b]).0, 8);
    assert_eq!(show(&["nowhere.png"]).0, 5);
    assert_eq!(run(root, &["image", "show", a, "--json"]).0, 2);
}

#[test]
fn a_media_of_a_dataset_and_an_address_are_drawn() {
    let home = tempfile::tempdir().unwrap();
    let folder = picture_folder(home.path(), "pictures", &["a.png", "b.png"]);
    let serving = serve(home.path(), &[folder.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    let (_, page) = serving.ask("GET", "/api/v1/explore/{id}?entity_type=IMAGES");
    let preview = &page["clusters"][0]["previews"][0];
    for given in [&preview["media_id"], &preview["media_uri"]] {
        let given = given.as_str().unwrap();
        let mut command =
            serving.asked(home.path(), &["image", "show", given, "--graphics", "half"]);
        let (code, out, err) = outcome(&mut command);
        assert_eq!(code, 0, "{given}: {err}");
        assert!(out.contains('▄') || out.contains('▀'), "{out}");
    }
}

#[test]
fn a_help_that_cannot_be_written_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    for words in [&["--help"][..], &["--version"], &["search", "--help"], &["help", "search"]] {
        let mut command = tessera(home.path(), words);
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let (code, _, err) = outcome(command.stdout(full));
        assert_eq!(code, 1, "{words:?}");
        assert!(err.contains("cannot write the output"), "{words:?}: {err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_what_is_wrong_and_no_secret() {
    let server = ScriptedServer::start(answer).await;
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    fs::create_dir(root.join("tessera")).unwrap();
    let settings = root.join("tessera/config.toml");
    let profile = format!("[profiles.lab]\nkind = 'onprem'\nbase_url = '{}'\n", server.url());
    fs::write(&settings, &profile).unwrap();
    let doctor = |options: &[&str]| {
        let mut command = tessera(root, &[&["doctor", "--report"][..], options].concat());
        let (code, out, err) = outcome(command.env("TESSERA_API_SECRET", "canary-of-the-doctor"));
        assert!(!out.contains("canary") && !err.contains("canary"), "{out}{err}");
        assert!(!out.contains(root.to_str().unwrap()), "{out}");
        (code, serde_json::from_str::<Value>(&out).unwrap())
    };
    let (code, reported) = doctor(&[]);
    let row = |reported: &Value, subject: &str| {
        let rows = reported["findings"].as_array().unwrap();
        rows.iter().find(|row| row["subject"] == subject).cloned().unwrap()
    };
    assert_eq!(code, 0, "{reported:#}");
    assert_eq!(reported["schema"], "tessera.findings/1");
    assert_eq!(row(&reported, "deployment lab")["state"], "ok");
    assert_eq!(row(&reported, "terminal")["state"], "warning");
    fs::write(&settings, profile.replace(&server.url(), "http://127.0.0.1:9")).unwrap();
    assert_eq!(doctor(&[]).0, 3);
    assert_eq!(doctor(&["--offline"]).0, 0);
    fs::write(root.join("occupied"), "").unwrap();
    let mut command = tessera(root, &["doctor", "--offline", "--json"]);
    let (code, out, err) = outcome(command.env("XDG_STATE_HOME", root.join("occupied")));
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("cannot create files"), "{out}");
    fs::write(&settings, "[ui]\ncolour = 'red'\n").unwrap();
    let (code, reported) = doctor(&[]);
    assert_eq!(code, 2);
    let wrong = row(&reported, "settings");
    assert_eq!(wrong["state"], "error", "the same file is not ok as well: {reported}");
    assert!(wrong.to_string().contains("colour") && wrong.to_string().contains("line 2"));
}

#[test]
fn the_doctor_opens_the_store() {
    let (home, folder) = super::home();
    let show = ["dataset", "show", folder.to_str().unwrap()];
    assert_eq!(run(home.path(), &show).0, 0);
    let store = home.path().join("tessera/local/tessera.db");
    let intact = fs::read(&store).unwrap();
    // The first bytes are the signature of the format, and 60 to 63 are the version of the tables.
    for (position, code, expected) in [
        (0, 0, "warning\tlocal store\tthe store is damaged; the next command with --folder"),
        (60, 1, "error\tlocal store\tthe store in"),
    ] {
        let mut changed = intact.clone();
        changed[position] ^= 1;
        fs::write(&store, changed).unwrap();
        let (found, out, err) = run(home.path(), &["doctor", "--offline"]);
        assert!(found == code && out.contains(expected), "{found}: {out}{err}");
    }
    fs::write(&store, intact).unwrap();
    let (code, out, _) = run(home.path(), &["doctor", "--offline"]);
    assert!(code == 0 && !out.contains("local store"), "{out}");
    let (code, _, err) = run(home.path(), &show);
    assert!(code == 0 && !err.contains("damaged"), "{err}");
}

#[test]
fn the_doctor_names_programs_that_are_missing_and_the_free_space() {
    let home = tempfile::tempdir().unwrap();
    let programs = home.path().join("bin");
    fs::create_dir(&programs).unwrap();
    let findings = || {
        let mut command = tessera(home.path(), &["doctor", "--offline", "--json"]);
        let (code, out, err) = outcome(command.env("PATH", &programs));
        assert_eq!(code, 0, "{err}");
        let reported: Value = serde_json::from_str(&out).unwrap();
        let rows = reported["findings"].as_array().unwrap().clone();
        move |subject: &str| rows.iter().find(|row| row["subject"] == subject).cloned().unwrap()
    };
    let row = findings();
    assert_eq!(row("videos, AVIF and HEIF")["state"], "warning");
    let space = row("disk")["message"].as_str().unwrap().to_owned();
    assert!(space.contains("iB are free for indexes and exports"), "{space}");
    // Both programs are needed.
    fs::write(programs.join("ffmpeg"), "").unwrap();
    assert_eq!(findings()("videos, AVIF and HEIF")["state"], "warning");
    fs::write(programs.join("ffprobe"), "").unwrap();
    assert_eq!(findings()("videos, AVIF and HEIF")["state"], "ok");
    let starter = row("starter model");
    assert_eq!(starter["state"], "warning");
    for missing in ["Python 3.9 or newer with pip", "apt-get", "dpkg-deb"] {
        assert!(starter["message"].as_str().unwrap().contains(missing), "{starter}");
    }
    for program in ["python3", "apt-get", "dpkg-deb"] {
        write_script(&programs.join(program), "");
    }
    assert_eq!(findings()("starter model")["state"], "ok");
    let model = row("model")["message"].as_str().unwrap().to_owned();
    assert!(model.starts_with("none; `tessera model list --available`"), "{model}");
}

#[test]
fn the_doctor_names_a_file_of_secrets_that_cannot_be_written() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("occupied"), "").unwrap();
    let mut command = tessera(home.path(), &["doctor", "--offline"]);
    let (_, out, err) = outcome(command.env("XDG_CONFIG_HOME", home.path().join("occupied")));
    let line = out.lines().find(|line| line.starts_with("warning\tsecrets\tcannot be stored in"));
    let line = line.unwrap_or_else(|| panic!("{out}{err}"));
    assert!(line.contains("occupied/tessera/secrets.toml"), "{line}");
    assert!(line.contains("or set TESSERA_API_SECRET or"), "{line}");
}

#[test]
fn a_verbose_version_says_how_the_program_was_built() {
    let home = tempfile::tempdir().unwrap();
    let (_, plain, _) = run(home.path(), &["version"]);
    let (_, verbose, _) = run(home.path(), &["version", "--verbose"]);
    assert!(verbose.starts_with(&plain) && !plain.contains("rustc"), "{verbose}");
    let row =
        |name: &str| verbose.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
    for (name, start) in
        [("compiler", "rustc 1."), ("target", ""), ("profile", ""), ("SQLite", "3.")]
    {
        let value = row(name).unwrap_or_else(|| panic!("{name}: {verbose}"));
        assert!(value.starts_with(start) && !value.is_empty(), "{name}: {value}");
    }
    assert_eq!(row("commit"), Some(option_env!("TESSERA_COMMIT").unwrap_or("unknown")));
}
