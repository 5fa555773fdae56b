//! Kills actions at random moments, then continues or reverts them. The bytes of every original must exist once and
//! only once, wherever the kill came. The action runs in a process of its own: this test program, started again.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that fails here fails rightly, and who runs the tests should know what was not tested"
)]

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tessera_curation::{
    FileAction, FileActionPreview, FileContent, FoundOriginals, JournalFolder, LinkKind, Original,
    Plan, Replacement, TargetLayout, resume, run, undo,
};

/// The number of kills, unless `TESSERA_KILL_RUNS` gives another one.
const RUNS: u64 = 20;
const FILES: usize = 40;
/// The number of annotation files that name all pictures.
const ANNOTATION_FILES: usize = 8;
const DESK: &str = "TESSERA_CURATION_DESK";
const ACTION: &str = "TESSERA_CURATION_ACTION";
const ACTIONS: [&str; 5] = ["move", "move to another disk", "copy", "trash", "replace"];

struct Desk {
    root: PathBuf,
    other_disk: PathBuf,
}

impl Desk {
    fn journals(&self) -> JournalFolder {
        JournalFolder::new(self.root.join("journals"))
    }

    fn picture(&self, number: usize) -> PathBuf {
        self.root.join(format!("pics/{}/{number}.jpg", number % 3))
    }

    fn copy(&self, number: usize) -> PathBuf {
        self.root.join(format!("pics/copy-{number}.jpg"))
    }

    fn annotation_file(&self, number: usize) -> PathBuf {
        self.root.join(format!("pics/list-{number}.txt"))
    }

    /// The names of the pictures, and a line that stays.
    fn names(number: usize) -> String {
        let names = (0..FILES).map(|picture| format!("{}/{picture}.jpg\n", picture % 3));
        names.collect::<String>() + &Self::last_line(number)
    }

    fn last_line(number: usize) -> String {
        format!("the pictures {number}\n")
    }

    fn content(number: usize) -> Vec<u8> {
        format!("picture {number} ").repeat(3_000).into_bytes()
    }

    fn fill(&self) {
        for number in 0..FILES {
            let path = self.picture(number);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, Self::content(number)).unwrap();
            fs::write(path.with_extension("txt"), format!("caption {number}")).unwrap();
            fs::write(self.copy(number), Self::content(number)).unwrap();
        }
        for number in 0..ANNOTATION_FILES {
            fs::write(self.annotation_file(number), Self::names(number)).unwrap();
        }
    }

    fn original(&self, number: usize, path: PathBuf) -> Original {
        let hash = Some(blake3::hash(&Self::content(number)).into());
        let content = FileContent { hash, ..FileContent::of(&path).unwrap() };
        let sidecar = path.with_extension("txt");
        Original {
            content,
            folder: self.root.join("pics"),
            sidecars: if sidecar.exists() { vec![sidecar] } else { Vec::new() },
            shared_sidecars: Vec::new(),
            pair: Vec::new(),
            path,
        }
    }

    fn plan(&self, action: &str) -> Plan {
        let layout =
            |folder: &Path| TargetLayout { folder: folder.join("target"), keeps_folders: true };
        let action = match action {
            "move" => FileAction::Move(layout(&self.root)),
            "move to another disk" => FileAction::Move(layout(&self.other_disk)),
            "copy" => FileAction::Copy(layout(&self.root)),
            "trash" => FileAction::Trash,
            _ => {
                let replacement = |number| Replacement {
                    copy: self.original(number, self.copy(number)),
                    kept: self.picture(number),
                };
                return Plan::replacing(LinkKind::Hard, (0..FILES).map(replacement).collect());
            }
        };
        let originals = (0..FILES).map(|number| self.original(number, self.picture(number)));
        let found = FoundOriginals {
            originals: originals.collect(),
            annotations: (0..ANNOTATION_FILES).map(|number| self.annotation_file(number)).collect(),
            ..FoundOriginals::default()
        };
        let mut preview = FileActionPreview::new(action, found, false);
        preview.rewrite_annotations();
        preview.plan
    }

    /// Every file outside the journals by its path, with its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for folder in
            [self.root.join("pics"), self.root.join("target"), self.root.join("data/Trash/files")]
        {
            collect(&folder, &mut files);
        }
        collect(&self.other_disk, &mut files);
        files
    }

    /// Starts this program again as the process that acts.
    fn start(&self, action: &str) -> Child {
        self.command(action).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn command(&self, action: &str) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "the_process_that_acts", "--nocapture"]);
        command.env(DESK, &self.root).env("OTHER_DISK", &self.other_disk).env(ACTION, action);
        command.env("XDG_DATA_HOME", self.root.join("data")).env("HOME", &self.root);
        command
    }

    fn finish(&self, action: &str, reason: &str) {
        let output = self.command(action).output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{action} after {reason}: {text}");
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// Acts if another test has started this program for it.
#[test]
fn the_process_that_acts() {
    let (Ok(root), Ok(action)) = (env::var(DESK), env::var(ACTION)) else { return };
    let desk = Desk { root: root.into(), other_disk: env::var("OTHER_DISK").unwrap().into() };
    let outcome = match action.as_str() {
        "undo" => {
            let last = desk.journals().last().unwrap().header.id;
            undo(&desk.journals(), last, &mut |_, _| true)
        }
        "resume" => resume(&desk.journals(), &mut |_, _| true),
        _ => run(&desk.journals(), &desk.plan(&action), 1, &mut |_, _| true),
    };
    let outcome = outcome.unwrap();
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
}

fn count(files: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<&[u8], usize> {
    let mut counts = BTreeMap::new();
    // An empty file in the trash is the place that a trashed file was about to take.
    for bytes in files.values().filter(|bytes| !bytes.is_empty()) {
        *counts.entry(bytes.as_slice()).or_default() += 1;
    }
    counts
}

/// Waits until the action has begun, and kills it after a pause.
fn kill_during(mut child: Child, journals: &Path, pause: Duration) -> bool {
    let begun = Instant::now();
    let is_there = || {
        let names = fs::read_dir(journals).into_iter().flatten().flatten();
        names.into_iter().any(|entry| entry.path().extension().is_some_and(|it| it == "jsonl"))
    };
    while !is_there() && begun.elapsed() < Duration::from_secs(20) {
        std::hint::spin_loop();
    }
    let at = Instant::now();
    while at.elapsed() < pause {
        std::hint::spin_loop();
    }
    let ended = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    !ended
}

/// Checks the files after a killed action was resumed. `counts` has the number of files with each content before the
/// action.
fn assert_resumed(desk: &Desk, action: &str, counts: &BTreeMap<&[u8], usize>, pause: Duration) {
    let resumed = desk.files();
    let found = count(&resumed);
    for (bytes, expected) in counts {
        // Annotation files are not copied.
        let is_copied = action == "copy" && !bytes.starts_with(b"0/0.jpg");
        let copies = usize::from(is_copied);
        assert_eq!(found[bytes], expected + copies, "{action} after {pause:?}");
    }
    let is_temporary = |path: &PathBuf| path.to_string_lossy().contains(".new-");
    assert!(!resumed.keys().any(is_temporary), "{action}: an unfinished file was left");
    for list in 0..ANNOTATION_FILES {
        let stays = ["copy", "replace"].contains(&action);
        let text = if stays { Desk::names(list) } else { Desk::last_line(list) };
        let written = fs::read_to_string(desk.annotation_file(list)).unwrap();
        assert_eq!(written, text, "{action} after {pause:?}");
    }
}

#[test]
fn no_original_is_lost_or_doubled_when_an_action_is_killed() {
    let runs = env::var("TESSERA_KILL_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut interrupted = 0;
    for number in 0..runs {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let (folder, memory) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm"));
        let memory = memory.unwrap_or_else(|_| tempfile::tempdir().unwrap());
        let root = folder.path().canonicalize().unwrap();
        let desk = Desk { root, other_disk: memory.path().to_owned() };
        desk.fill();
        let before = desk.files();
        let action = ACTIONS[usize::try_from(number).unwrap() % ACTIONS.len()];
        let pause = Duration::from_micros((seed >> 33) % 20_000);
        let child = desk.start(action);
        interrupted += u64::from(kill_during(child, &desk.root.join("journals"), pause));
        let killed = desk.files();
        let (counts, found) = (count(&before), count(&killed));
        for (bytes, expected) in &counts {
            let found = found.get(bytes).copied().unwrap_or_default();
            assert!(found >= *expected, "{action} after {pause:?}: a file was lost by the kill");
        }
        let is_open = desk.journals().interrupted().is_some();
        if is_open && number % 2 == 0 {
            desk.finish("resume", action);
            assert_resumed(&desk, action, &counts, pause);
        }
        if number % 3 == 0 {
            kill_during(desk.start("undo"), &desk.root.join("journals"), pause);
        }
        let files = || {
            let mut files = desk.files();
            files.retain(|_, bytes| !bytes.is_empty());
            files
        };
        // The undo may have ended before it was killed.
        if files() != before {
            desk.finish("undo", action);
        }
        let undone = files();
        let paths = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(paths(&undone), paths(&before), "{action} after {pause:?}");
        assert!(undone == before, "{action} after {pause:?}: bytes differ");
    }
    assert!(interrupted * 4 > runs, "only {interrupted} of {runs} kills came during an action");
}

/// A disk on which no file can grow beyond a limit.
#[test]
fn a_full_disk_leaves_every_original() {
    let (folder, memory) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm"));
    let Ok(memory) = memory else {
        eprintln!("not tested: there is no /dev/shm");
        return;
    };
    let root = folder.path().canonicalize().unwrap();
    let desk = Desk { root, other_disk: memory.path().to_owned() };
    desk.fill();
    let before = desk.files();
    // With the smaller limit, not even the journal can be written.
    for blocks in [1, 64] {
        let mut shell = Command::new("sh");
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        shell.args(["-c", &limit]).arg(env::current_exe().unwrap());
        shell.args(["--exact", "the_process_that_acts", "--nocapture"]);
        shell.env(DESK, &desk.root).env("OTHER_DISK", &desk.other_disk).env(ACTION, "copy");
        let status = shell.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(!status.success());
        let mut after = desk.files();
        after.retain(|path, _| !path.starts_with(desk.root.join("target")));
        assert!(after == before, "an original was changed");
        let unfinished =
            desk.files().into_keys().any(|path| path.to_string_lossy().contains(".new-"));
        assert!(!unfinished, "an unfinished file was left");
    }
}
