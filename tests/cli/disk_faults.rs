//! Tests commands on a disk that fails: system calls on files return errors, chosen by a seed. A command either does
//! what it says, or fails with a message, and the same command works once the disk does. The test is skipped if system
//! calls cannot be traced.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{
    durability::{can_trace, traced_with},
    home, outcome, picture, run, tessera,
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

fn set_theme(scene: &Scene) -> Change {
    let theme = if scene.run.is_multiple_of(2) { "dark" } else { "light" };
    let is_done = |scene: &Scene| {
        let theme = if scene.run.is_multiple_of(2) { "dark" } else { "light" };
        scene.output("config get ui.theme").trim() == theme
    };
    Change { arguments: words(&format!("config set ui.theme {theme}")), is_done }
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
