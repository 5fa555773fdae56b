//! Runs the examples in the help of commands, in their order, over a local folder.

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use super::{analysis::photographs, outcome, tessera};

const EXAMPLES: &str = include_str!("../../assets/examples.txt");

/// Commands that need a terminal, a browser, a model, a server or a bucket, or that run until they are stopped. Other
/// tests run them. Their examples are only parsed.
const ONLY_PARSED: [&str; 29] = [
    "duplicates --folder photos --review",
    "tessera demo",
    "tessera open",
    "tessera tui",
    "tessera dataset cancel",
    "tessera dataset open",
    "tessera init",
    "tessera serve",
    "tessera work",
    "tessera mcp",
    "tessera auth import",
    "tessera auth status",
    "tessera auth token",
    "tessera auth logout",
    "tessera media add street",
    "tessera dataset remove old-photos",
    "tessera reindex photos --print-script",
    "tessera config edit",
    "tessera model get",
    "tessera model add",
    "tessera model check",
    "tessera model remove",
    "tessera store",
    "tessera image show",
    "tessera media resume",
    "claude mcp",
    "--on-change",
    "tessera jobs cancel",
    "tessera jobs watch",
];

/// The words that stand for IDs, each with a command that prints the ID, and where it is in the output.
const IDS: [(&str, &str, &str); 6] = [
    ("DATASET_ID", "tessera dataset list --json", "/datasets/0/id"),
    ("CLUSTER_ID", "tessera search browse --json", "/clusters/0/cluster_id"),
    ("MEDIA_ID", "tessera search browse --json", "/clusters/0/previews/0/media_id"),
    ("EXPORT_ID", "tessera export list photos --json", "/exports/0/id"),
    ("JOB_ID", "tessera jobs list --all --json", "/jobs/0/id"),
    ("TAG_ID", "tessera dataset list --json", "/datasets/0/id"),
];

fn lines() -> impl Iterator<Item = &'static str> {
    EXAMPLES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the words of the last command in a line.
fn last_command(line: &str) -> Vec<String> {
    let command = &line[line.rfind("tessera ").unwrap()..];
    // The end of a command whose output is a word of another command.
    let command = command.split(")\"").next().unwrap();
    let words = shell_words::split(command).unwrap().into_iter();
    words.take_while(|word| !["|", ">"].contains(&word.as_str())).collect()
}

#[test]
fn every_command_has_two_examples_that_can_be_parsed() {
    let definition = tessera::cli::definition();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    collect(&definition, "tessera", &mut counts);
    let mut refused = Vec::new();
    for line in lines() {
        let words = last_command(line).into_iter().map(|word| with_any_ids(&word));
        let parsed = match definition.clone().try_get_matches_from(words) {
            Ok(parsed) => parsed,
            Err(error) => {
                refused.push(format!("{line}: {error}"));
                continue;
            }
        };
        let mut path = String::from("tessera");
        let mut matches = &parsed;
        while let Some((name, below)) = matches.subcommand() {
            path = format!("{path} {name}");
            matches = below;
        }
        *counts.get_mut(&path).unwrap() += 1;
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let few: Vec<_> = counts.iter().filter(|(_, count)| **count < 2).collect();
    assert_eq!(few, Vec::<(&String, &usize)>::new());
}

fn with_any_ids(word: &str) -> String {
    let replaced = |word: String, id| word.replace(id, "9fdce12a-9708-5ff1-9f0f-28d2eab0c471");
    IDS.iter().fold(word.to_owned(), |word, (id, ..)| replaced(word, id))
}

/// Collects the commands that have no commands below them.
fn collect(command: &clap::Command, path: &str, counts: &mut BTreeMap<String, usize>) {
    if !command.has_subcommands() {
        counts.insert(path.to_owned(), 0);
    }
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        collect(below, &format!("{path} {}", below.get_name()), counts);
    }
}

struct World {
    home: TempDir,
    programs: TempDir,
}

impl World {
    fn new() -> Self {
        let home = photographs();
        let programs = tempfile::tempdir().unwrap();
        let program = tessera(home.path(), &[]);
        symlink(program.get_program(), programs.path().join("tessera")).unwrap();
        fs::create_dir(home.path().join("new")).unwrap();
        for number in [7, 8] {
            let picture = super::world::picture(number);
            fs::write(home.path().join(format!("new/{number}.png")), picture).unwrap();
        }
        fs::create_dir(home.path().join("tessera")).unwrap();
        let profile = "default_profile = 'pictures'\n[profiles.pictures]\nkind = 'local'\nfolder = 'photos'\n";
        let profile = profile.replace("photos", home.path().join("photos").to_str().unwrap());
        fs::write(home.path().join("tessera/config.toml"), profile).unwrap();
        Self { home, programs }
    }

    fn run(&self, line: &str) -> (i32, String, String) {
        let home = self.home.path();
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(home).env_clear();
        let program = tessera(home, &[]);
        shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let path = format!("{}:/usr/bin:/bin", self.programs.path().display());
        outcome(shell.env("PATH", path))
    }

    fn id(&self, command: &str, pointer: &str) -> String {
        let (code, out, err) = self.run(command);
        assert_eq!(code, 0, "{command}: {err}");
        let found: Value = serde_json::from_str(&out).unwrap();
        found.pointer(pointer).unwrap_or_else(|| panic!("{found}")).as_str().unwrap().to_owned()
    }

    fn with_ids(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (word, command, pointer) in IDS {
            if line.contains(word) {
                line = line.replace(word, &self.id(command, pointer));
            }
        }
        line
    }
}

#[test]
fn the_examples_of_the_help_work() {
    let world = World::new();
    let mut failed = Vec::new();
    for line in lines().filter(|line| !ONLY_PARSED.iter().any(|part| line.contains(part))) {
        let (code, _, err) = world.run(&world.with_ids(line));
        if code != 0 {
            failed.push(format!("{line}: {code} {err}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
