//! Every capability of the interface document, and where it is in the program: the table of
//! `docs/coverage.md`. Actions and commands are checked; a cell without one gives a reason.

use std::fmt::Write as _;

use clap::Command;
use tessera::input::{Action, KeyContext, Keymap};

/// What the document offers, the actions and the commands that do it, and a note on each.
struct Row(&'static str, &'static [Action], &'static str, &'static [&'static str], &'static str);

/// Rows by section of the document.
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

const DATASETS: &[Row] = &[
    Row(
        "The list of datasets",
        &[Action::FocusDatasets, Action::Filter, Action::Sort],
        "Rows that cannot be read are counted",
        &["dataset list --status"],
        "",
    ),
    Row(
        "The record of a dataset",
        &[Action::Record, Action::OpenById],
        "All fields, unknown ones included",
        &["dataset show --raw", "dataset pin"],
        "",
    ),
    Row(
        "`status_new`, and the legacy field `status`",
        &[Action::Record],
        "The legacy status is used only if it is the only one, and marked",
        &["dataset show --json"],
        "Both are in the JSON",
    ),
    Row(
        "Progress in percent",
        &[Action::FocusDatasets],
        "A bar below the status; that of jobs also in the tab of the terminal",
        &["dataset watch"],
        "",
    ),
    Row(
        "Time of creation, without a time zone",
        &[Action::Record],
        "As sent, marked “zone not given”",
        &["dataset show"],
        "As sent",
    ),
    Row(
        "Numbers of images and videos",
        &[Action::FocusDatasets],
        "Updated while media are added",
        &["dataset list", "dataset watch"],
        "",
    ),
    Row(
        "States: READY, PARTIAL INDEX, READ ONLY, INDEXING, ERROR and unknown ones",
        &[Action::FocusDatasets],
        "A glyph and the word",
        &["dataset wait --until"],
        "Exit codes 0, 7 and 124",
    ),
    Row(
        "What each state allows",
        &[Action::Menu],
        "Unavailable actions are dimmed, with the reason and the way out",
        &["export start --force", "media add --force", "reindex --force"],
        "Refused with exit code 6 before sending, unless forced",
    ),
    Row(
        "Transitions of an addition, with and without a reindex",
        &[Action::FocusJobs, Action::Open],
        "The states that a job went through",
        &["dataset wait --until", "media add --wait"],
        "READY counts only after another state, or after new media",
    ),
    Row(
        "Transitions of a reindex",
        &[Action::FocusJobs, Action::Open],
        "READ ONLY and INDEXING are one job",
        &["reindex --wait"],
        "",
    ),
    Row(
        "The state ERROR",
        &[Action::FocusDatasets],
        "With the last good status and what the service says; nothing that changes the dataset is offered",
        &["dataset wait"],
        "Exit code 7",
    ),
    Row(
        "Added media are visible at once",
        &[Action::FocusResults],
        "“not reindexed yet” above the results",
        &["dataset show"],
        "The status PARTIAL INDEX",
    ),
];

const EXPORTS: &[Row] = &[
    Row(
        "Export of a dataset: file name, format, with or without images",
        &[Action::Export],
        "A form with the counts",
        &["export start --name --format --images"],
        "Sent once",
    ),
    Row(
        "The ID of an export",
        &[Action::FocusJobs, Action::CopyId],
        "Saved before anything else happens",
        &["export start --quiet"],
        "",
    ),
    Row(
        "The status of an export",
        &[Action::FocusJobs, Action::Open],
        "The status as the service sends it, with its message",
        &["export status", "export watch", "export list"],
        "",
    ),
    Row(
        "Polling is the only way to learn of a change",
        &[Action::Refresh, Action::ToggleAutoRefresh],
        "Slower while nothing changes and while the window is not focused",
        &["export watch --interval --timeout"],
        "Exit code 124 when the time is over",
    ),
    Row(
        "A download link that expires",
        &[Action::Download],
        "Verified and resumed; a new link is requested when one has expired",
        &["export download --output --extract"],
        "Without login, also after a redirect",
    ),
    Row(
        "Export of a selection of media and clusters, with exclusions",
        &[Action::ExportBasket, Action::Exclude],
        "The form lists what is not on screen",
        &["export start --selection --media --cluster --selection-file", "selection add"],
        "",
    ),
    Row(
        "The archive: metadata and images",
        &[Action::Inspect],
        "Rows, columns, histogram of uniqueness, thumbnails",
        &["export inspect"],
        "Names rows without a file and files without a row",
    ),
    Row(
        "Refusals of an export: 401, 404, 409",
        &[Action::Log],
        "A sentence with the cause and the remedy",
        &["export start"],
        "Exit codes 4, 5 and 6",
    ),
];

const MEDIA: &[Row] = &[
    Row(
        "A folder in object storage",
        &[Action::AddMedia],
        "The source “storage”",
        &["media add --s3"],
        "",
    ),
    Row(
        "A manifest in object storage: .csv, .parquet, .txt",
        &[Action::AddMedia],
        "The same field",
        &["media add --s3"],
        "",
    ),
    Row(
        "Uploaded files",
        &[Action::AddMedia],
        "Files and folders, typed, pasted or dropped; checked before they are sent",
        &["media add --file --dir --glob --files-from --strict"],
        "",
    ),
    Row(
        "An uploaded archive: .zip, .tar, .tar.gz",
        &[Action::AddMedia],
        "The source “archive”; checked before it is sent",
        &["media add --archive"],
        "",
    ),
    Row(
        "Exactly one source for each request",
        &[Action::AddMedia],
        "Other sources are kept in the form and not sent",
        &["media add"],
        "Exit code 2 before anything is sent",
    ),
    Row(
        "A reindex as part of the addition",
        &[Action::AddMedia],
        "Off by default, with both paths of states",
        &["media add --reindex"],
        "",
    ),
    Row(
        "A role for storage of another account",
        &[Action::AddMedia],
        "For storage only",
        &["media add --assume-role"],
        "",
    ),
    Row(
        "Expected numbers of videos, images and objects",
        &[Action::AddMedia],
        "Sent only if they are filled in",
        &["media add --batch-videos --batch-images --batch-objects"],
        "",
    ),
    Row(
        "Spot instances, of hosted deployments",
        &[Action::AddMedia],
        "Not sent, on or off",
        &["media add --spot"],
        "",
    ),
    Row(
        "Conditions of an addition: state, embedding, feature, write access",
        &[Action::AddMedia],
        "The state is checked first; the others show in the form when the service refuses",
        &["media add"],
        "Exit codes 6, 8 and 4",
    ),
    Row(
        "An accepted addition has an empty response",
        &[Action::FocusJobs],
        "A job follows the dataset",
        &["media add --wait", "jobs list"],
        "A lost response is resolved from the state of the dataset",
    ),
    Row(
        "One operation for each dataset at a time",
        &[Action::AddMedia],
        "Another addition is queued here until the dataset is free",
        &["media add --queue"],
        "",
    ),
    Row(
        "Large additions in parts",
        &[],
        "Not offered: the program would have to stay open for hours",
        &["media add --split --then-reindex --wait"],
        "Prints a command that sends the rest if it is interrupted",
    ),
    Row(
        "An addition on premises: a folder that the pipeline can read",
        &[Action::AddMedia],
        "The only source there",
        &["media add --server-path"],
        "",
    ),
    Row(
        "The script `run_profiler.sh`",
        &[Action::CopyProfiler],
        "Copied, never run",
        &["media add --print-script", "reindex --print-script"],
        "",
    ),
    Row(
        "A reindex",
        &[Action::Reindex],
        "After a confirmation; only in PARTIAL INDEX",
        &["reindex --wait --yes"],
        "",
    ),
    Row(
        "Refusals of an addition: 400, 403, 409, 500",
        &[Action::AddMedia, Action::Log],
        "Beside the field that is wrong, otherwise a sentence with the remedy",
        &["media add"],
        "Exit codes 8, 4, 6 and 3",
    ),
];

const SEARCHES: &[Row] = &[
    Row(
        "A query image",
        &[Action::SimilarToFile],
        "Upright, whatever its EXIF orientation",
        &["search image --entity --granularity"],
        "",
    ),
    Row(
        "A region of a query image",
        &[Action::PickRegion, Action::PickRegionOfQuery],
        "With keys, numbers or the mouse",
        &["search image --box --box-px"],
        "",
    ),
    Row(
        "The anchor of an uploaded image",
        &[Action::SimilarToFile],
        "“uploading the query image” until it is there",
        &["search image --anchor-only"],
        "",
    ),
    Row(
        "Clusters ranked by an anchor",
        &[Action::SimilarToFile, Action::Finer, Action::Coarser],
        "Another granularity registers the image again",
        &["search anchor --type"],
        "",
    ),
    Row(
        "An anchor that is a media item of the dataset",
        &[Action::Similar],
        "",
        &["search media"],
        "",
    ),
    Row(
        "Pages of 100 clusters, without a total",
        &[Action::NextPage, Action::PreviousPage],
        "A full page is followed by “+”; repeated clusters are counted",
        &["search browse --page --all --limit"],
        "",
    ),
    Row(
        "Relevance of pictures: a distance, lower is closer",
        &[Action::Sort],
        "A number, a word and a bar",
        &["search media --json"],
        "With the type of the score and its band",
    ),
    Row(
        "The fields of a cluster",
        &[Action::FocusDetail, Action::CopyJson],
        "",
        &["search browse --raw"],
        "",
    ),
    Row(
        "The fields of a preview",
        &[Action::FocusDetail, Action::FullSize],
        "With the region, drawn on the picture",
        &["search browse --flat", "image show"],
        "",
    ),
    Row(
        "`used_duckdb` in a response",
        &[],
        "Not shown: it says nothing about the results",
        &["search browse --raw"],
        "",
    ),
    Row("Search in captions", &[Action::Caption], "", &["search caption"], ""),
    Row(
        "The path of text searches, which the document leaves open",
        &[],
        "From the profile or the settings",
        &["search caption --path", "profile add --text-search-path"],
        "",
    ),
    Row(
        "The maximum score of a caption search",
        &[Action::Caption],
        "With the number of loaded clusters below it; warns if the service reads it the other way",
        &["search caption --max-score"],
        "",
    ),
    Row(
        "Relevance of captions, with bands of its own",
        &[Action::Caption],
        "The word beside the score",
        &["search caption --json"],
        "",
    ),
    Row(
        "Filter by labels",
        &[Action::AddFilter],
        "Suggests labels that were loaded",
        &["search browse --label"],
        "",
    ),
    Row(
        "Filter by tags",
        &[Action::AddFilter],
        "By ID, or by the name of a tag that was loaded",
        &["search browse --tag"],
        "",
    ),
    Row(
        "The query language: filters that must all match",
        &[Action::FocusQuery, Action::SwitchJson, Action::RunQuery],
        "As rows or JSON, with each error at its place",
        &["search vql", "query check", "query fmt"],
        "",
    ),
    Row("Full text in captions", &[Action::AddFilter], "", &["query add text fts"], ""),
    Row(
        "Text by meaning, with a minimum similarity",
        &[Action::AddFilter],
        "Warns if no model for it was applied",
        &["query add text semantic --min-sim"],
        "",
    ),
    Row("Labels in the query language", &[Action::AddFilter], "", &["query add labels"], ""),
    Row("Tags in the query language", &[Action::AddFilter], "", &["query add tags"], ""),
    Row(
        "Quality issues",
        &[Action::AddFilter],
        "`blur` is offered; other words are accepted with a note",
        &["query add issues --mode"],
        "",
    ),
    Row(
        "Duplicates and uniqueness",
        &[Action::AddFilter],
        "",
        &["query add duplicates", "query add uniqueness"],
        "",
    ),
    Row(
        "Refusal of a query: 422",
        &[Action::FocusQuery],
        "At the filter that it names; the query stays for editing",
        &["search vql"],
        "Exit code 8",
    ),
    Row(
        "Results of text searches, whose shape the document leaves open",
        &[Action::FocusResults],
        "Read as other results; what cannot be read is counted",
        &["search caption --raw"],
        "",
    ),
    Row(
        "The models that were applied to a dataset",
        &[Action::FocusDatasets],
        "Applied, not applied or unknown",
        &["enrichment show --raw"],
        "",
    ),
    Row(
        "Images and objects",
        &[Action::ToggleEntity],
        "Kept for each tab",
        &["search browse --entity", "selection add --entity"],
        "",
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

/// The first key of an action, with its hint and the pane in which it works.
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

/// Continues a sentence after a colon.
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
                return Err(format!("`{text}`: there is no option --{option}"));
            }
            continue;
        }
        command = command
            .find_subcommand(word)
            .ok_or_else(|| format!("`{text}`: there is no command {word}"))?;
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
