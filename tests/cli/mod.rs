//! Tests the real binary without a terminal: streams, exit codes, and a clear message for every
//! refusal.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod accessible;
mod analysis;
mod auth;
mod bucket;
mod canary;
mod complete;
mod config;
#[cfg(target_os = "linux")]
mod disk_faults;
mod documented;
mod documents;
mod dry_run;
mod durability;
mod examples;
mod export;
mod export_formats;
mod export_readers;
mod file_actions;
mod first_hour;
mod foreign_bytes;
#[cfg(target_os = "linux")]
mod full_disk;
mod hostile;
mod kill;
mod killed;
mod manage_dataset;
mod mcp;
mod media;
mod model;
mod names;
mod profile;
mod proxy;
mod query;
mod search;
mod selection;
mod serve;
mod served_folder;
mod set;
mod store;
mod suggestions;
mod surface;
mod tag;
mod together;
mod training_set;
mod unreadable;
mod upgrade;
mod waiting;
mod work;

use std::{
    io::{BufRead, BufReader, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use uuid::Uuid;

fn tessera(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    // Every command logs as much as possible, so that the canaries are looked for everywhere.
    command.arg("--trace").arg(folder.join(format!("{}.trace", Uuid::new_v4())));
    command.args(arguments).stdin(Stdio::null());
    command.env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder).env("HOME", folder);
    command.env("XDG_CACHE_HOME", folder);
    // Tests must not use the keyring of the user who runs them.
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    for name in [
        "TESSERA_BASE_URL",
        "TESSERA_KIND",
        "TESSERA_API_KEY",
        "TESSERA_API_SECRET",
        "TERM",
        "TESSERA_STORE",
        "TESSERA_BUCKET",
    ] {
        command.env_remove(name);
    }
    command
}

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    outcome(&mut tessera(folder, arguments))
}

/// Does the same as `run`, with this text on standard input.
fn piped(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = tessera(folder, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input has closed it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    reported(&command, child.wait_with_output().unwrap())
}

/// A service that ends with the test, and the line that it printed at its start.
struct Serving(Child, Value);

impl Drop for Serving {
    fn drop(&mut self) {
        // The service may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Serving {
    /// Returns a command that uses this service, which needs no login.
    fn asked(&self, home: &Path, arguments: &[&str]) -> Command {
        let mut command = tessera(home, arguments);
        command.env("TESSERA_BASE_URL", self.1["base_url"].as_str().unwrap());
        command.env("TESSERA_KIND", "onprem");
        command
    }
}

/// Runs a command. Returns its exit code, standard output and standard error.
fn outcome(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    reported(command, output)
}

/// Returns the exit code, standard output and standard error of a command that has ended. Asserts
/// that its output contains no secret, and that its documents have the shape that `tessera spec`
/// describes.
fn reported(command: &Command, output: Output) -> (i32, String, String) {
    let Output { status, stdout, stderr } = output;
    let home = command.get_envs().find(|(name, _)| *name == "HOME").and_then(|(_, home)| home);
    // `tessera auth token` is the only command that is meant to print a token.
    let answer = if command.get_args().any(|word| word == "token") { &[] } else { &stdout[..] };
    tessera_testing::canaries::assert_clean(&[answer, &stderr], home.map(Path::new));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(stdout), text(stderr));
    // A command that selects fields does not print complete documents.
    if !command.get_args().any(|word| word.to_string_lossy().starts_with("--json=")) {
        documents::assert_described(&out);
    }
    documents::assert_described(&err);
    (status.code().unwrap(), out, err)
}

fn serve(folder: &Path, arguments: &[&str]) -> Serving {
    let mut arguments = arguments.to_vec();
    arguments.insert(0, "serve");
    started(tessera(folder, &arguments))
}

fn started(mut command: Command) -> Serving {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    documents::assert_described(&line);
    let reported: Value = serde_json::from_str(&line).expect("one line of JSON");
    for (field, kept) in [("api_secret", true), ("session", false)] {
        if let Some(secret) = reported[field].as_str() {
            tessera_testing::canaries::register_secret(secret, kept);
        }
    }
    Serving(child, reported)
}

fn picture(path: &Path) {
    image::RgbImage::from_fn(32, 24, |x, y| {
        image::Rgb([u8::try_from(x * 8).unwrap(), u8::try_from(y * 9).unwrap(), 90])
    })
    .save(path)
    .unwrap();
}

/// Adds a profile of a folder.
fn add_local_profile(home: &Path, name: &str, folder: &str) {
    let add = ["profile", "add", name, "--kind", "local", "--folder", folder];
    let (code, _, err) = run(home, &add);
    assert_eq!(code, 0, "{err}");
}

/// Creates a folder with the same picture in each of these files.
fn picture_folder(parent: &Path, name: &str, files: &[&str]) -> PathBuf {
    let folder = parent.join(name);
    std::fs::create_dir(&folder).unwrap();
    for file in files {
        picture(&folder.join(file));
    }
    folder
}

/// Creates a home with a folder that contains one picture.
fn home() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = picture_folder(home.path(), "pictures", &["a.png"]);
    (home, folder)
}

#[test]
fn demo_without_a_terminal_prints_its_tour_and_verifies_the_export() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(home.path(), &["demo", "--images", "24"]);
    assert_eq!(code, 0, "{err}");
    for words in [
        "DATASETS",
        "READY",
        "24 images",
        "CLUSTERS",
        "SIMILAR",
        "0.000 same",
        "EXPORT",
        "24 of them images",
    ] {
        assert!(out.contains(words), "{words} is missing:\n{out}");
    }
    assert!(!out.contains('\u{1b}'), "no escape bytes in a pipe");
    let (code, again, _) = run(home.path(), &["demo", "--images", "24"]);
    assert_eq!(code, 0);
    let clusters =
        |text: &str| text[text.find("CLUSTERS").unwrap()..text.find("EXPORT").unwrap()].to_owned();
    assert_eq!(clusters(&again), clusters(&out), "the same pictures and clusters every time");
}

#[test]
fn the_interface_without_a_terminal_explains_itself() {
    let home = tempfile::tempdir().unwrap();
    picture(&home.path().join("a.png"));
    let folder = home.path().to_str().unwrap();
    for arguments in
        [vec!["open", folder], vec!["--base-url", "http://127.0.0.1:9", "--kind", "onprem"], vec![]]
    {
        let (code, out, err) = run(home.path(), &arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains("terminal") || err.contains("tessera demo"), "{err}");
        assert!(!err.contains('\u{1b}'));
    }
}

#[test]
fn bad_folders_are_refused_with_what_where_and_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    std::fs::create_dir_all(root.join("empty")).unwrap();
    std::fs::create_dir_all(root.join("texts")).unwrap();
    std::fs::write(root.join("texts/a.txt"), "words").unwrap();
    std::fs::write(root.join("file"), "words").unwrap();
    for (name, words) in [
        ("missing", "does not exist"),
        ("empty", "is empty"),
        ("texts", "picture"),
        ("file", "not a folder"),
    ] {
        let path = root.join(name);
        let (code, out, err) = run(root, &["serve", path.to_str().unwrap()]);
        assert_eq!((code, out.as_str()), (2, ""), "{name}: {err}");
        assert!(err.contains(words) && err.contains(name), "{name}: {err}");
    }
}

#[test]
fn without_certificate_authorities_only_encrypted_services_are_out_of_reach() {
    let (home, folder) = home();
    let serving = serve(home.path(), &[folder.to_str().unwrap(), "--no-auth"]);
    let without = |mut command: Command| {
        command.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent");
        outcome(&mut command)
    };
    let (code, out, err) = without(serving.asked(home.path(), &["dataset", "list", "--json"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("pictures"), "{out}");
    let mut encrypted = serving.asked(home.path(), &["dataset", "list"]);
    encrypted.env("TESSERA_BASE_URL", "https://127.0.0.1:9");
    let (code, _, err) = without(encrypted);
    assert_ne!(code, 0);
    assert!(err.contains("SSL_CERT_FILE=\"/nonexistent\"") && err.contains("unset it"), "{err}");
}

#[test]
fn a_command_that_waits_for_the_index_folder_says_so() {
    let (home, folder) = home();
    let data = home.path().join("index");
    std::fs::create_dir(&data).unwrap();
    let lock = std::fs::File::create(data.join("lock")).unwrap();
    lock.lock().unwrap();
    let mut command = tessera(home.path(), &["serve", folder.to_str().unwrap(), "--data"]);
    let mut child =
        command.arg(&data).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.contains("waiting for the index folder"), "{line}");
}

#[test]
fn serve_prints_one_json_line_and_answers() {
    let (home, folder) = home();
    let serving = serve(home.path(), &[folder.to_str().unwrap()]);
    let reported = &serving.1;
    assert_eq!(reported["schema"], "tessera.service/1");
    assert!(reported["base_url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    assert!(reported["api_key"].is_string() && reported["api_secret"].is_string());
    assert_eq!(reported["datasets"][0]["display_name"], "pictures");
    assert!(
        reported["datasets"][0]["status_new"].is_string()
            && reported["datasets"][0]["id"].is_string()
    );
}

#[test]
fn without_login_no_secret_is_printed() {
    let (home, folder) = home();
    let serving = serve(home.path(), &[folder.to_str().unwrap(), "--no-auth"]);
    assert!(serving.1["api_key"].is_null() && serving.1["api_secret"].is_null());
    let (code, _, err) = run(
        home.path(),
        &[
            "serve",
            folder.to_str().unwrap(),
            "--no-auth",
            "--listen",
            "0.0.0.0:0",
            "--data",
            home.path().join("d").to_str().unwrap(),
        ],
    );
    assert_ne!(code, 0);
    assert!(
        err.contains("loopback") || err.contains("127.0.0.1") || err.contains("login"),
        "{err}"
    );
}

#[test]
fn a_taken_port_is_named() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, _, err) = run(home.path(), &["serve", folder, "--listen", &address]);
    assert_eq!(code, 1);
    assert!(err.contains(&address) && err.contains("--listen"), "{err}");
}

#[test]
fn credentials_of_an_address_come_from_the_environment_only() {
    let home = tempfile::tempdir().unwrap();
    let (code, _, err) = run(
        home.path(),
        &["--base-url", "http://127.0.0.1:9", "--kind", "hosted", "--api-secret", "x"],
    );
    assert_eq!(code, 2);
    assert!(!err.contains("api_secret=x"), "{err}");
    let (code, _, err) = run(home.path(), &["--base-url", "http://127.0.0.1:9"]);
    assert_eq!(code, 2);
    assert!(err.contains("--kind"), "{err}");
}

#[test]
fn a_broken_settings_file_is_named_with_its_line() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("tessera")).unwrap();
    std::fs::write(home.path().join("tessera/config.toml"), "[ui]\ncolour = 'red'\n").unwrap();
    let (code, _, err) = run(home.path(), &["demo"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("config.toml") && err.contains("line 2") && err.contains("colour"),
        "{err}"
    );
}
