//! `tessera spec`: commands, arguments, exit codes, variables and documents as one document.

use std::{any::TypeId, io, net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};

use super::ENVIRONMENT_VARIABLES;
use crate::cli::{Column, Document, Exit};

const SPEC_COLUMNS: &[Column] = &[Column::new("COMMAND", "command"), Column::new("DOES", "about")];

/// JSON Schemas of the output documents, by name. The version increases when a field is removed or
/// changes its meaning, not when one is added.
const DOCUMENT_SCHEMAS: &str = include_str!("../../../assets/documents.json");

fn document_schemas() -> serde_json::Result<Vec<Value>> {
    let known: Map<String, Value> = serde_json::from_str(DOCUMENT_SCHEMAS)?;
    let described = |(name, schema): (String, Value)| json!({ "schema": name, "meaning": schema["description"], "json_schema": schema });
    Ok(known.into_iter().map(described).collect())
}

pub(super) fn spec_document(mut root: Command) -> io::Result<Document> {
    root.build();
    let mut commands = Vec::new();
    collect_commands(&root, &mut Vec::new(), &mut commands);
    let global: Vec<Value> =
        root.get_arguments().filter(|each| each.is_global_set()).map(argument_json).collect();
    let codes = Exit::ALL.map(
        |exit| json!({ "exit_code": exit as i32, "code": exit.code(), "meaning": exit.meaning() }),
    );
    let variables =
        ENVIRONMENT_VARIABLES.map(|(name, meaning)| json!({ "name": name, "meaning": meaning }));
    let answer = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commands": commands,
        "options": global,
        "exit_codes": codes,
        "environment": variables,
        "documents": document_schemas()?,
    });
    Ok(Document::list("tessera.spec/1", answer, "commands", SPEC_COLUMNS))
}

/// Collects a command and its subcommands; commands that only group others are omitted.
fn collect_commands(command: &Command, path: &mut Vec<String>, commands: &mut Vec<Value>) {
    path.push(command.get_name().to_owned());
    if !command.is_subcommand_required_set() {
        let arguments: Vec<Value> = command
            .get_arguments()
            .filter(|each| !each.is_global_set() && each.get_id() != "help")
            .map(argument_json)
            .collect();
        let about = command.get_about().map(ToString::to_string);
        commands.push(json!({ "command": path.join(" "), "about": about, "arguments": arguments }));
    }
    for each in command.get_subcommands().filter(|each| each.get_name() != "help") {
        collect_commands(each, path, commands);
    }
    path.pop();
}

fn argument_json(each: &Arg) -> Value {
    let action = each.get_action();
    let choices: Vec<String> = each
        .get_possible_values()
        .iter()
        .filter(|_| action.takes_values())
        .map(|value| value.get_name().to_owned())
        .collect();
    let default = each.get_default_values().first().map(|value| value.to_string_lossy());
    let several = each.get_num_args().is_some_and(|range| range.max_values() > 1);
    json!({
        "name": each.get_id().as_str(),
        "long": each.get_long().map(|long| format!("--{long}")),
        "short": each.get_short().map(|short| format!("-{short}")),
        "type": if choices.is_empty() { value_type(each) } else { "choice" },
        "choices": choices,
        "default": default,
        "required": each.is_required_set(),
        "repeatable": matches!(action, ArgAction::Append | ArgAction::Count) || several,
        "environment": each.get_env().map(|name| name.to_string_lossy()),
        "about": each.get_help().map(ToString::to_string),
    })
}

fn value_type(each: &Arg) -> &'static str {
    if !each.get_action().takes_values() {
        return "flag";
    }
    let parsed = each.get_value_parser().type_id();
    let names = [
        (TypeId::of::<u16>(), "integer"),
        (TypeId::of::<u32>(), "integer"),
        (TypeId::of::<u64>(), "integer"),
        (TypeId::of::<f64>(), "number"),
        (TypeId::of::<bool>(), "boolean"),
        (TypeId::of::<PathBuf>(), "path"),
        (TypeId::of::<Duration>(), "duration"),
        (TypeId::of::<SocketAddr>(), "address"),
    ];
    names.iter().find(|(known, _)| parsed == *known).map_or("text", |(_, name)| *name)
}
