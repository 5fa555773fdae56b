//! Accepts a folder wherever a command takes a dataset: the folder then stands for `--folder`. A path with a `/` refers
//! to a folder if there is one. A plain name refers to a folder only if no deployment is selected, because it may be the
//! name of a dataset there. The path of a folder need not be UTF-8, unlike the name of a dataset.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use clap::{
    Arg, ArgMatches, Command, FromArgMatches as _,
    builder::{OsStringValueParser, TypedValueParser as _},
    parser::ValueSource,
};
use tessera_config::{Settings, expand_home};

use super::{
    GlobalOptions,
    deployment::select_target,
    values::{is_path, is_same_source, is_source},
};

/// The arguments that name a dataset. A command has at most one of them.
pub(super) const DATASET_ARGUMENTS: [&str; 4] = ["dataset", "source", "of", "at"];

const DATASET_OPTION: &str = "global_dataset";

/// Returns the definition of the command line for arguments that are not UTF-8. Those that name a dataset are accepted,
/// because they may be folders: their values are replaced by text, but not their raw values.
pub(super) fn accepting_paths(command: Command) -> Command {
    let accept = |argument: Arg| match argument.get_id().as_str() {
        id if id == DATASET_OPTION || DATASET_ARGUMENTS.contains(&id) => argument.value_parser(
            OsStringValueParser::new().map(|word| word.to_string_lossy().into_owned()),
        ),
        _ => argument,
    };
    command.mut_args(accept).mut_subcommands(accepting_paths)
}

/// Returns the matches of the arguments with `--folder` in the place of a dataset argument, if that is a folder. A
/// `--folder` that is given already stays, because it refers to the same folder.
pub(super) fn with_folder_option(
    matches: ArgMatches,
    arguments: &[OsString],
    parse: impl Fn(Vec<OsString>) -> Result<ArgMatches, clap::Error>,
) -> ArgMatches {
    let Some(given) = dataset_argument(&matches).filter(|it| is_folder(it, &matches)) else {
        return matches;
    };
    let mut option = OsString::from("--folder=");
    option.push(&given);
    let option = folder_option(&matches).is_none().then_some(option);
    // The word may also be the value of an option. The dataset is the occurrence without which no dataset is given.
    let positions = (1..arguments.len()).rev().filter(|at| arguments[*at] == *given);
    let without = |position: usize| {
        let mut words = arguments.to_vec();
        words.remove(position);
        words.splice(1..1, option.clone());
        let matches = parse(words).ok()?;
        dataset_argument(&matches).is_none().then_some(matches)
    };
    positions.into_iter().find_map(without).unwrap_or(matches)
}

/// Makes a folder that is given with `--dataset`, or by its variable, the folder of the command. The options also get
/// the dataset argument, for the error of a dataset without a deployment.
pub(super) fn replace_dataset_option(global: &mut GlobalOptions, matches: &ArgMatches) {
    let argument = dataset_argument(matches);
    global.dataset_argument = argument.map(|it| it.to_string_lossy().into_owned());
    let Some(given) = raw_value(matches, DATASET_OPTION).map(PathBuf::from) else { return };
    let is_variable = matches.value_source(DATASET_OPTION) == Some(ValueSource::EnvVariable);
    // Shells expand `~/` in words, but not in variables, which may also end with a line break.
    let given = match given.to_str() {
        Some(text) if is_variable => expand_home(text.trim().into()),
        _ if is_variable => expand_home(given),
        _ => given,
    };
    if is_folder(given.as_os_str(), matches) {
        global.dataset = None;
        global.folder = Some(given);
    }
}

/// Returns the dataset argument of the command.
fn dataset_argument(matches: &ArgMatches) -> Option<OsString> {
    let mut command = matches;
    while let Some((_, below)) = command.subcommand() {
        command = below;
    }
    DATASET_ARGUMENTS.iter().find_map(|id| raw_value(command, id))
}

/// Returns the value as it was given. Some commands have no such argument.
fn raw_value(matches: &ArgMatches, id: &str) -> Option<OsString> {
    matches.try_get_raw(id).ok().flatten()?.next().map(OsString::from)
}

fn folder_option(matches: &ArgMatches) -> Option<&PathBuf> {
    matches.get_one("global_folder")
}

fn is_folder(word: &OsStr, matches: &ArgMatches) -> bool {
    if let Some(folder) = folder_option(matches) {
        return is_same_source(word.as_ref(), folder);
    }
    let exists = is_source(word);
    // Without a deployment, a path can only be a folder, so the error is about the missing folder.
    (exists && is_path(word)) || ((exists || is_path(word)) && !selects_deployment(matches))
}

/// Whether the options, the environment or the settings select a deployment. Wrong settings are reported later.
fn selects_deployment(matches: &ArgMatches) -> bool {
    let Ok(mut global) = GlobalOptions::from_arg_matches(matches) else { return true };
    global.expand_variables(matches);
    global.prefer_typed(matches);
    let Ok(settings) = Settings::load(&global.sources()) else { return true };
    !matches!(select_target(&global, &settings), Ok(None))
}
