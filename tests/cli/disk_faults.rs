//! Tests commands on a disk that fails, and on disks that do not offer everything. System calls on files return errors,
//! chosen by a seed: a command either does what it says, or fails with a message, and the same command works once the disk
//! does. Without locks, hard links or the sync of folders, commands work. The tests are skipped if system calls cannot be
//! traced.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{
    durability::{can_trace, traced_with},
    home, outcome, picture, run, started, tessera,
};

/// The number of commands with a fault. `TESSERA_FAULT_RUNS` replaces it.
const RUNS: u64 = 28;

/// The system calls that change files, each with errors that disks and network file systems report for it. `write` is
/// not among them, because it also writes to pipes and event counters, which cannot fail like this.
const FAULTS: [(&str, &[&str]); 8] = [
    ("pwrite64", &["ENOSPC", "EIO", "EDQUOT"]),
    ("ftruncate", &["ENOSPC", "EIO"]),
    ("fsync", &["EIO", "EINVAL", "ENOSPC"]),
    ("fdatasync", &["EIO", "EINVAL", "ENOSPC"]),
    ("rename,renameat,renameat2", &["EIO", "ENOSPC", "EACCES"]),
    ("link,linkat", &["EPERM", "EOPNOTSUPP", "EMLINK"]),
    ("mkdir,mkdirat", &["ENOSPC", "EIO", "EROFS"]),
    ("flock", &["ENOLCK", "ENOSYS", "EIO"]),
];

/// A pseudo-random number below a limit, which is the same in each run of the test.
fn random(run: u64, purpose: u64, limit: usize) -> usize {
    usize::try_from(super::kill::random(run, purpose, limit as u64)).unwrap()
}

/// A folder with a local profile, over which commands run.
struct Scene {
    home: PathBuf,
    run: u64,
}

/// A command that changes files, and a check of what it has done.
struct Change {
    arguments: Vec<String>,
    is_done: fn(&Scene) -> bool,
}

const CHANGES: [fn(&Scene) -> Change; 7] =
    [set_theme, add_profile, save_view, select, export, add_media, rename];

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

impl Scene {
    fn name(&self, kind: &str) -> String {
        format!("{kind}{}", self.run)
    }

    /// Returns what a command prints while the disk works.
    fn output(&self, arguments: &str) -> String {
        let arguments = words(arguments);
        let (code, out, err) = run(&self.home, &texts(&arguments));
        assert_eq!(code, 0, "run {}: {arguments:?}: {err}", self.run);
        out
    }

    fn document(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.output(&format!("{arguments} --json"))).unwrap()
    }
}

fn texts(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

fn theme(scene: &Scene) -> &'static str {
    if scene.run.is_multiple_of(2) { "dark" } else { "light" }
}

fn set_theme(scene: &Scene) -> Change {
    let is_done = |scene: &Scene| scene.output("config get ui.theme").trim() == theme(scene);
    Change { arguments: words(&format!("config set ui.theme {}", theme(scene))), is_done }
}

fn add_profile(scene: &Scene) -> Change {
    let arguments = format!("profile add {} --kind local --folder pictures", scene.name("p"));
    let is_done = |scene: &Scene| scene.output("profile list").contains(&scene.name("p"));
    Change { arguments: words(&arguments), is_done }
}

fn save_view(scene: &Scene) -> Change {
    let arguments = format!("-p here query save {} --vql []", scene.name("v"));
    let is_done = |scene: &Scene| scene.output("-p here query list").contains(&scene.name("v"));
    Change { arguments: words(&arguments), is_done }
}

fn select(scene: &Scene) -> Change {
    let page = scene.document("-p here search browse --flat");
    let media = page["previews"][0]["media_id"].as_str().unwrap().to_owned();
    let arguments = format!("-p here selection add --name {} --media {media}", scene.name("s"));
    let is_done = |scene: &Scene| scene.output("-p here selection list").contains(&scene.name("s"));
    Change { arguments: words(&arguments), is_done }
}

fn export(scene: &Scene) -> Change {
    let name = scene.name("e");
    let arguments = format!("-p here export start --images --name {name} --download .");
    let is_done = |scene: &Scene| {
        let archive = fs::read(scene.home.join(format!("{}.zip", scene.name("e"))));
        archive.is_ok_and(|bytes| {
            let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
            for index in 0..archive.len() {
                std::io::copy(&mut archive.by_index(index).unwrap(), &mut std::io::sink()).unwrap();
            }
            archive.index_for_name("images/a.png").is_some()
        })
    };
    Change { arguments: words(&arguments), is_done }
}

fn add_media(scene: &Scene) -> Change {
    let file = format!("{}.png", scene.name("m"));
    fs::create_dir_all(scene.home.join("other")).unwrap();
    picture(&scene.home.join("other").join(&file));
    let arguments = format!("-p here media add --then-reindex --wait --file other/{file}");
    let is_done = |scene: &Scene| {
        let found = scene.output("-p here search browse --flat --all");
        found.contains(&format!("{}.png", scene.name("m")))
    };
    Change { arguments: words(&arguments), is_done }
}

fn rename(scene: &Scene) -> Change {
    let dataset = scene.document("-p here dataset show");
    let id = dataset["id"].as_str().unwrap();
    let arguments = format!("-p here dataset rename {id} {}", scene.name("n"));
    let is_done = |scene: &Scene| {
        scene.document("-p here dataset show")["display_name"] == scene.name("n").as_str()
    };
    Change { arguments: words(&arguments), is_done }
}

/// Returns the options that let one kind of system calls fail: one call, or several in succession. The background work
/// of the service tries again until the disk works, so no fault lasts.
fn fault(run: u64) -> (String, [String; 4]) {
    let (calls, errors) = FAULTS[random(run, 1, FAULTS.len())];
    let error = errors[random(run, 2, errors.len())];
    let first = random(run, 3, 12) + 1;
    let when = format!("{first}..{}", first + random(run, 4, 6));
    let inject = format!("inject={calls}:error={error}:when={when}");
    let options = ["-e".to_owned(), format!("trace={calls}"), "-e".to_owned(), inject.clone()];
    (inject, options)
}

fn with_fault(command: &Command, options: &[String], trace: &Path) -> Command {
    let mut traced = traced_with(command, options, trace);
    traced.current_dir(command.get_current_dir().unwrap());
    traced
}

#[test]
fn commands_survive_a_disk_that_fails() {
    if !can_trace() {
        return;
    }
    let (folder, pictures) = home();
    let home = folder.path().to_owned();
    let runs = std::env::var("TESSERA_FAULT_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let (code, _, err) = run(
        &home,
        &["profile", "add", "here", "--kind", "local", "--folder", pictures.to_str().unwrap()],
    );
    assert_eq!(code, 0, "{err}");
    let mut scene = Scene { home, run: 0 };
    scene.document("-p here dataset show");
    for run in 0..runs {
        scene.run = run;
        let change = CHANGES[random(run, 0, CHANGES.len())](&scene);
        let (fault, options) = fault(run);
        let arguments = texts(&change.arguments);
        let command = || {
            let mut command = tessera(&scene.home, &arguments);
            command.current_dir(&scene.home);
            command
        };
        let trace = scene.home.join("faults");
        let (code, out, err) = outcome(&mut with_fault(&command(), &options, &trace));
        let what = format!("run {run}, {fault}: {arguments:?} ended with {code}: {out}{err}");
        assert!((0..=13).contains(&code) && !err.contains("internal error"), "{what}");
        assert!(code == 0 || !err.trim().is_empty(), "{what}");
        assert!(code != 0 || (change.is_done)(&scene), "reported as done: {what}");
        if !(change.is_done)(&scene) {
            let (code, _, err) = outcome(&mut command());
            assert_eq!(code, 0, "the disk works again: {err}\n{what}");
            assert!((change.is_done)(&scene), "the disk works again: {err}\n{what}");
        }
    }
}

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";
const TASK: &str = "33333333-3333-4333-8333-333333333333";

/// Wraps a command so that these system calls fail with an error.
fn failing(command: &Command, calls: &[(&str, &str)]) -> Command {
    let names: Vec<&str> = calls.iter().map(|(names, _)| *names).collect();
    let mut options = vec!["-qq".to_owned(), "-e".to_owned(), format!("trace={}", names.join(","))];
    for (names, error) in calls {
        options.extend(["-e".to_owned(), format!("inject={names}:error={error}")]);
    }
    traced_with(command, &options, Path::new("/dev/null"))
}

fn archive() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("metadata.json", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut archive, b"[]").unwrap();
    archive.finish().unwrap().into_inner()
}

async fn service() -> ScriptedServer {
    let archive = archive();
    ScriptedServer::start(move |request: &ReceivedRequest| {
        let path = request.path();
        if path.ends_with("/export.zip") {
            Reply::new(200, &[], &archive)
        } else if path.ends_with("async") {
            Reply::json(json!({ "id": TASK }).to_string())
        } else if path.ends_with("export_status") {
            Reply::json(
                json!({ "status": "COMPLETED", "download_uri": "/x/export.zip" }).to_string(),
            )
        } else {
            let record = json!({ "id": ID, "display_name": "dash", "status_new": "READY" });
            Reply::json(record.to_string())
        }
    })
    .await
}

fn download(server: &ScriptedServer, home: &Path) -> Command {
    let _ = fs::remove_file(home.join("dash.zip"));
    let start = ["export", "start", ID, "--format", "json", "--wait", "--download"];
    let mut command = tessera(home, &[&start[..], &[home.to_str().unwrap()]].concat());
    command.env("TESSERA_BASE_URL", server.url()).env("TESSERA_KIND", "onprem");
    command
}

const NO_LINKS: &[(&str, &str)] = &[("renameat2", "EINVAL"), ("link,linkat", "EPERM")];

#[tokio::test(flavor = "multi_thread")]
async fn downloads_and_jobs_work_on_every_disk() {
    if !can_trace() {
        return;
    }
    let server = service().await;
    let home = tempfile::tempdir().unwrap();
    for (calls, warning) in [
        (&[("flock", "ENOSYS")][..], "no file locks"),
        (&[("flock", "ENOLCK")], "no file locks"),
        (&[("flock", "EOPNOTSUPP")], "no file locks"),
        (&[("fsync,fdatasync", "EINVAL")], "cannot sync folders"),
        (&[("fsync,fdatasync", "EOPNOTSUPP")], "cannot sync folders"),
        (NO_LINKS, ""),
        (&[("renameat2", "EINVAL"), ("link,linkat", "EROFS")], ""),
        (&[("renameat2", "EINVAL"), ("link,linkat", "EIO")], ""),
        (&[("statfs,fstatfs", "ENOSYS")], ""),
        (&[("statfs,fstatfs", "EPERM")], ""),
        (&[], ""),
    ] {
        let command = download(&server, home.path());
        let (code, _, err) = match calls {
            [] => outcome(&mut { command }),
            calls => outcome(&mut failing(&command, calls)),
        };
        assert_eq!(code, 0, "{calls:?}: {err}");
        assert!(home.path().join("dash.zip").is_file(), "{calls:?}: {err}");
        assert_eq!(err.contains("warning"), !warning.is_empty(), "{calls:?}: {err}");
        assert!(err.contains(warning), "{calls:?}: {err}");
    }
    let mut list = tessera(home.path(), &["jobs", "list"]);
    list.env("TESSERA_BASE_URL", server.url()).env("TESSERA_KIND", "onprem");
    let (code, out, err) = outcome(&mut failing(&list, &[("flock", "ENOSYS")]));
    assert_eq!((code, out.lines().count()), (0, 11), "{err}{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_file_is_kept_without_hard_links() {
    if !can_trace() {
        return;
    }
    let server = service().await;
    let home = tempfile::tempdir().unwrap();
    let command = download(&server, home.path());
    fs::write(home.path().join("dash.zip"), "mine").unwrap();
    let (code, _, err) = outcome(&mut failing(&command, NO_LINKS));
    assert!(code != 0 && err.contains("already exists"), "{err}");
    assert_eq!(fs::read_to_string(home.path().join("dash.zip")).unwrap(), "mine");
}

#[test]
fn an_index_folder_and_settings_work_on_a_disk_without_locks() {
    if !can_trace() {
        return;
    }
    let (home, folder) = home();
    let serve = tessera(home.path(), &["serve", folder.to_str().unwrap(), "--no-auth"]);
    let serving = started(failing(&serve, &[("flock", "ENOLCK")]));
    assert_eq!(serving.indexed()["status_new"], "READY");
    drop(serving);
    let weak = [("flock", "ENOLCK"), ("fsync", "EINVAL")];
    let set = tessera(home.path(), &["config", "set", "ui.theme", "light"]);
    let (code, _, err) = outcome(&mut failing(&set, &weak));
    assert_eq!(code, 0, "{err}");
    let (code, out, err) =
        outcome(&mut failing(&tessera(home.path(), &["doctor", "--offline"]), &weak));
    assert!(
        out.contains("no file locks") && out.contains("cannot sync folders"),
        "{code} {err}{out}"
    );
}

/// A disk of another user or behind FUSE may refuse times, reserving renames and hard links.
#[test]
fn files_are_copied_to_a_disk_that_refuses_times_and_links() {
    if !can_trace() {
        return;
    }
    let (home, folder) = home();
    let filter = r#"[{"name":{"op":"contains","value":"png"}}]"#;
    for (position, calls) in [
        &[("utimensat", "EPERM")][..],
        &[("utimensat", "ENOSYS")],
        &[("renameat2", "EPERM"), ("link,linkat", "EPERM")],
        &[("renameat2", "EINVAL"), ("link,linkat", "EMLINK")],
        &[("renameat2", "EINVAL"), ("link,linkat", "EROFS")],
    ]
    .into_iter()
    .enumerate()
    {
        let target = home.path().join(format!("copies-{position}"));
        let [from, to] = [&folder, &target].map(|path| path.to_str().unwrap());
        let arguments = ["--folder", from, "media", "copy", "--vql", filter, "--to", to, "--yes"];
        let (code, _, err) = outcome(&mut failing(&tessera(home.path(), &arguments), calls));
        assert_eq!(code, 0, "{calls:?}: {err}");
        assert_eq!(
            fs::read(target.join("a.png")).unwrap(),
            fs::read(folder.join("a.png")).unwrap()
        );
    }
}
