//! The table of `docs/coverage.md`: every capability of the API document, and where the program offers it. The
//! test checks that actions and commands exist. A cell that names neither an action nor a command gives a reason.

mod datasets;
mod searches;

use std::fmt::Write as _;

use clap::Command;
use datasets::{DATASETS, EXPORTS, MEDIA};
use searches::SEARCHES;
use tessera_config::input::{Action, KeyContext, Keymap};

/// A capability that the document offers, the actions for it with a note, and the commands for it with a note.
struct Row(&'static str, &'static [Action], &'static str, &'static [&'static str], &'static str);

/// The rows by section of the document.
const SECTIONS: &[(&str, &[Row])] = &[
    ("Deployments and login", LOGIN),
    ("Datasets and their states", DATASETS),
    ("Exports", EXPORTS),
    ("Adding media and reindexing", MEDIA),
    ("Searches", SEARCHES),
    ("Errors, limits, versions", ERRORS),
];

const LOGIN: &[Row] = &[
    Row(
        "Two kinds of deployments: hosted with login, on premises without",
        &[Action::Profiles],
        "The header names the profile and its kind",
        &["profile add --kind --base-url --pipeline-url", "profile use"],
        "`--kind` states it; it is never guessed",
    ),
    Row(
        "A key pair from the session of a signed-in browser",
        &[Action::Login],
        "Import with the SESSION cookie: masked, used once, never stored",
        &["auth import --cookie-stdin"],
        "Stored before it is reported, and read back",
    ),
    Row(
        "Tokens: HS256, with the key as `kid` and `sub`, and the issuer `sdk`",
        &[Action::Login],
        "The header shows the key and the time that the token has left",
        &["auth token --ttl --as-header"],
        "Dated by the clock of the service",
    ),
    Row(
        "Tokens are short-lived",
        &[],
        "Automatic: renewed before they expire, and once after a 401; jobs wait if the login is rejected",
        &[],
        "Automatic, as in the interface; exit code 4 if the login is rejected",
    ),
    Row(
        "Check of a login: valid, expired, no permission, no dataset",
        &[Action::Login],
        "Check the login: one sentence for each of the four",
        &["auth status --dataset"],
        "Exit codes 0, 4 and 5",
    ),
    Row(
        "Adding media with the session cookie in place of a token",
        &[],
        "Not offered: an interface that is open for hours needs a key pair, which the cookie gives (`L`)",
        &["media add --auth --cookie-stdin"],
        "Only for this endpoint, never with a token",
    ),
];

const ERRORS: &[Row] = &[
    Row(
        "The body of an error",
        &[Action::Log],
        "A sentence of this program, then the words of the service",
        &["api --include", "dataset list --json"],
        "On standard error; an object with `--json`",
    ),
    Row(
        "Known messages of the service",
        &[Action::Log],
        "With the remedy",
        &["media add --json"],
        "The field `code` of the error",
    ),
    Row(
        "Limits: clusters on a page, granularity, fractions, sources, formats",
        &[Action::Menu],
        "Forms refuse what is outside, and name the limit",
        &["search image --granularity --box"],
        "Exit code 2 before anything is sent",
    ),
    Row(
        "The prefix of all paths, `/api/v1`",
        &[],
        "From the profile; an address is accepted with and without it",
        &["version", "profile add --api-prefix"],
        "",
    ),
    Row(
        "No events: everything is polled",
        &[Action::ToggleAutoRefresh],
        "Announced once, in the program, as a bell, on the desktop or in the tab",
        &["dataset watch --on-change --notify"],
        "",
    ),
];

/// Returns the first key of an action, with its hint and the pane in which it works.
fn key_text(keymap: &Keymap, action: Action) -> String {
    let bound = keymap.contexts().find_map(|context| {
        Some((context, keymap.keys_of(&[context], action).into_iter().next()?))
    });
    match bound {
        None => action.hint().to_owned(),
        Some((KeyContext::Everywhere, key)) => format!("`{key}` {}", action.hint()),
        Some((pane, key)) => {
            format!("`{key}` {} ({})", action.hint(), format!("{pane:?}").to_lowercase())
        }
    }
}

fn cell(parts: &[String], note: &str) -> String {
    let parts = parts.join(" · ");
    match (parts.is_empty(), note.is_empty()) {
        (true, _) => note.to_owned(),
        (false, true) => parts,
        (false, false) => format!("{parts}: {}", lower_first(note)),
    }
}

/// Lowers the first letter of a text that continues a sentence after a colon.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let is_acronym =
        text.chars().nth(1).is_some_and(|second| !second.is_lowercase() && second != ' ');
    match chars.next() {
        Some(first) if !is_acronym => first.to_lowercase().collect::<String>() + chars.as_str(),
        _ => text.to_owned(),
    }
}

pub fn table() -> String {
    let keymap = Keymap::built_in().unwrap();
    let mut text = String::new();
    for (section, rows) in SECTIONS {
        writeln!(text, "\n## {section}\n").unwrap();
        text.push_str("| Capability | In the interface | As a command |\n|---|---|---|\n");
        for Row(capability, actions, place, commands, note) in *rows {
            let keys: Vec<String> = actions.iter().map(|it| key_text(&keymap, *it)).collect();
            let commands: Vec<String> = commands.iter().map(|it| format!("`{it}`")).collect();
            let (interface, command) = (cell(&keys, place), cell(&commands, note));
            writeln!(text, "| {capability} | {interface} | {command} |").unwrap();
        }
    }
    text.push('\n');
    text
}

/// Finds the command of a text like `media add --s3`, and checks its options.
fn check_command(root: &Command, text: &str) -> Result<(), String> {
    let mut command = root;
    for word in text.split(' ') {
        if let Some(option) = word.strip_prefix("--") {
            let has = |command: &Command| {
                command.get_arguments().any(|argument| argument.get_long() == Some(option))
            };
            if !has(command) && !has(root) {
                return Err(format!("`{text}`: unknown option --{option}"));
            }
            continue;
        }
        command = command
            .find_subcommand(word)
            .ok_or_else(|| format!("`{text}`: unknown command {word}"))?;
    }
    Ok(())
}

#[test]
fn the_coverage_names_commands_that_exist_and_gives_a_reason_for_the_rest() {
    let root = tessera::cli::definition();
    let mut wrong = Vec::new();
    let mut count = 0;
    for Row(capability, actions, place, commands, note) in
        SECTIONS.iter().flat_map(|(_, rows)| *rows)
    {
        count += 1;
        if actions.is_empty() && place.is_empty() {
            wrong.push(format!("{capability}: neither in the interface nor a reason"));
        }
        if commands.is_empty() && note.is_empty() {
            wrong.push(format!("{capability}: neither a command nor a reason"));
        }
        wrong.extend(commands.iter().filter_map(|text| check_command(&root, text).err()));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(count, 75, "a capability of the document is missing");
}
