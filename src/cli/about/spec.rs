//! The command line as a document: every command with its arguments and their types, the exit codes,
//! the variables of the environment, and the documents that commands answer with.

use std::{any::TypeId, net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Arg, ArgAction, Command};
use serde_json::{Value, json};

use super::VARIABLES;
use crate::cli::{Column, Document, Exit};

const COLUMNS: &[Column] = &[Column::new("COMMAND", "command"), Column::new("DOES", "about")];

/// The documents, with what each of them is. Their version grows when a field changes its meaning or
/// goes; a field more is no new version.
pub(super) const DOCUMENTS: &[(&str, &str)] = &[
    ("tessera.anchor/1", "a query image that was registered"),
    ("tessera.auth/1", "whether a profile has a secret, where it is, and whether it lets one in"),
    ("tessera.body/1", "a query as the body of a request"),
    ("tessera.check/1", "what is wrong with a query, with line and column"),
    ("tessera.config/1", "every setting with its value and where that comes from"),
    ("tessera.credentials/1", "where an imported key pair was stored; no secret"),
    ("tessera.dataset/1", "the record of a dataset, and what its status allows"),
    ("tessera.datasets/1", "the datasets of a deployment"),
    ("tessera.doctor/1", "what the program finds around itself, and what is wrong"),
    ("tessera.enrichment/1", "which models were applied to a dataset"),
    ("tessera.error/1", "why a command ended early, on standard error"),
    ("tessera.event/1", "one change, while something is followed"),
    ("tessera.explanation/1", "a query in sentences"),
    ("tessera.export/1", "an export: where it stands, and what came of it on this machine"),
    ("tessera.exports/1", "the exports that were started from this machine"),
    ("tessera.forgotten/1", "how many jobs were forgotten"),
    ("tessera.inspection/1", "what is in an archive, and what is wrong with it"),
    ("tessera.job/1", "a job that was started from this machine"),
    ("tessera.job_list/1", "the jobs that were started from this machine"),
    ("tessera.logout/1", "where secrets were removed"),
    ("tessera.media_add/1", "an addition of media, and what became of each of its parts"),
    ("tessera.media_plan/1", "what an addition would send"),
    ("tessera.mistakes/1", "what is wrong with the settings, with line and column"),
    ("tessera.pins/1", "the datasets that are pinned in a profile"),
    ("tessera.places/1", "the files and folders of this user"),
    ("tessera.previews/1", "the media of the clusters that were found, one by one"),
    ("tessera.profile/1", "a profile; no secret"),
    ("tessera.profiles/1", "the profiles of this user; no secrets"),
    ("tessera.record/1", "every field of a dataset as the service sent it"),
    ("tessera.reindex/1", "a reindex that was taken on, and the status it ended in"),
    ("tessera.search/1", "the clusters that were found"),
    ("tessera.selection/1", "a selection; without `schema` and `_` it is the body of an export"),
    ("tessera.selections/1", "the selections that are kept by name"),
    ("tessera.serve/1", "where `serve` listens, and how one gets in"),
    ("tessera.setting/1", "a setting with its value and where that comes from"),
    ("tessera.spec/1", "this document"),
    ("tessera.version/1", "the version of the program"),
    ("tessera.views/1", "queries that are kept by name"),
];

/// The document.
pub(super) fn document(mut root: Command) -> Document {
    root.build();
    let mut commands = Vec::new();
    gather(&root, &mut Vec::new(), &mut commands);
    let global: Vec<Value> =
        root.get_arguments().filter(|each| each.is_global_set()).map(argument).collect();
    let codes = Exit::ALL.map(
        |exit| json!({ "exit_code": exit as i32, "code": exit.code(), "meaning": exit.meaning() }),
    );
    let variables = VARIABLES.map(|(name, meaning)| json!({ "name": name, "meaning": meaning }));
    let documents: Vec<Value> = DOCUMENTS
        .iter()
        .map(|(schema, meaning)| json!({ "schema": schema, "meaning": meaning }))
        .collect();
    let answer = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commands": commands,
        "options": global,
        "exit_codes": codes,
        "environment": variables,
        "documents": documents,
    });
    Document::list("tessera.spec/1", answer, "commands", COLUMNS)
}

/// A command and those below it; those that only hold others are not to be run.
fn gather(command: &Command, path: &mut Vec<String>, found: &mut Vec<Value>) {
    path.push(command.get_name().to_owned());
    if !command.is_subcommand_required_set() {
        let arguments: Vec<Value> = command
            .get_arguments()
            .filter(|each| !each.is_global_set() && each.get_id() != "help")
            .map(argument)
            .collect();
        let about = command.get_about().map(ToString::to_string);
        found.push(json!({ "command": path.join(" "), "about": about, "arguments": arguments }));
    }
    for each in command.get_subcommands().filter(|each| each.get_name() != "help") {
        gather(each, path, found);
    }
    path.pop();
}

fn argument(each: &Arg) -> Value {
    let action = each.get_action();
    let choices: Vec<String> = if action.takes_values() {
        each.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
    } else {
        Vec::new()
    };
    let defaults: Vec<String> = each
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let several = each.get_num_args().is_some_and(|range| range.max_values() > 1);
    json!({
        "name": each.get_id().as_str(),
        "long": each.get_long().map(|long| format!("--{long}")),
        "short": each.get_short().map(|short| format!("-{short}")),
        "type": if choices.is_empty() { kind(each) } else { "choice" },
        "choices": choices,
        "default": defaults.first(),
        "required": each.is_required_set(),
        "repeatable": matches!(action, ArgAction::Append | ArgAction::Count) || several,
        "environment": each.get_env().map(|name| name.to_string_lossy().into_owned()),
        "about": each.get_help().map(ToString::to_string),
    })
}

/// The type of a value, in a word.
fn kind(each: &Arg) -> &'static str {
    if !each.get_action().takes_values() {
        return "flag";
    }
    let parsed = each.get_value_parser().type_id();
    let is_one_of = |types: &[TypeId]| types.iter().any(|known| parsed == *known);
    if is_one_of(&[TypeId::of::<u8>(), TypeId::of::<u16>()])
        || is_one_of(&[TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()])
    {
        "integer"
    } else if is_one_of(&[TypeId::of::<f32>(), TypeId::of::<f64>()]) {
        "number"
    } else if parsed == TypeId::of::<bool>() {
        "boolean"
    } else if parsed == TypeId::of::<PathBuf>() {
        "path"
    } else if parsed == TypeId::of::<Duration>() {
        "duration"
    } else if parsed == TypeId::of::<SocketAddr>() {
        "address"
    } else {
        "text"
    }
}
