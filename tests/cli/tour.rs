//! Runs the tour of docs/scripting.md exactly as it is printed.

use std::{
    fs::{self, File},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// The maximum duration of the tour.
const PATIENCE: Duration = Duration::from_mins(3);
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
fn run(script: &str, folder: &Path) -> (bool, String, String) {
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
    let ended = ended.recv_timeout(PATIENCE).ok();
    let text = |path| fs::read_to_string(path).unwrap();
    (ended.is_some_and(|status| status.success()), text(out), text(err))
}

#[test]
#[expect(clippy::print_stderr, reason = "who runs the tests should know what was not tested")]
fn the_tour_with_curl_runs_as_printed() {
    if let Some(missing) = ["bash", "curl", "openssl"].into_iter().find(|name| !is_there(name)) {
        eprintln!("the tour was not run: {missing} is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (succeeded, out, err) = run(tour(), folder.path());
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
