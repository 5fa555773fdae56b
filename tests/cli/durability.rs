//! Tests that everything reported as done survives a power cut, because the files and their names are synced before it
//! is reported. The test reads the system calls of the real binary, and is skipped if they cannot be traced.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{outcome, picture, picture_folder, started, tessera};

const CALLS: &str = "trace=openat,mkdir,mkdirat,write,writev,pwrite64,ftruncate,fsync,fdatasync,sendto,\
                     sendmsg,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,exit_group";

/// Returns whether system calls can be traced on this machine.
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
pub(super) fn can_trace() -> bool {
    let traced =
        Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let can = traced.is_ok_and(|status| status.success());
    if !can {
        println!("skipped: strace is missing, or may not trace");
    }
    can
}

/// Wraps a command so that its system calls are written to a file.
fn traced(command: &Command, trace: &Path) -> Command {
    let options = ["-yy", "-s", "400", "-e", CALLS].map(str::to_owned);
    traced_with(command, &options, trace)
}

/// Wraps a command so that it runs under `strace` with these options. The program stays a child of this process.
pub(super) fn traced_with(command: &Command, options: &[String], trace: &Path) -> Command {
    let mut traced = Command::new("strace");
    traced.args(["-D", "-f"]).args(options).arg("-o").arg(trace);
    traced.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    traced
}

/// Returns the trace of a process that has ended, once the trace is complete.
fn read_trace(path: &Path) -> String {
    let begun = Instant::now();
    loop {
        let trace = fs::read_to_string(path).unwrap_or_default();
        let process = trace.split_whitespace().next();
        let is_end = |line: &str| {
            let mut words = line.split_whitespace();
            words.next() == process && words.next() == Some("+++")
        };
        if trace.lines().any(is_end) {
            return trace;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "the trace does not end");
        std::thread::yield_now();
    }
}

/// A system call with its name and arguments. It has returned without an error.
struct Call {
    name: String,
    arguments: String,
}

/// Returns the calls of a trace in the order in which they returned.
fn calls(trace: &str) -> Vec<Call> {
    let mut begun: BTreeMap<&str, String> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        let whole = if let Some(first) = rest.strip_suffix(" <unfinished ...>") {
            // Data may arrive before the call that sends it returns, so sending counts from its
            // start.
            if is_sending(first) {
                calls.extend(call(first));
            }
            begun.insert(process, first.to_owned());
            continue;
        } else if let Some((_, last)) =
            rest.split_once(" resumed>").filter(|_| rest.starts_with("<... "))
        {
            let first = begun.remove(process).unwrap_or_default();
            if is_sending(&first) {
                continue;
            }
            first + last
        } else {
            rest.to_owned()
        };
        if !whole.contains(" = -1 ") {
            calls.extend(call(&whole));
        }
    }
    calls
}

fn is_sending(call: &str) -> bool {
    call.contains("<TCP") || call.starts_with("write(1<")
}

fn call(text: &str) -> Option<Call> {
    let (name, arguments) = text.split_once('(')?;
    Some(Call { name: name.to_owned(), arguments: arguments.to_owned() })
}

impl Call {
    /// Returns the path of the descriptor that is the first argument.
    fn file(&self) -> Option<PathBuf> {
        let path = self.arguments.split_once('<')?.1.split_once('>')?.0;
        path.starts_with('/').then(|| PathBuf::from(path))
    }

    /// Returns all quoted arguments as paths.
    fn paths(&self) -> Vec<PathBuf> {
        self.arguments.split('"').skip(1).step_by(2).map(PathBuf::from).collect()
    }

    fn reports(&self, what: &str) -> bool {
        is_sending(&format!("{}({}", self.name, self.arguments)) && self.arguments.contains(what)
    }
}

/// What a power cut would lose now: contents and names that are not synced.
#[derive(Default)]
struct Unsynced {
    contents: BTreeSet<PathBuf>,
    /// New names that are not synced.
    names: BTreeSet<PathBuf>,
}

impl Unsynced {
    fn apply(&mut self, call: &Call) {
        let file = call.file();
        match call.name.as_str() {
            "write" | "writev" | "pwrite64" | "ftruncate" => self.contents.extend(file),
            "fsync" | "fdatasync" => {
                let Some(file) = file else { return };
                self.contents.remove(&file);
                self.names.retain(|name| name.parent() != Some(&file));
            }
            "openat" if call.arguments.contains("O_EXCL") => self.names.extend(call.paths()),
            "mkdir" | "mkdirat" => self.names.extend(call.paths()),
            "rename" | "renameat" | "renameat2" | "link" | "linkat" => {
                let paths = call.paths();
                let [from, to] = &paths[..] else { panic!("{}", call.arguments) };
                assert!(
                    !self.contents.contains(from),
                    "renamed sent it was synced: {}",
                    to.display()
                );
                self.names.remove(from);
                self.names.insert(to.clone());
            }
            "unlink" | "unlinkat" | "rmdir" => {
                for path in call.paths() {
                    self.contents.remove(&path);
                    self.names.remove(&path);
                }
            }
            _ => {}
        }
    }

    /// Returns the unsynced paths below a folder, without the trace of the test and without locks.
    fn below(&self, folder: &Path) -> Vec<&Path> {
        let all = self.contents.iter().chain(&self.names).map(PathBuf::as_path);
        let is_kept = |path: &&Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.starts_with(folder)
                && !["trace", "lock", "db-shm"].iter().any(|end| name.ends_with(end))
        };
        all.filter(is_kept).collect()
    }
}

#[test]
fn accepted_uploads_and_completed_exports_are_on_disk() {
    if !can_trace() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    fs::create_dir(home.join("pictures")).unwrap();
    fs::create_dir(home.join("new")).unwrap();
    picture(&home.join("pictures/a.png"));
    picture(&home.join("new/b.png"));
    let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
    let serve = tessera(home, &["serve", &path("pictures"), "--data", &path("data"), "--no-auth"]);
    let mut serving = started(traced(&serve, &home.join("calls")));
    assert_eq!(serving.indexed()["status_new"], "READY");
    for arguments in [
        &["media", "add", "pictures", "--dir", &path("new"), "--then-reindex", "--wait"][..],
        &["export", "start", "pictures", "--format", "json", "--images", "--wait"],
    ] {
        let (code, _, err) = outcome(&mut serving.asked(home, arguments));
        assert_eq!(code, 0, "{err}");
    }
    kill_process(Pid::from_child(&serving.0), Signal::TERM).unwrap();
    serving.0.wait().unwrap();

    let (data, mut unsynced) = (home.join("data"), Unsynced::default());
    let (mut accepted, mut completed, mut is_logged) = (0, 0, true);
    for call in calls(&read_trace(&home.join("calls"))) {
        let is_log_sync = matches!(call.name.as_str(), "fsync" | "fdatasync")
            && call.file() == Some(data.join("tessera.db-wal"));
        unsynced.apply(&call);
        if call.name.starts_with("rename") && call.arguments.contains("/uploads/") {
            is_logged = false;
        }
        is_logged |= is_log_sync;
        if call.reports("HTTP/1.1 202") {
            accepted += 1;
            assert!(is_logged, "accepted sent the database was synced");
            assert_eq!(unsynced.below(&data.join("uploads")), [] as [&Path; 0]);
        }
        // The name of the archive must be durable before the database records the archive.
        let exported = unsynced.names.iter().any(|name| name.extension() == Some("zip".as_ref()));
        assert!(!(is_log_sync && exported), "completed sent the archive was synced");
        completed += usize::from(call.name == "rename" && call.arguments.contains(".zip"));
    }
    assert_eq!((accepted, completed), (2, 1), "the addition, its reindex and the export");
}

/// Runs a command, and asserts that nothing in its home is unsynced when it reports success, or when it sends a request
/// that contains `sent`.
fn assert_durable(home: &Path, command: &Command, sent: Option<&str>) {
    let trace = home.join("calls");
    let mut traced = traced(command, &trace);
    if let Ok(input) = fs::File::open(home.join("input")) {
        traced.stdin(input);
    }
    let output = traced.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut unsynced = Unsynced::default();
    let (mut reports, mut files) = (0, 0);
    for call in calls(&read_trace(&trace)) {
        unsynced.apply(&call);
        files += usize::from(call.name.starts_with("rename"));
        let reports_now = sent.map_or(call.arguments.starts_with("1<"), |text| call.reports(text));
        if reports_now || (sent.is_none() && call.name == "exit_group") {
            reports += 1;
            assert_eq!(unsynced.below(home), [] as [&Path; 0], "{}({}", call.name, call.arguments);
        }
    }
    assert!(reports > 0 && files > 0, "nothing was written or reported");
    fs::remove_file(trace).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_commands_report_is_on_disk() {
    if !can_trace() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    picture_folder(home, "pictures", &["a.png"]);
    assert_durable(home, &tessera(home, &["config", "set", "ui.theme", "dark"]), None);

    let folder = home.join("pictures");
    let serve = tessera(home, &["serve", folder.to_str().unwrap(), "--no-auth"]);
    let serving = started(serve);
    assert_eq!(serving.indexed()["status_new"], "READY");
    let target = home.join("new");
    fs::create_dir(&target).unwrap();
    let export = ["export", "start", "pictures", "--format", "json", "--download"];
    let export = [&export[..], &[target.to_str().unwrap()]].concat();
    assert_durable(home, &serving.asked(home, &export), None);
    // The job must be saved before its request is sent.
    let export = [&export[..], &["--name", "again"]].concat();
    assert_durable(home, &serving.asked(home, &export), Some("/export_context_async"));

    let secret = "canary-of-the-durable-secret";
    tessera_testing::canaries::register_secret(secret, true);
    let server = ScriptedServer::start(move |_: &ReceivedRequest| {
        Reply::json(format!(r#"{{"api_key":"ak_1","api_secret":"{secret}"}}"#))
    })
    .await;
    let profile = format!("[profiles.prod]\nkind = 'hosted'\nbase_url = '{}'\n", server.url());
    fs::write(home.join("tessera/config.toml"), profile).unwrap();
    fs::write(home.join("input"), "SESSION=of-the-browser").unwrap();
    let import = ["auth", "import", "-p", "prod", "--cookie-stdin", "--insecure-storage"];
    assert_durable(home, &tessera(home, &import), None);
}
