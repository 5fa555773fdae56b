//! Runs the scripts of docs/scripting.md exactly as they are printed, and replays the commands of documents for other
//! tests. The example session needs `jq`. `TESSERA_WRITE=1 cargo test --test tests documented` rewrites the printed
//! output in the documents.

use std::{
    env,
    fs::{self, File},
    io::{BufRead as _, BufReader},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use super::{Serving, outcome, picture, serve};

/// The maximum duration of the tour.
const TIMEOUT: Duration = Duration::from_mins(3);
const PAGE: &str = include_str!("../../docs/scripting.md");

/// Returns the script between the markers.
fn tour() -> &'static str {
    let (_, rest) = PAGE.split_once("<!-- tour: begin -->\n```bash\n").unwrap();
    rest.split_once("```\n<!-- tour: end -->").unwrap().0
}

/// Returns whether a program can be started.
fn is_there(program: &str) -> bool {
    let version = if program == "openssl" { "version" } else { "--version" };
    let mut command = Command::new(program);
    command.arg(version).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A script and all processes that it started, which end with the test.
struct Group(Pid);

impl Drop for Group {
    fn drop(&mut self) {
        // The whole group may have ended already.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

/// Runs a script in a folder. Returns whether it succeeded, its output, and its errors.
fn run_script(script: &str, folder: &Path) -> (bool, String, String) {
    let programs = Path::new(env!("CARGO_BIN_EXE_tessera")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", script]).current_dir(folder).env("PATH", path);
    command.env("HOME", folder).env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder);
    command.env("NO_PROXY", "*").stdin(Stdio::null());
    // The output goes to files instead of pipes, because programs that the script leaves running would keep pipes open.
    let (out, err) = (folder.join("out"), folder.join("err"));
    command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let mut child = command.process_group(0).spawn().unwrap();
    let _group = Group(Pid::from_child(&child));
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait().unwrap()));
    let ended = ended.recv_timeout(TIMEOUT).ok();
    let text = |path| fs::read_to_string(path).unwrap();
    (ended.is_some_and(|status| status.success()), text(out), text(err))
}

#[test]
#[expect(clippy::print_stderr, reason = "a developer should know what was not tested")]
fn the_tour_with_curl_runs_as_printed() {
    if let Some(missing) = ["bash", "curl", "openssl"].into_iter().find(|name| !is_there(name)) {
        eprintln!("the tour was not run: {missing} is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (succeeded, out, err) = run_script(tour(), folder.path());
    assert!(succeeded, "{out}\n{err}");
    let lines: Vec<&str> = out.lines().collect();
    let [ready, datasets, lighthouse, pyramids, desert, partial, again, listed] = lines[..] else {
        panic!("{out}\n{err}");
    };
    assert_eq!((ready, partial, again), ("READY", "PARTIAL INDEX", "READY"));
    let datasets: Value = serde_json::from_str(datasets).unwrap();
    assert_eq!(datasets[0]["n_images"], 12);
    assert!(lighthouse.contains("lighthouse with a small house"), "{lighthouse}");
    assert!(pyramids.contains("pyramids rise from the desert"), "{pyramids}");
    assert_eq!(desert, "desert-0001.jpg");
    assert!(listed.ends_with("selection.zip"), "{listed}");
    let mode = folder.path().join("serve.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the file contains the login");
    let archive = File::open(folder.path().join("selection.zip")).unwrap();
    let mut zip = zip::ZipArchive::new(archive).unwrap();
    assert!(zip.by_name("images/sailing-boat-0001.jpg").is_ok());
    let metadata: Value = serde_json::from_reader(zip.by_name("metadata.json").unwrap()).unwrap();
    let items = metadata["media_items"].as_array().unwrap().len();
    assert_eq!(zip.len(), items + 1, "the cluster and nothing else");
    assert!(items < 14, "not everything");
}

const COUNT: &str = r#"tessera search caption "red van" -d street-cams --max-score 0.4 --json=cluster_id,relevance_score | jq length"#;
const EXPORT: &str = "tessera search image van.jpg --box 0.1,0.2,0.5,0.6 --all --mark vans && tessera export start street-cams --selection vans --format parquet --images --wait --download .";
const ADD: &str = "find . -name '*.jpg' -print0 | tessera media add dash-old --files-from - --split 2000 --then-reindex --wait";
const WAIT: &str = r#"tessera dataset wait dash-old --until READY --timeout 2h && tessera export start dash-old --format json --wait --download . || echo "code $?""#;
const SERVE: &str = "tessera serve ./photos | head -n 1 | jq -r .base_url";

/// Returns a command that runs a line in a shell, in `folder`, with the program on the path and the service in the
/// environment.
fn shell(home: &Path, serving: &Serving, folder: &Path, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).stdin(Stdio::null());
    for (name, value) in serving.asked(home, &[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_tessera")).parent().unwrap().to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path))).unwrap();
    let reported = |field: &str| serving.1[field].as_str().unwrap().to_owned();
    command.env("PATH", path).env("TESSERA_KIND", "hosted");
    command
        .env("TESSERA_API_KEY", reported("api_key"))
        .env("TESSERA_API_SECRET", reported("api_secret"));
    // The search of the second example names no dataset.
    command.env("TESSERA_DATASET", "street-cams");
    command
}

#[test]
fn the_example_session_runs_as_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for folder in ["street-cams", "dash-old", "more", "photos"] {
        fs::create_dir(home.join(folder)).unwrap();
        picture(&home.join(folder).join(format!("{folder}.jpg")));
    }
    let caption = json!({ "file_name": "street-cams.jpg", "caption": "A red van in the street" });
    fs::write(home.join("street-cams/metadata.jsonl"), caption.to_string()).unwrap();
    picture(&home.join("van.jpg"));
    let [cams, dash, data] = ["street-cams", "dash-old", "served"]
        .map(|name| home.join(name).to_str().unwrap().to_owned());
    let serving = serve(home, &[&cams, &dash, "--data", &data]);
    let run = |folder: &str, line: &str| {
        let (code, out, err) = outcome(&mut shell(home, &serving, &home.join(folder), line));
        assert_eq!(code, 0, "{line}\n{err}");
        out
    };

    run(".", "tessera dataset wait street-cams && tessera dataset wait dash-old");
    assert_eq!(run(".", COUNT).trim(), "1");
    run(".", EXPORT);
    assert!(home.join("vans.zip").is_file());
    run("more", ADD);
    assert!(!run(".", WAIT).contains("code"));
    assert!(home.join("dash-old.zip").is_file());
    let records = run(".", "tessera dataset list --json=display_name,n_images,status_new");
    let records: serde_json::Value = serde_json::from_str(&records).unwrap();
    let added = json!({ "display_name": "dash-old", "n_images": 2, "status_new": "READY" });
    assert!(records.as_array().unwrap().contains(&added), "{records}");

    // The last example serves until it is stopped.
    let mut line = shell(home, &serving, home, SERVE);
    let mut child = line.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let group = Group(Pid::from_child(&child));
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    drop(group);
    child.wait().unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
}

/// Replays the commands of a section, which begins after `heading` and ends before the next heading of the same kind.
/// Fails if the output differs from the documented output.
pub fn replay_section(document: &str, heading: &str, run: impl FnMut(&str) -> String) {
    let path = format!("{}/docs/{document}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap();
    let begin = text.find(heading).unwrap() + heading.len();
    let end = text[begin..].find("\n## ").map_or(text.len(), |at| begin + at);
    let section = &text[begin..end];
    let today = replay(section, run);
    if std::env::var_os("TESSERA_WRITE").is_some() {
        fs::write(path, [&text[..begin], today.trim_end(), "\n", &text[end..]].concat()).unwrap();
    } else {
        assert_eq!(section.trim_end(), today.trim_end(), "TESSERA_WRITE=1 rewrites the document");
    }
}

/// Returns the lines of a document with the current output of its commands.
fn replay(text: &str, mut run: impl FnMut(&str) -> String) -> String {
    let mut replayed = String::new();
    let mut is_console = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if !is_console || command.is_some() || line.starts_with("```") {
            replayed.extend([line, "\n"]);
        }
        replayed.extend(command.map(&mut run));
    }
    replayed
}
