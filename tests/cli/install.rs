//! Tests the install script of a release, with an archive that contains a program of two lines.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use tessera_testing::seaweedfs;

use super::outcome;

const RECIPE: &str = include_str!("../../packaging/recipes/install.sh");
const TARGETS: [&str; 5] = [
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "aarch64-apple-darwin",
];
const FILES: [&str; 6] = [
    "bin/tessera",
    "share/bash-completion/completions/tessera",
    "share/zsh/site-functions/_tessera",
    "share/fish/vendor_completions.d/tessera.fish",
    "share/man/man1/tessera.1",
    "share/man/man1/tessera-open.1",
];

/// A release in a folder, whose archives have the same content for all targets.
struct Release {
    folder: TempDir,
    home: TempDir,
}

impl Release {
    fn new(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut script = RECIPE.replace("@VERSION@", "1.2.3").replace("@URL@", "/nowhere");
        script = script.replace("@MANUAL@", "tessera.1 tessera-open.1");
        for target in TARGETS {
            let name = format!("tessera-1.2.3-{target}");
            let path = folder.path().join(format!("{name}.tar.gz"));
            let mut tar =
                tar::Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::fast()));
            let mut put = |file: &str, content: &str, mode| {
                let mut header = tar::Header::new_gnu();
                header.set_size(content.len() as u64);
                header.set_mode(mode);
                tar.append_data(&mut header, format!("{name}/{file}"), content.as_bytes()).unwrap();
            };
            put("tessera", program, 0o755);
            for file in ["tessera.bash", "_tessera", "tessera.fish"] {
                put(&format!("completions/{file}"), file, 0o644);
            }
            put("man/tessera.1", "manual", 0o644);
            put("man/tessera-open.1", "manual of open", 0o644);
            tar.into_inner().unwrap().finish().unwrap();
            let sum = Sha256::digest(fs::read(&path).unwrap());
            let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            script = script.replace(&format!("@SHA256:{target}@"), &sum);
        }
        assert!(!script.contains('@') || !script.contains("@SHA"), "{script}");
        fs::write(folder.path().join("install.sh"), script).unwrap();
        Self { folder, home: tempfile::tempdir().unwrap() }
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        outcome(&mut self.command(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut shell = Command::new("sh");
        shell.arg(self.folder.path().join("install.sh")).args(arguments);
        shell.env("HOME", self.home.path()).env("SHELL", "/bin/zsh").env_remove("PREFIX");
        shell.env("TESSERA_URL", self.folder.path());
        shell
    }

    fn installed(&self) -> Vec<PathBuf> {
        let entries = walkdir::WalkDir::new(self.home.path()).into_iter().map(Result::unwrap);
        let files = entries.filter(|entry| entry.file_type().is_file());
        let mut files: Vec<PathBuf> = files
            .map(|entry| entry.path().strip_prefix(self.home.path()).unwrap().to_owned())
            .collect();
        files.sort();
        files
    }
}

const PROGRAM: &str = "#!/bin/sh\necho tessera 1.2.3\n";

#[test]
fn the_script_installs_without_root_and_removes_everything() {
    let release = Release::new(PROGRAM);
    let (code, out, err) = release.run(&[]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("sh install.sh uninstall") && out.contains("to PATH"), "{out}");
    let mut expected: Vec<PathBuf> =
        FILES.iter().map(|file| Path::new(".local").join(file)).collect();
    expected.sort();
    assert_eq!(release.installed(), expected);
    let program = release.home.path().join(".local/bin/tessera");
    assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o755);
    // Installing again replaces the files, and what belongs to others stays.
    fs::write(release.home.path().join(".local/bin/other"), "").unwrap();
    assert_eq!(release.run(&["install"]).0, 0);
    let (code, out, err) = release.run(&["uninstall"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("was removed"), "{out}");
    assert_eq!(release.installed(), [Path::new(".local/bin/other")]);
    assert!(!release.home.path().join(".local/share").exists());
    fs::remove_file(release.home.path().join(".local/bin/other")).unwrap();
    let (code, out, err) = release.run(&["uninstall"]);
    assert!(code == 1 && err.contains("is not installed in") && out.is_empty(), "{out} {err}");
    assert_eq!(fs::read_dir(release.home.path()).unwrap().count(), 0, "an empty folder stays");
}

#[test]
fn a_prefix_is_installed_into_and_removed_as_the_script_says() {
    let release = Release::new(PROGRAM);
    for prefix in [".local", "opt"] {
        let prefix = release.home.path().join(prefix);
        let (code, out, err) = outcome(release.command(&[]).env("PREFIX", &prefix));
        assert_eq!(code, 0, "{err}");
        let functions = prefix.join("share/zsh/site-functions");
        assert!(out.contains(&format!("fpath=('{}' $fpath)", functions.display())), "{out}");
        let printed = format!("PREFIX='{}' sh install.sh uninstall", prefix.display());
        assert!(out.contains(&printed), "{out}");
        let mut uninstall = release.command(&["uninstall"]);
        assert_eq!(outcome(uninstall.env("PREFIX", &prefix)).0, 0);
        // Only the default prefix is removed, because the user has made any other one.
        assert_eq!(prefix.exists(), prefix.ends_with("opt"), "{}", prefix.display());
    }
    let prefix = release.home.path().join("ann's");
    let (_, out, _) = outcome(release.command(&[]).env("PREFIX", &prefix));
    fs::write(prefix.join("bin/tessera.new"), "of an installation that was killed").unwrap();
    let (_, printed) = out.lines().next().unwrap().split_once("Remove it with: ").unwrap();
    let mut copied = Command::new("sh");
    copied.args(["-c", printed]).current_dir(release.folder.path());
    let (code, _, err) = outcome(copied.env("HOME", release.home.path()));
    assert_eq!(code, 0, "{printed}: {err}");
    assert_eq!(release.installed(), Vec::<PathBuf>::new());
}

#[test]
fn the_storage_of_the_compose_file_has_only_options_that_it_knows() {
    const COMPOSE: &str = include_str!("../../packaging/recipes/compose.yaml");
    let command = COMPOSE.lines().find_map(|line| line.trim().strip_prefix("command: [server, "));
    let options = command.unwrap().trim_end_matches(']').split(", ");
    let Some(program) = seaweedfs::program() else { return };
    let help = Command::new(program).args(["help", "server"]).output().unwrap();
    let help = String::from_utf8([help.stdout, help.stderr].concat()).unwrap();
    let known: Vec<&str> =
        help.lines().filter_map(|line| line.trim().split(' ').next()).collect();
    for option in options {
        let name = option.split('=').next().unwrap();
        assert!(known.contains(&name), "{option} is none of: {known:?}");
    }
}

#[test]
fn nothing_is_installed_if_the_archive_is_wrong() {
    let damaged = Release::new(PROGRAM);
    for target in TARGETS {
        fs::write(damaged.folder.path().join(format!("tessera-1.2.3-{target}.tar.gz")), "x").unwrap();
    }
    let cases = [
        (damaged, "but", "is expected; nothing was installed"),
        (Release::new("#!/bin/sh\nexit 1\n"), "does not start in", "nothing was installed"),
    ];
    for (release, what, outcome) in cases {
        let (code, _, err) = release.run(&[]);
        assert!(code == 1 && err.contains(what) && err.contains(outcome), "{code} {err}");
        assert_eq!(release.installed(), Vec::<PathBuf>::new());
    }
    let occupied = Release::new(PROGRAM);
    let bin = occupied.home.path().join(".local/bin");
    fs::create_dir_all(bin.join("tessera/tessera.new")).unwrap();
    let (code, _, err) = occupied.run(&[]);
    assert!(code == 1 && err.contains("bin/tessera cannot be written"), "{code} {err}");
    assert!(!bin.join("tessera.new").exists(), "a part of the program stays");
    let missing = Release::new(PROGRAM);
    for target in TARGETS {
        fs::remove_file(missing.folder.path().join(format!("tessera-1.2.3-{target}.tar.gz"))).unwrap();
    }
    let (code, _, err) = missing.run(&[]);
    assert!(code == 1 && err.contains("cannot be read"), "{code} {err}");
    let (code, _, err) = missing.run(&["remove"]);
    assert!(code == 1 && err.contains("use install or uninstall"), "{code} {err}");
}
