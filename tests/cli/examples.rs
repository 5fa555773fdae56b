//! Runs the examples in the help of commands, in their order, over a local folder.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use tessera_testing::{scripts::write_script, tiny_model::ModelFolder};

use super::{analysis::photographs, outcome, tessera};

const EXAMPLES: &str = include_str!("../../assets/examples.txt");

/// Examples that are only parsed, each with the reason. Other tests run their commands.
const ONLY_PARSED: [(&str, &str); 24] = [
    ("duplicates --folder photos --review", NEEDS_TERMINAL),
    ("tessera open", NEEDS_TERMINAL),
    ("tessera tui", NEEDS_TERMINAL),
    ("tessera dataset open", NEEDS_TERMINAL),
    ("tessera demo", "paints hundreds of pictures"),
    ("tessera init --local", "the first profile is there already"),
    ("tessera init --from-env", NEEDS_SERVICE),
    ("tessera serve", "runs until it is stopped"),
    ("tessera work", NEEDS_SERVER),
    ("tessera store init", NEEDS_SERVER),
    ("tessera store status", NEEDS_SERVER),
    ("--data /srv/index", "the folder belongs to the administrator"),
    ("tessera auth import", NEEDS_SERVICE),
    ("tessera auth status --profile", NEEDS_SERVICE),
    ("tessera auth token", NEEDS_SERVICE),
    ("tessera auth logout", NEEDS_SERVICE),
    ("tessera reindex photos --print-script", NEEDS_SERVICE),
    ("tessera media add street", "needs a bucket"),
    ("tessera media resume", "no action was interrupted"),
    ("tessera dataset cancel", "nothing is being indexed"),
    ("tessera jobs cancel", "no job is running"),
    ("tessera jobs watch", "no job is running"),
    ("tessera model get starter", NEEDS_NETWORK),
    ("tessera model get openai", NEEDS_NETWORK),
];
const NEEDS_TERMINAL: &str = "needs a terminal";
const NEEDS_SERVICE: &str = "needs a service on another machine";
const NEEDS_SERVER: &str = "needs a PostgreSQL server";
const NEEDS_NETWORK: &str = "needs the network";

/// Programs that the examples start, each with a script that takes its place.
const PROGRAMS: [(&str, &str); 4] = [
    ("claude", "while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\""),
    ("less", "exec cat"),
    ("nano", ""),
    ("vi", ""),
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

struct ExampleHome {
    home: TempDir,
    programs: TempDir,
}

impl ExampleHome {
    fn new() -> Self {
        let home = photographs();
        let programs = tempfile::tempdir().unwrap();
        let program = tessera(home.path(), &[]);
        symlink(program.get_program(), programs.path().join("tessera")).unwrap();
        for (name, script) in PROGRAMS {
            write_script(&programs.path().join(name), script);
        }
        for folder in ["new", "old-photos", "models"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        for file in ["new/7", "new/8", "old-photos/9"] {
            let picture = super::served_folder::picture(file[file.len() - 1..].parse().unwrap());
            fs::write(home.path().join(file).with_extension("png"), picture).unwrap();
        }
        for (model, name) in [(ModelFolder::clip(), "clip"), (ModelFolder::siglip(), "siglip")] {
            fs::rename(model.path(), home.path().join("models").join(name)).unwrap();
        }
        fs::create_dir(home.path().join("tessera")).unwrap();
        let profile = "default_profile = 'pictures'\n[profiles.pictures]\nkind = 'local'\nfolder = 'photos'\n\
                       [profiles.lab]\nkind = 'local'\nfolder = 'photos'\n";
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
        // A picture is drawn without a terminal only if the user chooses how.
        outcome(shell.env("PATH", path).env("TESSERA_GRAPHICS", "half").stdin(Stdio::null()))
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
    let fixture = ExampleHome::new();
    let mut failed = Vec::new();
    for line in lines().filter(|line| !ONLY_PARSED.iter().any(|(part, _)| line.contains(part))) {
        let (code, _, err) = fixture.run(&fixture.with_ids(line));
        if code != 0 {
            failed.push(format!("{line}: {code} {err}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
